/**
 * Cuts a conversation that is too large for one request into parts.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { MAX_WHOLE_CHARACTERS, MAX_WHOLE_MESSAGES } from '../../domain/limits.ts';
import type { IngestMessage } from './mapper.ts';

/** Keeps a request well below the service's default body limit (32 MiB) and the stream's record limit. */
const MAX_PART_BYTES = 8 * 1024 * 1024;

/**
 * Cuts the messages from `offset` on at the sizes that the service returns whole. A repeat continues after the messages
 * that it finds there, so it cuts at the same places.
 */
export function partsOf(
  messages: readonly IngestMessage[],
  offset = 0,
): { offset: number; messages: IngestMessage[] }[] {
  const parts: { offset: number; messages: IngestMessage[] }[] = [];
  let current: { offset: number; messages: IngestMessage[] } | null = null;
  let [bytes, characters] = [0, 0];
  for (let index = offset; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined) break;
    const size = Buffer.byteLength(JSON.stringify(message));
    const full =
      current !== null &&
      (current.messages.length >= MAX_WHOLE_MESSAGES ||
        characters + message.content.length > MAX_WHOLE_CHARACTERS ||
        bytes + size > MAX_PART_BYTES);
    if (current === null || full) {
      current = { offset: index, messages: [] };
      parts.push(current);
      [bytes, characters] = [0, 0];
    }
    current.messages.push(message);
    bytes += size;
    characters += message.content.length;
  }
  return parts;
}

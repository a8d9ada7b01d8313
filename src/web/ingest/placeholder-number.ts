/**
 * Numbers the placeholders of personal values.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import type { Registry } from '../registry/registry.ts';
import type { nameOfValue } from './mask-request.ts';

export interface Addressed {
  readonly instanceId: string;
  readonly sessionId: string;
}

/** Largest number: two values of a kind in a session share a number once in a million pairs. */
const NUMBERS = 999_999;

/**
 * Derives the number from the value's digest, so it is the same in every request of the session and in every process,
 * without storage.
 */
export function placeholderNumber(
  digest: Registry['maskDigest'],
  { kind, key }: Parameters<typeof nameOfValue>[0],
  { instanceId, sessionId }: Addressed,
): number {
  const bits = Buffer.from(digest(['value', instanceId, sessionId, kind, key]), 'base64url').readUIntBE(0, 6);
  return 1 + (bits % NUMBERS);
}

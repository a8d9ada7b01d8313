/**
 * The layout of a stored session state, and how one of an earlier release is taken over. Imports no reader of texts:
 * processes that carry states over read none.
 *
 * Test: test/reader/conversations/session-state.test.ts, test/architecture.test.ts.
 */
import { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import { SetupError } from '../../errors.ts';

/** Version of the layout that `SessionState.write` writes; raise it with each change. */
export const SESSION_FORMAT = 16;
/** The layout of release 0.4, which has no gap, and nothing of the assistant's conduct. */
const CARRIED_FORMAT = 13;
/** A `Conduct` without turns: three empty lists, four flags. */
const NO_CONDUCT = new Uint8Array(7);

/**
 * Turns a state of release 0.4 into one of this version; null if it is of this one. Throws SetupError if another version
 * wrote it.
 */
export function carriedSession(value: Uint8Array): Uint8Array | null {
  const reader = new ByteReader(value);
  const format = reader.byte();
  if (format === SESSION_FORMAT) return null;
  if (format !== CARRIED_FORMAT)
    throw new SetupError(
      'The state of a session cannot be taken over: a version wrote it that is no release after 0.3.',
    );
  const writer = new ByteWriter().byte(SESSION_FORMAT).byte(reader.byte());
  for (const _ of ['user', 'author', 'micro']) writer.link(reader.link());
  return writer.link(-1).raw(reader.rest()).raw(NO_CONDUCT).finish();
}

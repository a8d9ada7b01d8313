/** Covered by test/erasure/erase-entries.test.ts. */
import { jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { whileConnected, type StreamConnection } from '../connection.ts';
import { eraseMessage } from '../log/redacted-entries.ts';

/** `JetStream` error codes: no such message; no such stream. */
const NOT_THERE: ReadonlySet<number> = new Set([10037, 10059]);

/**
 * Takes a key and its value out of a bucket and out of the bucket's file, which deleting a key does not. False: it is
 * not there, or `isMeant` says no to its value.
 */
export async function eraseKey(
  connection: StreamConnection,
  bucket: string,
  key: string,
  isMeant: (value: string) => boolean,
): Promise<boolean> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const stream = `KV_${bucket}`;
  try {
    const query = { last_by_subj: `$KV.${bucket}.${key}` };
    const stored = await whileConnected(connection, () => manager.streams.getMessage(stream, query));
    if (stored === null || stored.data.length === 0 || !isMeant(stored.string())) return false;
    return await eraseMessage(connection, stream, stored.seq);
  } catch (error) {
    if (error instanceof JetStreamApiError && NOT_THERE.has(error.code)) return false;
    throw error;
  }
}

/**
 * Publishes single requests, outside the group commit.
 *
 * Test: test/cli/erase.test.ts.
 */
import { jetstream } from '@nats-io/jetstream';
import type { RecordedRequest } from '../../domain/records.ts';
import { whileConnected, type StreamConnection } from '../connection.ts';
import { conversationsSubject, partitionOf } from '../subjects.ts';
import { encodeRecord, encodeRequest } from './codec.ts';

/**
 * Publishes a request as an entry of its own. Returns the entry's sequence. Rejects when the server cannot be reached.
 */
export async function publishEntry(connection: StreamConnection, request: RecordedRequest): Promise<number> {
  const record = await encodeRecord([encodeRequest(request)]);
  const subject = conversationsSubject(partitionOf(request.instanceId));
  const { seq } = await whileConnected(connection, () => jetstream(connection.nats).publish(subject, record));
  return seq;
}

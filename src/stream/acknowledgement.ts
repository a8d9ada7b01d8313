/**
 * The answer of a server to a message that was published with a message id. Only a sequence says that it is stored.
 *
 * Test: test/stream/acknowledgement.test.ts, test/stream/log/group-commit.test.ts.
 */
import type { PubAck } from '@nats-io/jetstream';

/**
 * Returns the sequence at which the server has stored a message.
 *
 * While a message is between the servers of a cluster, nats-server 2.10 acknowledges the next one with its id as a
 * duplicate with sequence 0 (nats-server pull request 5827). The first may get lost if another server becomes leader.
 *
 * @throws Error when the message may not be stored; it may be published again with the same id
 */
export function storedSequence({ seq }: Pick<PubAck, 'seq'>): number {
  if (seq < 1) throw new Error('the server knows the message, and has not stored it yet');
  return seq;
}

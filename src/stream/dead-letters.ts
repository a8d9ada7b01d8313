import { jetstream } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { StreamConnection } from './connection.ts';
import type { Delivered } from './consumer.ts';
import { DEAD_LETTERS_SUBJECT } from './subjects.ts';

/** Headers of a dead letter; its body is the entry's payload as it was. */
export const DEAD_LETTER_HEADERS = {
  sequence: 'Undertone-Sequence',
  subject: 'Undertone-Subject',
  reason: 'Undertone-Reason',
} as const;

const MAX_REASON_LENGTH = 500;

/**
 * Sets an entry that cannot be processed aside, with the reason. The entry stays in its stream too.
 * Setting the same entry aside again within two minutes stores nothing twice. Rejects when the server
 * cannot be reached.
 */
export async function setAside(
  connection: StreamConnection,
  entry: Delivered,
  reason: string,
): Promise<void> {
  const hdrs = headers();
  hdrs.set(DEAD_LETTER_HEADERS.sequence, String(entry.sequence));
  hdrs.set(DEAD_LETTER_HEADERS.subject, entry.subject);
  // Header values are one line of ASCII.
  hdrs.set(DEAD_LETTER_HEADERS.reason, reason.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON_LENGTH));
  await jetstream(connection.nats).publish(DEAD_LETTERS_SUBJECT, entry.bytes, {
    headers: hdrs,
    msgID: `${entry.subject}:${entry.sequence}`,
  });
}

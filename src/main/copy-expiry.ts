/** Drops copies of redacted entries on their day. Covered by test/stream/log/redacted-entries.test.ts. */
import type { Logger } from '../logger.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';
import { everyHour } from './every-hour.ts';

/** The server counts the age of a copy from the day on which it was made. */
export function startCopyExpiry({
  connection,
  maxAgeMs,
  logger,
}: {
  connection: StreamConnection;
  /** How long the stream keeps an entry; 0: for ever. */
  maxAgeMs: number;
  logger: Logger;
}): { stop(): Promise<void> } {
  return everyHour(
    async () => {
      if (maxAgeMs === 0) return;
      const entries = await RedactedEntries.open(connection);
      const count = await entries.dropBefore((Date.now() - maxAgeMs) * 1000);
      if (count > 0)
        logger.info({ event: 'copies_expired', count }, 'copies of redacted entries went by age');
    },
    (error) =>
      logger.warn({ event: 'copies_unknown', err: error }, 'copies of redacted entries cannot be read now'),
  );
}

/**
 * Drops copies of redacted entries when the stream's own age limit would have dropped the originals.
 *
 * Test: test/stream/log/redacted-entries.test.ts.
 */
import type { Logger } from '../logger.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';
import { everyHour } from './every-hour.ts';

/** The server counts the age of a copy from its own creation, so its age limit comes too late. */
export function startCopyExpiry({
  connection,
  maxAgeMs,
  logger,
}: {
  connection: StreamConnection;
  /** Maximum age of entries in the stream; 0: unlimited. */
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

/** Drops copies of redacted entries on their day. Covered by test/stream/log/redacted-entries.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';

const LOOK_MS = 3_600_000;

/** Looks now, and every hour: the server counts the age of a copy from the day on which it was made. */
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
  const ending = new AbortController();
  const work = async (): Promise<void> => {
    while (maxAgeMs > 0 && !ending.signal.aborted) {
      try {
        const entries = await RedactedEntries.open(connection);
        const count = await entries.dropBefore((Date.now() - maxAgeMs) * 1000);
        if (count > 0)
          logger.info({ event: 'copies_expired', count }, 'copies of redacted entries went by age');
      } catch (error) {
        logger.warn({ event: 'copies_unknown', err: error }, 'copies of redacted entries cannot be read now');
      }
      await sleep(LOOK_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const worked = work();
  return {
    async stop() {
      ending.abort();
      await worked;
    },
  };
}

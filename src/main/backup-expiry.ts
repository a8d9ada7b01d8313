/** Destroys the keys of backups on their day, while the service runs. Covered by test/cli/backup-keys.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { destroyExpired } from '../backup/expiry.ts';
import type { Logger } from '../logger.ts';
import type { BackupLedger } from '../registry/backup-ledger.ts';

const LOOK_MS = 3_600_000;

/** Looks now, and every hour. */
export function startBackupExpiry({
  ledger,
  dataDir,
  logger,
}: {
  ledger: BackupLedger;
  dataDir: string;
  logger: Logger;
}): { stop(): Promise<void> } {
  const ending = new AbortController();
  const onFault = (error: unknown): void =>
    logger.error({ event: 'backup_key_left', err: error }, 'the key of a backup cannot be read or destroyed');
  const work = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        for (const backup of await destroyExpired({ dataDir, ledger, onFault }, new Date()))
          logger.info({ event: 'backup_expired', backup }, 'a backup has expired: its key is destroyed');
      } catch (error) {
        // NATS is away: keys in the data directory are gone all the same, and the ledger hears of it in an hour.
        logger.warn({ event: 'backups_unknown', err: error }, 'the ledger of backups cannot be reached');
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

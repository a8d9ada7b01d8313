/**
 * Destroys the keys of expired backups while the service runs.
 *
 * Test: test/cli/backup-keys.test.ts.
 */
import { destroyExpired } from '../worker/backup/expiry.ts';
import type { Logger } from '../logger.ts';
import type { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { everyHour } from './every-hour.ts';

export function startBackupExpiry({
  ledger,
  dataDir,
  logger,
}: {
  ledger: BackupLedger;
  dataDir: string;
  logger: Logger;
}): { stop(): Promise<void> } {
  const onFault = (error: unknown): void =>
    logger.error({ event: 'backup_key_left', err: error }, 'the key of a backup cannot be read or destroyed');
  return everyHour(
    async () => {
      for (const backup of await destroyExpired({ dataDir, ledger, onFault }, new Date()))
        logger.info({ event: 'backup_expired', backup }, 'a backup has expired: its key is destroyed');
    },
    // NATS is unavailable. Keys in the data directory are destroyed all the same; the ledger is updated in the next
    // hour.
    (error) =>
      logger.warn({ event: 'backups_unknown', err: error }, 'the ledger of backups cannot be reached'),
  );
}

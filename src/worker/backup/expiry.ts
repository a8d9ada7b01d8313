/**
 * Destroys the keys of expired backups and brings the ledger of backups in line with the keys. Every step is
 * idempotent, so an interrupted run can be repeated.
 *
 * Test: test/worker/backup/expiry.test.ts.
 */
import { existsSync } from 'node:fs';
import { isExpired, type Backup } from '../../domain/backups.ts';
import type { BackupLedger } from '../../stream/ledgers/backup-ledger.ts';
import {
  destroyKey,
  dropDestroyed,
  keyFile,
  keysFolder,
  keysIn,
  readKey,
  type BackupKey,
  type DestroyedKey,
} from './keys.ts';

export interface ExpirySettings {
  readonly dataDir: string;
  readonly ledger: Pick<BackupLedger, 'list' | 'add' | 'destroyed'>;
  /** Receives the error when a key can be neither read nor destroyed. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Destroys every expired key on this machine. Own keys carry their expiry, so they go even while the ledger cannot be
 * reached; the ledger is updated on a later run. Returns the ids of the backups whose keys were destroyed.
 *
 * @throws AppError SERVICE_UNAVAILABLE when the ledger cannot be reached
 */
export async function destroyExpired(
  { dataDir, ledger, onFault }: ExpirySettings,
  now: Date,
): Promise<string[]> {
  const own = keysFolder(dataDir);
  const destroyed: string[] = [];
  const destroy = (folder: string, about: Parameters<typeof destroyKey>[1]): void => {
    try {
      destroyKey(folder, about, now);
      destroyed.push(about.id);
    } catch (error) {
      onFault(error);
    }
  };
  for (const id of keysIn(own)) {
    const key = readOr(own, id, onFault);
    if (key !== null && 'key' in key && isExpired(key, now)) destroy(own, key);
  }
  const backups = new Map((await ledger.list()).map((backup) => [backup.id, backup]));
  for (const { expiresAt, ...backup } of backups.values()) {
    // This includes keys of backups that another machine forgot, and keys that a crash left half overwritten.
    if (expiresAt === null || (backup.destroyedAt === null && !isExpired({ expiresAt }, now))) continue;
    for (const folder of foldersOf(backup, dataDir)) {
      if (!existsSync(keyFile(folder, backup.id))) continue;
      const key = readOr(folder, backup.id, () => undefined);
      if (key === null || 'key' in key) destroy(folder, { ...backup, expiresAt });
    }
  }
  for (const folder of new Set([own, ...[...backups.values()].flatMap(({ keysIn: folder }) => folder ?? [])]))
    for (const id of keysIn(folder)) {
      const key = readOr(folder, id, () => undefined);
      if (key !== null) await tell(folder, key, ledger, backups);
    }
  return destroyed;
}

/** Returns null also when the key cannot be read. */
function readOr(folder: string, id: string, onFault: (error: unknown) => void): ReturnType<typeof readKey> {
  try {
    return readKey(folder, id);
  } catch (error) {
    onFault(error);
    return null;
  }
}

/** The folders on this machine that may hold the key of a backup. */
export function foldersOf({ keysIn: folder }: Pick<Backup, 'keysIn'>, dataDir: string): string[] {
  return folder === null ? [] : [...new Set([folder, keysFolder(dataDir)])];
}

/** The folder that holds a backup's key, not destroyed; null if this machine has none. */
export function folderOfKey(backup: Pick<Backup, 'id' | 'keysIn'>, dataDir: string): string | null {
  const found = foldersOf(backup, dataDir).find((folder) => {
    const key = readOr(folder, backup.id, () => undefined);
    return key !== null && 'key' in key;
  });
  return found ?? null;
}

/** Records in the ledger what a key file says: a restored ledger lacks what came after its backup. */
async function tell(
  folder: string,
  key: BackupKey | DestroyedKey,
  ledger: ExpirySettings['ledger'],
  backups: ReadonlyMap<string, Backup>,
): Promise<void> {
  const { id, takenAt, expiresAt, place } = key;
  if (!backups.has(id))
    await ledger.add({
      id,
      takenAt,
      lastSequence: null,
      expiresAt,
      place,
      keysIn: folder,
      destroyedAt: null,
    });
  if ('key' in key) return;
  await ledger.destroyed(id, new Date(key.destroyedAt));
  dropDestroyed(folder, id);
}

/** Backups, as their ledger keeps them: which still hold whom. Covered by test/web/registry/backup-ledger.test.ts. */
import type { Erasure } from './erasures.ts';

export interface Backup {
  /** UUID, lower case. */
  readonly id: string;
  /** When it was begun. ISO 8601, UTC, as the other times. */
  readonly takenAt: string;
  /** The last sequence of the stream of conversations that it holds; null while it is being taken. */
  readonly lastSequence: number | null;
  /** When its key is destroyed; null: it has none, and never expires. */
  readonly expiresAt: string | null;
  /** Its folder, as an absolute path on the machine that took it. */
  readonly place: string;
  /** The folder of its key on that machine; null: it has none. */
  readonly keysIn: string | null;
  /** When its key was destroyed, or somebody said that the backup is gone; null: it can be restored. */
  readonly destroyedAt: string | null;
}

/** What a caller learns of a backup that still holds what was erased. */
export type HoldingBackup = Pick<Backup, 'id' | 'takenAt' | 'expiresAt'>;

/**
 * The backups that may hold what an erasure is of, oldest first: those begun before it was done and not destroyed. The
 * texts leave the stream earlier, but the views, which a backup holds as well, keep names and quotes until it is done.
 */
export function backupsHolding(
  { doneAt }: Pick<Erasure, 'doneAt'>,
  backups: readonly Backup[],
): HoldingBackup[] {
  return backups
    .filter(({ takenAt, destroyedAt }) => destroyedAt === null && (doneAt === null || takenAt < doneAt))
    .map(({ id, takenAt, expiresAt }) => ({ id, takenAt, expiresAt }))
    .sort((one, other) => (one.takenAt < other.takenAt ? -1 : 1));
}

/** Whether a backup is to be destroyed by now. */
export function isExpired({ expiresAt }: Pick<Backup, 'expiresAt'>, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

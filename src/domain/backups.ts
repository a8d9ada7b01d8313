/**
 * Entries of the backup ledger, and which backups still hold erased data.
 *
 * Test: test/stream/ledgers/backup-ledger.test.ts, test/worker/backup/expiry.test.ts.
 */
import type { Erasure } from './erasures.ts';

export interface Backup {
  /** UUID, lower case. */
  readonly id: string;
  /** When the backup began; ISO 8601 UTC, as the other times. */
  readonly takenAt: string;
  /** The last sequence of the conversations' stream that it holds; null while it is being taken. */
  readonly lastSequence: number | null;
  /** When its key is to be destroyed; null for a backup without a key, which never expires. */
  readonly expiresAt: string | null;
  /** Absolute path of its folder on the machine that took it. */
  readonly place: string;
  /** Folder of its key on that machine; null without a key. */
  readonly keysIn: string | null;
  /** When its key was destroyed or its loss reported; null while it can be restored. */
  readonly destroyedAt: string | null;
}

/** A backup that still holds erased data, as callers see it. */
export type HoldingBackup = Pick<Backup, 'id' | 'takenAt' | 'expiresAt'>;

/**
 * Returns the backups that may hold the data of an erasure, oldest first: those begun before the erasure was done and
 * not destroyed. `doneAt` decides, not `redactedAt`: a backup also copies the views, which keep names and quotes until
 * the erasure is done.
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

/** Returns true once the key of a backup is due for destruction. */
export function isExpired({ expiresAt }: Pick<Backup, 'expiresAt'>, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

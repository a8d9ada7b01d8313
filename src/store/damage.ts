import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Damage to files of the views: how it is recognised, and how whoever finds it tells whoever mends it. A note
 * is a file in the shard's folder, so that it outlives the process that wrote it.
 */

/** What DuckDB says of a file that is gone, cut short or changed; its blocks carry checksums. */
const DAMAGED =
  /not a valid DuckDB database|Corrupt (?:database|WAL) file|Could not read enough bytes|database does not exist|No such file or directory|Failure while replaying WAL|checksum|deserializ|Serialization Error/i;
/** The same words, when the disk or the system is at fault and the file may be sound. */
const HINDERED = /No space left|File too large|Permission denied|Too many open files|temporary/i;

/** Whether an error says that a file of the views is damaged. */
export function isDamage(error: unknown): boolean {
  const reason = error instanceof Error ? error.message : String(error);
  return DAMAGED.test(reason) && !HINDERED.test(reason);
}

/** Whether an error says that a file could not be written for want of room. */
export function isOutOfRoom(error: unknown): boolean {
  const reason = error instanceof Error ? error.message : String(error);
  return /No space left|File too large|ENOSPC|EFBIG|EDQUOT|Disk quota exceeded/i.test(reason);
}

/** `levels`: the published files are to be made anew from the state. `state`: the state from the stream. */
export type Damaged = 'levels' | 'state';

/** Leaves a note, unless there is one already. What cannot be noted is found again. */
export function noteDamage(directory: string, what: Damaged, reason: string): void {
  const file = noteFile(directory, what);
  if (existsSync(file)) return;
  try {
    writeFileSync(file, reason.split('\n')[0] ?? '', { mode: 0o600 });
  } catch {
    // A reader may have no right to write here.
  }
}

/** The reason in the note; null when there is none. */
export function notedDamage(directory: string, what: Damaged): string | null {
  const file = noteFile(directory, what);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

export function clearDamage(directory: string, what: Damaged): void {
  rmSync(noteFile(directory, what), { force: true });
}

function noteFile(directory: string, what: Damaged): string {
  return join(directory, what === 'levels' ? 'LEVELS_DAMAGED' : 'STATE_DAMAGED');
}

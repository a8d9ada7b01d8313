/** Covered by test/faults/damage.test.ts and test/store/published/publication.test.ts. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError } from './duckdb.ts';

/**
 * Damage to files of the views: how it is recognised, and how a reader that finds it tells the worker, which
 * repairs it. A note is a file in the shard's folder, so that it outlives the process that wrote it.
 */

/** Codes of the system for a disk that takes no more. */
const NO_ROOM = new Set(['ENOSPC', 'EFBIG', 'EDQUOT']);

/** Whether an error says that a file of the views is damaged, or gone. */
export function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError ? error.file === 'damaged' : codeOf(error) === 'ENOENT';
}

/** Whether an error says that the disk had no room for a file. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof DatabaseError ? error.file === 'no-room' : NO_ROOM.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : '';
}

/** `segments`: the published files have to be made again from the state. `state`: the state from the stream. */
export type Damaged = 'segments' | 'state';

/** Leaves a note, unless there is one already. If that fails, the next reader finds the damage again. */
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
  return join(directory, what === 'segments' ? 'LEVELS_DAMAGED' : 'STATE_DAMAGED');
}

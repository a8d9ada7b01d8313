/**
 * Recognises damage to files of the views, and passes it from a reader to the worker, which repairs it. A note is a
 * file in the shard's folder, so it outlives the process that wrote it.
 *
 * Test: test/faults/damage.test.ts, test/store/published/publication.test.ts.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError } from './duckdb.ts';

/** Error codes of the system for a full disk, file size or quota. */
const NO_ROOM = new Set(['ENOSPC', 'EFBIG', 'EDQUOT']);

/** Returns true if the error says that a file of the views is damaged or missing. */
export function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError ? error.file === 'damaged' : codeOf(error) === 'ENOENT';
}

/** Returns true if the error says that the disk had no space for a file. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof DatabaseError ? error.file === 'no-room' : NO_ROOM.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : '';
}

/** `segments`: the published files are rewritten from the state. `state`: the state is rebuilt from the stream. */
export type Damaged = 'segments' | 'state';

/** Writes a note, unless one exists. If that fails, the next reader finds the damage again. */
export function noteDamage(directory: string, what: Damaged, reason: string): void {
  const file = noteFile(directory, what);
  if (existsSync(file)) return;
  try {
    writeFileSync(file, reason.split('\n')[0] ?? '', { mode: 0o600 });
  } catch {
    // A reader may have no right to write here.
  }
}

/** The reason in the note; null if there is none. */
export function notedDamage(directory: string, what: Damaged): string | null {
  const file = noteFile(directory, what);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Deletes the note, after a repair. */
export function clearDamage(directory: string, what: Damaged): void {
  rmSync(noteFile(directory, what), { force: true });
}

function noteFile(directory: string, what: Damaged): string {
  return join(directory, what === 'segments' ? 'LEVELS_DAMAGED' : 'STATE_DAMAGED');
}

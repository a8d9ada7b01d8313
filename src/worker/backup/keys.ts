/**
 * The keys of backups, one file `<id>.key` each, stored apart from the backups. A destroyed key leaves a file that says
 * so until the ledger of backups has recorded it.
 *
 * Test: test/worker/backup/keys.test.ts.
 */
import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { UUID_PATTERN } from '../../domain/ids.ts';
import { SetupError } from '../../errors.ts';
import { makeDirectory } from '../../store/data-directory.ts';

/** Name of the folder in the data directory. */
const KEYS_FOLDER = 'backup-keys';
const SUFFIX = '.key';
const KEY_BYTES = 32;

const ofBackup = {
  version: z.literal(1),
  /** UUID of the backup. */
  id: z.string().regex(UUID_PATTERN),
  takenAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** The backup's folder. */
  place: z.string(),
};
const keyShape = z.strictObject({ ...ofBackup, key: z.base64url().length(43) });
const destroyedShape = z.strictObject({ ...ofBackup, destroyedAt: z.iso.datetime() });

/** The key of a backup. */
export type BackupKey = Omit<z.output<typeof keyShape>, 'version' | 'key'> & { readonly key: Buffer };
/** What remains of a key after its destruction. */
export type DestroyedKey = Omit<z.output<typeof destroyedShape>, 'version'>;

/** The default folder of keys. */
export function keysFolder(dataDir: string): string {
  return join(resolve(dataDir), KEYS_FOLDER);
}

export function keyFile(folder: string, id: string): string {
  return join(folder, `${id}${SUFFIX}`);
}

/** Creates the key of a backup and syncs its file and folder to disk. Throws SetupError. */
export function makeKey(folder: string, about: Omit<BackupKey, 'key'>): BackupKey {
  const key = randomBytes(KEY_BYTES);
  const file = keyFile(folder, about.id);
  try {
    makeDirectory(folder);
    const { id, takenAt, expiresAt, place } = about;
    const text = JSON.stringify({
      version: 1,
      id,
      takenAt,
      expiresAt,
      place,
      key: key.toString('base64url'),
    });
    const opened = openSync(file, 'wx', 0o600);
    try {
      writeSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    syncFolder(folder);
  } catch (error) {
    throw new SetupError(`The key ${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  return { ...about, key };
}

/** Reads a key of a folder, or what remains of it; null if there is none. Throws SetupError when it cannot be read. */
export function readKey(folder: string, id: string): BackupKey | DestroyedKey | null {
  const file = keyFile(folder, id);
  if (!existsSync(file)) return null;
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SetupError(`The key ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const destroyed = destroyedShape.safeParse(read);
  if (destroyed.success) return destroyed.data;
  const parsed = keyShape.safeParse(read);
  if (!parsed.success || parsed.data.id !== id)
    throw new SetupError(`The key ${file} cannot be read: it is no key of the backup ${id}.`);
  const { key, ...about } = parsed.data;
  return { ...about, key: Buffer.from(key, 'base64url') };
}

/** The ids of the keys in a folder, destroyed ones included; empty if the folder is missing. */
export function keysIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const id = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
    return UUID_PATTERN.test(id) ? [id] : [];
  });
}

/**
 * Overwrites a key with random bytes, then with a note that it is destroyed, and syncs both. `dropDestroyed` deletes
 * the note. The disk may still hold the overwritten bytes: see decision 100.
 */
export function destroyKey(folder: string, about: Omit<DestroyedKey, 'destroyedAt'>, at: Date): void {
  const file = keyFile(folder, about.id);
  const { id, takenAt, expiresAt, place } = about;
  const note = JSON.stringify({ version: 1, id, takenAt, expiresAt, place, destroyedAt: at.toISOString() });
  const opened = openSync(file, 'r+');
  try {
    const length = Math.max(fstatSync(opened).size, Buffer.byteLength(note));
    writeSync(opened, randomBytes(length), 0, length, 0);
    fsyncSync(opened);
    const padded = Buffer.alloc(length, ' ');
    padded.write(note);
    writeSync(opened, padded, 0, length, 0);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Deletes what remains of a destroyed key. */
export function dropDestroyed(folder: string, id: string): void {
  rmSync(keyFile(folder, id), { force: true });
  syncFolder(folder);
}

/** A check value by which a backup identifies its key without revealing it: 16 bytes, hexadecimal. */
export function checkOf({ key, id }: Pick<BackupKey, 'key' | 'id'>): string {
  return Buffer.from(hkdfSync('sha256', key, '', `undertone backup check\n${id}`, 16)).toString('hex');
}

/** Returns true if the check value of a backup is that of this key. Compares in constant time. */
export function isKeyOf(key: Pick<BackupKey, 'key' | 'id'>, check: string): boolean {
  const [own, given] = [Buffer.from(checkOf(key)), Buffer.from(check)];
  return own.length === given.length && timingSafeEqual(own, given);
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

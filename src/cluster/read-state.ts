/**
 * Reads states from the object store into files. What is there already of an earlier state is not read again.
 *
 * Test: test/cluster/state-packs.test.ts, test/cluster/state-copies.test.ts.
 */
import { createHash } from 'node:crypto';
import { constants, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inTurns } from '../domain/in-turns.ts';
import { quoted, withDatabase } from '../store/duckdb.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { isDownloaded } from '../store/objects/object-store.ts';
import { fsyncPath } from '../store/published/manifest.ts';
import {
  FILES,
  nameOf,
  PIECE_BYTES,
  positionOf,
  readIndex,
  type File,
  type Piece,
  type StateIndex,
  type StatePacksOptions,
  type StoredPacks,
} from './state-index.ts';

/** Packs that are read at a time. */
const PACKS_AT_ONCE = 4;

/**
 * Writes the files of a stored state: `file`, and its log beside it. The index of a state that is there already lies
 * beside them, and only while they are whole on the disk: what it names is not read again. Returns false if an object is
 * gone or damaged; then the files are as before, or gone.
 *
 * @throws ObjectStoreError
 */
export async function readState(
  options: StatePacksOptions,
  stored: StoredPacks,
  file: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { before, sha256 } = readIndexOf(file);
  if (sha256 === stored.sha256) return true;
  const index = await readIndex(options, stored, signal);
  if (index === null) return false;
  rmSync(`${file}.index`, { force: true });
  // A machine that fails must not come back with an index of files that were written since.
  if (before !== null) fsyncPath(dirname(file));
  const paths = { tables: file, log: `${file}.wal` };
  const handles = {
    tables: await openWritable(paths.tables),
    log: await openWritable(paths.log),
  };
  let isRead = false;
  try {
    const missing = FILES.flatMap((name) =>
      index[name].flatMap((piece, place) =>
        before?.[name][place]?.[3] === piece[3] ? [] : [[name, place, piece] as const],
      ),
    );
    const wanted = Map.groupBy(missing, ([, , [pack]]) => pack);
    const read = await inTurns([...wanted], PACKS_AT_ONCE, ([pack, pieces]) =>
      readPack(options, index.packs[pack]!, pieces, handles, signal),
    );
    isRead = !read.includes(false);
    for (const name of isRead ? FILES : []) {
      await handles[name].truncate(bytesOf(index[name], name));
      await handles[name].sync();
    }
  } finally {
    for (const name of FILES) await handles[name].close();
    if (!isRead || index.log.length === 0) rmSync(paths.log, { force: true });
    if (!isRead) rmSync(paths.tables, { force: true });
  }
  if (isRead) replaceFile(`${file}.index`, JSON.stringify(index));
  return isRead;
}

/** Ends of the names of the files that `readState` writes. */
export const STATE_SUFFIXES = ['', '.wal', '.index'];

/** Moves the files that `readState` wrote to where a database is opened, or removes them. */
export function moveState(file: string, to: string | null): void {
  for (const suffix of ['', '.wal'])
    if (to !== null && existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${to}${suffix}`);
    else rmSync(`${file}${suffix}`, { force: true });
  for (const suffix of ['.index', '.index.tmp']) rmSync(`${file}${suffix}`, { force: true });
}

/** Writes the log of a state that no process has open into its tables. */
export async function writeLogInto(file: string): Promise<void> {
  if (!existsSync(`${file}.wal`)) return;
  await withDatabase({ threads: 1 }, (connection) =>
    connection.run(`attach ${quoted(file)} as st; checkpoint st; detach st`),
  );
}

/** The index of the files that `readState` wrote, with its digest; null if they are not whole. */
function readIndexOf(file: string): { readonly before: StateIndex | null; readonly sha256: string | null } {
  try {
    const text = readFileSync(`${file}.index`, 'utf8');
    const index = JSON.parse(text) as StateIndex;
    const isWhole = FILES.every((name) => {
      const bytes = statSync(name === 'tables' ? file : `${file}.wal`, { throwIfNoEntry: false })?.size ?? 0;
      return bytes === bytesOf(index[name], name);
    });
    if (isWhole) return { before: index, sha256: createHash('sha256').update(text).digest('hex') };
  } catch {
    // There is none.
  }
  return { before: null, sha256: null };
}

function bytesOf(pieces: readonly Piece[], file: File): number {
  const last = pieces.at(-1);
  return last === undefined ? 0 : positionOf(pieces.length - 1, file) + last[2];
}

function openWritable(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
}

/** Writes the beginning of a buffer. A disk that becomes full takes a part of it, and fails when it gets the rest. */
async function writeWhole(
  file: Pick<FileHandle, 'write'>,
  buffer: Uint8Array,
  bytes: number,
  position: number,
): Promise<void> {
  for (let done = 0; done < bytes;)
    done += (await file.write(buffer, done, bytes - done, position + done)).bytesWritten;
}

/** Returns false if the pack is gone or damaged. */
async function readPack(
  { store, prefix, temporary }: StatePacksOptions,
  sha256: string,
  pieces: readonly (readonly [File, number, Piece])[],
  into: Readonly<Record<File, FileHandle>>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const path = `${temporary}.${sha256}`;
  try {
    const name = nameOf(prefix, sha256);
    const isHere = (): Promise<boolean> => isDownloaded(store, { name, sha256 }, path, signal);
    // Twice damaged, it is no use to anybody: the next copy stores its pieces again.
    if (!(await isHere()) && !(await isHere())) {
      await store.remove(name, signal);
      return false;
    }
    const pack = await open(path, 'r');
    try {
      const buffer = Buffer.alloc(PIECE_BYTES);
      for (const [name, place, [, offset, bytes]] of pieces) {
        await pack.read(buffer, 0, bytes, offset);
        await writeWhole(into[name], buffer, bytes, positionOf(place, name));
      }
    } finally {
      await pack.close();
    }
    return true;
  } finally {
    rmSync(path, { force: true });
  }
}

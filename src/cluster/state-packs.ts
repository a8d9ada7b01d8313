/**
 * States in the object store: the files of a database in pieces, and pieces in packs. A copy stores only the pieces that
 * no pack of the copy before it has, and an index that says where each piece is.
 *
 * Test: test/cluster/state-packs.test.ts.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  constants,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type WriteStream,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { inTurns } from '../domain/in-turns.ts';
import type { StateImage } from '../domain/sharing.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { DamagedObjectError, type ObjectStore } from '../store/objects/object-store.ts';
import { fsyncPath } from '../store/published/manifest.ts';
import type { StateObject } from './views-bucket.ts';

/** The part of a file before its blocks, and a block: what DuckDB writes at a time. */
const HEAD_BYTES = 12_288;
const PIECE_BYTES = 262_144;
/** Pieces that are read at a time: their digests are made by other threads. */
const READ_AT_ONCE = 8;
const PACK_BYTES = 64 * 2 ** 20;
/** Packs that are read at a time. */
const PACKS_AT_ONCE = 4;
/** Pieces of a pack of which less is in use are stored anew. */
const LEAST_USED = 0.5;
/** With more packs than MOST_PACKS, pieces of those smaller than SMALL_BYTES are stored anew. */
const MOST_PACKS = 48;
const SMALL_BYTES = 16 * 2 ** 20;
/** Tries to read files that change meanwhile. Each stores what the one before did not. */
const TRIES = 5;

/** A part of a file: pack (place in `packs`), offset and length there, and SHA-256 as base64. */
type Piece = readonly [pack: number, offset: number, bytes: number, sha256: string];

/** The files of one state. */
interface StateIndex {
  /** SHA-256 of each pack, hexadecimal. */
  readonly packs: readonly string[];
  readonly tables: readonly Piece[];
  readonly log: readonly Piece[];
}

const FILES = ['tables', 'log'] as const;
type File = (typeof FILES)[number];

/** Where a piece begins in its file. */
const positionOf = (place: number, file: File): number =>
  file === 'log' ? place * PIECE_BYTES : Math.max(0, HEAD_BYTES + (place - 1) * PIECE_BYTES);
const lengthOf = (place: number, file: File): number =>
  file === 'tables' && place === 0 ? HEAD_BYTES : PIECE_BYTES;

export interface StatePacksOptions {
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'list' | 'remove'>;
  /** Beginning of the names of a shard's objects. */
  readonly prefix: string;
  /** Beginning of the paths of temporary files, of which nothing is left. */
  readonly temporary: string;
  /** Default MOST_PACKS. */
  readonly mostPacks?: number;
}

/** A stored state: the index is the object itself. */
export type StoredPacks = Pick<StateObject, 'name' | 'sha256' | 'packs'>;

/** Writes states of one shard, one after another. */
export class StatePacks {
  readonly #options: StatePacksOptions;
  #last: { readonly index: StateIndex; readonly version: number } | null = null;
  /** Where pieces are by their digests, also those of a copy that was not finished. */
  readonly #known = new Map<
    string,
    { readonly pack: string; readonly offset: number; readonly bytes: number }
  >();
  /** Bytes of packs by digest. */
  readonly #packs = new Map<string, number>();
  #unused: readonly string[] = [];

  constructor(options: StatePacksOptions) {
    this.#options = options;
  }

  /** Names of all objects that a copy in work may name. */
  get inWork(): readonly string[] {
    return [...this.#packs.keys()].map((pack) => this.#nameOf(pack));
  }

  /** Names of packs of the copy before the last one, or of tries after it, that the last one does not need. */
  get unused(): readonly string[] {
    return this.#unused.map((pack) => this.#nameOf(pack));
  }

  /** Tells the copy before the first one: what it has is not stored again. */
  async follow(before: StoredPacks): Promise<void> {
    if (this.#last !== null) return;
    const index = await readIndex(this.#options, before);
    if (index === null) return;
    this.#last = { index, version: -1 };
    this.#learn(index);
  }

  /**
   * Stores the state as it is at a moment, with the sequence of that moment.
   *
   * @throws ObjectStoreError
   */
  async write(
    imageNow: () => Promise<StateImage>,
    signal?: AbortSignal,
  ): Promise<StoredPacks & { readonly sequence: number }> {
    await this.#forgetLost();
    this.#forgetWasted();
    for (let tries = 1; ; tries += 1) {
      const image = await imageNow();
      const pack = new PackWriter(this.#options, (made) => this.#note(made), signal);
      try {
        const read = {
          tables: await this.#pieces(image, 'tables', pack, signal),
          log: await this.#pieces(image, 'log', pack, signal),
        };
        await pack.end();
        if (image.isWhole())
          return { ...(await this.#finish(image, read, signal)), sequence: image.sequence };
      } finally {
        pack.discard();
      }
      if (tries === TRIES)
        throw new Error('the state was written into its tables during each try to copy it');
    }
  }

  /** Digests of the pieces of a file; those that nobody has go into packs. */
  async #pieces(
    image: StateImage,
    file: File,
    pack: PackWriter,
    signal: AbortSignal | undefined,
  ): Promise<string[]> {
    const places: number[] = [];
    while (positionOf(places.length, file) < image.bytes[file]) places.push(places.length);
    // The log only grows until the next checkpoint. Of the tables, commits of many rows write parts at once.
    const last = file === 'log' && this.#last?.version === image.version ? this.#last.index.log : [];
    const digests: string[] = [];
    for (let from = 0; from < places.length; from += READ_AT_ONCE) {
      signal?.throwIfAborted();
      const some = await Promise.all(
        places.slice(from, from + READ_AT_ONCE).map(async (place) => {
          const before = last[place];
          if (before?.[2] === PIECE_BYTES && this.#known.has(before[3]))
            return { sha256: before[3], bytes: null };
          const bytes = await image.read(file, positionOf(place, file), lengthOf(place, file));
          const digest = await crypto.subtle.digest('SHA-256', bytes);
          return { sha256: Buffer.from(digest).toString('base64'), bytes };
        }),
      );
      for (const { sha256, bytes } of some) {
        digests.push(sha256);
        if (bytes !== null && !this.#known.has(sha256)) await pack.add(sha256, bytes);
      }
    }
    return digests;
  }

  #note({ sha256, bytes, pieces }: MadePack): void {
    this.#packs.set(sha256, bytes);
    for (const [digest, at] of pieces) this.#known.set(digest, { pack: sha256, ...at });
  }

  async #finish(
    image: StateImage,
    read: Readonly<Record<File, readonly string[]>>,
    signal: AbortSignal | undefined,
  ): Promise<StoredPacks> {
    const { store, temporary } = this.#options;
    const packs: string[] = [];
    const places = new Map<string, number>();
    const pieceOf = (digest: string): Piece => {
      const { pack, offset, bytes } = this.#known.get(digest)!;
      let place = places.get(pack);
      if (place === undefined) places.set(pack, (place = packs.push(pack) - 1));
      return [place, offset, bytes, digest];
    };
    const index: StateIndex = { tables: read.tables.map(pieceOf), log: read.log.map(pieceOf), packs };
    const text = JSON.stringify(index);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const file = `${temporary}.index`;
    writeFileSync(file, text, { mode: 0o600 });
    try {
      await store.upload(this.#nameOf(sha256), file, signal);
    } finally {
      rmSync(file, { force: true });
    }
    this.#last = { index, version: image.version };
    this.#learn(index);
    return { name: this.#nameOf(sha256), sha256, packs: packs.map((pack) => this.#nameOf(pack)) };
  }

  /** Knows the pieces of an index, and no others: objects that no copy names go. */
  #learn({ packs, tables, log }: StateIndex): void {
    this.#known.clear();
    for (const [place, offset, bytes, digest] of [...tables, ...log])
      this.#known.set(digest, { pack: packs[place]!, offset, bytes });
    const sizes = new Map(packs.map((pack) => [pack, this.#packs.get(pack) ?? 0]));
    this.#unused = [...this.#packs.keys()].filter((pack) => !sizes.has(pack));
    this.#packs.clear();
    for (const { pack, offset, bytes } of this.#known.values())
      sizes.set(pack, Math.max(sizes.get(pack)!, offset + bytes));
    for (const [pack, bytes] of sizes) this.#packs.set(pack, bytes);
  }

  /** Forgets packs that are gone from the store. */
  async #forgetLost(): Promise<void> {
    if (this.#packs.size === 0) return;
    const { store, prefix } = this.#options;
    const there = new Set(await store.list(`${prefix}states/`));
    for (const [digest, { pack }] of this.#known)
      if (!there.has(this.#nameOf(pack))) this.#known.delete(digest);
  }

  /** Forgets where pieces are whose packs are hardly used, or too many. */
  #forgetWasted(): void {
    const used = new Map<string, number>();
    for (const { pack, bytes } of this.#known.values()) used.set(pack, (used.get(pack) ?? 0) + bytes);
    const isMany = used.size > (this.#options.mostPacks ?? MOST_PACKS);
    for (const [digest, { pack }] of this.#known) {
      const bytes = this.#packs.get(pack)!;
      if (used.get(pack)! < LEAST_USED * bytes || (isMany && bytes < SMALL_BYTES)) this.#known.delete(digest);
    }
  }

  #nameOf(sha256: string): string {
    return nameOf(this.#options.prefix, sha256);
  }
}

interface MadePack {
  readonly sha256: string;
  readonly bytes: number;
  /** Pieces by digest. */
  readonly pieces: ReadonlyMap<string, { readonly offset: number; readonly bytes: number }>;
}

/** Writes pieces into packs of PACK_BYTES, and stores each pack once it is full. */
class PackWriter {
  readonly #options: StatePacksOptions;
  readonly #onMade: (made: MadePack) => void;
  readonly #signal: AbortSignal | undefined;
  #pieces = new Map<string, { readonly offset: number; readonly bytes: number }>();
  #bytes = 0;
  #hash: Hash = createHash('sha256');
  #file: WriteStream | null = null;

  constructor(options: StatePacksOptions, onMade: (made: MadePack) => void, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#onMade = onMade;
    this.#signal = signal;
  }

  get #path(): string {
    return `${this.#options.temporary}.pack`;
  }

  async add(sha256: string, piece: Uint8Array): Promise<void> {
    if (this.#pieces.has(sha256)) return;
    // What waits for a write is told of its failure.
    this.#file ??= createWriteStream(this.#path, { mode: 0o600 }).on('error', () => undefined);
    this.#pieces.set(sha256, { offset: this.#bytes, bytes: piece.length });
    this.#bytes += piece.length;
    this.#hash.update(piece);
    const file = this.#file;
    await new Promise<void>((done, fail) => {
      file.write(piece, (error) => (error == null ? done() : fail(error)));
    });
    if (this.#bytes >= PACK_BYTES) await this.end();
  }

  /** Stores the pack in work. */
  async end(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    file.end();
    await finished(file);
    const sha256 = this.#hash.digest('hex');
    await this.#options.store.upload(nameOf(this.#options.prefix, sha256), this.#path, this.#signal);
    this.#onMade({ sha256, bytes: this.#bytes, pieces: this.#pieces });
    this.discard();
    this.#pieces = new Map();
    this.#bytes = 0;
    this.#hash = createHash('sha256');
  }

  discard(): void {
    this.#file?.destroy();
    this.#file = null;
    rmSync(this.#path, { force: true });
  }
}

const nameOf = (prefix: string, sha256: string): string => `${prefix}states/${sha256}`;

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
    /** Pieces that are missing, by pack. */
    const wanted = new Map<number, (readonly [File, number, Piece])[]>();
    for (const name of FILES)
      for (const [place, piece] of index[name].entries())
        if (before?.[name][place]?.[3] !== piece[3])
          wanted.set(piece[0], [...(wanted.get(piece[0]) ?? []), [name, place, piece]]);
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

/** The files of a database that no process has open. */
export function imageOf(file: string, sequence: number): StateImage {
  const paths = { tables: file, log: `${file}.wal` };
  const sizeOf = (name: File): number => statSync(paths[name], { throwIfNoEntry: false })?.size ?? 0;
  return {
    sequence,
    version: 0,
    bytes: { tables: sizeOf('tables'), log: sizeOf('log') },
    read: async (name, position, length) => {
      const handle = await open(paths[name], 'r');
      try {
        const part = new Uint8Array(length);
        const { bytesRead } = await handle.read(part, 0, length, position);
        return part.subarray(0, bytesRead);
      } finally {
        await handle.close();
      }
    },
    isWhole: () => true,
  };
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
    if (!(await isDownloaded(store, name, path, sha256, signal))) {
      // Twice damaged, it is no use to anybody: the next copy stores its pieces again.
      if (!(await isDownloaded(store, name, path, sha256, signal))) {
        await store.remove(name, signal);
        return false;
      }
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

/** Null if the object is gone or damaged. */
async function readIndex(
  { store, temporary }: StatePacksOptions,
  { name, sha256 }: StoredPacks,
  signal?: AbortSignal,
): Promise<StateIndex | null> {
  const path = `${temporary}.${sha256}`;
  try {
    if (!(await isDownloaded(store, name, path, sha256, signal))) return null;
    return JSON.parse(readFileSync(path, 'utf8')) as StateIndex;
  } finally {
    rmSync(path, { force: true });
  }
}

async function isDownloaded(
  store: Pick<ObjectStore, 'download'>,
  name: string,
  path: string,
  sha256: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    return await store.download(name, path, sha256, signal);
  } catch (error) {
    if (error instanceof DamagedObjectError) return false;
    throw error;
  }
}

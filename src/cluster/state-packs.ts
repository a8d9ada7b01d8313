/**
 * Writes states into the object store. A copy stores only the pieces that no pack of the copy before it has.
 *
 * Test: test/cluster/state-packs.test.ts.
 */
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream, rmSync, writeFileSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { StateImage } from '../domain/sharing.ts';
import {
  lengthOf,
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

/** Pieces that are read at a time: their digests are made by other threads. */
const READ_AT_ONCE = 8;
const PACK_BYTES = 64 * 2 ** 20;
/** Pieces of a pack of which less is in use are stored anew. */
const LEAST_USED = 0.5;
/** With more packs than MOST_PACKS, pieces of those smaller than SMALL_BYTES are stored anew. */
const MOST_PACKS = 48;
const SMALL_BYTES = 16 * 2 ** 20;
/** Tries to read files that change meanwhile. Each stores what the one before did not. */
const TRIES = 5;

/** Writes states of one shard, one after another. */
export class StatePacks {
  readonly #options: StatePacksOptions & { readonly mostPacks?: number };
  #last: { readonly index: StateIndex; readonly version: number } | null = null;
  /** Where pieces are by their digests, also those of a copy that was not finished. */
  readonly #known = new Map<
    string,
    { readonly pack: string; readonly offset: number; readonly bytes: number }
  >();
  /** Bytes of packs by digest. */
  readonly #packs = new Map<string, number>();
  #unused: readonly string[] = [];

  /** `mostPacks`: default MOST_PACKS. */
  constructor(options: StatePacksOptions & { readonly mostPacks?: number }) {
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
        throw new Error(
          `the log was written into the tables during each of ${TRIES} tries to copy the state`,
        );
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

/**
 * Published files on the disk of a machine that answers: they come from the object store when they are read, and those
 * that were not read for longest go where all take more than their share. A file stays while it is read.
 *
 * Test: test/cluster/segment-cache.test.ts.
 */
import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inTurns } from '../domain/in-turns.ts';
import { AppError, unavailable } from '../errors.ts';
import { isOutOfRoom } from '../store/damage.ts';
import type { LetGo, SegmentFiles } from '../store/published/reading-database.ts';

/** An object that holds a file. */
export interface FileSource {
  readonly bytes: number;
  /** Writes the file whole, or rejects. */
  readonly fetch: (path: string, signal: AbortSignal) => Promise<void>;
}

export interface SegmentCacheOptions {
  /** Most bytes of all files; more while those that are read at the same time take more. Default: no limit. */
  readonly mostBytes?: number;
  /** Longest wait of a reader for a file, milliseconds. Default WAIT_MS. */
  readonly waitMs?: number;
  /** Milliseconds that never go back. Default: since the process began. */
  readonly now?: () => number;
}

interface Kept {
  source: FileSource;
  isHere: boolean;
  /** Bytes on the disk, or of the download in work. */
  bytes: number;
  /** When it was read last, as a number that rises with each reading; 0: never. */
  usedAt: number;
  /** When no manifest named it any more; null while one does. */
  droppedAt: number | null;
  /** Number of statements that read it. */
  readers: number;
  /** The download, or the deletion. */
  moving: Promise<void> | null;
  /** What has it open. */
  readonly holders: Set<LetGo>;
}

const WAIT_MS = 15_000;
/** Time for which a file stays after the last manifest that named it, milliseconds. */
const GRACE_MS = 10_000;
/** Time for which its object can be read again, milliseconds: the owner keeps it as long. */
const FETCHABLE_MS = 9 * 60_000;
/** Time for which a full disk is the limit, milliseconds. */
const FULL_MS = 60_000;
/** Files that come at a time ahead of their readers. */
const AT_ONCE = 4;

/** Files by path. */
export class SegmentCache implements SegmentFiles {
  readonly #mostBytes: number;
  readonly #waitMs: number;
  readonly #now: () => number;
  readonly #files = new Map<string, Kept>();
  /** The files of each folder by path: a machine has many folders, and each manifest is of one. */
  readonly #folders = new Map<string, Map<string, Kept>>();
  readonly #closing = new AbortController();
  /** The files for which readers wait. */
  readonly #waiting = new Set<Promise<void>>();
  #bytes = 0;
  #uses = 0;
  /** The bytes that a full disk took, until an instant. */
  #full = { bytes: Infinity, until: -Infinity };

  constructor({
    mostBytes = Infinity,
    waitMs = WAIT_MS,
    now = () => performance.now(),
  }: SegmentCacheOptions = {}) {
    this.#mostBytes = mostBytes;
    this.#waitMs = waitMs;
    this.#now = now;
  }

  /** Bytes of the files on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if a file is on the disk. */
  has(path: string): boolean {
    return this.#files.get(path)?.isHere === true;
  }

  /** Adds files that an earlier run of the process has left in a folder: of their objects nothing is known yet. */
  found(directory: string, files: Iterable<string>): void {
    for (const file of files) {
      const path = join(directory, file);
      if (!this.#files.has(path)) this.#found(path);
    }
  }

  /** Adds files of a folder. What is on the disk under their names is theirs if it has their size. */
  add(directory: string, sources: ReadonlyMap<string, FileSource>): void {
    for (const [file, source] of sources) {
      const path = join(directory, file);
      const known = this.#files.get(path);
      if (known !== undefined) {
        known.source = source;
        known.droppedAt = null;
        if (known.isHere && known.bytes !== source.bytes && known.usedAt === 0) this.#lose(path, known);
        continue;
      }
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      if (size !== undefined && size !== source.bytes) rmSync(path);
      this.#put(path, source, size === source.bytes);
    }
  }

  /** Tells the files of a folder that a manifest still names: the others go after a while. */
  keep(directory: string, named: ReadonlySet<string>): void {
    for (const [path, kept] of this.#folders.get(directory) ?? [])
      if (!named.has(path.slice(directory.length + 1))) kept.droppedAt ??= this.#now();
  }

  async take(path: string, letGo: LetGo): Promise<void> {
    const kept = this.#files.get(path) ?? this.#found(path);
    kept.readers += 1;
    kept.usedAt = this.#uses += 1;
    const waiting = Promise.withResolvers<never>();
    const timer = setTimeout(() => waiting.reject(new Error('it did not come in time')), this.#waitMs);
    try {
      const coming = this.#bring(path, kept);
      this.#waiting.add(coming);
      const came = (): boolean => this.#waiting.delete(coming);
      coming.then(came, came);
      await Promise.race([coming, waiting.promise]);
      kept.holders.add(letGo);
    } catch (error) {
      kept.readers -= 1;
      throw notHere(error);
    } finally {
      clearTimeout(timer);
    }
  }

  leave(path: string): void {
    const kept = this.#files.get(path);
    if (kept !== undefined) kept.readers -= 1;
  }

  forget(letGo: LetGo): void {
    for (const { holders } of this.#files.values()) holders.delete(letGo);
  }

  /** Brings files of a folder ahead of their readers; each as recently used as `before` was. Rejects if one does not come. */
  async bring(directory: string, files: ReadonlyMap<string, string | null>): Promise<void> {
    await inTurns([...files], AT_ONCE, async ([file, before]) => {
      const path = join(directory, file);
      const kept = this.#files.get(path);
      if (kept === undefined) return;
      const replaced = before === null ? undefined : this.#files.get(join(directory, before));
      kept.usedAt = Math.max(kept.usedAt, replaced?.usedAt ?? 0);
      await this.#bring(path, kept);
    });
  }

  /** Brings what has room beside all other files, the smallest first, while no reader waits. Rejects if one does not come. */
  async fill(): Promise<void> {
    let room = this.#limit - this.#bytes;
    const missing = [...this.#files].filter(([, kept]) => !kept.isHere && kept.droppedAt === null);
    const fitting = missing
      .toSorted(([, one], [, other]) => one.source.bytes - other.source.bytes)
      .filter(([, { source }]) => (room -= source.bytes) >= 0);
    for (const [path, kept] of fitting) {
      while (this.#waiting.size > 0) await Promise.allSettled(this.#waiting);
      await this.#bring(path, kept);
    }
  }

  /** Deletes files that no manifest has named for a while, and what is too much since it was read at the same time. */
  async tidy(): Promise<void> {
    const now = this.#now();
    for (const [path, kept] of this.#files) {
      if (kept.droppedAt === null || kept.droppedAt > now - GRACE_MS) continue;
      await this.#remove(path, kept);
      // A manifest may name it again meanwhile.
      const isGone = !kept.isHere && kept.readers === 0 && kept.moving === null;
      if (isGone && (kept.droppedAt ?? now) <= now - FETCHABLE_MS) {
        this.#files.delete(path);
        this.#folders.get(dirname(path))?.delete(path);
      }
    }
    await this.#makeRoom(0);
  }

  /** Gives up all files of a folder and those below it. Returns true once nothing is left there. */
  isLeft(directory: string): boolean {
    const below = [...this.#folders].filter(([folder]) => `${folder}/`.startsWith(`${directory}/`));
    for (const [folder] of below) this.keep(folder, new Set());
    return below.every(([, files]) =>
      [...files.values()].every(({ isHere, moving, readers }) => !isHere && moving === null && readers === 0),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#files.values()].map(({ moving }) => moving));
  }

  get #limit(): number {
    const isFull = this.#now() < this.#full.until;
    return isFull ? Math.min(this.#full.bytes, this.#mostBytes) : this.#mostBytes;
  }

  #put(path: string, source: FileSource, isHere: boolean): Kept {
    const kept: Kept = {
      source,
      isHere,
      bytes: isHere ? source.bytes : 0,
      usedAt: 0,
      droppedAt: null,
      readers: 0,
      moving: null,
      holders: new Set(),
    };
    this.#files.set(path, kept);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) this.#folders.set(folder, new Map());
    this.#folders.get(folder)!.set(path, kept);
    this.#bytes += kept.bytes;
    return kept;
  }

  /** A file of an earlier run of the process, before anything is known of the object store. */
  #found(path: string): Kept {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) throw notHere(new Error(`${path} is not known`));
    const fetch = (): Promise<void> => Promise.reject(new Error(`the object of ${path} is not known yet`));
    return this.#put(path, { bytes, fetch }, true);
  }

  async #bring(path: string, kept: Kept): Promise<void> {
    while (kept.moving !== null || !kept.isHere) {
      this.#closing.signal.throwIfAborted();
      if (kept.moving === null) this.#move(kept, () => this.#fetch(path, kept));
      await kept.moving;
    }
  }

  #move(kept: Kept, work: () => Promise<void>): void {
    const moving = work().finally(() => {
      kept.moving = null;
    });
    moving.catch(() => undefined);
    kept.moving = moving;
  }

  async #fetch(path: string, kept: Kept): Promise<void> {
    const { source } = kept;
    const fetched = async (): Promise<void> => {
      await this.#makeRoom(source.bytes);
      kept.bytes = source.bytes;
      this.#bytes += source.bytes;
      try {
        await source.fetch(path, this.#closing.signal);
        kept.isHere = true;
      } finally {
        if (!kept.isHere) this.#bytes -= kept.bytes;
      }
    };
    try {
      await fetched();
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
      // What is there already is all that the disk takes.
      this.#full = { bytes: this.#bytes, until: this.#now() + FULL_MS };
      await fetched();
    }
  }

  /** Deletes the files that were unused for longest until so many bytes have room. */
  async #makeRoom(bytes: number): Promise<void> {
    if (this.#bytes + bytes <= this.#limit) return;
    const isDropped = ([, { droppedAt }]: readonly [string, Kept]): number => (droppedAt === null ? 1 : 0);
    const unused = [...this.#files]
      .filter(([, { isHere, readers, moving }]) => isHere && readers === 0 && moving === null)
      .toSorted((one, other) => isDropped(one) - isDropped(other) || one[1].usedAt - other[1].usedAt);
    for (const [path, kept] of unused) {
      if (this.#bytes + bytes <= this.#limit) return;
      await this.#remove(path, kept);
    }
  }

  async #remove(path: string, kept: Kept): Promise<void> {
    if (!kept.isHere || kept.readers > 0 || kept.moving !== null) return;
    this.#move(kept, async () => {
      for (const letGo of kept.holders) await letGo(path).catch(() => undefined);
      kept.holders.clear();
      this.#lose(path, kept);
    });
    await kept.moving;
  }

  #lose(path: string, kept: Kept): void {
    rmSync(path, { force: true });
    kept.isHere = false;
    this.#bytes -= kept.bytes;
  }
}

function notHere(cause: unknown): AppError {
  return unavailable('A file of the views cannot be read from the object store now. Try again in a moment.', {
    cause,
  });
}

/** Covered by test/cli/rebuild.test.ts and test/main/shard-readers.test.ts. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { filesOf, readManifest } from '../published/manifest.ts';

/** A build of the views. */
export interface Epoch {
  /** Name of the folder below `<data>/views`. */
  readonly epoch: number;
  /** Sets that the partitions are divided into: partition p belongs to shard p modulo this. */
  readonly shards: number;
}

/** Which build of the views answers: `<data>/views/ACTIVE`. */
export interface ActiveEpoch extends Epoch {
  /** What answered before the last switch, kept for going back. */
  readonly previous?: Epoch;
  /**
   * Time by which readers are switched to it, in microseconds since 1970. A rebuild may have applied an entry before
   * the live worker did, so without it `lastProcessedAt` would go backwards at the switch.
   */
  readonly since?: number;
}

/** A build that is not finished, as its folder's `REBUILD` says. */
export interface RebuildMark {
  /** The build that it is to follow. */
  readonly from: Epoch;
  readonly shards: number;
  /** What its rows are made by (`definitionOf`). */
  readonly definition: string;
  /**
   * For each of its shards, the stream sequence at which it is compared with the live one, whose files as they
   * were then are kept in `live/<live shard>`. Null: there is nothing (more) to compare.
   */
  readonly compareAt: readonly number[] | null;
}

/** `<data>/views/<epoch>/<shard>`. */
export function shardDirectory(dataDir: string, epoch: number, shard: number): string {
  return join(dataDir, 'views', String(epoch), String(shard));
}

/** Where an unfinished build keeps a live shard's files for comparison. */
export function pinnedDirectory(dataDir: string, epoch: number, liveShard: number): string {
  return join(dataDir, 'views', String(epoch), 'live', String(liveShard));
}

/** The active epoch; null before the worker's first start, and while what says it is damaged. */
export function readActiveEpoch(dataDir: string): ActiveEpoch | null {
  const file = join(dataDir, 'views', 'ACTIVE');
  // Every query asks: the file is read again only when it was replaced.
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const stamp = `${stat.ino}:${stat.mtimeNs}:${stat.size}`;
  const known = lastRead.get(file);
  if (known?.stamp === stamp) return known.active;
  const read = readJson<Partial<ActiveEpoch> | null>(file);
  const active = isPositive(read?.epoch) && isPositive(read?.shards) ? (read as ActiveEpoch) : null;
  // A file that was replaced meanwhile has another stamp.
  lastRead.set(file, { stamp, active });
  return active;
}

const lastRead = new Map<string, { readonly stamp: string; readonly active: ActiveEpoch | null }>();

/** The active epoch to be, when readers are switched to it within so many milliseconds. */
export function switchedWithin(ms: number, from: ActiveEpoch, to: Epoch): ActiveEpoch {
  return {
    epoch: to.epoch,
    shards: to.shards,
    previous: { epoch: from.epoch, shards: from.shards },
    since: Math.max((Date.now() + ms) * 1000, from.since ?? 0),
  };
}

/** Since when the active views answer, in microseconds since 1970; not later than now. */
export function answeringSince(dataDir: string): number {
  return Math.min(readActiveEpoch(dataDir)?.since ?? 0, Date.now() * 1000);
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Whether there are views. When nothing says which of them answer, the worker chooses. */
export function hasViews(dataDir: string): boolean {
  return findFurthest(dataDir) !== null;
}

/** The build that has counted most of the stream, the latest of equals; null when there is none. */
function findFurthest(dataDir: string): Epoch | null {
  let furthest: (Epoch & { readonly reached: number }) | null = null;
  for (const epoch of epochsOn(dataDir)) {
    let [shards, reached] = [0, 0];
    for (; existsSync(join(shardDirectory(dataDir, epoch, shards), 'state.duckdb')); shards += 1)
      reached += readManifest(shardDirectory(dataDir, epoch, shards))?.sequence ?? 0;
    if (shards > 0 && reached >= (furthest?.reached ?? 0)) furthest = { epoch, shards, reached };
  }
  return furthest === null ? null : { epoch: furthest.epoch, shards: furthest.shards };
}

/** Switches readers to an epoch, atomically and durably. */
export function writeActiveEpoch(dataDir: string, active: ActiveEpoch): void {
  prepareActiveEpoch(dataDir, active)();
}

/** Prepares a switch, which takes time; the function that it returns switches at once. The caller may leave it out. */
export function prepareActiveEpoch(dataDir: string, active: ActiveEpoch): () => void {
  mkdirSync(join(dataDir, 'views'), { recursive: true, mode: 0o700 });
  return prepareFile(join(dataDir, 'views', 'ACTIVE'), JSON.stringify(active));
}

/**
 * The epoch that a worker updates; made with so many shards at its first start. When nothing says which it is,
 * although there are views, it is the build that has counted most of the stream, and `onLost` is called.
 */
export function openActiveEpoch(
  dataDir: string,
  shards: number,
  onLost: (taken: Epoch) => void = () => undefined,
): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active !== null) return active;
  const furthest = findFurthest(dataDir);
  if (furthest !== null) onLost(furthest);
  const taken = furthest ?? { epoch: 1, shards };
  writeActiveEpoch(dataDir, taken);
  return taken;
}

/** The newest unfinished build; null when there is none. */
export function readUnfinished(dataDir: string, active: ActiveEpoch): (Epoch & RebuildMark) | null {
  for (const epoch of epochsOn(dataDir).toReversed()) {
    if (epoch === active.epoch || epoch === active.previous?.epoch) continue;
    const mark = readJson<RebuildMark>(markFile(dataDir, epoch));
    if (mark !== null) return { epoch, ...mark };
  }
  return null;
}

/**
 * Begins a build in a folder of its own: keeps the live segments for comparison, then says what it is. A
 * crash before the end leaves a folder that nobody takes for anything.
 */
export function beginRebuild(
  dataDir: string,
  active: ActiveEpoch,
  options: Pick<RebuildMark, 'shards' | 'definition'> & {
    readonly compareAt: (liveSequences: readonly number[]) => readonly number[] | null;
  },
): Epoch & RebuildMark {
  const epoch = 1 + Math.max(active.epoch, active.previous?.epoch ?? 0, ...epochsOn(dataDir));
  const from = { epoch: active.epoch, shards: active.shards };
  mkdirSync(join(dataDir, 'views', String(epoch)), { recursive: true, mode: 0o700 });
  const liveSequences = Array.from({ length: from.shards }, (_, shard) =>
    pinGeneration(shardDirectory(dataDir, from.epoch, shard), pinnedDirectory(dataDir, epoch, shard)),
  );
  const mark = {
    from,
    shards: options.shards,
    definition: options.definition,
    compareAt: options.compareAt(liveSequences),
  };
  replaceFile(markFile(dataDir, epoch), JSON.stringify(mark));
  return { epoch, ...mark };
}

/** Notes durably that there is nothing more to compare, and deletes the live files that were kept for it. */
export function markCompared(
  dataDir: string,
  { epoch, from, shards, definition }: Epoch & RebuildMark,
): void {
  const mark: RebuildMark = { from, shards, definition, compareAt: null };
  replaceFile(markFile(dataDir, epoch), JSON.stringify(mark));
  rmSync(join(dataDir, 'views', String(epoch), 'live'), { recursive: true, force: true });
}

/** Deletes every build but the given ones. */
export function removeOtherEpochs(dataDir: string, kept: readonly number[]): number[] {
  const removed = epochsOn(dataDir).filter((epoch) => !kept.includes(epoch));
  for (const epoch of removed) {
    // The mark goes first: without it, nobody continues the build.
    rmSync(markFile(dataDir, epoch), { force: true });
    rmSync(join(dataDir, 'views', String(epoch)), { recursive: true, force: true });
  }
  return removed;
}

/** Replaces a file by rename, so that a crash leaves the old text or the new one. */
export function replaceFile(file: string, text: string): void {
  prepareFile(file, text)();
}

function prepareFile(file: string, text: string): () => void {
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  fsyncPath(temporary);
  return () => {
    renameSync(temporary, file);
    fsyncPath(dirname(file));
  };
}

function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Builds that have a folder, ascending. */
export function epochsOn(dataDir: string): number[] {
  const directory = join(dataDir, 'views');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

function markFile(dataDir: string, epoch: number): string {
  return join(dataDir, 'views', String(epoch), 'REBUILD');
}

function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

/** Files may be replaced while they are being linked: then the newer manifest is taken. */
const PIN_ATTEMPTS = 20;

/**
 * Keeps the published segments of this moment under another folder, by links where they are possible; the
 * publisher may delete its own files. Its sequence; 0 when nothing is published.
 */
function pinGeneration(directory: string, to: string): number {
  for (let attempt = 1; ; attempt += 1) {
    rmSync(to, { recursive: true, force: true });
    const manifest = readManifest(directory);
    if (manifest === null) return 0;
    mkdirSync(to, { recursive: true, mode: 0o700 });
    try {
      for (const file of filesOf(manifest)) linkOrCopy(join(directory, file), join(to, file));
      replaceFile(join(to, 'CURRENT'), JSON.stringify(manifest));
      return manifest.sequence;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === PIN_ATTEMPTS) throw error;
    }
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    copyFileSync(from, to);
  }
}

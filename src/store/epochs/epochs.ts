/**
 * The builds of the views on disk, and the switch between them. `ACTIVE` names the build that answers, and changes by
 * rename, so readers see the old build or the new one.
 *
 * Test: test/cli/rebuild.test.ts, test/store/published/shard-readers.test.ts.
 */
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

/** One build of the views. */
export interface Epoch {
  /** Name of its folder in `<data>/views`. */
  readonly epoch: number;
  /** Number of shards: partition p belongs to shard p modulo this. */
  readonly shards: number;
}

/** The build of the views that answers: `<data>/views/ACTIVE`. */
export interface ActiveEpoch extends Epoch {
  /** The build before the last switch, kept for a rollback. */
  readonly previous?: Epoch;
  /**
   * Time of the switch, microseconds since 1970-01-01 UTC. A rebuild may have applied an entry before the live worker
   * did, so without it `lastProcessedAt` could decrease at the switch.
   */
  readonly since?: number;
}

/** An unfinished build, as the file `REBUILD` in its folder describes it. */
export interface RebuildMark {
  /** The build that it replaces. */
  readonly from: Epoch;
  readonly shards: number;
  /** The definition of its rows (`definitionOf`). */
  readonly definition: string;
  /**
   * For each shard, the stream sequence at which it is compared with the live one, whose files at that time are pinned
   * in `live/<live shard>`. Null: no comparison is left to do.
   */
  readonly compareAt: readonly number[] | null;
}

/** The folder `<data>/views/<epoch>/<shard>`. */
export function shardDirectory(dataDir: string, epoch: number, shard: number): string {
  return join(dataDir, 'views', String(epoch), String(shard));
}

/** The folder in which an unfinished build pins a live shard's files for comparison. */
export function pinnedDirectory(dataDir: string, epoch: number, liveShard: number): string {
  return join(dataDir, 'views', String(epoch), 'live', String(liveShard));
}

/** The active epoch; null before the worker's first start, and while `ACTIVE` is damaged. */
export function readActiveEpoch(dataDir: string): ActiveEpoch | null {
  const file = join(dataDir, 'views', 'ACTIVE');
  // Every query calls this, so the file is read again only after it was replaced.
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const stamp = `${stat.ino}:${stat.mtimeNs}:${stat.size}`;
  const known = lastRead.get(file);
  if (known?.stamp === stamp) return known.active;
  const read = readJson<Partial<ActiveEpoch> | null>(file);
  const active = isPositive(read?.epoch) && isPositive(read?.shards) ? (read as ActiveEpoch) : null;
  // If the file was replaced in between, its next stamp differs.
  lastRead.set(file, { stamp, active });
  return active;
}

const lastRead = new Map<string, { readonly stamp: string; readonly active: ActiveEpoch | null }>();

/** The next active epoch, if readers switch to it within `ms` milliseconds. */
export function switchedWithin(ms: number, from: ActiveEpoch, to: Epoch): ActiveEpoch {
  return {
    epoch: to.epoch,
    shards: to.shards,
    previous: { epoch: from.epoch, shards: from.shards },
    since: Math.max((Date.now() + ms) * 1000, from.since ?? 0),
  };
}

/** The time since which the active views answer, microseconds since 1970-01-01 UTC; not later than now. */
export function answeringSince(dataDir: string): number {
  return Math.min(readActiveEpoch(dataDir)?.since ?? 0, Date.now() * 1000);
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Returns true if there are views. Without `ACTIVE`, the worker chooses among them. */
export function hasViews(dataDir: string): boolean {
  return findFurthest(dataDir) !== null;
}

/** The build that has counted most of the stream; of equals, the latest. Null if there is none. */
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

/** Prepares a switch, which takes time. The returned function performs it at once; the caller need not call it. */
export function prepareActiveEpoch(dataDir: string, active: ActiveEpoch): () => void {
  mkdirSync(join(dataDir, 'views'), { recursive: true, mode: 0o700 });
  return prepareFile(join(dataDir, 'views', 'ACTIVE'), JSON.stringify(active));
}

/**
 * The epoch that a worker updates; created with `shards` at the first start. If `ACTIVE` is lost, it is the build that
 * has counted most of the stream, and `onLost` is called.
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

/** The newest unfinished build; null if there is none. */
export function readUnfinished(dataDir: string, active: ActiveEpoch): (Epoch & RebuildMark) | null {
  for (const epoch of epochsOn(dataDir).toReversed()) {
    if (epoch === active.epoch || epoch === active.previous?.epoch) continue;
    const mark = readJson<RebuildMark>(markFile(dataDir, epoch));
    if (mark !== null) return { epoch, ...mark };
  }
  return null;
}

/**
 * Begins a build in a new folder: pins the live segments for comparison, then writes the mark. After a crash before the
 * mark, no process uses the folder.
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

/** Notes durably that the comparison is done, and deletes the pinned files. */
export function markCompared(
  dataDir: string,
  { epoch, from, shards, definition }: Epoch & RebuildMark,
): void {
  const mark: RebuildMark = { from, shards, definition, compareAt: null };
  replaceFile(markFile(dataDir, epoch), JSON.stringify(mark));
  rmSync(join(dataDir, 'views', String(epoch), 'live'), { recursive: true, force: true });
}

/** Deletes all builds but the given ones. Returns the deleted epochs. */
export function removeOtherEpochs(dataDir: string, kept: readonly number[]): number[] {
  const removed = epochsOn(dataDir).filter((epoch) => !kept.includes(epoch));
  for (const epoch of removed) {
    // The mark goes first: without it, no process continues the build.
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

/** Epochs that have a folder, ascending. */
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

/** Attempts to link files; the publisher may replace them meanwhile, and then the newer manifest is used. */
const PIN_ATTEMPTS = 20;

/**
 * Pins the published segments in another folder, by links where possible, as the publisher may delete its own. Returns
 * the pinned sequence; 0 when nothing is published.
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

/**
 * Keeps a folder with the files of the views that answer, as the object store has them: whoever reads it sees one
 * manifest of a shard at a time, and never an older one after a newer.
 *
 * Test: test/cluster/mirror.test.ts, test/cluster/shared-shard.test.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurns } from '../domain/in-turns.ts';
import type { Logger } from '../logger.ts';
import { clearDamage, notedDamage } from '../store/damage.ts';
import { epochsOn, shardDirectory, writeActiveEpoch } from '../store/epochs/epochs.ts';
import { isDownloaded, type ObjectStore } from '../store/objects/object-store.ts';
import {
  completeUntil,
  filesOf,
  readManifest,
  writeManifest,
  type Manifest,
} from '../store/published/manifest.ts';
import type { KeyValueBucket, KeyValueWatch } from '../stream/kv/key-value.ts';
import { isLevel, type StreamDivision } from './level.ts';
import type { FileSource, SegmentCache } from './segment-cache.ts';
import type { ActiveViews, PublishedShard, SharedDefinition, StoredFile, ViewsKeys } from './views-bucket.ts';

export interface MirrorOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'download'>;
  readonly keys: ViewsKeys;
  readonly stream: StreamDivision;
  /** Tells the owner of a shard's key that an object cannot be read. */
  readonly sayLost: (key: string, name: string) => void;
  /** Folder of the copy, with `views/ACTIVE` as in a data directory. */
  readonly folder: string;
  /** The files in the folder. The caller closes it. */
  readonly cache: SegmentCache;
  readonly logger: Logger;
}

const PAUSE_MS = 500;
const LOOK_MS = 1000;
/**
 * Time for which views stand still before those that follow are shown. Objects stay for longer after no manifest names
 * them.
 */
const STILL_MS = 60_000;
const SEGMENT_FILE = /\.duckdb$/;
/** As `byContent` names files. */
const MIRRORED_FILE = /-([0-9a-f]{64})-\d+\.duckdb$/;

interface Followed {
  readonly views: SharedDefinition;
  readonly epoch: number;
  readonly shards: FollowedShard[];
  isActive: boolean;
  /** `performance.now()` up to which nothing newer is read, so that the views that follow reach what is shown. */
  stillUntil: number;
}

/** Follows the bucket until it is closed. What cannot be read now is tried again. */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #closing = new AbortController();
  readonly #entries = new Map<string, PublishedShard>();
  #active: ActiveViews | null = null;
  #followed: Followed | null = null;
  #before: Followed | null = null;
  #watch: KeyValueWatch;
  #wake: () => void = () => undefined;
  #filling: Promise<void> | null = null;
  readonly #running: Promise<void>;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#watch = this.#follow();
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await this.#running;
    await this.#filling;
    await this.#watch.close();
  }

  #follow(): KeyValueWatch {
    const { bucket, keys, logger } = this.#options;
    const watch = bucket.watch((key, value) => {
      if (value === null) return;
      try {
        if (key === keys.active) this.#active = JSON.parse(value) as ActiveViews;
        else if (/\.\d+$/.test(key)) this.#entries.set(key, JSON.parse(value) as PublishedShard);
        else return;
        this.#wake();
      } catch (error) {
        logger.error({ event: 'views_key_damaged', key, err: error }, 'a key of the bucket cannot be read');
      }
    });
    watch.loaded.catch(() => undefined);
    void watch.failed.then(async () => {
      void watch.close();
      await sleep(PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      if (!this.#closing.signal.aborted) this.#watch = this.#follow();
    });
    return watch;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      try {
        // What is gone from the views goes from the disk, whatever cannot be read now.
        await this.#sync().finally(() => this.#tidy());
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.warn(
          { event: 'mirror_failed', err: error },
          'the views could not be read from the object store: web tries again',
        );
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
        continue;
      }
      await Promise.race([woken, sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)]);
    }
  }

  /**
   * Brings all shards to their newest manifests, and switches to other views once these have counted what was read here.
   */
  async #sync(): Promise<void> {
    const { keys, folder, stream } = this.#options;
    const active = this.#active;
    if (active === null) return;
    if (this.#followed === null || keys.scopeOf(this.#followed.views) !== keys.scopeOf(active)) {
      this.#before = this.#followed?.isActive === true ? this.#followed : this.#before;
      this.#followed = this.#begin(active);
    }
    const [before, followed] = [this.#before, this.#followed];
    // Until the switch, the views before it still answer.
    if (before !== null && performance.now() >= before.stillUntil) await this.#bring(before);
    await this.#bring(followed);
    const reached = followed.shards.map((shard) => shard.reached);
    if (followed.isActive || reached.some((sequence) => sequence < 0)) return;
    if (before !== null && performance.now() >= before.stillUntil)
      before.stillUntil = performance.now() + STILL_MS;
    const shown = before?.shards.map((shard) => shard.reached) ?? [];
    // What was read is not shown again in an older state.
    if (!(await isLevel(reached, shown, stream))) return;
    writeActiveEpoch(folder, { epoch: followed.epoch, shards: active.shards });
    followed.isActive = true;
    this.#before = null;
  }

  async #bring({ shards }: Followed): Promise<void> {
    // All of them end before another look begins.
    await inTurns(shards, shards.length, (shard) => shard.sync(this.#entries.get(shard.key) ?? null));
  }

  /** Deletes what nobody reads any more, and brings more ahead of its readers. */
  async #tidy(): Promise<void> {
    const { cache, folder, logger } = this.#options;
    await cache.tidy();
    const read = [this.#before, this.#followed].map((each) => each?.epoch);
    if (this.#followed?.isActive !== true) return;
    for (const epoch of epochsOn(folder)) {
      const views = join(folder, 'views', String(epoch));
      if (!read.includes(epoch) && cache.isLeft(views)) rmSync(views, { recursive: true, force: true });
    }
    this.#filling ??= cache
      .fill()
      .catch((error: unknown) =>
        logger.debug({ event: 'mirror_not_filled', err: error }, 'a file could not be brought ahead'),
      )
      .finally(() => {
        this.#filling = null;
      });
  }

  /** A folder is named by what it holds, so files of an earlier run of the process are used again. */
  #begin(views: SharedDefinition): Followed {
    const { keys, folder } = this.#options;
    const name = createHash('sha256').update(keys.scopeOf(views)).digest();
    const epoch = 1 + name.readUInt32BE();
    return {
      views,
      epoch,
      isActive: false,
      stillUntil: -Infinity,
      shards: Array.from(
        { length: views.shards },
        (_, shard) =>
          new FollowedShard({
            ...this.#options,
            key: keys.shard(views, shard),
            directory: shardDirectory(folder, epoch, shard),
          }),
      ),
    };
  }
}

interface FollowedShardOptions extends Pick<MirrorOptions, 'store' | 'sayLost' | 'cache'> {
  readonly key: string;
  readonly directory: string;
}

/** The folder of one shard. */
class FollowedShard {
  readonly key: string;
  readonly #options: FollowedShardOptions;
  #applied: Manifest | null;
  /** Part of the names of files: raised when they are damaged. */
  #generation = 0;
  /** True from a note of damage until all files were read again. */
  #isDamaged = false;
  /** What was applied last, or left out. */
  #seen: PublishedShard | null = null;

  constructor(options: FollowedShardOptions) {
    this.key = options.key;
    this.#options = options;
    const { directory } = options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const manifest = readManifest(directory);
    this.#applied = manifest;
    const named = manifest === null ? new Set<string>() : filesOf(manifest);
    const found = readdirSync(directory);
    for (const file of [...named, ...found])
      this.#generation = Math.max(this.#generation, Number(/-(\d+)\.duckdb$/.exec(file)?.[1] ?? 0));
    for (const file of found)
      if (file.endsWith('.tmp') || (SEGMENT_FILE.test(file) && !named.has(file)))
        rmSync(join(directory, file));
    // They go once a newer manifest does not name them, also where nobody has read them since.
    options.cache.found(
      directory,
      found.filter((file) => named.has(file)),
    );
  }

  /** The sequence up to which the folder has all; -1 if it has nothing. */
  get reached(): number {
    return this.#applied === null ? -1 : completeUntil(this.#applied);
  }

  /** Goes on to what is published. Two of them at a time could go back. */
  async sync(entry: PublishedShard | null): Promise<void> {
    const { directory, cache } = this.#options;
    if (notedDamage(directory, 'segments') !== null && !this.#isDamaged) {
      this.#isDamaged = true;
      // Under new names, as readers have the damaged files open.
      this.#generation += 1;
      this.#applied = null;
    }
    if (entry?.manifest == null || (entry === this.#seen && this.#applied !== null)) return;
    const { manifest, files } = byContent(entry.manifest, entry.files, this.#generation);
    const before = this.#applied;
    if (before === null || !isEarlier(manifest, before)) {
      const sources = new Map([...files].map(([file, stored]) => [file, this.#sourceOf(stored)]));
      cache.add(directory, sources);
      if (before === null || !isSame(manifest, before)) {
        await cache.bring(directory, this.#ahead(manifest));
        writeManifest(
          directory,
          manifest,
          Object.fromEntries([...files].map(([file, { bytes }]) => [file, bytes])),
        );
        cache.keep(directory, new Set(files.keys()));
        if (this.#isDamaged) clearDamage(directory, 'segments');
        this.#isDamaged = false;
        this.#applied = manifest;
      }
    }
    this.#seen = entry;
  }

  /** The files that come before the manifest: small ones, and those of tables that were read, with a file before each. */
  #ahead(manifest: Manifest): Map<string, string | null> {
    const { directory, cache } = this.#options;
    const ahead = new Map<string, string | null>();
    for (const [table, segments] of Object.entries(manifest.tables)) {
      const before = this.#applied?.tables[table] ?? [];
      const read = before.find(({ file }) => cache.has(join(directory, file)))?.file ?? null;
      for (const { file } of segments) if (read !== null || file.startsWith('newest-')) ahead.set(file, read);
    }
    return ahead;
  }

  #sourceOf({ name, sha256, bytes }: SizedFile): FileSource {
    const { store, sayLost } = this.#options;
    const fetch = async (path: string, signal: AbortSignal): Promise<void> => {
      if (await isDownloaded(store, { name, sha256 }, path, signal)) return;
      sayLost(this.key, name);
      throw new Error(`the object ${name} is gone or damaged: its owner is told`);
    };
    return { bytes, fetch };
  }
}

interface SizedFile extends StoredFile {
  readonly bytes: number;
}

/** True if readers of one manifest must not go on to another one. */
function isEarlier(manifest: Manifest, before: Manifest): boolean {
  return manifest.sequence < before.sequence || completeUntil(manifest) < completeUntil(before);
}

function isSame(manifest: Manifest, before: Manifest): boolean {
  return manifest.seq === before.seq && JSON.stringify(manifest.tables) === JSON.stringify(before.tables);
}

/** Names files by their content: another owner may give the same name to other rows. */
function byContent(
  manifest: Manifest,
  stored: PublishedShard['files'],
  generation: number,
): { readonly manifest: Manifest; readonly files: ReadonlyMap<string, SizedFile> } {
  const files = new Map<string, SizedFile>();
  const renamed = (file: string): string => {
    const object = stored[file];
    const bytes = manifest.sizes?.[file];
    if (object === undefined || bytes === undefined) throw new Error(`no object holds ${file}`);
    const kind = file.startsWith('newest-') ? 'newest' : 'merged';
    const name = `${kind}-${object.sha256}-${generation}.duckdb`;
    files.set(name, { ...object, bytes });
    return name;
  };
  const tables = Object.entries(manifest.tables).map(([table, segments]) => [
    table,
    segments.map((segment) => ({ ...segment, file: renamed(segment.file) })),
  ]);
  return { manifest: { ...manifest, tables: Object.fromEntries(tables) }, files };
}

/** The paths of the files in a mirror by their digests. */
export function mirroredFiles(folder: string): ReadonlyMap<string, string> {
  const views = join(folder, 'views');
  if (!existsSync(views)) return new Map();
  return new Map(
    readdirSync(views, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
      const [, sha256] = MIRRORED_FILE.exec(file) ?? [];
      return sha256 === undefined ? [] : [[sha256, join(views, file)] as const];
    }),
  );
}

/**
 * Keeps a folder with the files of the views that answer, as the object store has them: whoever reads it sees one
 * manifest of a shard at a time, and never an older one after a newer.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurns } from '../domain/in-turns.ts';
import type { Logger } from '../logger.ts';
import { clearDamage, notedDamage } from '../store/damage.ts';
import { epochsOn, shardDirectory, writeActiveEpoch } from '../store/epochs/epochs.ts';
import { DamagedObjectError, type ObjectStore } from '../store/objects/object-store.ts';
import {
  completeUntil,
  filesOf,
  findMissingFile,
  readManifest,
  writeManifest,
  type Manifest,
} from '../store/published/manifest.ts';
import type { KeyValueBucket, KeyValueWatch } from '../stream/kv/key-value.ts';
import type { ActiveViews, PublishedShard, SharedDefinition, StoredFile, ViewsKeys } from './views-bucket.ts';

export interface MirrorOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'download'>;
  readonly keys: ViewsKeys;
  /** Tells the owner of a shard's key that an object cannot be read. */
  readonly sayLost: (key: string, name: string) => void;
  /** Folder of the copy, with `views/ACTIVE` as in a data directory. */
  readonly folder: string;
  /** Builds of other views in the folder are left there. Default false. */
  readonly keepsOthers?: boolean;
  readonly logger: Logger;
}

/** Time for which files of a replaced manifest stay, milliseconds. */
const GRACE_MS = 10_000;
const PAUSE_MS = 500;
const LOOK_MS = 1000;
const AT_ONCE = 4;
const SEGMENT_FILE = /\.duckdb$/;

interface Followed {
  readonly views: SharedDefinition;
  readonly epoch: number;
  readonly shards: FollowedShard[];
  isActive: boolean;
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
        await this.#sync();
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

  /** Brings all shards to their newest manifests, and switches to other views once all their shards are there. */
  async #sync(): Promise<void> {
    const { keys, folder } = this.#options;
    const active = this.#active;
    if (active === null) return;
    if (this.#followed === null || keys.scopeOf(this.#followed.views) !== keys.scopeOf(active)) {
      this.#before = this.#followed?.isActive === true ? this.#followed : this.#before;
      this.#followed = this.#begin(active);
    }
    const followed = this.#followed;
    // Until the switch, the views before it still answer.
    for (const each of [this.#before, followed])
      if (each !== null)
        await Promise.all(each.shards.map((shard) => shard.sync(this.#entries.get(shard.key) ?? null)));
    if (followed.isActive || followed.shards.some(({ reached }) => reached < 0)) return;
    const before = this.#before;
    // What was read of the same shard before is not shown again in an older state.
    if (
      before?.shards.length === followed.shards.length &&
      followed.shards.some((shard, index) => shard.reached < before.shards[index]!.reached)
    )
      return;
    writeActiveEpoch(folder, { epoch: followed.epoch, shards: active.shards });
    followed.isActive = true;
    this.#before = null;
    for (const epoch of this.#options.keepsOthers === true ? [] : epochsOn(folder))
      if (epoch !== followed.epoch)
        rmSync(join(folder, 'views', String(epoch)), { recursive: true, force: true });
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
      shards: Array.from(
        { length: views.shards },
        (_, shard) =>
          new FollowedShard({
            ...this.#options,
            key: keys.shard(views, shard),
            directory: shardDirectory(folder, epoch, shard),
            signal: this.#closing.signal,
          }),
      ),
    };
  }
}

interface FollowedShardOptions extends Pick<MirrorOptions, 'store' | 'logger' | 'sayLost'> {
  readonly key: string;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** The folder of one shard. */
class FollowedShard {
  readonly key: string;
  readonly #options: FollowedShardOptions;
  readonly #replaced = new Map<string, number>();
  #applied: Manifest | null;
  /** Part of the names of files: raised when they are damaged. */
  #generation = 0;
  /** True from a note of damage until all files were read again. */
  #isDamaged = false;

  constructor(options: FollowedShardOptions) {
    this.key = options.key;
    this.#options = options;
    const { directory } = options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const manifest = readManifest(directory);
    this.#applied = manifest !== null && findMissingFile(directory, manifest) === null ? manifest : null;
    const named = manifest === null ? new Set<string>() : filesOf(manifest);
    for (const file of readdirSync(directory)) {
      if (file.endsWith('.tmp')) rmSync(join(directory, file));
      if (!SEGMENT_FILE.test(file)) continue;
      this.#generation = Math.max(this.#generation, Number(/-(\d+)\.duckdb$/.exec(file)?.[1] ?? 0));
      if (!named.has(file)) this.#replaced.set(file, performance.now());
    }
  }

  /** The sequence up to which the folder has all; -1 if it has nothing. */
  get reached(): number {
    return this.#applied === null ? -1 : completeUntil(this.#applied);
  }

  async sync(entry: PublishedShard | null): Promise<void> {
    const { directory } = this.#options;
    this.#removeReplaced();
    if (notedDamage(directory, 'segments') !== null && !this.#isDamaged) {
      this.#isDamaged = true;
      // Under new names, as readers have the damaged files open.
      this.#generation += 1;
      this.#applied = null;
    }
    const manifest = entry?.manifest ?? null;
    if (entry === null || manifest === null) return;
    const renamed = byContent(manifest, entry.files, this.#generation);
    if (this.#hasSeen(renamed.manifest)) return;
    await this.#download(renamed.files);
    writeManifest(directory, renamed.manifest);
    if (this.#isDamaged) clearDamage(directory, 'segments');
    this.#isDamaged = false;
    for (const file of readdirSync(directory))
      if (SEGMENT_FILE.test(file) && !renamed.files.has(file) && !this.#replaced.has(file))
        this.#replaced.set(file, performance.now());
    this.#applied = renamed.manifest;
  }

  /** True if the folder has this manifest, or one of which readers must not go back to this one. */
  #hasSeen(manifest: Manifest): boolean {
    const before = this.#applied;
    if (before === null) return false;
    if (manifest.sequence < before.sequence || completeUntil(manifest) < completeUntil(before)) return true;
    return manifest.seq === before.seq && JSON.stringify(manifest.tables) === JSON.stringify(before.tables);
  }

  async #download(files: ReadonlyMap<string, StoredFile>): Promise<void> {
    const { store, directory, signal, sayLost } = this.#options;
    const missing: string[] = [];
    for (const file of files.keys()) {
      this.#replaced.delete(file);
      if (!existsSync(join(directory, file))) missing.push(file);
    }
    await inTurns(missing, AT_ONCE, async (file) => {
      const { name, sha256 } = files.get(file)!;
      const isRead = await store
        .download(name, join(directory, file), sha256, signal)
        .catch((error: unknown) => {
          if (error instanceof DamagedObjectError) return false;
          throw error;
        });
      if (isRead) return;
      sayLost(this.key, name);
      throw new Error(`the object ${name} is gone or damaged: its owner is told`);
    });
  }

  #removeReplaced(): void {
    for (const [file, since] of this.#replaced) {
      if (performance.now() - since < GRACE_MS) continue;
      rmSync(join(this.#options.directory, file), { force: true });
      this.#replaced.delete(file);
    }
  }
}

/** Names files by their content: another owner may give the same name to other rows. */
function byContent(
  manifest: Manifest,
  stored: PublishedShard['files'],
  generation: number,
): { readonly manifest: Manifest; readonly files: ReadonlyMap<string, StoredFile> } {
  const files = new Map<string, StoredFile>();
  const renamed = (file: string): string => {
    const object = stored[file];
    if (object === undefined) throw new Error(`no object holds ${file}`);
    const kind = file.startsWith('newest-') ? 'newest' : 'merged';
    const name = `${kind}-${object.sha256}-${generation}.duckdb`;
    files.set(name, object);
    return name;
  };
  const tables = Object.entries(manifest.tables).map(([table, segments]) => [
    table,
    segments.map((segment) => ({ ...segment, file: renamed(segment.file) })),
  ]);
  return { manifest: { ...manifest, tables: Object.fromEntries(tables) }, files };
}

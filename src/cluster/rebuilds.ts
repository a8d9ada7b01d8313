/**
 * Rebuilds that several machines do together: one at a time of the views that answer. The machines make the states of
 * the shards one by one. A state is void once data was taken out of its shard; whoever has made a state again replaces
 * it. When all are there, the shards begin a generation with them.
 *
 * Test: test/cluster/shared-rebuild.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurns } from '../domain/in-turns.ts';
import { SetupError } from '../errors.ts';
import { isDownloaded, type ObjectStore } from '../store/objects/object-store.ts';
import { writeManifest } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import type { Generations } from './generations.ts';
import {
  objectsOf,
  readKey,
  readState,
  writeKey,
  type PublishedShard,
  type RebuiltState,
  type SharedDefinition,
  type ViewsKeys,
} from './views-bucket.ts';

/** Time for the files of a shard to come from the object store, milliseconds. */
const PINNED_WITHIN_MS = 30 * 60_000;
const LOOK_MS = 200;
const AT_ONCE = 4;

/** A rebuild of some views. */
export interface Rebuild {
  readonly id: string;
  /** Most messages a second on each machine that joins by itself; null: no limit. */
  readonly throttle: number | null;
  /** It reads a backup, which other machines do not have. */
  readonly isFromBackup: boolean;
  /** True once the shards go on with what it has made. */
  readonly isDone: boolean;
}

export interface RebuildsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'download' | 'remove'>;
  readonly keys: ViewsKeys;
  readonly generations: Pick<Generations, 'generationOf' | 'upload'>;
  readonly views: SharedDefinition;
}

/** The rebuilds of some views. */
export class Rebuilds {
  readonly #options: RebuildsOptions;

  constructor(options: RebuildsOptions) {
    this.#options = options;
  }

  /** The rebuild, also a finished one; null if there is none. */
  async find(): Promise<Rebuild | null> {
    const { bucket, keys, views } = this.#options;
    return (await readKey<Rebuild>(bucket, keys.rebuild(views)))?.value ?? null;
  }

  /** Joins the unfinished rebuild, or begins one. Deletes what an earlier one has left. */
  async begin(how: Pick<Rebuild, 'throttle' | 'isFromBackup'>): Promise<Rebuild> {
    const { bucket, keys, views } = this.#options;
    for (;;) {
      const before = await readKey<Rebuild>(bucket, keys.rebuild(views));
      if (before !== null && !before.value.isDone) return before.value;
      const next: Rebuild = { id: randomUUID(), ...how, isDone: false };
      if ((await writeKey(bucket, keys.rebuild(views), next, before?.revision ?? null)) === null) continue;
      await this.#removeStates((state) => state.rebuild !== next.id);
      return next;
    }
  }

  /** Ends the unfinished rebuild and deletes what it has made. Returns false if there is none. */
  async abandon(): Promise<boolean> {
    const { bucket, keys, views } = this.#options;
    for (;;) {
      const before = await readKey<Rebuild>(bucket, keys.rebuild(views));
      if (before === null || before.value.isDone) return false;
      if (!(await bucket.remove(keys.rebuild(views), before.revision))) continue;
      await this.#removeStates(() => true);
      return true;
    }
  }

  /** Notes that the shards go on with what a rebuild has made. */
  async finish({ id }: Rebuild): Promise<void> {
    const { bucket, keys, views } = this.#options;
    const before = await readKey<Rebuild>(bucket, keys.rebuild(views));
    if (before?.value.id === id)
      await writeKey(bucket, keys.rebuild(views), { ...before.value, isDone: true }, before.revision);
    await this.#removeStates((state) => state.rebuild === id);
  }

  /** What a rebuild has made of a shard; null if it has nothing yet, or if that is void. */
  async made({ id }: Rebuild, shard: number): Promise<RebuiltState | null> {
    const { bucket, keys, views, generations } = this.#options;
    const made = (await readKey<RebuiltState>(bucket, keys.rebuilt(views, shard)))?.value ?? null;
    if (made?.rebuild !== id) return null;
    return made.generation === (await generations.generationOf(views, shard)) ? made : null;
  }

  /** True while a rebuild needs the state of a shard at a generation. */
  async isWanted(rebuild: Rebuild, shard: number, generation: number): Promise<boolean> {
    const { views, generations } = this.#options;
    const now = await this.find();
    if (now?.id !== rebuild.id || now.isDone) return false;
    if ((await generations.generationOf(views, shard)) !== generation) return false;
    return (await this.made(rebuild, shard)) === null;
  }

  /** Stores what was made of a shard, unless that is void by now or another machine was faster. */
  async store(
    rebuild: Rebuild,
    shard: number,
    state: Pick<RebuiltState, 'sequence' | 'generation' | 'faults'> & { readonly file: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { bucket, store, keys, views, generations } = this.#options;
    const { file, sequence, generation, faults } = state;
    const key = keys.rebuilt(views, shard);
    const object = await generations.upload(views, shard, { file, sequence }, signal);
    const before = await readKey<RebuiltState>(bucket, key);
    const isFirst = await this.isWanted(rebuild, shard, generation);
    const made: RebuiltState = { ...object, rebuild: rebuild.id, generation, faults, machine: hostname() };
    const revision = isFirst ? await writeKey(bucket, key, made, before?.revision ?? null) : null;
    // Looked at again: an erasure that began before the write does not know of the object.
    const isVoid = (await generations.generationOf(views, shard)) !== generation;
    if (revision !== null && !isVoid) return true;
    if (revision !== null) await bucket.remove(key, revision);
    const other = (await readKey<RebuiltState>(bucket, key))?.value;
    const kept = new Set([...(other === undefined ? [] : objectsOf(other)), ...(await this.#taken(shard))]);
    for (const name of objectsOf(object)) if (!kept.has(name)) await store.remove(name, signal);
    return false;
  }

  /**
   * Writes the published files of a shard to a folder, of one moment, the manifest last; nothing if nothing is published.
   *
   * @throws SetupError when they cannot be read for half an hour
   */
  async pin(shard: number, directory: string, signal: AbortSignal): Promise<void> {
    const { bucket, keys, views, generations } = this.#options;
    const deadline = performance.now() + PINNED_WITHIN_MS;
    for (;;) {
      signal.throwIfAborted();
      rmSync(directory, { recursive: true, force: true });
      const published = (await readKey<PublishedShard>(bucket, keys.shard(views, shard)))?.value ?? null;
      const generation = await generations.generationOf(views, shard);
      // What was made of an earlier generation differs.
      const isNewest = published === null || published.generation >= generation;
      if (isNewest && published?.manifest == null) return;
      if (isNewest && (await this.#isDownloaded(published!.files, directory, signal))) {
        writeManifest(directory, published!.manifest!);
        return;
      }
      if (performance.now() > deadline)
        throw new SetupError(
          `The files of shard ${shard}, which are compared, cannot be read from the object store: look at the log of the ` +
            'workers.',
        );
      await sleep(LOOK_MS, undefined, { signal });
    }
  }

  /** Returns false if an object is gone: its owner has published others meanwhile. */
  async #isDownloaded(
    files: PublishedShard['files'],
    directory: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const read = await inTurns(Object.entries(files), AT_ONCE, ([file, object]) =>
      isDownloaded(this.#options.store, object, join(directory, file), signal),
    );
    return !read.includes(false);
  }

  /** Deletes the keys of states, and the objects with which no shard goes on. */
  async #removeStates(isOf: (state: RebuiltState) => boolean): Promise<void> {
    const { bucket, store, keys, views } = this.#options;
    for (let shard = 0; shard < views.shards; shard += 1) {
      const key = keys.rebuilt(views, shard);
      const made = await readKey<RebuiltState>(bucket, key);
      if (made === null || !isOf(made.value)) continue;
      if (!(await bucket.remove(key, made.revision))) continue;
      const kept = await this.#taken(shard);
      for (const name of objectsOf(made.value)) if (!kept.has(name)) await store.remove(name);
    }
  }

  /** Names of the objects with which a shard goes on. */
  async #taken(shard: number): Promise<Set<string>> {
    const { bucket, keys, views } = this.#options;
    const { copies } = await readState(bucket, keys.state(views, shard));
    return new Set(copies.flatMap(objectsOf));
  }
}

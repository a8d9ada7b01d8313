/**
 * Publishes a shard to all machines: puts its files into the object store, then its manifest into the bucket. An owner
 * that was replaced can no longer write the manifest, and what is written never goes back.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurns } from '../domain/in-turns.ts';
import type { Logger } from '../logger.ts';
import { sha256Of } from '../domain/file-digest.ts';
import { type ObjectStore } from '../store/objects/object-store.ts';
import { completeUntil, filesOf, readManifest, type Manifest } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { readKey, writeKey, type PublishedShard, type StoredFile } from './views-bucket.ts';

/** Time for which an object stays after no manifest names it: a reader may be about to read it, milliseconds. */
const KEEP_MS = 10 * 60_000;
/** Pause after a failure, milliseconds. */
const PAUSE_MS = 500;
/** Files that are uploaded, or objects that are deleted, at a time. */
const AT_ONCE = 4;

export interface ShardUploadsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'upload' | 'remove' | 'list'>;
  /** Key of the shard in the bucket. */
  readonly key: string;
  /** Beginning of the names of the shard's objects. */
  readonly prefix: string;
  /** Unique for each time that a process owns the shard: letters, digits and `-`. */
  readonly run: string;
  /** Rejects when another worker may own the shard by now. */
  readonly guard: () => Promise<void>;
  /** Names of objects that are no files of a manifest and stay: the copies of the state. */
  readonly kept: () => Promise<readonly string[]>;
  /** Generation of the shard's state. */
  readonly generation: number;
  /** The objects of files that are in the folder, as far as they are known. */
  readonly stored: PublishedShard['files'];
  /** The shard's folder. */
  readonly directory: string;
  readonly shard: number;
  readonly logger: Logger;
  /** Default KEEP_MS. */
  readonly keepMs?: number;
}

/** Uploads of the shard that this process owns. */
export class ShardUploads {
  readonly #options: ShardUploadsOptions;
  readonly #closing = new AbortController();
  /** Objects of the files in the folder. */
  readonly #stored = new Map<string, StoredFile>();
  /** The objects of the published manifest by their digests; they may be an earlier owner's. */
  #named: ReadonlyMap<string, StoredFile>;
  /** Objects that no manifest names any more, and since when. */
  readonly #dropped = new Map<string, number>();
  #isAdopted = false;
  #revision: number | null;
  #published: Manifest | null;
  #own: { readonly manifest: Manifest; readonly files: PublishedShard['files'] } | null = null;
  /** Generation of the state that `#published` was made from. */
  #generation: number;
  #isDue = false;
  /** True from the news of a lost object until its file is uploaded again. */
  #isLost = false;
  #running: Promise<void> | null = null;
  #cleaning: Promise<void> | null = null;
  /** True once another owner has taken the key over. */
  isReplaced = false;

  private constructor(
    options: ShardUploadsOptions,
    revision: number,
    { manifest, files, generation }: Pick<PublishedShard, 'manifest' | 'files' | 'generation'>,
  ) {
    this.#options = options;
    this.#revision = revision;
    this.#published = manifest;
    this.#generation = generation;
    this.#named = byDigest(files);
    for (const [file, object] of Object.entries(options.stored)) this.#stored.set(file, object);
  }

  /** What this owner has published of its state; null before that. */
  get own(): (Pick<PublishedShard, 'files'> & { readonly manifest: Manifest }) | null {
    return this.#own;
  }

  /** Takes the key over: from now on no earlier owner can write it. Rejects when `guard` does. */
  static async open(options: ShardUploadsOptions): Promise<ShardUploads> {
    const { bucket, key, run, guard } = options;
    for (;;) {
      const before = await readKey<PublishedShard>(bucket, key);
      const { manifest = null, files = {}, generation = 0 } = before?.value ?? {};
      const known = { manifest, files, generation };
      const taken = { run, machine: hostname(), at: Date.now(), ...known };
      // Right before: a process that was paused must not take it from the next owner.
      await guard();
      const revision = await writeKey(bucket, key, taken, before?.revision ?? null);
      if (revision !== null) return new ShardUploads(options, revision, known);
    }
  }

  /** What all machines see; null before the first publication. */
  get published(): Manifest | null {
    return this.#published;
  }

  /** Uploads what is published in the folder, now or after the upload in work. Failures are repeated until it closes. */
  push(): void {
    this.#isDue = true;
    if (this.isReplaced || this.#closing.signal.aborted) return;
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
  }

  /** Uploads the file again whose object another machine cannot read. */
  lost(name: string): void {
    const isOther = ([, file]: readonly [string, StoredFile]): boolean => file.name !== name;
    const named = new Map([...this.#named].filter(isOther));
    // Anybody may tell of any name.
    if (named.size === this.#named.size) return;
    this.#named = named;
    for (const [file, stored] of this.#stored) if (stored.name === name) this.#stored.delete(file);
    this.#isLost = true;
    this.push();
  }

  /** Waits for the upload of what is published now. */
  async settle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Waits for the deletions in work. */
  async cleaned(): Promise<void> {
    await this.#cleaning;
  }

  /** Gives up what is in work. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settle();
    await this.#cleaning;
  }

  async #work(): Promise<void> {
    const { logger, shard } = this.#options;
    const { signal } = this.#closing;
    while (this.#isDue && !this.isReplaced && !signal.aborted) {
      this.#isDue = false;
      try {
        await this.#publish();
        // Publications do not wait for deletions.
        void this.clean();
      } catch (error) {
        if (signal.aborted) return;
        this.#isDue = true;
        logger.warn(
          { event: 'upload_failed', shard, err: error },
          'the views of a shard could not be written to the object store: the worker tries again',
        );
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #publish(): Promise<void> {
    const { directory, bucket, key, run, generation, logger, shard } = this.#options;
    if (this.#generation > generation) {
      // It is about to be opened anew.
      this.isReplaced = true;
      return;
    }
    const manifest = readManifest(directory);
    if (manifest === null || this.#isBehind(manifest) || this.#isKnown(manifest)) return;
    const wanted = [...filesOf(manifest)];
    const missing = wanted.filter((file) => !this.#stored.has(file));
    const uploaded = await inTurns(missing, AT_ONCE, (file) => this.#upload(file));
    // The publication has replaced one of its files: its next manifest is due.
    if (uploaded.includes(null)) {
      this.#isDue = true;
      return;
    }
    const files = Object.fromEntries(wanted.map((file) => [file, this.#stored.get(file)!]));
    const entry = { run, machine: hostname(), at: Date.now(), manifest, generation, files };
    const revision = await writeKey(bucket, key, entry, this.#revision);
    if (revision === null) {
      await this.#whenRefused();
      return;
    }
    this.#revision = revision;
    this.#isLost = false;
    const unnamed = [...this.#named.values()];
    for (const [file, stored] of this.#stored)
      if (!(file in files)) {
        this.#stored.delete(file);
        unnamed.push(stored);
      }
    this.#named = byDigest(files);
    const names = new Set([...this.#named.values()].map(({ name }) => name));
    for (const { name } of unnamed) if (!names.has(name)) this.#dropped.set(name, performance.now());
    if (this.#published === null)
      logger.info({ event: 'shard_shared', shard }, 'the views of a shard are in the object store');
    this.#published = manifest;
    this.#generation = generation;
    this.#own = { manifest, files };
  }

  /** True if all machines have seen this manifest: one of another state may have the same words. */
  #isKnown(manifest: Manifest): boolean {
    return (
      !this.#isLost && this.#generation === this.#options.generation && isSame(manifest, this.#published)
    );
  }

  /** True while less is counted than all machines have seen already. */
  #isBehind(manifest: Manifest): boolean {
    const before = this.#published;
    if (before === null) return false;
    return manifest.sequence < before.sequence || completeUntil(manifest) < completeUntil(before);
  }

  /** Null if the file is gone. Names may repeat with other rows, so a file is known by its digest. */
  async #upload(file: string): Promise<StoredFile | null> {
    const { store, prefix, run, directory } = this.#options;
    const path = join(directory, file);
    try {
      const sha256 = await sha256Of(path);
      const known = this.#named.get(sha256);
      const stored = known ?? { name: `${prefix}${run}/${sha256}`, sha256 };
      if (known === undefined) await store.upload(stored.name, path, this.#closing.signal);
      this.#stored.set(file, stored);
      return stored;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** The revision is not the last one: an acknowledgement was lost, or another process took the key. */
  async #whenRefused(): Promise<void> {
    const { bucket, key, run, guard, logger, shard } = this.#options;
    const entry = await readKey<PublishedShard>(bucket, key);
    if (entry?.value.run !== run) {
      try {
        await guard();
      } catch {
        this.isReplaced = true;
        logger.warn(
          { event: 'shard_replaced', shard },
          'another worker publishes this shard: this one writes no more of it to the object store',
        );
        return;
      }
      // The shard is ours: an earlier owner was late, or the key is gone.
    }
    this.#revision = entry?.revision ?? null;
    this.#published = entry?.value.manifest ?? null;
    this.#generation = entry?.value.generation ?? 0;
    const before = this.#named;
    this.#named = byDigest(entry?.value.files ?? {});
    for (const [sha256, { name }] of before)
      if (this.#named.get(sha256)?.name !== name) this.#dropped.set(name, performance.now());
    this.#isDue = true;
  }

  /** Deletes objects that no manifest has named for a while, with those that earlier owners left. */
  clean(): Promise<void> {
    this.#cleaning ??= this.#clean().finally(() => {
      this.#cleaning = null;
    });
    return this.#cleaning;
  }

  async #clean(): Promise<void> {
    const { store, keepMs = KEEP_MS, prefix, run, kept, guard, logger, shard } = this.#options;
    if (this.isReplaced) return;
    try {
      if (!this.#isAdopted) {
        for (const name of await store.list(prefix))
          if (!name.startsWith(`${prefix}${run}/`) && !this.#dropped.has(name))
            this.#dropped.set(name, performance.now());
        this.#isAdopted = true;
      }
      const due = [...this.#dropped].filter(([, since]) => performance.now() - since >= keepMs);
      if (due.length === 0) return;
      const states = new Set(await kept());
      // Of another owner this one knows nothing.
      await guard();
      await inTurns(due, AT_ONCE, async ([name]) => {
        if (this.#closing.signal.aborted) return;
        // A copy that names it will go.
        if (states.has(name)) {
          this.#dropped.set(name, performance.now());
          return;
        }
        const isNamed = [...this.#named.values(), ...this.#stored.values()].some(
          (file) => file.name === name,
        );
        if (!isNamed) await store.remove(name, this.#closing.signal);
        this.#dropped.delete(name);
      });
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      logger.warn(
        { event: 'clean_up_failed', shard, err: error },
        'objects that nobody needs could not be deleted: the worker tries again later',
      );
    }
  }
}

function byDigest(files: PublishedShard['files']): ReadonlyMap<string, StoredFile> {
  return new Map(Object.values(files).map((file) => [file.sha256, file]));
}

/** Revisions repeat in another database, and compaction publishes the same revision in other files. */
function isSame(one: Manifest, other: Manifest | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

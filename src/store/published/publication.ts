/**
 * Publishes the rows of a shard: immutable files of segments, then the manifest. Readers see each row of the state at
 * the manifest's revision exactly once.
 *
 * Test: test/store/published/publication.test.ts.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { clearDamage, notedDamage } from '../damage.ts';
import { lacksMemory } from '../live/live-database.ts';
import type { StateStore } from '../live/state-store.ts';
import { publishedTables, type PublishedTable } from '../view-files.ts';
import {
  planCompaction,
  planFullCompaction,
  segmentsOf,
  sumRows,
  type CompactionLimits,
  type TableSegments,
} from './compaction.ts';
import {
  filesOf,
  findMissingFile,
  isManifestLost,
  readManifest,
  versionsOf,
  writeManifest,
  type Manifest,
  type Segment,
} from './manifest.ts';
import type { SegmentPlan, Sorting } from './segment-copy.ts';
import { SegmentWriter, type WrittenSegments } from './segment-writer.ts';

export interface PublicationOptions extends CompactionLimits {
  readonly store: StateStore;
  /** Least time that readers may still open files of a replaced manifest, milliseconds. */
  readonly graceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /** The watermark: nothing is published before all entries up to this sequence are counted, deferred ones included. */
  readonly holdUntil?: number;
  /** Called when published files are damaged and are rewritten. */
  readonly onDamage?: (reason: string) => void;
}

/** Share of time for rewriting all files: the disk or the reader itself may cause the damage. */
const REWRITE_SHARE = 0.1;
/** Share of time for full compaction. */
const FULL_COMPACTION_SHARE = 0.05;
/** Memory for the sort of a large table, as a multiple of the state's memory. */
const SORT_SHARE = 0.25;
/** Least memory with which a sort can finish. */
const LEAST_SORT_BYTES = 32 * 2 ** 20;
/** Share of the state's memory that the sort of a small table may take. */
const SORTED_IN_STATE = 0.1;
/** Estimated memory of a row during a sort, with its texts, bytes. */
const SORTED_ROW_BYTES = 250;
/** A shorter log stays: it is read quickly, and a checkpoint would write more than it saves. */
const LEAST_LOG_BYTES = 16 * 2 ** 20;
/** Time without a publication after which the log is written into the tables, milliseconds. */
const QUIET_MS = 5000;
/** Time between two such checkpoints, successful or not, milliseconds. */
const LOG_PAUSE_MS = 60_000;
const SEGMENT_FILE = /^(newest|merged)[-.].*duckdb/;

/**
 * Each publication writes delta segments with all rows that changed since the lower segments of their table. When these
 * have grown, the largest are compacted with lower segments of similar size on a second connection, from a snapshot,
 * while folding continues. So the cost of a publication does not depend on the length of history. In the remaining
 * time, each table is compacted to one lower segment, as queries over fewer segments are faster. On a quiet shard,
 * unnamed files are deleted, and the log of the state is written into its tables.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #tables: readonly PublishedTable[];
  readonly #writer: SegmentWriter;
  /** Files that the manifest no longer names, with the time of their removal from it, milliseconds. */
  readonly #replaced = new Map<string, number>();
  #manifest: Manifest | null;
  /** Segments below the delta segments. */
  #sealed: TableSegments;
  #compacting: Promise<void> | null = null;
  /** Compacted segments that the next publication puts into the manifest. */
  #compacted: TableSegments | null = null;
  #compactFullyAt = 0;
  #rewriteAt = -Infinity;
  #publishedAt: number;
  #writeLogAt = -Infinity;
  /** True while nothing is published, because of `holdUntil`. */
  #isHeld: boolean;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#publishedAt = options.now();
    this.#isHeld = options.holdUntil !== undefined && options.holdUntil > 0;
    this.#tables = publishedTables(options.store.views);
    this.#writer = new SegmentWriter(options.store.directory);
    this.#manifest = this.#usable(readManifest(options.store.directory));
    const delta = `newest-${this.#manifest?.seq}-`;
    this.#sealed = Object.fromEntries(
      Object.entries(this.#manifest?.tables ?? {}).map(([name, segments]) => [
        name,
        segments.filter(({ file }) => !file.startsWith(delta)),
      ]),
    );
    this.#removeUnnamed();
  }

  /** Published stream sequence, except for deferred parts; -1 before the first publication. */
  get sequence(): number {
    return this.#manifest?.sequence ?? -1;
  }

  /** Published revision of the state; -1 before the first publication. */
  get revision(): number {
    return this.#manifest?.seq ?? -1;
  }

  async #isBehind(): Promise<boolean> {
    const { store, holdUntil = 0 } = this.#options;
    if (store.sequence < holdUntil) return true;
    const waits = await store.connection.one(`from st.deferred where sequence <= ${holdUntil} limit 1`);
    return waits !== undefined;
  }

  /** Publishes everything that is committed. */
  async publish(): Promise<void> {
    const { store } = this.#options;
    if (this.#isHeld && (await this.#isBehind())) return;
    this.#isHeld = false;
    const startedAt = this.#options.now();
    const rewriting = await this.#dropDamaged();
    if (!rewriting && store.revision === this.#manifest?.seq && this.#compacted === null) {
      this.#removeReplaced();
      if (this.#compacting === null) this.#compactFully();
      if (this.#compacting === null) this.#writeLog();
      return;
    }
    this.#sealCompacted();
    const plans = this.#tables.map((table) => ({ table, below: segmentsOf(this.#sealed, table), rows: 0 }));
    const delta = await this.#writer.write((work) => work(store.connection), {
      kind: 'newest',
      plans,
      sorting: null,
    });
    const tables = plans.map(({ table: { name }, below }): [string, readonly Segment[]] => {
      const segment = delta.segments[name] as Segment;
      return [name, segment.rows > 0 || below.length === 0 ? [...below, segment] : below];
    });
    this.#switchTo({
      store: store.storeId,
      seq: delta.seq,
      sequence: delta.sequence,
      behind: delta.behind,
      deferred: delta.deferred,
      views: versionsOf(store.views),
      tables: Object.fromEntries(tables),
    });
    if (rewriting) {
      clearDamage(store.directory, 'segments');
      this.#rewriteAt = this.#nextAt(startedAt, REWRITE_SHARE);
    }
    this.#removeReplaced();
    this.#compactNext(delta.segments);
  }

  /** Compacts at once what would be compacted over time. The next publication makes it visible. */
  async compact(): Promise<void> {
    await this.settle();
    await this.publish();
    await this.settle();
    this.#sealCompacted();
    const plans = planFullCompaction(this.#tables, this.#sealed);
    if (plans.length > 0) await this.#compact(plans);
  }

  /** Waits for a running compaction or checkpoint. */
  async settle(): Promise<void> {
    await this.#compacting;
  }

  close(): Promise<void> {
    return this.settle();
  }

  /** After a reader noted damage: drops all files, so that all are written again. Returns true if it did. */
  async #dropDamaged(): Promise<boolean> {
    const reason = notedDamage(this.#options.store.directory, 'segments');
    if (reason === null || this.#options.now() < this.#rewriteAt) return false;
    this.#options.onDamage?.(reason);
    await this.settle();
    this.#compacted = null;
    this.#sealed = {};
    return true;
  }

  #sealCompacted(): void {
    this.#sealed = { ...this.#sealed, ...this.#compacted };
    this.#compacted = null;
  }

  #compactNext(delta: Readonly<Record<string, Segment>>): void {
    // A compaction that ended during the write of the delta segments is not in the manifest yet; another one would omit
    // its segments.
    if (this.#compacting !== null || this.#compacted !== null) return;
    if (sumRows(Object.values(delta)) < this.#options.compactRows) return this.#compactFully();
    const plans = planCompaction(this.#tables, delta, this.#sealed, this.#options);
    this.#start(() => this.#compact(plans));
  }

  /** Compacts one table to a single lower segment, if there is such a table and enough time has passed. */
  #compactFully(): void {
    const [plan] = planFullCompaction(this.#tables, this.#sealed);
    const startedAt = this.#options.now();
    if (plan === undefined || startedAt < this.#compactFullyAt) return;
    this.#start(async () => {
      try {
        await this.#compact([plan]);
      } finally {
        this.#compactFullyAt = this.#nextAt(startedAt, FULL_COMPACTION_SHARE);
      }
    });
  }

  /**
   * Writes the log of the state into its tables if it is long and the shard is quiet: otherwise the log would keep most
   * bytes of an idle state. A batch that comes meanwhile waits to commit.
   */
  #writeLog(): void {
    const { store, now } = this.#options;
    const startedAt = now();
    if (startedAt < Math.max(this.#publishedAt + QUIET_MS, this.#writeLogAt)) return;
    if (store.logBytes < LEAST_LOG_BYTES) return;
    this.#writeLogAt = startedAt + LOG_PAUSE_MS;
    this.#start(() => store.writeLog());
  }

  /** Earliest time to repeat work from `startedAt` to now, so that it takes at most that share of the time. */
  #nextAt(startedAt: number, share: number): number {
    const endedAt = this.#options.now();
    return endedAt + (endedAt - startedAt) / share;
  }

  #start(work: () => Promise<void>): void {
    this.#compacting = work()
      .catch(this.#options.onError)
      .finally(() => {
        this.#compacting = null;
      });
  }

  /** Compacts each table into its own file, which is deleted once the table is compacted again. */
  async #compact(plans: readonly SegmentPlan[]): Promise<void> {
    for (const plan of plans) {
      const { name } = plan.table;
      const { segments } = await this.#merge(plan);
      this.#compacted = { ...this.#compacted, [name]: [...plan.below, segments[name] as Segment] };
    }
  }

  async #merge(plan: SegmentPlan): Promise<WrittenSegments> {
    const { store } = this.#options;
    const write = (share: number): Promise<WrittenSegments> =>
      this.#writer.write((work) => store.beside(work), {
        kind: 'merged',
        plans: [plan],
        sorting: this.#sortingWith(share),
      });
    try {
      return await write(SORT_SHARE);
    } catch (error) {
      if (!lacksMemory(error)) throw error;
      return write(1);
    }
  }

  /** Null: the store's memory has no limit. */
  #sortingWith(share: number): Sorting | null {
    const { memoryBytes, spillDirectory, directory } = this.#options.store;
    if (memoryBytes === undefined) return null;
    return {
      fromRows: (SORTED_IN_STATE * memoryBytes) / SORTED_ROW_BYTES,
      memoryBytes: Math.max(LEAST_SORT_BYTES, share * memoryBytes),
      spillDirectory: `${spillDirectory ?? join(directory, 'spill')}-sort`,
    };
  }

  #switchTo(manifest: Manifest): void {
    writeManifest(this.#options.store.directory, manifest);
    const kept = filesOf(manifest);
    for (const file of this.#manifest === null ? [] : filesOf(this.#manifest))
      if (!kept.has(file)) this.#replaced.set(file, this.#options.now());
    this.#manifest = manifest;
    this.#publishedAt = this.#options.now();
  }

  #removeReplaced(): void {
    const before = this.#options.now() - this.#options.graceMs;
    for (const [file, at] of this.#replaced) {
      if (at > before) continue;
      this.#writer.remove(file);
      this.#replaced.delete(file);
    }
  }

  /** Returns the manifest of an earlier run if it belongs to this database and its files are intact; else null. */
  #usable(manifest: Manifest | null): Manifest | null {
    const { store, onDamage } = this.#options;
    if (manifest === null) {
      if (isManifestLost(store.directory)) onDamage?.('CURRENT is gone or cannot be read');
      return null;
    }
    if (manifest.store !== store.storeId || manifest.seq > store.revision) return null;
    const damage = findMissingFile(store.directory, manifest);
    if (damage !== null) {
      onDamage?.(damage);
      return null;
    }
    return isDeepStrictEqual(manifest.views, versionsOf(store.views)) &&
      this.#tables.every((table) => manifest.tables[table.name] !== undefined)
      ? manifest
      : null;
  }

  /** Deletes partial files at once, and other unnamed files after the grace period, as readers may have them open. */
  #removeUnnamed(): void {
    const kept = this.#manifest === null ? new Set() : filesOf(this.#manifest);
    for (const file of readdirSync(this.#options.store.directory)) {
      if (!SEGMENT_FILE.test(file) || kept.has(file)) continue;
      if (file.includes('.tmp')) this.#writer.remove(file);
      else this.#replaced.set(file, this.#options.now());
    }
  }
}

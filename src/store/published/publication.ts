import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { clearDamage, notedDamage } from '../damage.ts';
import { isOutOfMemory } from '../duckdb.ts';
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
  /** Readers may open the segments of a replaced manifest for at least this long, milliseconds. */
  readonly graceMs: number;
  /** Milliseconds; never goes backwards. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /**
   * The watermark: nothing is published before everything up to this sequence is counted, what was deferred as well,
   * so readers keep what they have.
   */
  readonly holdUntil?: number;
  /** Called when published files are damaged and are written again. */
  readonly onDamage?: (reason: string) => void;
}

/** The share of time that may go into writing all files again: the disk or the reader itself may cause the damage. */
const REWRITE_SHARE = 0.1;
/** The share of time that may go into full compaction. */
const FULL_COMPACTION_SHARE = 0.05;
/** What the sort of a large table may take besides the state, in times of the state's memory. */
const SORT_SHARE = 0.25;
/** With less, no sort comes to its end. */
const LEAST_SORT_BYTES = 32 * 2 ** 20;
/** Of the state's memory, what the sort of a small table may take. */
const SORTED_IN_STATE = 0.1;
/** About what a row takes while it is sorted, with its texts. */
const SORTED_ROW_BYTES = 250;
/** A log of fewer bytes stays: it is read back at once, and a checkpoint writes more than it saves. */
const LEAST_LOG_BYTES = 16 * 2 ** 20;
/** For how long nothing may have been published before the log is written into the tables, milliseconds. */
const QUIET_MS = 5000;
/** From one such checkpoint to the next, whether or not it succeeded, milliseconds. */
const LOG_PAUSE_MS = 60_000;
const SEGMENT_FILE = /^(newest|merged)[-.].*duckdb/;

/**
 * Writes what readers open: immutable files of segments, then the manifest `CURRENT` by rename. Each publication
 * writes new delta segments with every row that changed since the lower segments of its table. When they have
 * grown, the largest are compacted with lower segments of similar size on a second connection, from a snapshot,
 * while folding continues. So the cost of a publication does not depend on the length of history. In the time that
 * remains, each table is compacted to one lower segment: a query over fewer segments is planned and answered sooner.
 * When nothing happens, files that nothing names go, and the log of the state is written into its tables.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #tables: readonly PublishedTable[];
  readonly #writer: SegmentWriter;
  /** Files that the manifest no longer names, with the time (ms) when it stopped naming them. */
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
  /** Readers stay with what they have: see `holdUntil`. */
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

  /** Stream sequence that readers can see, but for what is deferred; -1 while there is nothing to see. */
  get sequence(): number {
    return this.#manifest?.sequence ?? -1;
  }

  /** Revision of the state that readers can see; -1 while there is nothing to see. */
  get revision(): number {
    return this.#manifest?.seq ?? -1;
  }

  async #isBehind(): Promise<boolean> {
    const { store, holdUntil = 0 } = this.#options;
    if (store.sequence < holdUntil) return true;
    const waits = await store.connection.one(`from st.deferred where sequence <= ${holdUntil} limit 1`);
    return waits !== undefined;
  }

  /** Makes everything committed visible to readers. */
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

  /** Compacts now what would be compacted over time; visible with the next publication. */
  async compact(): Promise<void> {
    await this.settle();
    await this.publish();
    await this.settle();
    this.#sealCompacted();
    const plans = planFullCompaction(this.#tables, this.#sealed);
    if (plans.length > 0) await this.#compact(plans);
  }

  /** Waits for a running compaction, or for the log to be written. */
  async settle(): Promise<void> {
    await this.#compacting;
  }

  close(): Promise<void> {
    return this.settle();
  }

  /** When a reader has found damage: keeps none of the files, so that all are written again. */
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
    // A compaction that ended while the delta segments were written is not in the manifest yet: the next one
    // would leave its segments out.
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
   * Writes the log of the state into its tables, if it is large and nothing has happened for a while: otherwise most
   * bytes of an idle state would stay in its log. A batch that comes meanwhile is committed when that is done.
   */
  #writeLog(): void {
    const { store, now } = this.#options;
    const startedAt = now();
    if (startedAt < Math.max(this.#publishedAt + QUIET_MS, this.#writeLogAt)) return;
    if (store.logBytes < LEAST_LOG_BYTES) return;
    this.#writeLogAt = startedAt + LOG_PAUSE_MS;
    this.#start(() => store.writeLog());
  }

  /** When work that began at `startedAt` and ends now may be repeated, so that it takes that share of the time. */
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

  /** Each table into a file of its own, which goes as soon as the table is compacted again. */
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
      if (!isOutOfMemory(error)) throw error;
      return write(1);
    }
  }

  /** Null: the store's memory has no bound. */
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

  /** A manifest that an earlier run left is used when it belongs to this database and its files are there. */
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

  /**
   * Files that no manifest names: a reader may have them open, so they go after the grace period; partial ones at
   * once.
   */
  #removeUnnamed(): void {
    const kept = this.#manifest === null ? new Set() : filesOf(this.#manifest);
    for (const file of readdirSync(this.#options.store.directory)) {
      if (!SEGMENT_FILE.test(file) || kept.has(file)) continue;
      if (file.includes('.tmp')) this.#writer.remove(file);
      else this.#replaced.set(file, this.#options.now());
    }
  }
}

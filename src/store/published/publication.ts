import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { clearDamage, notedDamage } from '../damage.ts';
import { quoted, type Connection, type Row } from '../duckdb.ts';
import type { StateStore } from '../live/state-store.ts';
import type { PublishedTable, View } from '../view-files.ts';

/** Rows of one table in one immutable file: those whose newest change lies after the level before it. */
export interface Level {
  readonly file: string;
  /** Stream sequence up to which its rows were read. */
  readonly seq: number;
  readonly rows: number;
  /** First and last value of the table's time column, microseconds; null where there is none. */
  readonly from: number | null;
  readonly to: number | null;
  /** Whether any of its rows may take the place of a row in an earlier level. */
  readonly replaces: boolean;
}

/** What `CURRENT` holds: the newest answerable generation of one shard. */
export interface Generation {
  /** The state database it was made from. */
  readonly store: string;
  /** Stream sequence that it contains. */
  readonly seq: number;
  /** Version of each view that its rows are of: code of other views cannot read them. */
  readonly views: Readonly<Record<string, number>>;
  /**
   * Levels of each published table, at least one, the oldest and largest first; a row in a later level
   * replaces the same row in every earlier one. A file holds levels of several tables.
   */
  readonly tables: Readonly<Record<string, readonly Level[]>>;
  /** Size of each file, bytes. */
  readonly sizes?: Readonly<Record<string, number>>;
}

/** Reads `CURRENT` of a shard's folder; null when there is none yet or it is not readable. */
export function readGeneration(directory: string): Generation | null {
  try {
    const generation = JSON.parse(readFileSync(join(directory, 'CURRENT'), 'utf8')) as Partial<Generation>;
    const { seq, tables } = generation;
    if (!Number.isSafeInteger(seq) || tables === undefined) return null;
    const whole = Object.values(tables).every((levels) =>
      levels.every(({ file }) => typeof file === 'string'),
    );
    return whole ? ({ views: {}, ...generation } as Generation) : null;
  } catch {
    return null;
  }
}

/** Whether a shard's folder holds published files, but nothing readable that says which of them answer. */
export function isCurrentLost(directory: string): boolean {
  if (readGeneration(directory) !== null) return false;
  if (existsSync(join(directory, 'CURRENT'))) return true;
  return existsSync(directory) && readdirSync(directory).some((file) => PUBLISHED.test(file));
}

/** What a generation says of the views that its rows are of. */
export function versionsOf(views: readonly View[]): Readonly<Record<string, number>> {
  return Object.fromEntries(views.map((view) => [view.name, view.version]));
}

/** Tables that readers see, over all views. */
export function publishedTables(views: readonly View[]): PublishedTable[] {
  return views.flatMap((view) => view.publishes);
}

/** The files that a generation consists of. */
export function filesOf(generation: Generation): ReadonlySet<string> {
  return new Set(Object.values(generation.tables).flatMap((levels) => levels.map((level) => level.file)));
}

export interface PublicationOptions {
  readonly store: StateStore;
  /** Milliseconds for which readers may still open a generation that was replaced, at least. */
  readonly graceMs: number;
  /** Rows in the newest file from which its largest tables are merged into lower levels. */
  readonly mergeRows: number;
  /** A merge takes in every earlier level that is at most this many times as large as what is merged so far. */
  readonly mergeRatio: number;
  /** Milliseconds; never goes backwards. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /** Nothing is published before the store has reached this sequence: readers stay with what is there. */
  readonly holdUntil?: number;
  /** Told that published files are damaged, and are made anew. */
  readonly onDamage?: (reason: string) => void;
}

/** What a publication leaves in the folder when it is whole. */
const PUBLISHED = /^(?:newest|merged)-.*\.duckdb$/;
/** The share of the time that may go into making all files anew: damage may be the disk's, or the reader's own. */
const REMAKE_SHARE = 0.1;

/** What a merge leaves in the newest file, as a share of `mergeRows`: tables that change little stay there. */
const LEFT_IN_NEWEST = 0.25;
/** A table of more rows is compacted by `mergeRatio` alone. */
const COMPACT_ROWS = 20_000_000;
/** The share of the time that may go into compaction beyond `mergeRatio`. */
const COMPACT_SHARE = 0.05;

/** Half of the database's own: the cut days of a range read fewer rows that they do not want. */
const ROW_GROUP_SIZE = 61_440;
/** Files of fewer rows have small blocks, which keep them small. */
const SMALL_FILE_ROWS = 200_000;

/** What is written of a table: the levels below that are kept, and about how many rows. */
interface Merge {
  readonly table: PublishedTable;
  readonly below: readonly Level[];
  readonly rows: number;
}

type Levels = Readonly<Record<string, readonly Level[]>>;

/**
 * Writes what readers open: immutable files, then `CURRENT` by rename. The newest file is written anew at each
 * publication and holds every row changed since the lower levels of its table; when it has grown, its largest
 * tables are merged with lower levels of like size on a second connection, from a snapshot, while folding goes
 * on. So the cost of a publication does not depend on the length of history. In what time is left, tables are
 * compacted to one lower level: a query over fewer levels is planned and answered sooner.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #tables: readonly PublishedTable[];
  /** Files that left `CURRENT`, with the time (ms) when they did. */
  readonly #replaced = new Map<string, number>();
  #generation: Generation | null;
  /** Levels below the newest. */
  #sealed: Levels;
  #merging: Promise<void> | null = null;
  #merged: Levels | null = null;
  #compactAt = 0;
  #remakeAt = -Infinity;
  #connection: Connection | null = null;
  #files = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#tables = publishedTables(options.store.views);
    this.#generation = this.#usable(readGeneration(options.store.directory));
    const newest = `newest-${this.#generation?.seq}-`;
    this.#sealed = Object.fromEntries(
      Object.entries(this.#generation?.tables ?? {}).map(([name, levels]) => [
        name,
        levels.filter((level) => !level.file.startsWith(newest)),
      ]),
    );
    this.#removeStrangers();
  }

  /** Sequence that readers can see; -1 while there is nothing to see. */
  get sequence(): number {
    return this.#generation?.seq ?? -1;
  }

  /** Makes everything committed visible to readers. */
  async publish(): Promise<void> {
    const { store } = this.#options;
    if (store.sequence < (this.#options.holdUntil ?? 0)) return;
    const startedAt = this.#options.now();
    const remaking = await this.#dropDamaged();
    if (!remaking && store.sequence === this.#generation?.seq && this.#merged === null) {
      if (this.#merging === null) this.#compactOne();
      return;
    }
    this.#sealed = { ...this.#sealed, ...this.#merged };
    this.#merged = null;
    const newest = await this.#write(
      store.connection,
      'newest',
      this.#tables.map((table) => ({ table, below: this.#below(table), rows: 0 })),
    );
    const tables = Object.fromEntries(
      this.#tables.map((table) => {
        const below = this.#below(table);
        const level = newest.levels[table.name] as Level;
        return [table.name, level.rows > 0 || below.length === 0 ? [...below, level] : below];
      }),
    );
    this.#switchTo({ store: store.storeId, seq: newest.seq, views: versionsOf(store.views), tables });
    if (remaking) {
      clearDamage(store.directory, 'levels');
      const endedAt = this.#options.now();
      this.#remakeAt = endedAt + (endedAt - startedAt) / REMAKE_SHARE;
    }
    this.#removeReplaced();
    // A merge that ended while the newest file was written is not among the levels yet: the next would miss it.
    if (this.#merging !== null || this.#merged !== null) return;
    const rows = Object.values(newest.levels).reduce((sum, level) => sum + level.rows, 0);
    if (rows >= this.#options.mergeRows) this.#start(() => this.#merge(this.#largest(newest.levels, rows)));
    else this.#compactOne();
  }

  /** When a reader has found damage: keeps none of the files, so that all are made anew. */
  async #dropDamaged(): Promise<boolean> {
    const reason = notedDamage(this.#options.store.directory, 'levels');
    if (reason === null || this.#options.now() < this.#remakeAt) return false;
    this.#options.onDamage?.(reason);
    await this.settle();
    this.#merged = null;
    this.#sealed = {};
    return true;
  }

  /** Compacts a table, where there is one and the time for it. */
  #compactOne(): void {
    const [table] = this.#compactable();
    const startedAt = this.#options.now();
    if (table === undefined || startedAt < this.#compactAt) return;
    this.#start(async () => {
      try {
        await this.#merge([{ table, below: [], rows: this.#rows(table) }]);
      } finally {
        const endedAt = this.#options.now();
        this.#compactAt = endedAt + (endedAt - startedAt) / COMPACT_SHARE;
      }
    });
  }

  /** Merges what time would merge, at once; visible with the next publication. */
  async compact(): Promise<void> {
    await this.settle();
    await this.publish();
    await this.settle();
    this.#sealed = { ...this.#sealed, ...this.#merged };
    this.#merged = null;
    const tables = this.#compactable();
    if (tables.length > 0)
      await this.#merge(tables.map((table) => ({ table, below: [], rows: this.#rows(table) })));
  }

  /** Waits for a merge in work. */
  async settle(): Promise<void> {
    await this.#merging;
  }

  async close(): Promise<void> {
    await this.settle();
    this.#connection?.close();
    this.#connection = null;
  }

  #below(table: PublishedTable): readonly Level[] {
    return this.#sealed[table.name] ?? [];
  }

  #rows(table: PublishedTable): number {
    return this.#below(table).reduce((sum, level) => sum + level.rows, 0);
  }

  /** Tables with more than one lower level, those with most levels first. */
  #compactable(): PublishedTable[] {
    return this.#tables
      .filter((table) => this.#below(table).length > 1 && this.#rows(table) <= COMPACT_ROWS)
      .toSorted((a, b) => this.#below(b).length - this.#below(a).length);
  }

  /** The tables that fill the newest file, and how deep each is merged. */
  #largest(newest: Readonly<Record<string, Level>>, rows: number): Merge[] {
    const { mergeRows, mergeRatio } = this.#options;
    const merges: Merge[] = [];
    let left = rows;
    const bySize = this.#tables.toSorted(
      (a, b) => (newest[b.name] as Level).rows - (newest[a.name] as Level).rows,
    );
    for (const table of bySize) {
      if (left <= mergeRows * LEFT_IN_NEWEST) break;
      let merged = (newest[table.name] as Level).rows;
      left -= merged;
      const below = [...this.#below(table)];
      for (let level = below.at(-1); level !== undefined; level = below.at(-1)) {
        if (level.rows > mergeRatio * merged) break;
        merged += level.rows;
        below.pop();
      }
      merges.push({ table, below, rows: merged });
    }
    return merges;
  }

  #start(work: () => Promise<void>): void {
    this.#merging = work()
      .catch(this.#options.onError)
      .finally(() => {
        this.#merging = null;
      });
  }

  async #merge(merges: readonly Merge[]): Promise<void> {
    this.#connection ??= await this.#options.store.connect();
    const { levels } = await this.#write(this.#connection, 'merged', merges);
    this.#merged = Object.fromEntries(
      merges.map(({ table, below }) => [table.name, [...below, levels[table.name] as Level]]),
    );
  }

  /** Writes one file, from one snapshot: of each table the rows changed after the levels below. */
  async #write(
    connection: Connection,
    kind: 'newest' | 'merged',
    merges: readonly Merge[],
  ): Promise<{ readonly seq: number; readonly levels: Readonly<Record<string, Level>> }> {
    const temporary = `${kind}.duckdb.tmp`;
    this.#remove(temporary);
    const rows = merges.reduce((sum, { rows }) => sum + rows, 0);
    const options = [
      'recovery_mode no_wal_writes',
      `row_group_size ${ROW_GROUP_SIZE}`,
      ...(rows < SMALL_FILE_ROWS ? ['block_size 16384'] : []),
    ];
    await connection.run(
      `attach ${quoted(join(this.#options.store.directory, temporary))} as ${kind}_out (${options.join(', ')})`,
    );
    let seq = 0;
    let counted: readonly Row[] = [];
    try {
      await connection.transaction(async () => {
        seq = (await connection.one('select sequence from st.meta'))?.['sequence'] as number;
        const made = merges.map(({ table, below }) => {
          const after = below.at(-1)?.seq ?? -1;
          // Nothing lies below the lowest level that a withdrawn row would have to hide.
          const alive = below.length === 0 && table.alive !== null ? ` and ${table.alive}` : '';
          const order = kind === 'merged' ? ` order by ${table.order.join(', ')}` : '';
          return `create table ${kind}_out.${table.name} as select * from st.${table.name} where seq > ${after}${alive}${order}`;
        });
        await connection.run(made.join(';\n'));
        const counts = merges.map(({ table: { name, replaces, time } }) => {
          const replacing = replaces === null ? 'count(*) > 0' : `coalesce(bool_or(${replaces}), false)`;
          const times =
            time === null
              ? 'null::timestamp as "from", null::timestamp as "to"'
              : `min(${time}) filter (isfinite(${time})) as "from", max(${time}) filter (isfinite(${time})) as "to"`;
          return `select ${quoted(name)} as name, count(*) as rows, ${replacing} as replaces, ${times} from ${kind}_out.${name}`;
        });
        counted = await connection.all(counts.join(' union all '));
      });
    } finally {
      await connection.run(`detach ${kind}_out`);
    }
    const file = `${kind}-${seq}-${this.#nextFile()}.duckdb`;
    this.#settleFile(temporary, file);
    const levels = counted.map((row) => [
      row['name'] as string,
      {
        file,
        seq,
        rows: row['rows'] as number,
        from: row['from'] as number | null,
        to: row['to'] as number | null,
        replaces: row['replaces'] as boolean,
      },
    ]);
    return { seq, levels: Object.fromEntries(levels) as Record<string, Level> };
  }

  #nextFile(): number {
    const taken = (): boolean =>
      readdirSync(this.#options.store.directory).some((file) => file.endsWith(`-${this.#files}.duckdb`));
    do this.#files += 1;
    while (taken());
    return this.#files;
  }

  #settleFile(temporary: string, file: string): void {
    const { directory } = this.#options.store;
    fsyncPath(join(directory, temporary));
    renameSync(join(directory, temporary), join(directory, file));
  }

  #switchTo(generation: Generation): void {
    const { directory } = this.#options.store;
    const temporary = join(directory, 'CURRENT.tmp');
    const sizes = Object.fromEntries(
      [...filesOf(generation)].map((file) => [file, statSync(join(directory, file)).size]),
    );
    writeFileSync(temporary, JSON.stringify({ ...generation, sizes }), { mode: 0o600 });
    fsyncPath(temporary);
    renameSync(temporary, join(directory, 'CURRENT'));
    fsyncPath(directory);
    const kept = filesOf(generation);
    for (const file of this.#generation === null ? [] : filesOf(this.#generation))
      if (!kept.has(file)) this.#replaced.set(file, this.#options.now());
    this.#generation = generation;
  }

  #removeReplaced(): void {
    const before = this.#options.now() - this.#options.graceMs;
    for (const [file, at] of this.#replaced) {
      if (at > before) continue;
      this.#remove(file);
      this.#replaced.delete(file);
    }
  }

  /** A generation that an earlier run left: trusted when it belongs to this database and its files are there. */
  #usable(generation: Generation | null): Generation | null {
    const { store, onDamage } = this.#options;
    if (generation === null) {
      if (isCurrentLost(store.directory)) onDamage?.('CURRENT is gone or cannot be read');
      return null;
    }
    if (generation.store !== store.storeId || generation.seq > store.sequence) return null;
    for (const file of filesOf(generation)) {
      const size = statSync(join(store.directory, file), { throwIfNoEntry: false })?.size;
      const expected = generation.sizes?.[file] ?? size;
      if (size !== undefined && size === expected) continue;
      onDamage?.(size === undefined ? `${file} is gone` : `${file} has ${size} bytes, not ${expected}`);
      return null;
    }
    return isDeepStrictEqual(generation.views, versionsOf(store.views)) &&
      this.#tables.every((table) => generation.tables[table.name] !== undefined)
      ? generation
      : null;
  }

  #removeStrangers(): void {
    const kept = this.#generation === null ? new Set() : filesOf(this.#generation);
    for (const file of readdirSync(this.#options.store.directory)) {
      if (!/^(newest|merged)[-.].*duckdb/.test(file) || kept.has(file)) continue;
      // Files that a reader may have open go after the grace period; half-written ones at once.
      if (file.includes('.tmp')) this.#remove(file);
      else this.#replaced.set(file, this.#options.now());
    }
  }

  #remove(file: string): void {
    for (const suffix of ['', '.wal'])
      rmSync(join(this.#options.store.directory, `${file}${suffix}`), { force: true });
  }
}

function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

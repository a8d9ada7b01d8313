import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoted, type Connection } from './duckdb.ts';
import type { StateStore } from './state-store.ts';
import type { PublishedTable, View } from './view-files.ts';

/** What `CURRENT` holds: the newest answerable generation of one shard. */
export interface Generation {
  /** The state database it was made from. */
  readonly store: string;
  /** Stream sequence that it contains. */
  readonly seq: number;
  /** File of all rows up to `baseSeq`; null while there is none. */
  readonly base: string | null;
  readonly baseSeq: number;
  /** File of all rows changed after `baseSeq`. */
  readonly delta: string;
}

/** Reads `CURRENT` of a shard's folder; null when there is none yet or it is not readable. */
export function readGeneration(directory: string): Generation | null {
  try {
    return JSON.parse(readFileSync(join(directory, 'CURRENT'), 'utf8')) as Generation;
  } catch {
    return null;
  }
}

/** Tables that readers see, over all views. */
export function publishedTables(views: readonly View[]): PublishedTable[] {
  return views.flatMap((view) => view.publishes);
}

export interface PublicationOptions {
  readonly store: StateStore;
  /** Milliseconds for which readers may still open a generation that was replaced, at least. */
  readonly graceMs: number;
  /** Rows in a delta from which a new base is written, at least. */
  readonly compactRows: number;
  /** … and as a share of the base's rows. */
  readonly compactShare: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes what readers open: immutable files, then `CURRENT` by rename. A delta holds every row changed since
 * the base; when it grows, a new base is written from a snapshot on a second connection while folding goes on.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #tables: readonly PublishedTable[];
  readonly #replaced = new Map<string, number>();
  #generation: Generation | null;
  #baseRows = 0;
  #compaction: Promise<void> | null = null;
  #newBase: { base: string; baseSeq: number; rows: number } | null = null;
  #connection: Connection | null = null;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#tables = publishedTables(options.store.views);
    this.#generation = this.#usable(readGeneration(options.store.directory));
    this.#removeStrangers();
  }

  /** Sequence that readers can see. */
  get sequence(): number {
    return this.#generation?.seq ?? -1;
  }

  /** Makes everything committed visible to readers. */
  async publish(): Promise<void> {
    const { store } = this.#options;
    const seq = store.sequence;
    const finished = this.#newBase;
    if (seq === this.#generation?.seq && finished === null) return;
    const base = finished?.base ?? this.#generation?.base ?? null;
    const baseSeq = finished?.baseSeq ?? this.#generation?.baseSeq ?? -1;
    this.#newBase = null;
    if (finished !== null) this.#baseRows = finished.rows;
    const delta = `delta-${seq}-${baseSeq}.duckdb`;
    const rows = await this.#write(store.connection, delta, (table) => `select * from st.${table.name} where seq > ${baseSeq}`);
    const previous = this.#generation;
    const generation: Generation = { store: store.storeId, seq, base, baseSeq, delta };
    this.#switchTo(generation);
    this.#replace(previous, generation);
    this.#removeReplaced();
    if (this.#compaction === null && rows > Math.max(this.#options.compactRows, this.#options.compactShare * this.#baseRows)) {
      this.#compaction = this.#compact()
        .catch(this.#options.onError)
        .finally(() => {
          this.#compaction = null;
        });
    }
  }

  /** Waits for a base that is being written. */
  async settle(): Promise<void> {
    await this.#compaction;
  }

  async close(): Promise<void> {
    await this.settle();
    this.#connection?.close();
    this.#connection = null;
  }

  async #compact(): Promise<void> {
    this.#connection ??= await this.#options.store.connect();
    const connection = this.#connection;
    const present = new Set((await connection.all(`select table_name || '.' || column_name as name from duckdb_columns() where database_name = 'st'`)).map((row) => row['name']));
    let baseSeq = 0;
    let rows = 0;
    const name = (): string => `base-${baseSeq}.duckdb`;
    const temporary = 'base.duckdb.tmp';
    this.#remove(temporary);
    await connection.run(`attach ${quoted(join(this.#options.store.directory, temporary))} as base_out (recovery_mode no_wal_writes)`);
    try {
      await connection.transaction(async () => {
        baseSeq = (await connection.one('select sequence from st.meta'))?.['sequence'] as number;
        for (const table of this.#tables) {
          const alive = present.has(`${table.name}.gone`) ? 'where not gone' : present.has(`${table.name}.messages`) ? 'where messages > 0' : '';
          await connection.run(`create table base_out.${table.name} as select * from st.${table.name} ${alive} order by ${table.order.join(', ')}`);
          rows += (await connection.one(`select count(*) as rows from base_out.${table.name}`))?.['rows'] as number;
        }
      });
    } finally {
      await connection.run('detach base_out');
    }
    this.#settleFile(temporary, name());
    this.#newBase = { base: name(), baseSeq, rows };
  }

  async #write(connection: Connection, file: string, select: (table: PublishedTable) => string): Promise<number> {
    const temporary = `${file}.tmp`;
    this.#remove(temporary);
    await connection.run(`attach ${quoted(join(this.#options.store.directory, temporary))} as delta_out (block_size 16384, recovery_mode no_wal_writes)`);
    let rows = 0;
    try {
      await connection.transaction(async () => {
        await connection.run(this.#tables.map((table) => `create table delta_out.${table.name} as ${select(table)}`).join(';\n'));
        await connection.run('create table delta_out.meta as select sequence from st.meta');
        const sum = this.#tables.map((table) => `(select count(*) from delta_out.${table.name})`).join(' + ');
        rows = (await connection.one(`select ${sum} as rows`))?.['rows'] as number;
      });
    } finally {
      await connection.run('detach delta_out');
    }
    this.#settleFile(temporary, file);
    return rows;
  }

  #settleFile(temporary: string, file: string): void {
    const { directory } = this.#options.store;
    fsyncPath(join(directory, temporary));
    renameSync(join(directory, temporary), join(directory, file));
  }

  #switchTo(generation: Generation): void {
    const { directory } = this.#options.store;
    const temporary = join(directory, 'CURRENT.tmp');
    writeFileSync(temporary, JSON.stringify(generation), { mode: 0o600 });
    fsyncPath(temporary);
    renameSync(temporary, join(directory, 'CURRENT'));
    fsyncPath(directory);
    this.#generation = generation;
  }

  #replace(previous: Generation | null, now: Generation): void {
    if (previous === null) return;
    const at = this.#options.now();
    if (previous.delta !== now.delta) this.#replaced.set(previous.delta, at);
    if (previous.base !== null && previous.base !== now.base) this.#replaced.set(previous.base, at);
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
    const { store } = this.#options;
    if (generation === null || generation.store !== store.storeId || generation.seq > store.sequence) return null;
    const files = generation.base === null ? [generation.delta] : [generation.base, generation.delta];
    return files.every((file) => existsSync(join(store.directory, file))) ? generation : null;
  }

  #removeStrangers(): void {
    const kept = new Set([this.#generation?.base, this.#generation?.delta]);
    for (const file of readdirSync(this.#options.store.directory)) {
      if (!/^(base|delta)[-.].*duckdb/.test(file) || kept.has(file)) continue;
      // Files that a reader may have open go after the grace period; half-written ones at once.
      if (file.includes('.tmp')) this.#remove(file);
      else this.#replaced.set(file, this.#options.now());
    }
  }

  #remove(file: string): void {
    for (const suffix of ['', '.wal']) rmSync(join(this.#options.store.directory, `${file}${suffix}`), { force: true });
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

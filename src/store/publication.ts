import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { quoted, type Connection } from './duckdb.ts';
import type { StateStore } from './state-store.ts';
import type { PublishedTable, View } from './view-files.ts';

/** One immutable file: the rows whose newest change lies after the level before it and not after `seq`. */
export interface Level {
  readonly file: string;
  /** Stream sequence up to which its rows were read. */
  readonly seq: number;
  readonly rows: number;
  /** Published tables that have no row in it. */
  readonly empty: readonly string[];
}

/** What `CURRENT` holds: the newest answerable generation of one shard. */
export interface Generation {
  /** The state database it was made from. */
  readonly store: string;
  /** Stream sequence that it contains. */
  readonly seq: number;
  /** Oldest and largest first; a row in a later level replaces the same row in every earlier one. */
  readonly levels: readonly Level[];
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
  /** Rows in the newest level from which it is merged into the one before it. */
  readonly mergeRows: number;
  /** A merge takes in every earlier level that is at most this many times as large as what is merged so far. */
  readonly mergeRatio: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes what readers open: immutable files, then `CURRENT` by rename. The newest level is written anew at
 * each publication and holds every row changed since the levels before it; when it has grown, it is merged
 * with older levels of like size on a second connection, from a snapshot, while folding goes on. So the cost
 * of a publication does not depend on the length of history.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #tables: readonly PublishedTable[];
  /** Files that left `CURRENT`, with the time (ms) when they did. */
  readonly #replaced = new Map<string, number>();
  #generation: Generation | null;
  /** Levels below the newest. */
  #sealed: readonly Level[];
  #merging: Promise<void> | null = null;
  #merged: readonly Level[] | null = null;
  #connection: Connection | null = null;
  #files = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
    this.#tables = publishedTables(options.store.views);
    this.#generation = this.#usable(readGeneration(options.store.directory));
    this.#sealed = this.#generation?.levels.slice(0, -1) ?? [];
    this.#removeStrangers();
  }

  /** Sequence that readers can see; -1 while there is nothing to see. */
  get sequence(): number {
    return this.#generation?.seq ?? -1;
  }

  /** Makes everything committed visible to readers. */
  async publish(): Promise<void> {
    const { store } = this.#options;
    if (store.sequence === this.#generation?.seq && this.#merged === null) return;
    this.#sealed = this.#merged ?? this.#sealed;
    this.#merged = null;
    const after = this.#sealed.at(-1)?.seq ?? -1;
    const newest = await this.#write(store.connection, 'newest', after, this.#sealed.length === 0);
    this.#switchTo({ store: store.storeId, seq: newest.seq, levels: [...this.#sealed, newest] });
    this.#removeReplaced();
    if (this.#merging === null && newest.rows >= this.#options.mergeRows) {
      this.#merging = this.#merge(newest.rows)
        .catch(this.#options.onError)
        .finally(() => {
          this.#merging = null;
        });
    }
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

  async #merge(newestRows: number): Promise<void> {
    let kept = this.#sealed.length;
    for (let rows = newestRows; kept > 0; kept--) {
      const level = this.#sealed[kept - 1] as Level;
      if (level.rows > this.#options.mergeRatio * rows) break;
      rows += level.rows;
    }
    const below = this.#sealed.slice(0, kept);
    this.#connection ??= await this.#options.store.connect();
    this.#merged = [
      ...below,
      await this.#write(this.#connection, 'merged', below.at(-1)?.seq ?? -1, kept === 0),
    ];
  }

  /** Writes the rows changed after a sequence, from one snapshot. The lowest level leaves withdrawn rows out. */
  async #write(
    connection: Connection,
    kind: 'newest' | 'merged',
    after: number,
    lowest: boolean,
  ): Promise<Level> {
    const temporary = `${kind}.duckdb.tmp`;
    this.#remove(temporary);
    // Small blocks keep small files small.
    const blocks = kind === 'newest' ? 'block_size 16384, ' : '';
    await connection.run(
      `attach ${quoted(join(this.#options.store.directory, temporary))} as ${kind}_out (${blocks}recovery_mode no_wal_writes)`,
    );
    let seq = 0;
    let rows = 0;
    const empty: string[] = [];
    try {
      await connection.transaction(async () => {
        seq = (await connection.one('select sequence from st.meta'))?.['sequence'] as number;
        const made = this.#tables.map((table) => {
          const alive = lowest && table.alive !== null ? ` and ${table.alive}` : '';
          const order = kind === 'merged' ? ` order by ${table.order.join(', ')}` : '';
          return `create table ${kind}_out.${table.name} as select * from st.${table.name} where seq > ${after}${alive}${order}`;
        });
        await connection.run(made.join(';\n'));
        const counts = this.#tables.map(
          (table) => `(select count(*) from ${kind}_out.${table.name}) as ${table.name}`,
        );
        const counted = (await connection.one(`select ${counts.join(', ')}`)) ?? {};
        for (const { name } of this.#tables) {
          rows += counted[name] as number;
          if (counted[name] === 0) empty.push(name);
        }
      });
    } finally {
      await connection.run(`detach ${kind}_out`);
    }
    const file = `${kind}-${seq}-${after}-${this.#nextFile()}.duckdb`;
    this.#settleFile(temporary, file);
    return { file, seq, rows, empty };
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
    writeFileSync(temporary, JSON.stringify(generation), { mode: 0o600 });
    fsyncPath(temporary);
    renameSync(temporary, join(directory, 'CURRENT'));
    fsyncPath(directory);
    const kept = new Set(generation.levels.map((level) => level.file));
    for (const { file } of this.#generation?.levels ?? [])
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
    const { store } = this.#options;
    if (generation === null || generation.store !== store.storeId || generation.seq > store.sequence)
      return null;
    return generation.levels.every((level) => existsSync(join(store.directory, level.file)))
      ? generation
      : null;
  }

  #removeStrangers(): void {
    const kept = new Set(this.#generation?.levels.map((level) => level.file));
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

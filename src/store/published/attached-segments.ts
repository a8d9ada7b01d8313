/**
 * The files of one manifest, attached to a database. They stay attached until the manifest is retired and its last
 * reader has released it.
 *
 * Test: test/store/published/publication.test.ts.
 */
import { join } from 'node:path';
import { SharedCache } from '../../domain/shared-cache.ts';
import { DAY_MICROS } from '../../domain/time.ts';
import type { Bindings } from '../duckdb.ts';
import type { PublishedTable } from '../view-files.ts';
import { filesOf, type Manifest, type Segment } from './manifest.ts';
import type { Reading } from './reading-database.ts';
import { expandTables, holding, type Statement, type TableRows } from './segment-sql.ts';

/** The result of a read, and the tables that it used. */
interface Cached {
  readonly name: string;
  readonly tables: readonly string[];
  readonly value: Promise<unknown>;
  /** True if the read failed: the next caller reads again, whatever its manifest. */
  failed: boolean;
}

/** A statement over files. */
export interface Expanded {
  readonly sql: string;
  readonly bindings: Bindings | undefined;
  readonly files: ReadonlySet<string>;
}

/** Most cached results. */
const MAX_CACHED = 1000;

/** The attached files of one manifest. */
export class AttachedSegments {
  readonly database: Reading;
  readonly directory: string;
  readonly manifest: Manifest;
  /** Catalog names of the files, by path. */
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #cache = new SharedCache<Cached>(MAX_CACHED);
  #readers = 0;
  #isRetired = false;

  private constructor(
    database: Reading,
    directory: string,
    manifest: Manifest,
    aliases: ReadonlyMap<string, string>,
  ) {
    this.database = database;
    this.directory = directory;
    this.manifest = manifest;
    this.#aliases = aliases;
  }

  /** Attaches all files, or none; those that come when they are read wait for `lent`. Rejects when `isOpen` then returns false, as the database is no longer in use. */
  static async attach(
    database: Reading,
    directory: string,
    manifest: Manifest,
    isOpen: () => boolean,
  ): Promise<AttachedSegments> {
    const aliases = new Map<string, string>();
    try {
      for (const name of filesOf(manifest)) {
        const file = join(directory, name);
        aliases.set(file, await database.use(file));
      }
      if (!isOpen()) throw new Error('the database was replaced');
    } catch (error) {
      for (const file of aliases.keys()) await database.leave(file);
      throw error;
    }
    return new AttachedSegments(database, directory, manifest, aliases);
  }

  /** Returns true if the manifest has the same files with the same rows. */
  isOf(directory: string, { seq, tables }: Manifest): boolean {
    return (
      this.directory === directory &&
      this.manifest.seq === seq &&
      JSON.stringify(this.manifest.tables) === JSON.stringify(tables)
    );
  }

  /** The segments that may hold rows of a spec, oldest first; always includes the lowest. */
  segmentsFor({ table, range }: Pick<TableRows, 'table' | 'range'>): readonly Segment[] {
    return holding(this.manifest.tables[table] ?? [], range === undefined ? {} : { range });
  }

  /** Rows per day of the lowest segment, which is the largest. */
  rowsPerDay(table: string): number {
    const { rows = 0, from = null, to = null } = this.manifest.tables[table]?.[0] ?? {};
    return from === null || to === null ? rows : rows / Math.max(1, (to - from) / DAY_MICROS);
  }

  /** Expands a statement. `only`: the segments to read; default: all of the manifest. */
  expand(
    sql: string,
    statement: Statement,
    tables: ReadonlyMap<string, PublishedTable>,
    only?: readonly Segment[],
  ): Expanded {
    const files = new Set<string>();
    const expanded = expandTables(sql, statement, tables, {
      segmentsOf: (table) => only ?? this.manifest.tables[table] ?? [],
      catalogOf: ({ file }) => {
        const path = join(this.directory, file);
        files.add(path);
        return this.#aliases.get(path) as string;
      },
    });
    return { ...expanded, files };
  }

  /** See `Snapshot.cached`. */
  cached<T>(caller: string, name: string, tables: readonly string[], read: () => Promise<T>): Promise<T> {
    const key = this.#cacheKey(name, tables);
    const known = this.#cache.get(caller, key);
    if (known !== undefined && !known.failed) return known.value as Promise<T>;
    const value = read();
    const cached: Cached = { name, tables, value, failed: false };
    this.#cache.set(caller, key, cached);
    value.catch(() => {
      cached.failed = true;
    });
    return value;
  }

  /** Takes cached results of earlier segments whose tables have the same rows here. */
  inheritCache(previous: AttachedSegments): void {
    for (const [caller, key, cached] of previous.#cache)
      if (!cached.failed && this.#cacheKey(cached.name, cached.tables) === key)
        this.#cache.set(caller, key, cached);
  }

  acquire(): void {
    this.#readers += 1;
  }

  async release(): Promise<void> {
    this.#readers -= 1;
    if (this.#isRetired && this.#readers === 0) await this.#detach();
  }

  /** Retires the manifest: no reader may acquire it again, and the last release detaches the files. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#readers === 0) await this.#detach();
  }

  async #detach(): Promise<void> {
    for (const file of this.#aliases.keys()) await this.database.leave(file);
  }

  /** A key of the read and its rows; files never change. */
  #cacheKey(name: string, tables: readonly string[]): string {
    const files = tables.map((table) => this.manifest.tables[table]?.map(({ file }) => file).join());
    return [name, tables.join(' '), this.directory, ...files].join(' of ');
  }
}

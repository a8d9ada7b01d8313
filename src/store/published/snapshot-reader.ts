/**
 * Reads the published files of one shard, in an in-memory DuckDB; never the live file. All rows of a snapshot belong to
 * one manifest.
 *
 * Test: test/store/published/snapshots.test.ts, test/store/published/publication.test.ts,
 * test/store/published/lost-database.test.ts.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';
import { isDamage, noteDamage } from '../damage.ts';
import {
  DatabaseError,
  quoted,
  type Bindings,
  type Connection,
  type DatabaseFault,
  type Row,
} from '../duckdb.ts';
import { publishedTables, type PublishedTable, type View } from '../view-files.ts';
import { AttachedSegments, type Expanded } from './attached-segments.ts';
import { HeldTables, type HeldRows, type HeldSpec } from './held-rows.ts';
import {
  completeUntil,
  isManifestLost,
  readManifest,
  versionsOf,
  type Manifest,
  type Segment,
} from './manifest.ts';
import { PositionWaiters } from './position-waiters.ts';
import { ReadingDatabase, type Reading, type ReadingOptions } from './reading-database.ts';
import type { Statement } from './segment-sql.ts';
import { beingMade, databaseLost, nothingPublished, otherViews, tooLittleMemory } from './unanswerable.ts';

/** A consistent state: all reads through it use one manifest. */
export interface Snapshot {
  /** Stream sequence up to which it contains all entries. */
  readonly sequence: number;
  /** Instances (UUIDs) with entries that it lacks although it contains later entries of others. */
  readonly behind: ReadonlySet<string>;
  /** Runs a SELECT in which `@name` stands for rows of a published table. */
  all(sql: string, statement?: Statement): Promise<Row[]>;
  /**
   * Yields the rows of a SELECT as they are computed, some thousands at a time; release the snapshot only afterwards.
   * Throws AppError SERVICE_UNAVAILABLE when too many streams are open.
   */
  stream(sql: string, statement: Statement): AsyncGenerator<Row[]>;
  /**
   * Writes the rows of a SELECT as Parquet (zstd) to `path`, and returns their number. With `partitionBy`, an integer
   * column that the files omit, `path` is a folder with `COLUMN=NUMBER/data_0.parquet` for each number (with one
   * thread, one file each). Throws DatabaseError when it cannot be written.
   */
  writeParquet(sql: string, statement: Statement, path: string, partitionBy?: string): Promise<number>;
  /**
   * Returns the cached result of the caller's first `read` of this name, while the rows of the named tables are the
   * same. `read` may use only these tables.
   */
  cached<T>(name: string, tables: readonly string[], read: () => Promise<T>): Promise<T>;
  /** Estimated rows per day of a table with a time column. */
  rowsPerDay(table: string): number;
  /** Rows in memory; null if they are too many, or not worth reading yet. */
  held(spec: HeldSpec): Promise<HeldRows | null>;
  /** Must be called once, after the last read. */
  release(): void;
}

export interface SnapshotReaderOptions extends ReadingOptions {
  /**
   * The present folder of the shard, which a rebuild changes; null if there is none. When it throws, the open files
   * continue to answer.
   */
  readonly directory: () => string | null;
  readonly views: readonly View[];
  /**
   * True to read files that other versions of the views made; the caller reads only tables that these have. Default
   * false: they give no answer.
   */
  readonly ofAnyVersion?: boolean;
  /** The shared memory for held rows. Default: HELD_BYTES for this reader alone. */
  readonly held?: HeldTables;
  /** Limits concurrent answers by caller. Default: no limit. */
  readonly answerTurns?: Turns;
  /** Opens a database. Default: `ReadingDatabase.open`. */
  readonly openDatabase?: (options: ReadingOptions) => Promise<Reading>;
  /** Called for each database that DuckDB invalidated, before it is replaced. */
  readonly onLost?: (error: DatabaseError) => void;
}

/** Memory for held rows of a reader that does not share it, bytes. */
const HELD_BYTES = 2 ** 25;

const CURRENT_LOST = 'CURRENT is gone or cannot be read';

/**
 * Damaged files give no answer: the reader leaves a note, and the worker rewrites them. A database that DuckDB has
 * invalidated is replaced.
 */
export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;
  readonly #tables: ReadonlyMap<string, PublishedTable>;
  readonly #working = new Set<Promise<unknown>>();
  readonly #tablesHeld: HeldTables;
  readonly #waiters = new PositionWaiters(() => this.#look());
  /** Null after the loss of a database until the next one is open. */
  #database: Reading | null;
  #opening: Promise<Reading> | null = null;
  #attached: AttachedSegments | null = null;
  #stamp = '';
  #refreshing: Promise<void> | null = null;
  #failures = 0;

  private constructor(options: SnapshotReaderOptions, database: Reading) {
    this.#options = options;
    this.#database = database;
    this.#tablesHeld = options.held ?? new HeldTables(HELD_BYTES);
    this.#tables = new Map(publishedTables(options.views).map((table) => [table.name, table]));
  }

  static async open(options: SnapshotReaderOptions): Promise<SnapshotReader> {
    return new SnapshotReader(options, await openDatabase(options));
  }

  /** Number of databases that DuckDB invalidated since this reader was opened. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves to true once a first manifest was published. Throws AppError SERVICE_UNAVAILABLE on damage. */
  async hasManifest(): Promise<boolean> {
    if (this.#attached === null) await this.#refresh();
    return this.#attached !== null;
  }

  /**
   * Runs `work` on the newest snapshot, and once more on a new one when the database fails. Answers and statements of
   * different callers take turns; `places`: places that this answer takes. Throws AppError SERVICE_UNAVAILABLE before
   * the first publication, on damage, for lack of memory, and when too many answers of the caller wait.
   */
  read<T>(work: (snapshot: Snapshot) => Promise<T>, caller = '', places = 1): Promise<T> {
    return this.inTurn(caller, () => this.#read(work, caller), places);
  }

  /** Runs a part of an answer at the caller's turn. Throws as `read` does when too many wait. */
  inTurn<T>(caller: string, work: () => Promise<T>, places = 1): Promise<T> {
    const { answerTurns } = this.#options;
    return answerTurns === undefined ? work() : answerTurns.run(caller, work, places);
  }

  async #read<T>(work: (snapshot: Snapshot) => Promise<T>, caller: string): Promise<T> {
    try {
      return await this.#readOnce(work, caller);
    } catch (error) {
      if (!isFault(error, 'invalidated')) throw error;
    }
    try {
      return await this.#readOnce(work, caller);
    } catch (error) {
      throw isFault(error, 'invalidated') ? databaseLost(error) : error;
    }
  }

  async #readOnce<T>(work: (snapshot: Snapshot) => Promise<T>, caller: string): Promise<T> {
    const snapshot = await this.snapshot(caller);
    if (snapshot === null) throw nothingPublished();
    try {
      return await work(snapshot);
    } catch (error) {
      throw isFault(error, 'out-of-memory') ? tooLittleMemory(error) : error;
    } finally {
      snapshot.release();
    }
  }

  /** The newest snapshot; null before the first publication. Throws AppError SERVICE_UNAVAILABLE on damage. */
  async snapshot(caller = ''): Promise<Snapshot | null> {
    await this.#refresh();
    const attached = this.#attached;
    if (attached === null) {
      const directory = this.#options.directory();
      if (directory === null) return null;
      // It may have been published just now.
      if (!isManifestLost(directory)) return readManifest(directory) === null ? null : this.snapshot(caller);
      if (await isFirstPublication(directory)) return this.snapshot(caller);
      noteDamage(directory, 'segments', CURRENT_LOST);
      throw beingMade();
    }
    attached.acquire();
    let released = false;
    return {
      sequence: completeUntil(attached.manifest),
      behind: new Set(Object.keys(attached.manifest.behind)),
      all: (sql, statement) => this.#all(attached, sql, statement ?? {}, caller),
      stream: (sql, statement) => this.#stream(attached, sql, statement, caller),
      writeParquet: (sql, statement, path, partitionBy) => {
        // Remains of a first try are replaced.
        const parts = partitionBy === undefined ? '' : `, partition_by (${partitionBy}), overwrite true`;
        const target = `${quoted(path)} (format parquet, compression zstd${parts})`;
        return this.#copy(attached, sql, statement, target, caller);
      },
      rowsPerDay: (table) => attached.rowsPerDay(table),
      held: (spec) => this.#held(attached, spec, caller),
      cached: (name, tables, read) => attached.cached(caller, name, tables, read),
      release: () => {
        if (released) return;
        released = true;
        void attached.release().catch(() => undefined);
      },
    };
  }

  /**
   * Waits until readers see all entries up to `sequence`, of an instance (UUID) or of all. Resolves to false after
   * `timeoutMs`.
   */
  waitFor(sequence: number, timeoutMs: number, instanceId?: string): Promise<boolean> {
    return this.#waiters.waitFor(sequence, timeoutMs, instanceId);
  }

  /** Waits for running reads, then closes everything. No call may follow. */
  async close(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    await this.#database?.close();
  }

  /** Returns the sequence up to which all entries are readable, of an instance or of all; -1 while none is. */
  async #look(): Promise<(instanceId?: string) => number> {
    try {
      await this.#refresh();
    } catch (error) {
      // A failed database is replaced, so the wait continues.
      if (error instanceof AppError) throw error;
    }
    const manifest = this.#attached?.manifest;
    if (manifest === undefined) return () => -1;
    return (instanceId) => {
      if (instanceId === undefined) return completeUntil(manifest);
      const behind = manifest.behind[instanceId];
      return behind === undefined ? manifest.sequence : behind.sequence - 1;
    };
  }

  #all(attached: AttachedSegments, sql: string, statement: Statement, caller: string): Promise<Row[]> {
    const expanded = attached.expand(sql, statement, this.#tables);
    return this.#asked(
      attached,
      expanded,
      (connection) => connection.all(expanded.sql, expanded.bindings),
      caller,
    );
  }

  async #asked<T>(
    { database, directory }: AttachedSegments,
    { files }: Expanded,
    ask: (connection: Connection) => Promise<T>,
    caller: string,
  ): Promise<T> {
    const lending = database.lend(files);
    try {
      if (lending !== null) await lending;
      return await database.run(ask, caller);
    } catch (error) {
      this.#leaveIfLost(database, error);
      const damaged = isDamage(error);
      if (damaged) noteDamage(directory, 'segments', reasonOf(error));
      // The caller tries again with another database.
      throw damaged && !isFault(error, 'invalidated') ? beingMade(error) : error;
    } finally {
      void givenBack(lending);
    }
  }

  async #held(attached: AttachedSegments, spec: HeldSpec, caller: string): Promise<HeldRows | null> {
    const { table, equal = {}, range, and, columns, id, key } = spec;
    const published = this.#tables.get(table);
    if (published === undefined) throw new Error(`no view publishes ${table}`);
    const rows = {
      table,
      equal,
      ...(range === undefined ? {} : { range }),
      ...(and === undefined ? {} : { and }),
    };
    const ask = <T>(
      sql: string,
      segments: readonly Segment[],
      run: (connection: Connection, sql: string, bindings: Bindings | undefined) => Promise<T>,
    ): Promise<T> => {
      const expanded = attached.expand(sql, { rows: { rows } }, this.#tables, segments);
      const { sql: statement, bindings } = expanded;
      return this.#asked(attached, expanded, (connection) => run(connection, statement, bindings), caller);
    };
    const selected = Object.entries({
      ...columns,
      ...(id === undefined ? {} : { id }),
      alive: `(${published.alive ?? 'true'})::tinyint`,
    }).map(([name, sql]) => `${sql} as ${name}`);
    return this.#tablesHeld.rowsOf(spec, attached.directory, {
      caller,
      segments: attached.segmentsFor(spec),
      count: async (segments, most) => {
        const sql = `select count(*)::double as count from (select 1 from @rows limit ${most})`;
        const counted = await ask(sql, segments, (connection, ...asked) => connection.one(...asked));
        return counted?.['count'] as number;
      },
      read: (segments, most) => {
        const order = key[0] === 'id' ? 'order by id ' : '';
        const sql = `select ${selected.join(', ')} from @rows ${order}limit ${most}`;
        return ask(sql, segments, (connection, ...asked) => connection.columns(...asked));
      },
    });
  }

  /** Writes a file. The failure may be that of the new file, so it leaves no note about the published files. */
  async #copy(
    attached: AttachedSegments,
    sql: string,
    statement: Statement,
    target: string,
    caller: string,
  ): Promise<number> {
    const { database } = attached;
    const expanded = attached.expand(sql, statement, this.#tables);
    const copy = `copy (${expanded.sql}) to ${target}`;
    const lending = database.lend(expanded.files);
    try {
      if (lending !== null) await lending;
      const written = await database.run((connection) => connection.one(copy, expanded.bindings), caller);
      return written?.['Count'] as number;
    } catch (error) {
      this.#leaveIfLost(database, error);
      throw error;
    } finally {
      void givenBack(lending);
    }
  }

  async *#stream(
    attached: AttachedSegments,
    sql: string,
    statement: Statement,
    caller: string,
  ): AsyncGenerator<Row[]> {
    const { database, directory } = attached;
    const expanded = attached.expand(sql, { bindings: {}, ...statement }, this.#tables);
    const lending = database.lend(expanded.files);
    try {
      if (lending !== null) await lending;
      yield* database.stream(expanded.sql, expanded.bindings ?? {}, caller);
    } catch (error) {
      this.#leaveIfLost(database, error);
      if (isDamage(error)) noteDamage(directory, 'segments', reasonOf(error));
      if (isFault(error, 'out-of-memory')) throw tooLittleMemory(error);
      throw isDamage(error) ? beingMade(error) : error;
    } finally {
      void givenBack(lending);
    }
  }

  /** Gives up a database that DuckDB has invalidated; it is closed when its statements have ended. */
  #leaveIfLost(database: Reading, error: unknown): void {
    if (!isFault(error, 'invalidated') || this.#database !== database) return;
    this.#failures += 1;
    this.#database = null;
    this.#attached = null;
    this.#stamp = '';
    void this.#track(database.close()).catch(() => undefined);
    this.#options.onLost?.(error);
  }

  /** The open database; a new one after a loss. */
  async #opened(): Promise<Reading> {
    if (this.#database !== null) return this.#database;
    this.#opening ??= this.#track(openDatabase(this.#options))
      .then(
        (database) => (this.#database = database),
        (error: unknown) => {
          throw databaseLost(error);
        },
      )
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  /** Tracks work until it ends, so that `close` can wait for it. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work);
    const ended = (): boolean => this.#working.delete(work);
    work.then(ended, ended);
    return work;
  }

  async #refresh(): Promise<void> {
    while (this.#refreshing !== null) await this.#refreshing;
    const stamp = this.#currentStamp();
    if (stamp === null || stamp === this.#stamp) return;
    this.#refreshing = this.#track(this.#attach(stamp)).finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  #directory(): string | null {
    try {
      return this.#options.directory();
    } catch (error) {
      if (this.#attached === null) throw error;
      return null;
    }
  }

  #currentStamp(): string | null {
    const directory = this.#directory();
    if (directory === null) return null;
    const stat = statSync(join(directory, 'CURRENT'), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? null : `${directory}:${stat.ino}:${stat.mtimeNs}:${stat.size}`;
  }

  async #attach(stamp: string): Promise<void> {
    // A file may be replaced between the read of CURRENT and its opening: try again, then fail with the reason.
    for (let attempt = 1; ; attempt++) {
      const directory = this.#directory();
      if (directory === null) return;
      const manifest = readManifest(directory);
      if (manifest === null) {
        if (isManifestLost(directory)) noteDamage(directory, 'segments', CURRENT_LOST);
        return;
      }
      const { views, ofAnyVersion = false } = this.#options;
      if (!ofAnyVersion && !isDeepStrictEqual(manifest.views, versionsOf(views))) {
        // The open files still give right answers; without them, an empty answer would be wrong.
        if (this.#attached !== null) return;
        throw otherViews();
      }
      if (this.#attached?.isOf(directory, manifest) === true) {
        this.#stamp = stamp;
        return;
      }
      const database = await this.#opened();
      try {
        await this.#swap(database, directory, manifest, stamp);
        return;
      } catch (error) {
        this.#leaveIfLost(database, error);
        if (attempt < 5) continue;
        if (isDamage(error)) noteDamage(directory, 'segments', reasonOf(error));
        // An old answer is better than none; without one, the caller must get the error.
        if (this.#attached === null) throw isDamage(error) ? beingMade(error) : error;
        return;
      }
    }
  }

  async #swap(database: Reading, directory: string, manifest: Manifest, stamp: string): Promise<void> {
    // Meanwhile, a query may find that DuckDB has invalidated the database.
    const isOpen = (): boolean => this.#database === database;
    const attached = await AttachedSegments.attach(database, directory, manifest, isOpen);
    const previous = this.#attached;
    if (previous !== null) attached.inheritCache(previous);
    this.#attached = attached;
    this.#stamp = stamp;
    await previous?.retire();
  }
}

async function givenBack(lending: Promise<() => void> | null): Promise<void> {
  const giveBack = await lending?.catch(() => undefined);
  giveBack?.();
}

/** Time to wait for the first `CURRENT` of a shard: its first files appear a moment earlier. */
const FIRST_PUBLICATION_MS = 1000;

async function isFirstPublication(directory: string): Promise<boolean> {
  const deadline = performance.now() + FIRST_PUBLICATION_MS;
  while (!existsSync(join(directory, 'CURRENT'))) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return !isManifestLost(directory);
}

function openDatabase(options: SnapshotReaderOptions): Promise<Reading> {
  return (options.openDatabase ?? ReadingDatabase.open)(options);
}

function isFault(error: unknown, fault: DatabaseFault): error is DatabaseError {
  return error instanceof DatabaseError && error.fault === fault;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * An in-memory DuckDB with read-only files attached, whose connections callers share fairly. After an internal fault of
 * DuckDB, every call fails with that fault (`DatabaseError`, `invalidated`).
 *
 * Test: test/store/published/lost-database.test.ts, test/store/published/turns-of-readers.test.ts.
 */
import { createHash } from 'node:crypto';
import { Turns } from '../../domain/turns.ts';
import {
  DatabaseError,
  isOutOfMemory,
  openDatabase,
  quoted,
  type Bindings,
  type Connection,
  type Database,
  type Row,
} from '../duckdb.ts';
import { tooManyExports } from './unanswerable.ts';

export interface ReadingOptions {
  readonly threads: number;
  /** Most statements that run at a time. */
  readonly connections: number;
  /** Most connections of one caller, so that others find a free one. Default: all. */
  readonly connectionsPerCaller?: number;
  /** Memory limit for blocks of files and for statements, bytes. Default: that of DuckDB. */
  readonly memoryBytes?: number;
  /** Memory limit for a statement that needs more, bytes; it runs alone. */
  readonly memoryBytesAlone?: number;
  readonly spillDirectory?: string;
  /** Brings the files when they are read. Default: they are there. */
  readonly files?: SegmentFiles;
}

/** Closes a file, which then goes. */
export type LetGo = (path: string) => Promise<void>;

/** Files that come when they are read. */
export interface SegmentFiles {
  /**
   * Brings a file, which stays until `leave`. Afterwards it may go: then `letGo` is called first.
   *
   * @throws AppError SERVICE_UNAVAILABLE when it does not come
   */
  take(path: string, letGo: LetGo): Promise<void>;
  leave(path: string): void;
  /** `letGo` is not called any more. */
  forget(letGo: LetGo): void;
}

/** Most concurrent streams: each may keep a sorted answer in memory or spill it. */
const MAX_STREAMS = 4;
const STREAMS_PER_CALLER = 2;

/** The methods that a reader uses. */
export type Reading = Pick<ReadingDatabase, 'use' | 'leave' | 'lend' | 'run' | 'stream' | 'close'>;

/** The database of a reader. */
export class ReadingDatabase {
  readonly #options: ReadingOptions;
  readonly #database: Database;
  readonly #admin: Connection;
  readonly #idle: Connection[];
  /** Each place is an idle connection. */
  readonly #turns: Turns;
  /** Attached files by path, with the number of users. */
  readonly #files = new Map<string, { alias: string; users: number }>();
  /** Files that are attached when they are read, by path. */
  readonly #lent = new Map<string, Promise<unknown>>();
  readonly #working = new Set<Promise<unknown>>();
  /** Each place is a stream. Its reader may take any time, so no caller waits for a place. */
  readonly #streaming = new Turns({
    most: MAX_STREAMS,
    mostPerCaller: STREAMS_PER_CALLER,
    waitingPerCaller: { most: 0, refusal: tooManyExports },
  });
  /** Connections of open streams. */
  readonly #streams = new Set<Connection>();
  #isClosed = false;
  #aliases = 0;
  #fault: DatabaseError | null = null;
  /** True while the memory limit is still that of a statement that runs alone. */
  #isRaised = false;

  private constructor(
    options: ReadingOptions,
    database: Database,
    admin: Connection,
    connections: Connection[],
  ) {
    this.#options = options;
    this.#database = database;
    this.#admin = admin;
    this.#idle = connections;
    this.#turns = new Turns({
      most: connections.length,
      mostPerCaller: options.connectionsPerCaller ?? connections.length,
    });
  }

  static async open(options: ReadingOptions): Promise<ReadingDatabase> {
    const database = await openDatabase({
      threads: options.threads,
      ...(options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }),
      ...(options.spillDirectory === undefined ? {} : { spillDirectory: options.spillDirectory }),
    });
    const admin = await database.connect();
    // Planning takes most of a short query's time. Our queries have no repeated parts for the first of these
    // optimizers; the second would read the rows of a page twice to avoid narrow columns.
    await admin.run(`set global disabled_optimizers = 'common_subplan,late_materialization'`);
    const connections = await Promise.all(
      Array.from({ length: options.connections }, () => database.connect()),
    );
    return new ReadingDatabase(options, database, admin, connections);
  }

  /** Attaches a file unless it is attached, or waits for `lend` to do so. Returns its catalog name. */
  async use(file: string): Promise<string> {
    if (this.#options.files !== undefined) return catalogOf(file);
    const known = this.#files.get(file);
    if (known !== undefined) {
      known.users += 1;
      return known.alias;
    }
    const alias = `segments${(this.#aliases += 1)}`;
    await this.#track(() => this.#admin.run(`attach ${quoted(file)} as ${alias} (read_only)`));
    this.#files.set(file, { alias, users: 1 });
    return alias;
  }

  /** Releases a file, and detaches it after the last user. */
  async leave(file: string): Promise<void> {
    const known = this.#files.get(file);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    this.#files.delete(file);
    await this.#track(() => this.#admin.run(`detach ${known.alias}`));
  }

  /**
   * Brings and attaches files, which stay until the returned function is called; null if all files are there.
   *
   * @throws AppError SERVICE_UNAVAILABLE when one does not come
   */
  lend(paths: ReadonlySet<string>): Promise<() => void> | null {
    const { files } = this.#options;
    return files === undefined ? null : this.#track(() => this.#lend(files, paths));
  }

  async #lend(files: SegmentFiles, paths: ReadonlySet<string>): Promise<() => void> {
    const taken: string[] = [];
    const giveBack = (): void => {
      for (const path of taken.splice(0)) files.leave(path);
    };
    const brought = await Promise.allSettled(
      Array.from(paths, async (path) => {
        await files.take(path, this.#letGo);
        taken.push(path);
        await this.#attach(path);
      }),
    );
    const failed = brought.find((each) => each.status === 'rejected');
    if (failed === undefined) return giveBack;
    giveBack();
    throw failed.reason;
  }

  /**
   * Runs work on a connection at the caller's turn. When memory does not suffice, it runs again, alone and with more
   * memory.
   */
  run<T>(work: (connection: Connection) => Promise<T>, caller = ''): Promise<T> {
    return this.#track(async () => {
      try {
        return await this.#turns.run(caller, async () => {
          if (this.#isRaised) await this.#lowerMemory();
          return this.#borrow(work);
        });
      } catch (error) {
        if (!isOutOfMemory(error)) throw error;
      }
      return this.#turns.run(caller, () => this.#runAlone(work), this.#options.connections);
    });
  }

  /**
   * Yields the rows of a SELECT as they are computed, on a separate connection, so that a slow reader delays no other
   * caller. Each part is computed at the caller's turn. Throws AppError SERVICE_UNAVAILABLE when too many streams are
   * open.
   */
  async *stream(sql: string, bindings: Bindings, caller = ''): AsyncGenerator<Row[]> {
    const leave = await this.#streaming.take(caller);
    let connection: Connection | null = null;
    try {
      connection = await this.#track(() => this.#database.connect());
      this.#streams.add(connection);
      const rows = connection.stream(sql, bindings);
      for (;;) {
        const { done, value } = await this.#track(() =>
          this.#turns.run(caller, () => this.#sound(() => rows.next())),
        );
        if (done === true) return;
        yield value;
      }
    } finally {
      if (connection !== null && this.#streams.delete(connection)) connection.close();
      leave();
    }
  }

  /** Waits for running work, then closes everything. No call may follow. */
  async close(): Promise<void> {
    // Closing a connection under a running statement crashes the process.
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    this.#isClosed = true;
    this.#options.files?.forget(this.#letGo);
    for (const connection of [...this.#idle.splice(0), ...this.#streams, this.#admin]) connection.close();
    this.#streams.clear();
    this.#database.close();
  }

  async #attach(path: string): Promise<void> {
    const known = this.#lent.get(path);
    if (known !== undefined) {
      await known;
      return;
    }
    const attach = `attach ${quoted(path)} as ${catalogOf(path)} (read_only)`;
    const attached = this.#track(() => this.#admin.run(attach));
    this.#lent.set(path, attached);
    attached.catch(() => this.#lent.delete(path));
    await attached;
  }

  readonly #letGo: LetGo = async (path) => {
    if (!this.#lent.has(path)) return;
    await this.#lent.get(path)?.catch(() => undefined);
    if (this.#lent.delete(path)) await this.#track(() => this.#admin.run(`detach ${catalogOf(path)}`));
  };

  async #runAlone<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const { memoryBytes, memoryBytesAlone } = this.#options;
      if (memoryBytes !== undefined && memoryBytesAlone !== undefined) {
        this.#isRaised = true;
        await this.#limitMemory(memoryBytesAlone);
      }
      return await this.#borrow(work);
    } finally {
      if (this.#isRaised) await this.#lowerMemory();
    }
  }

  /** Runs work on an idle connection; a caller with a place always finds one. */
  async #borrow<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#idle.pop() as Connection;
    try {
      return await this.#sound(() => work(connection));
    } finally {
      this.#idle.push(connection);
    }
  }

  /**
   * Restores the memory limit. DuckDB may count a statement's memory for a moment after its end; then the next
   * statement restores it.
   */
  async #lowerMemory(): Promise<void> {
    try {
      await this.#limitMemory(this.#options.memoryBytes as number);
      this.#isRaised = false;
    } catch {
      // It stays raised.
    }
  }

  #limitMemory(bytes: number): Promise<void> {
    return this.#sound(() => this.#admin.limitMemory(bytes));
  }

  /** Tracks work until it ends, so that `close` can wait for it. */
  #track<T>(work: () => Promise<T>): Promise<T> {
    const tracked = this.#sound(work);
    this.#working.add(tracked);
    const ended = (): boolean => this.#working.delete(tracked);
    tracked.then(ended, ended);
    return tracked;
  }

  /** Runs work, unless the database has failed: it may be closed already. */
  async #sound<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fault !== null) throw this.#fault;
    if (this.#isClosed) throw new Error('the database is closed');
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseError && error.fault === 'invalidated') this.#fault ??= error;
      throw error;
    }
  }
}

/** The catalog name of a file that comes when it is read. */
function catalogOf(path: string): string {
  return `file_${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
}

/** Covered by test/store/published/lost-database.test.ts. */
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
  /** Statements that run side by side. */
  readonly connections: number;
  /** Of one caller: whoever comes next finds a free connection. Default: all. */
  readonly connectionsPerCaller?: number;
  /** Of blocks of files and of statements in work, bytes. Default: DuckDB's. */
  readonly memoryBytes?: number;
  /** For a statement that needs more; it runs alone. */
  readonly memoryBytesAlone?: number;
  readonly spillDirectory?: string;
}

/** Streams that are read side by side: each may keep a sorted answer in memory or spill it. */
const MAX_STREAMS = 4;
const STREAMS_PER_CALLER = 2;

/** The part of it that a reader uses. */
export type Reading = Pick<ReadingDatabase, 'use' | 'leave' | 'run' | 'stream' | 'close'>;

/**
 * An in-memory DuckDB with files attached to read, and connections that take turns. After an internal fault of
 * DuckDB everything that is asked of it fails with that fault (`DatabaseError`, `invalidated`).
 */
export class ReadingDatabase {
  readonly #options: ReadingOptions;
  readonly #database: Database;
  readonly #admin: Connection;
  readonly #idle: Connection[];
  /** A place is an idle connection. */
  readonly #turns: Turns;
  /** Attached files, by path, with how many use them. */
  readonly #files = new Map<string, { alias: string; users: number }>();
  readonly #working = new Set<Promise<unknown>>();
  /** A place is a stream. Who reads it may take any time, so nobody waits for one. */
  readonly #streaming = new Turns({
    most: MAX_STREAMS,
    mostPerCaller: STREAMS_PER_CALLER,
    waitingPerCaller: { most: 0, refusal: tooManyExports },
  });
  /** Connections of those who read a stream. */
  readonly #streams = new Set<Connection>();
  #isClosed = false;
  #aliases = 0;
  #fault: DatabaseError | null = null;
  /** Whether the memory limit is still that of a statement that runs alone. */
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
    // Planning is most of a short query's time. Our queries repeat no part that the first of these steps could
    // share; the second would read a page's rows twice to avoid reading narrow columns.
    await admin.run(`set global disabled_optimizers = 'common_subplan,late_materialization'`);
    const connections = await Promise.all(
      Array.from({ length: options.connections }, () => database.connect()),
    );
    return new ReadingDatabase(options, database, admin, connections);
  }

  /** Attaches a file, unless it is attached already; its name in statements. */
  async use(file: string): Promise<string> {
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

  /** Detaches a file that nobody uses any more. */
  async leave(file: string): Promise<void> {
    const known = this.#files.get(file);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    this.#files.delete(file);
    await this.#track(() => this.#admin.run(`detach ${known.alias}`));
  }

  /**
   * Runs on a connection when it is the caller's turn; again, alone and with more memory, when the memory did not
   * suffice.
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
   * The rows of a SELECT as it makes them, on a connection of its own, so that who reads slowly delays nobody; each
   * part of them is made when it is the caller's turn. Throws AppError SERVICE_UNAVAILABLE when too many are read
   * already.
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

  /** Waits for what is running, then closes everything. Nothing may be asked afterwards. */
  async close(): Promise<void> {
    // Closing a connection under a running statement brings the process down.
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    this.#isClosed = true;
    for (const connection of [...this.#idle.splice(0), ...this.#streams, this.#admin]) connection.close();
    this.#streams.clear();
    this.#database.close();
  }

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

  /** Works on an idle connection: who has a place finds one. */
  async #borrow<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#idle.pop() as Connection;
    try {
      return await this.#sound(() => work(connection));
    } finally {
      this.#idle.push(connection);
    }
  }

  /** DuckDB may count a statement's memory for a moment after its end; then the next statement lowers the limit. */
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

  /** Remembers work until it has ended, so that `close` can wait for it. */
  #track<T>(work: () => Promise<T>): Promise<T> {
    const tracked = this.#sound(work);
    this.#working.add(tracked);
    const ended = (): boolean => this.#working.delete(tracked);
    tracked.then(ended, ended);
    return tracked;
  }

  /** Starts nothing in a database that has failed, because it may be closed. */
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

/** Covered by test/store/live/live-database.test.ts. */
import { DatabaseError, isOutOfMemory, type Connection } from '../duckdb.ts';
import { openStateDatabase, type StateDatabase, type StateStoreOptions } from './state-database.ts';
import { TemporaryTables } from './temporary-tables.ts';

/** What may be taken where the usual memory does not suffice, in times of it. */
const RAISED = 4;

/** An open database, and what it knows of its connection that folds. */
interface Opened extends StateDatabase {
  readonly temporary: TemporaryTables;
}

/**
 * The database of a `StateStore`, which can be opened anew while the process goes on. DuckDB keeps 256 KiB for each
 * block of rows that was written to since it opened the file, and never gives them back: a few bytes for each row, for
 * as long as it has the file open.
 */
export class LiveDatabase {
  readonly #options: StateStoreOptions;
  readonly #beside = new Set<Promise<unknown>>();
  #opened: Opened;
  /** Ends when the database is open again. */
  #reopening: Promise<unknown> = Promise.resolve();
  /** Opened anew since work has succeeded: doing so once more would change nothing. */
  #isFresh = false;
  #isRaised: boolean;
  #isClosed = false;

  private constructor(options: StateStoreOptions, opened: Opened, isRaised: boolean) {
    this.#options = options;
    this.#opened = opened;
    this.#isRaised = isRaised;
  }

  /** Throws as `openStateDatabase` does. */
  static async open(options: StateStoreOptions): Promise<LiveDatabase> {
    const { opened, isRaised } = await openOrRaise(options);
    return new LiveDatabase(options, opened, isRaised);
  }

  /** The row of table `meta`, as it was when the database was opened. */
  get meta(): StateDatabase['meta'] {
    return this.#opened.meta;
  }

  /** The connection that folds. Another one after `reopen`, and so after any `withMemory`. */
  get connection(): Connection {
    return this.#opened.connection;
  }

  /** The rows of table `deferred`, as they were when the database was opened. */
  get deferred(): StateDatabase['deferred'] {
    return this.#opened.deferred;
  }

  /** The rows of table `carried`. */
  get carried(): StateDatabase['carried'] {
    return this.#opened.carried;
  }

  get temporary(): TemporaryTables {
    return this.#opened.temporary;
  }

  /** Works on a connection of its own, beside the fold. */
  async beside<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    await this.#reopening;
    const done = this.#onItsOwn(work);
    this.#beside.add(done);
    try {
      return await done;
    } finally {
      this.#beside.delete(done);
    }
  }

  /**
   * Does work that may need more memory than there is. Then it does the work again, from its start: with nothing beside
   * it in a database that was opened anew, and at last, if `raise` says so, with four times the memory. Rejects with
   * the last error.
   */
  async withMemory<T>(work: () => Promise<T>, { raise }: { readonly raise: boolean }): Promise<T> {
    if (this.#isRaised) await this.#lower();
    const remedies = [
      ...(this.#isFresh ? [] : [() => this.reopen()]),
      ...(raise ? [() => this.#raise()] : []),
    ];
    for (;;) {
      try {
        const result = await work();
        this.#isFresh = false;
        return result;
      } catch (error) {
        const remedy = lacksMemory(error) ? remedies.shift() : undefined;
        if (!lacksMemory(error) || remedy === undefined) throw error;
        this.#options.onTooLittleMemory?.(error);
        await remedy();
      }
    }
  }

  /** Waits for what is done beside, and opens the database anew. Throws as `openStateDatabase` does. */
  async reopen(): Promise<void> {
    const reopening = this.#reopen();
    this.#reopening = reopening.catch(() => undefined);
    await reopening;
    this.#isFresh = true;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { connection, database } = this.#opened;
    await connection.run('use memory; checkpoint st; detach st').catch(() => undefined);
    connection.close();
    database.close();
  }

  async #onItsOwn<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#opened.database.connect();
    try {
      await connection.run('use st');
      return await work(connection);
    } finally {
      connection.close();
    }
  }

  async #reopen(): Promise<void> {
    await Promise.allSettled(this.#beside);
    await this.close();
    ({ opened: this.#opened, isRaised: this.#isRaised } = await openOrRaise(this.#options));
    this.#isClosed = false;
  }

  async #raise(): Promise<void> {
    this.#isRaised = true;
    await this.#limit(RAISED);
  }

  /** What was taken above the usual limit may still be held; then it stays raised until the next work. */
  async #lower(): Promise<void> {
    try {
      await this.#limit(1);
      this.#isRaised = false;
    } catch {
      // Next time.
    }
  }

  async #limit(times: number): Promise<void> {
    const { memoryBytes } = this.#options;
    if (memoryBytes !== undefined) await this.connection.limitMemory(times * memoryBytes);
  }
}

/** Also of memory is a log that could not be written into the tables, unless it is said to be the disk. */
export function lacksMemory(error: unknown): error is DatabaseError {
  return (
    isOutOfMemory(error) ||
    (error instanceof DatabaseError && error.fault === 'checkpoint-failed' && error.file === null)
  );
}

/** What the log holds is read at once: with more memory, when the usual does not suffice for it. */
async function openOrRaise(options: StateStoreOptions): Promise<{ opened: Opened; isRaised: boolean }> {
  const { memoryBytes } = options;
  try {
    return { opened: await withTables(options), isRaised: false };
  } catch (error) {
    if (!lacksMemory(error) || memoryBytes === undefined) throw error;
    options.onTooLittleMemory?.(error);
    return { opened: await withTables({ ...options, memoryBytes: RAISED * memoryBytes }), isRaised: true };
  }
}

async function withTables(options: StateStoreOptions): Promise<Opened> {
  const opened = await openStateDatabase(options);
  const temporary = new TemporaryTables(opened.connection);
  await temporary.createStages();
  return { ...opened, temporary };
}

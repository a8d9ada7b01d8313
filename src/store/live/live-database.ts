/**
 * The database of a `StateStore`, with remedies for lack of memory. It can be reopened while the process runs.
 *
 * Test: test/store/live/live-database.test.ts.
 */
import { DatabaseError, isOutOfMemory, type Connection } from '../duckdb.ts';
import { openStateDatabase, type StateDatabase, type StateStoreOptions } from './state-database.ts';
import { TemporaryTables } from './temporary-tables.ts';

/** Factor on the memory limit when the usual limit does not suffice. */
const RAISED = 4;

/** An open database with the temporary tables of its folding connection. */
interface Opened extends StateDatabase {
  readonly temporary: TemporaryTables;
}

/**
 * The live database. It is reopened to free memory: DuckDB keeps 256 KiB for each block of rows that was written since
 * it opened the file, and frees it only when it closes the file.
 */
export class LiveDatabase {
  readonly #options: StateStoreOptions;
  readonly #beside = new Set<Promise<unknown>>();
  #opened: Opened;
  /** Resolves when the database is open again. */
  #reopening: Promise<unknown> = Promise.resolve();
  /** True if it was reopened and no work has succeeded since: reopening again would not help. */
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

  /** The row of table `meta` at the time of opening. */
  get meta(): StateDatabase['meta'] {
    return this.#opened.meta;
  }

  /** The connection that folds. It changes with `reopen`, and so with any `withMemory`. */
  get connection(): Connection {
    return this.#opened.connection;
  }

  /** The rows of table `deferred` at the time of opening. */
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

  /** Resolves when the database is open again. */
  get reopening(): Promise<unknown> {
    return this.#reopening;
  }

  /** Runs work on a separate connection, beside the fold. */
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
   * Runs work that may lack memory. If it does, the work runs again from its start: first in a reopened database with
   * no work beside it, and at last, with `raise`, under four times the limit. Rejects with the last error.
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

  /** Waits for the work beside, and reopens the database. Throws as `openStateDatabase` does. */
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

  /** Restores the usual limit. If the memory is still in use, the limit stays raised until the next work. */
  async #lower(): Promise<void> {
    try {
      await this.#limit(1);
      this.#isRaised = false;
    } catch {
      // The next work tries again.
    }
  }

  async #limit(times: number): Promise<void> {
    const { memoryBytes } = this.#options;
    if (memoryBytes !== undefined) await this.connection.limitMemory(times * memoryBytes);
  }
}

/**
 * Returns true for lack of memory. A log that could not be written into the tables counts, too, unless the disk is at
 * fault.
 */
export function lacksMemory(error: unknown): error is DatabaseError {
  return (
    isOutOfMemory(error) ||
    (error instanceof DatabaseError && error.fault === 'checkpoint-failed' && error.file === null)
  );
}

/** Opening reads the log at once, with the raised limit if the usual one does not suffice. */
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

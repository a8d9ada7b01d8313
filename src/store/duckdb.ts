/**
 * The one access to DuckDB: plain values in, plain values out. Each error of DuckDB is classified here, as a
 * DatabaseError.
 *
 * Test: test/store/duckdb.test.ts.
 */
import {
  DuckDBInstance,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBMaterializedResult,
  type DuckDBPreparedStatement,
  DuckDBTimestampValue,
  type DuckDBValue,
  DOUBLE,
  INTEGER,
  TIMESTAMP,
  TINYINT,
  VARCHAR,
  BIGINT,
} from '@duckdb/node-api';
import { giveWay, PIECE } from '../domain/give-way.ts';

/** A value to bind. `{ at }` is an instant in microseconds since 1970-01-01 UTC, or ±Infinity. */
export type BindValue = number | string | null | { readonly at: number };
export type Bindings = Readonly<Record<string, BindValue>>;

/**
 * A column value as read: BIGINT and smaller as number, TIMESTAMP as microseconds, UUID, VARCHAR and enums as string,
 * BLOB as bytes, LIST as array.
 */
export type Value = number | string | boolean | null | Uint8Array | readonly Value[];
export type Row = Readonly<Record<string, Value>>;
/** A column of DOUBLE, INTEGER or TINYINT. */
export type NumberColumn = Float64Array | Int32Array | Int8Array;

/** Rows as columns, by name. */
export interface Columns {
  readonly rows: number;
  readonly numbers: Readonly<Record<string, NumberColumn>>;
  readonly texts: Readonly<Record<string, readonly string[]>>;
}

export interface DatabaseOptions {
  readonly threads: number;
  /** Memory limit of the database, bytes. Default: that of DuckDB, most of the machine's memory. */
  readonly memoryBytes?: number;
  /** Folder for data that exceeds the memory; created when needed. Default: nothing is spilled. */
  readonly spillDirectory?: string;
}

/**
 * The class of a failure, as far as callers act on it. `invalidated`: DuckDB met an internal fault, and the database
 * refuses all work on every connection; only a new database helps. `data`: a value does not fit its column, or violates
 * a rule of its table. `io`: a file could not be read or written. `checkpoint-failed`: DuckDB could not write its log
 * into the tables, and refuses the file until it is opened again. No statement is at fault, and committed work is in
 * the log; a commit may throw this after it succeeded. `busy`: other connections are at work, and the log can be
 * written only without them.
 */
export type DatabaseFault =
  | 'out-of-memory'
  | 'invalidated'
  | 'checkpoint-failed'
  | 'busy'
  | 'data'
  | 'io'
  | 'other';

/**
 * The fault of a file, as far as callers act on it. `damaged`: missing, truncated or changed. `no-room`: the disk is
 * full. `held`: another process has the file open.
 */
export type FileFault = 'damaged' | 'no-room' | 'held';

/**
 * An error of DuckDB. The message is DuckDB's without the stack trace, which is in `cause`. A fault of the data quotes
 * no value, as users may have written it, and has no cause: errors are logged.
 */
export class DatabaseError extends Error {
  readonly fault: DatabaseFault;
  /** Null when no file is at fault, or callers do not act on the fault. */
  readonly file: FileFault | null;

  /** `doing`: a prefix of the message that names the action. */
  constructor(thrown: Error, doing = '') {
    const known = thrown instanceof DatabaseError ? thrown : null;
    const fault = known?.fault ?? faultOf(thrown.message);
    const message = thrown.message.split('\n\nStack Trace:')[0] ?? '';
    const isOfData = fault === 'data' && known === null;
    super(`${doing}${isOfData ? withoutValues(message) : message}`, isOfData ? undefined : { cause: thrown });
    this.name = 'DatabaseError';
    this.fault = fault;
    // Without memory, a sound file cannot be read completely.
    const isOfFile = fault !== 'out-of-memory';
    this.file = known !== null ? known.file : isOfFile ? fileFaultOf(thrown.message) : null;
  }
}

/** Returns true if the database ran out of memory. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'out-of-memory';
}

/** Formats a size in DuckDB's notation. */
function inBytes(bytes: number): string {
  return `${Math.floor(bytes)}B`;
}

/** Masks quoted values, which may contain quotes. The statement below the message is ours, and stays. */
function withoutValues(message: string): string {
  const [head = '', ...statement] = message.split('\n\nLINE ');
  const masked = head.replace(/'.*'/s, "'…'").replace(/".*"/s, '"…"');
  return [masked, ...statement].join('\n\nLINE ');
}

const WANT = 'could not allocate|failed to (?:allocate|pin|offload|reserve)';
/** Lack of memory in a commit, also while a log is read, has another type, and the appender omits the type. */
const OUT_OF_MEMORY = new RegExp(
  `^(?:TransactionContext Error: )?(?:Failure while replaying WAL file "[^"\\n]*": )?` +
    `(?:Failed to (?:append|commit): )+(?:${WANT})`,
  'i',
);

/** Matches any type of error; the cause follows in the message. */
const CHECKPOINT_FAILED = /Checkpoint failed for database|invalidated because checkpointing failed/;
const BUSY = /Cannot CHECKPOINT: there are other/;

/** Classifies an error by its type, with which the message begins. */
function faultOf(message: string): DatabaseFault {
  if (CHECKPOINT_FAILED.test(message)) return 'checkpoint-failed';
  if (OUT_OF_MEMORY.test(message)) return 'out-of-memory';
  if (BUSY.test(message)) return 'busy';
  switch (/^([A-Za-z ]+) Error:/.exec(message)?.[1]) {
    case 'Out of Memory':
      return 'out-of-memory';
    case 'INTERNAL':
    case 'FATAL':
      return 'invalidated';
    case 'IO':
      return 'io';
    case 'Conversion':
    case 'Constraint':
    case 'Invalid Input':
    case 'Out of Range':
      return 'data';
    default:
      return 'other';
  }
}

/** Messages about a file that is missing, truncated or changed; its blocks carry checksums. */
const DAMAGED = new RegExp(
  [
    'not a valid DuckDB database',
    'Corrupt (?:database|WAL) file',
    'Could not read enough bytes',
    'database does not exist',
    'No such file or directory',
    'Failure while replaying WAL',
    'checksum',
    'deserializ',
    'Serialization Error',
  ].join('|'),
  'i',
);
/** Messages with the same words when the disk or the system is at fault, and the file may be sound. */
const HINDERED = /Permission denied|Too many open files|temporary/i;
const NO_ROOM = /No space left|File too large|Disk quota exceeded/i;
const HELD = /Could not set lock on file/i;

/** Classifies a fault of a file by the words of the message, as its type is only `IO`. */
function fileFaultOf(message: string): FileFault | null {
  if (HELD.test(message)) return 'held';
  if (NO_ROOM.test(message)) return 'no-room';
  return DAMAGED.test(message) && !HINDERED.test(message) ? 'damaged' : null;
}

/** Runs a call of DuckDB, and converts its errors to DatabaseError. */
async function classified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error && !(error instanceof DatabaseError) ? new DatabaseError(error) : error;
  }
}

const NEGATIVE_INFINITY = -(2n ** 63n) + 1n;
const POSITIVE_INFINITY = 2n ** 63n - 1n;

/** Opens an in-memory database with the settings for all readers and writers; files are attached to it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const instance = await classified(() =>
    DuckDBInstance.create(':memory:', {
      threads: String(options.threads),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      ...(options.memoryBytes === undefined ? {} : { memory_limit: inBytes(options.memoryBytes) }),
      temp_directory: options.spillDirectory ?? '',
    }),
  );
  return new Database(instance);
}

/**
 * Runs `work` in a database of its own. Closes the connection before the database, whether or not the work succeeds: an
 * open connection would keep attached files open and locked.
 */
export async function withDatabase<T>(
  options: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(options);
  try {
    const connection = await database.connect();
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  } finally {
    database.close();
  }
}

/** An in-memory database; `openDatabase` creates it. */
export class Database {
  readonly #instance: DuckDBInstance;

  constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  async connect(): Promise<Connection> {
    return classified(async () => {
      const connection = await this.#instance.connect();
      await connection.run(`set TimeZone = 'UTC'`);
      return new Connection(connection);
    });
  }

  close(): void {
    this.#instance.closeSync();
  }
}

/** Types of columns that `append` supports. */
export type ColumnType = 'integer' | 'bigint' | 'text' | 'blob';

const INTERRUPT_AGAIN_MS = 20;

/** Number of prepared statements that a connection keeps. */
const PREPARED = 16;
/** The appender buffers thousands of rows, however long their texts are; from this many bytes on, it is flushed. */
const APPENDED_BYTES = 2 ** 20;

/** A connection with plain values. The caller closes it. */
export class Connection {
  readonly #connection: DuckDBConnection;
  /** Prepared statements by text, least recently used first: preparing costs more than running. */
  readonly #prepared = new Map<string, DuckDBPreparedStatement>();

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Runs one or several statements without result. */
  async run(sql: string, bindings?: Bindings): Promise<void> {
    await classified(() =>
      bindings === undefined
        ? this.#connection.run(sql)
        : this.#connection.run(sql, bound(bindings), boundTypes(bindings)),
    );
  }

  /**
   * Yields the rows of a SELECT as they are computed, some thousands at a time. Only one stream may run on a
   * connection. When the signal is aborted, it throws the signal's reason, even in the middle of a sort.
   */
  async *stream(sql: string, bindings: Bindings, signal?: AbortSignal): AsyncGenerator<Row[]> {
    signal?.throwIfAborted();
    let again: NodeJS.Timeout | undefined;
    // A statement that has not begun misses the interrupt.
    const interrupt = (): void => {
      this.#connection.interrupt();
      again = setTimeout(interrupt, INTERRUPT_AGAIN_MS);
    };
    signal?.addEventListener('abort', interrupt);
    try {
      const result = await classified(() =>
        this.#connection.stream(sql, bound(bindings), boundTypes(bindings)),
      );
      const names = result.columnNames();
      for (;;) {
        const chunk = await classified(() => result.fetchChunk());
        signal?.throwIfAborted();
        if (chunk === null || chunk.rowCount === 0) return;
        yield rowsOf(names, [chunk]);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', interrupt);
      clearTimeout(again);
    }
  }

  async all(sql: string, bindings?: Bindings): Promise<Row[]> {
    const result = await classified(() =>
      bindings === undefined ? this.#connection.run(sql) : this.#runPrepared(sql, bindings),
    );
    const chunks = Array.from({ length: result.chunkCount }, (_, index) => result.getChunk(index));
    return rowsOf(result.columnNames(), chunks);
  }

  /** Rows of a SELECT whose columns are DOUBLE, INTEGER, TINYINT or VARCHAR and never null. */
  async columns(sql: string, bindings?: Bindings): Promise<Columns> {
    const result = await classified(() =>
      bindings === undefined
        ? this.#connection.run(sql)
        : this.#connection.run(sql, bound(bindings), boundTypes(bindings)),
    );
    const chunks = Array.from({ length: result.chunkCount }, (_, index) => result.getChunk(index));
    const rows = chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    const numbers: Record<string, NumberColumn> = {};
    const texts: Record<string, string[]> = {};
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, index): string[] | NumberColumn => {
      const type = types[index];
      if (type === VARCHAR) return (texts[name] = []);
      const Typed = type === DOUBLE ? Float64Array : type === TINYINT ? Int8Array : Int32Array;
      return (numbers[name] = new Typed(rows));
    });
    let at = 0;
    for (const chunk of chunks) {
      if (at > 0) await giveWay();
      const count = chunk.rowCount;
      for (const [index, column] of columns.entries()) {
        const vector = chunk.getColumnVector(index);
        if (Array.isArray(column)) {
          for (let row = 0; row < count; row += 1) column[at + row] = vector.getItem(row) as string;
          continue;
        }
        // Reading single items would check the validity of each row, and takes twice as long.
        column.set((vector as unknown as { readonly items: NumberColumn }).items, at);
      }
      at += count;
    }
    return { rows, numbers, texts };
  }

  async #runPrepared(sql: string, bindings: Bindings): Promise<DuckDBMaterializedResult> {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = await this.#connection.prepare(sql);
      for (const [oldest, old] of this.#prepared) {
        if (this.#prepared.size < PREPARED) break;
        this.#prepared.delete(oldest);
        old.destroySync();
      }
    } else {
      this.#prepared.delete(sql);
    }
    this.#prepared.set(sql, statement);
    statement.bind(bound(bindings), boundTypes(bindings));
    return statement.run();
  }

  async one(sql: string, bindings?: Bindings): Promise<Row | undefined> {
    return (await this.all(sql, bindings))[0];
  }

  /** Appends rows to a temporary table; each row has a value for every column. */
  async append(
    table: string,
    columns: readonly ColumnType[],
    rows: Iterable<readonly (number | string | Uint8Array | null)[]>,
  ): Promise<void> {
    await classified(async () => {
      const appender = await this.#connection.createAppender(table, 'main', 'temp');
      try {
        let bytes = 0;
        for (const row of rows) {
          for (let i = 0; i < columns.length; i++) {
            const value = row[i] as number | string | Uint8Array | null;
            if (value === null) appender.appendNull();
            else if (columns[i] === 'integer') appender.appendInteger(value as number);
            else if (columns[i] === 'bigint') appender.appendBigInt(BigInt(value as number));
            else {
              bytes += (value as string | Uint8Array).length;
              if (columns[i] === 'text') appender.appendVarchar(value as string);
              else appender.appendBlob(value as Uint8Array);
            }
          }
          appender.endRow();
          if (bytes < APPENDED_BYTES) continue;
          appender.flushSync();
          bytes = 0;
        }
        appender.flushSync();
      } catch (error) {
        // Closing flushes again, and its error would hide the original one.
        try {
          appender.closeSync();
        } catch {
          // This is the error above.
        }
        throw error;
      }
      appender.closeSync();
    });
  }

  /** Changes the memory limit of the whole database. Throws out-of-memory when it holds more. */
  limitMemory(bytes: number): Promise<void> {
    return this.run(`set global memory_limit = ${quoted(inBytes(bytes))}`);
  }

  /** Runs `work` in one transaction, which is committed or rolled back as a whole. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run('begin transaction');
    try {
      const result = await work();
      await this.run('commit');
      return result;
    } catch (error) {
      await this.#connection.run('rollback').catch(() => undefined);
      throw error;
    }
  }

  close(): void {
    this.#connection.closeSync();
  }
}

/** Quotes text as a string literal of SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function bound(bindings: Bindings): Record<string, DuckDBValue> {
  const result: Record<string, DuckDBValue> = {};
  for (const [name, value] of Object.entries(bindings)) {
    if (typeof value === 'number') result[name] = Math.abs(value) < 2 ** 31 ? value : BigInt(value);
    else if (value !== null && typeof value === 'object') result[name] = timestamp(value.at);
    else result[name] = value;
  }
  return result;
}

function boundTypes(
  bindings: Bindings,
): Record<string, typeof INTEGER | typeof BIGINT | typeof VARCHAR | typeof TIMESTAMP> {
  const result: Record<string, typeof INTEGER | typeof BIGINT | typeof VARCHAR | typeof TIMESTAMP> = {};
  for (const [name, value] of Object.entries(bindings)) {
    if (typeof value === 'number') result[name] = Math.abs(value) < 2 ** 31 ? INTEGER : BIGINT;
    else if (value !== null && typeof value === 'object') result[name] = TIMESTAMP;
    else result[name] = VARCHAR;
  }
  return result;
}

function timestamp(at: number): DuckDBTimestampValue {
  if (at === Infinity) return new DuckDBTimestampValue(POSITIVE_INFINITY);
  if (at === -Infinity) return new DuckDBTimestampValue(NEGATIVE_INFINITY);
  return new DuckDBTimestampValue(BigInt(at));
}

/** Converts chunks to plain rows. That may take longer than the statement, so it yields to other work. */
async function rowsOf(names: readonly string[], chunks: readonly DuckDBDataChunk[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const chunk of chunks) {
    const { rowCount } = chunk;
    for (let i = 0; i < rowCount; i++) {
      if (rows.length > 0 && rows.length % PIECE === 0) await giveWay();
      rows.push(rowOf(names, chunk.getRowValues(i)));
    }
  }
  return rows;
}

function rowOf(names: readonly string[], values: readonly DuckDBValue[]): Row {
  const row: Record<string, Value> = {};
  for (let i = 0; i < names.length; i++) row[names[i] as string] = plain(values[i] as DuckDBValue);
  return row;
}

function plain(value: DuckDBValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof DuckDBTimestampValue) {
    if (value.micros === NEGATIVE_INFINITY) return -Infinity;
    return value.micros === POSITIVE_INFINITY ? Infinity : Number(value.micros);
  }
  if (typeof value === 'object' && 'items' in value) return (value.items as DuckDBValue[]).map(plain);
  if (typeof value === 'object' && 'bytes' in value) return value.bytes as Uint8Array;
  return String(value);
}

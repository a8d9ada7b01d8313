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

/** The one door to DuckDB: plain values in, plain values out. */

/** What a statement may bind. `{ at }` is an instant in microseconds since 1970-01-01 UTC (or ±Infinity). */
export type BindValue = number | string | null | { readonly at: number };
export type Bindings = Readonly<Record<string, BindValue>>;

/**
 * A column value read back: BIGINT and smaller as number, TIMESTAMP as microseconds, UUID, VARCHAR and
 * enums as string, BLOB as bytes, LIST as array.
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
  /** What the database may take, bytes. Default: DuckDB's, most of the machine's. */
  readonly memoryBytes?: number;
  /** Folder for what does not fit into memory; made when it is needed. Default: nothing is put on disk. */
  readonly spillDirectory?: string;
}

/**
 * Why a statement failed, as far as anybody acts on it. `invalidated`: the vendor met a fault of its own, and the
 * whole database (every connection of it) refuses all work from then on; only a new one helps. `data`: a value is not
 * what its column takes, or against a rule of its table. `io`: a file could not be read or written.
 * `checkpoint-failed`: the vendor could not write its log into the tables, and refuses the file until it is opened
 * again. No statement is to blame, and what was committed is in the log; a commit may throw this after it succeeded.
 * `busy`: others work in the database, and the log can be written into the tables only without them.
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
 * What is wrong with a file, as far as anybody acts on it. `damaged`: it is gone, cut short or changed. `no-room`: the
 * disk takes no more. `held`: another process has it open.
 */
export type FileFault = 'damaged' | 'no-room' | 'held';

/**
 * What DuckDB threw. The message is the vendor's without its stack trace, which `cause` has. For a fault of the data
 * it does not quote the value, which may be what somebody wrote, and has no cause: errors are logged.
 */
export class DatabaseError extends Error {
  readonly fault: DatabaseFault;
  /** Null: no file is at fault, or nobody acts on what is wrong with it. */
  readonly file: FileFault | null;

  /** `doing`: what was being done, put before the message. */
  constructor(thrown: Error, doing = '') {
    const known = thrown instanceof DatabaseError ? thrown : null;
    const fault = known?.fault ?? faultOf(thrown.message);
    const message = thrown.message.split('\n\nStack Trace:')[0] ?? '';
    const isOfData = fault === 'data' && known === null;
    super(`${doing}${isOfData ? withoutValues(message) : message}`, isOfData ? undefined : { cause: thrown });
    this.name = 'DatabaseError';
    this.fault = fault;
    // Without memory, a sound file cannot be read to its end.
    const isOfFile = fault !== 'out-of-memory';
    this.file = known !== null ? known.file : isOfFile ? fileFaultOf(thrown.message) : null;
  }
}

/** Whether an error says that the database had too little memory. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'out-of-memory';
}

/** In DuckDB's notation. */
function inBytes(bytes: number): string {
  return `${Math.floor(bytes)}B`;
}

/** Values are in quotes, and may have quotes in themselves; the statement below the message is ours. */
function withoutValues(message: string): string {
  const [said = '', ...statement] = message.split('\n\nLINE ');
  const masked = said.replace(/'.*'/s, "'…'").replace(/".*"/s, '"…"');
  return [masked, ...statement].join('\n\nLINE ');
}

const WANT = 'could not allocate|failed to (?:allocate|pin|offload|reserve)';
/** Want of memory in a commit has another type, and the appender leaves the type out. */
const OUT_OF_MEMORY = new RegExp(
  `^(?:TransactionContext Error: )?(?:Failed to (?:append|commit): )+(?:${WANT})`,
  'i',
);

/** Of whatever type; the cause follows in the message. */
const CHECKPOINT_FAILED = /Checkpoint failed for database|invalidated because checkpointing failed/;
const BUSY = /Cannot CHECKPOINT: there are other/;

/** By the vendor's type, which its message begins with. */
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

/** Of a file that is gone, cut short or changed; its blocks carry checksums. */
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
/** The same words, when the disk or the system is at fault and the file may be sound. */
const HINDERED = /Permission denied|Too many open files|temporary/i;
const NO_ROOM = /No space left|File too large|Disk quota exceeded/i;
const HELD = /Could not set lock on file/i;

/** By the vendor's words, as its type says no more than `IO`. */
function fileFaultOf(message: string): FileFault | null {
  if (HELD.test(message)) return 'held';
  if (NO_ROOM.test(message)) return 'no-room';
  return DAMAGED.test(message) && !HINDERED.test(message) ? 'damaged' : null;
}

/** Runs what calls the vendor, and throws what it throws as a DatabaseError. */
async function classified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error && !(error instanceof DatabaseError) ? new DatabaseError(error) : error;
  }
}

const NEGATIVE_INFINITY = -(2n ** 63n) + 1n;
const POSITIVE_INFINITY = 2n ** 63n - 1n;

/** An in-memory instance with the settings that every reader and writer needs; files are attached to it. */
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

export type ColumnType = 'integer' | 'bigint' | 'text' | 'blob';

const INTERRUPT_AGAIN_MS = 20;

/** Prepared statements that a connection keeps. */
const PREPARED = 16;
/** An appender hands its rows over by thousands, however long their texts are; from so many bytes on, at once. */
const APPENDED_BYTES = 2 ** 20;

export class Connection {
  readonly #connection: DuckDBConnection;
  /** By text, the least recently used first: preparing plans a statement once more than running it does. */
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
   * The rows of a SELECT as it makes them, some thousands at a time. One at a time on a connection. Ends, also in the
   * middle of a sort, with what the signal says once that is aborted.
   */
  async *stream(sql: string, bindings: Bindings, signal?: AbortSignal): AsyncGenerator<Row[]> {
    signal?.throwIfAborted();
    let again: NodeJS.Timeout | undefined;
    // What has not begun yet does not hear it.
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

  /** The rows of a SELECT whose columns are DOUBLE, INTEGER, TINYINT or VARCHAR and never null. */
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
        // Reading item by item would look at each row's validity, and takes twice as long.
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

  /** Appends rows to a temporary table; a row has a value for each column. */
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
        // Closing flushes once more, and would throw in place of what is wrong.
        try {
          appender.closeSync();
        } catch {
          // Known already.
        }
        throw error;
      }
      appender.closeSync();
    });
  }

  /** Changes what the whole database may take; throws out of memory when it holds more. */
  limitMemory(bytes: number): Promise<void> {
    return this.run(`set global memory_limit = ${quoted(inBytes(bytes))}`);
  }

  /** Runs `work` in one transaction: all of it is kept, or nothing. */
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

/** A string literal of SQL. */
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

/** Plain rows. Reading them takes longer than many a statement, so it gives way. */
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

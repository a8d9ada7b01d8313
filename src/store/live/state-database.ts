/**
 * Opens `state.duckdb` of a shard's folder, or creates it. A file of another definition is refused.
 *
 * Test: test/store/published/publication.test.ts, test/worker/dead-letter-decision.test.ts,
 * test/store/live/session-states.test.ts.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { isDamage, notedDamage } from '../damage.ts';
import {
  DatabaseError,
  isOutOfMemory,
  openDatabase,
  quoted,
  type Connection,
  type Database,
  type Row,
} from '../duckdb.ts';
import { definitionOf } from '../epochs/definition.ts';
import type { View } from '../view-files.ts';
import type { DeferredPart } from './batch.ts';

/** The file of the database in the shard's folder. */
export const STATE_FILE = 'state.duckdb';
/** The log: committed changes that DuckDB has not yet written into the tables of the file. */
export const LOG_FILE = `${STATE_FILE}.wal`;

export interface StateStoreOptions {
  /** Folder of one shard: `<data>/views/<epoch>/<shard>`. */
  readonly directory: string;
  readonly views: readonly View[];
  /** Part of the definition besides the views: model, rules and heads. */
  readonly analysis: string;
  readonly threads: number;
  /** Memory limit of the database, bytes; it spills the rest. Default: no limit. */
  readonly memoryBytes?: number;
  readonly spillDirectory?: string;
  /** Called when memory did not suffice, before the work is tried again. */
  readonly onTooLittleMemory?: (error: Error) => void;
}

/** The shard's database cannot be read: its rows must be rebuilt from the stream. */
export class DamagedStateError extends SetupError {
  constructor(file: string, reason: string, options: { cause?: unknown } = {}) {
    super(`${file} is damaged (${reason.split('\n')[0]})`, options);
    this.name = 'DamagedStateError';
  }
}

/** Another process has the shard's database open. */
export class HeldStateError extends SetupError {
  constructor(file: string, cause: Error) {
    super(
      `${file} is open in another process: a second worker runs on this data directory. Stop one of them.`,
      { cause },
    );
    this.name = 'HeldStateError';
  }
}

/** An open database with the rows that the store needs at its start. */
export interface StateDatabase {
  readonly database: Database;
  readonly connection: Connection;
  /** The row of table `meta`. */
  readonly meta: Row;
  /** The rows of table `deferred`, in stream order. */
  readonly deferred: readonly DeferredPart[];
  /** By instance id, the sequence up to which its entries are not applied. */
  readonly carried: ReadonlyMap<string, number>;
}

/**
 * Size of the log from which a commit writes it into the tables. DuckDB estimates the log of an update by the blocks of
 * rows that it touches. With a long history each batch touches hundreds, so the default of 16 MB would write the tables
 * at every commit. After a crash, a log of this size is read in a second or two.
 */
const CHECKPOINT_THRESHOLD = '128MB';

/**
 * Options of `attach`. A checkpoint drops deleted rows only where it can merge groups of rows into fewer, so the last
 * group keeps all of its deleted rows. DuckDB's default of 122,880 rows would keep hundreds of megabytes of replaced
 * session states. The size applies to new groups, also in a file that was made with another size.
 */
export const ATTACH_OPTIONS = '(row_group_size 8192)';

/**
 * Columns and tables that a state of 0.1 lacks. `revision` counts commits, starting at the sequence, so it is above the
 * `seq` of every row. `last_entry` is the digest of the entry at the sequence. `deferred` lists parts of entries up to
 * `meta.sequence` that are not applied yet. `carried` lists instances whose entries up to a sequence are not applied,
 * as their rows were copied from other views. `session_state.part` numbers the rows of one state; null: it has only one.
 */
const LATER_SCHEMA = `
alter table meta add column if not exists revision bigint;
update meta set revision = sequence where revision is null;
alter table meta add column if not exists last_entry varchar;
alter table session_state add column if not exists part integer;
create table if not exists deferred (
  instance_id varchar, sequence bigint, place integer, message integer, stored_at bigint
);
alter table deferred add column if not exists project_id varchar;
create table if not exists carried (instance_id varchar, until bigint)`;

/** Tables of the worker alone, beside those of the views. */
const OWN_SCHEMA = `
create table meta (
  store uuid, sequence bigint, instances integer, sessions integer, end_users integer, definition varchar
);
create table request (id uuid, accepted_at bigint);
create table assign_state (instance integer, kind varchar, key integer, value blob);
create table session_state (session integer, value blob);
`;

/**
 * Opens or creates the database and its tables.
 *
 * @throws HeldStateError when another process has it open
 * @throws DamagedStateError when it is damaged
 * @throws SetupError when it cannot be read, or has another definition
 * @throws DatabaseError for lack of memory: the log is read at once
 */
export async function openStateDatabase(options: StateStoreOptions): Promise<StateDatabase> {
  const { directory, threads, memoryBytes, spillDirectory } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, STATE_FILE);
  const noted = notedDamage(directory, 'state');
  if (noted !== null) throw new DamagedStateError(file, noted);
  const database = await openDatabase({
    threads,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(spillDirectory === undefined ? {} : { spillDirectory }),
  });
  let connection: Connection | null = null;
  try {
    connection = await database.connect();
    await attach(connection, file, directory);
    await connection.run('use st');
    await connection.run(`set checkpoint_threshold = '${CHECKPOINT_THRESHOLD}'`);
    const definition = definitionOf(options.views, options.analysis);
    await createTables(connection, options.views, definition);
    // Attaching a refused file has replayed its own log, which changes no row of it.
    const made = await connection.one('select definition from meta');
    if (made?.['definition'] !== definition)
      throw madeByOthers(directory, String(made?.['definition']), definition);
    await connection.run(LATER_SCHEMA);
    const meta = (await connection.one('select * from meta')) as Row;
    return {
      database,
      connection,
      meta,
      deferred: await loadDeferred(connection),
      carried: await loadCarried(connection),
    };
  } catch (error) {
    // An open connection would keep the file open and locked.
    connection?.close();
    database.close();
    if (isDamage(error) && !(error instanceof SetupError))
      throw new DamagedStateError(file, (error as Error).message, { cause: error });
    throw error;
  }
}

async function loadDeferred(connection: Connection): Promise<DeferredPart[]> {
  const rows = await connection.all('from deferred order by sequence, place, instance_id');
  return rows.map((row) => ({
    // Earlier versions did not store it: the instance then takes turns as a project of its own.
    projectId: (row['project_id'] ?? row['instance_id']) as string,
    instanceId: row['instance_id'] as string,
    sequence: row['sequence'] as number,
    place: row['place'] as number,
    message: row['message'] as number,
    storedAt: row['stored_at'] as number,
  }));
}

async function loadCarried(connection: Connection): Promise<Map<string, number>> {
  const rows = await connection.all('from carried');
  return new Map(rows.map((row) => [row['instance_id'] as string, row['until'] as number]));
}

async function attach(connection: Connection, file: string, directory: string): Promise<void> {
  try {
    await connection.run(`attach ${quoted(file)} as st ${ATTACH_OPTIONS}`);
  } catch (error) {
    if (isDamage(error) || isOutOfMemory(error)) throw error;
    if (error instanceof DatabaseError && error.file === 'held') throw new HeldStateError(file, error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `${file} cannot be opened (${reason.split('\n')[0]}). Delete ${directory} and start again: it is ` +
        'rebuilt from the stream.',
      { cause: error },
    );
  }
}

/** Creates the tables if they are missing. */
async function createTables(
  connection: Connection,
  views: readonly View[],
  definition: string,
): Promise<void> {
  const found = await connection.one(
    `select 1 from duckdb_tables() where database_name = 'st' and table_name = 'meta'`,
  );
  if (found !== undefined) return;
  await connection.transaction(async () => {
    await connection.run(OWN_SCHEMA);
    for (const view of views) if (view.schema !== '') await connection.run(view.schema);
    await connection.run(`insert into meta values (uuid(), 0, 0, 0, 0, ${quoted(definition)})`);
  });
}

function madeByOthers(directory: string, there: string, now: string): SetupError {
  return new SetupError(
    `The views in ${directory} were made by other view definitions, rules or another embedding model ` +
      `(${there} there, ${now} now). ` +
      `Run "npm run rebuild", or delete that folder: it is rebuilt from the stream.`,
  );
}

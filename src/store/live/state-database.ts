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

/**
 * Opens `state.duckdb` of a shard's folder, or creates it.
 * Covered by test/store/published/publication.test.ts and test/worker/dead-letter-decision.test.ts.
 */

const FILE = 'state.duckdb';
/** What is committed, until DuckDB has written it into the tables of the file. */
export const LOG_FILE = `${FILE}.wal`;

export interface StateStoreOptions {
  /** Folder of one shard: `<data>/views/<epoch>/<shard>`. */
  readonly directory: string;
  readonly views: readonly View[];
  /** What the rows depend on besides stream and views (model, rules, heads): part of the definition. */
  readonly analysis: string;
  readonly threads: number;
  /** What the database may take, and beyond it what it spills, bytes. Default: no bound. */
  readonly memoryBytes?: number;
  readonly spillDirectory?: string;
  /** Told when the memory did not suffice, before work is tried again. */
  readonly onTooLittleMemory?: (error: Error) => void;
}

/** The shard's database cannot be read: its rows have to be made from the stream again. */
export class DamagedStateError extends SetupError {
  constructor(file: string, reason: string, options: { cause?: unknown } = {}) {
    super(`${file} is damaged (${reason.split('\n')[0]})`, options);
    this.name = 'DamagedStateError';
  }
}

/** Another process has the shard's database open. */
export class HeldStateError extends SetupError {
  constructor(file: string, cause: DatabaseError) {
    super(
      `${file} is open in another process: a second worker runs on this data directory. Stop one of them.`,
      { cause },
    );
    this.name = 'HeldStateError';
  }
}

export interface StateDatabase {
  readonly database: Database;
  readonly connection: Connection;
  /** The row of table `meta`. */
  readonly meta: Row;
  /** The rows of table `deferred`, in stream order. */
  readonly deferred: readonly DeferredPart[];
  /** By instance id: the sequence up to which its entries are not to be applied. */
  readonly carried: ReadonlyMap<string, number>;
}

/**
 * How large the log grows before it is written into the tables. DuckDB estimates the log of an update by the blocks
 * of rows that it touches. In a long history each batch touches hundreds, so the default of 16 MB would write the
 * tables at every commit. A log of this size is read back in a second or two after a crash.
 */
const CHECKPOINT_THRESHOLD = '128MB';

/**
 * What a state of 0.1 lacks: `revision` counts commits, from the sequence on, so that it is above every `seq` that a
 * row has; `last_entry` is the digest of what the entry at the sequence holds; `deferred` names what of entries up to
 * `meta.sequence` is not applied yet; `carried` names instances whose entries up to a sequence are not to be applied: their
 * rows were taken over from other views.
 */
const LATER_SCHEMA = `
alter table meta add column if not exists revision bigint;
update meta set revision = sequence where revision is null;
alter table meta add column if not exists last_entry varchar;
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
 * @throws HeldStateError when another process has it open
 * @throws DamagedStateError when it is damaged
 * @throws SetupError when it cannot be read, or was made by other views or another model
 * @throws DatabaseError of want of memory: what was not yet written into its tables is read at once
 */
export async function openStateDatabase(options: StateStoreOptions): Promise<StateDatabase> {
  const { directory, threads, memoryBytes, spillDirectory } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, FILE);
  const noted = notedDamage(directory, 'state');
  if (noted !== null) throw new DamagedStateError(file, noted);
  const database = await openDatabase({
    threads,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(spillDirectory === undefined ? {} : { spillDirectory }),
  });
  try {
    const connection = await database.connect();
    await attach(connection, file, directory);
    await connection.run('use st');
    await connection.run(`set checkpoint_threshold = '${CHECKPOINT_THRESHOLD}'`);
    const definition = definitionOf(options.views, options.analysis);
    await createTables(connection, options.views, definition);
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
    database.close();
    if (isDamage(error) && !(error instanceof SetupError))
      throw new DamagedStateError(file, (error as Error).message, { cause: error });
    throw error;
  }
}

async function loadDeferred(connection: Connection): Promise<DeferredPart[]> {
  const rows = await connection.all('from deferred order by sequence, place, instance_id');
  return rows.map((row) => ({
    // An earlier version did not keep it: the instance then takes turns as a project of its own.
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
    await connection.run(`attach ${quoted(file)} as st`);
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

/** Does nothing when the tables are there. */
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

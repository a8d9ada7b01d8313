import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Assignment, StateRow } from '../../domain/facts.ts';
import { SIGNALS } from '../../domain/signal-kinds.ts';
import { KINDS } from '../../domain/kinds.ts';
import { SetupError } from '../../errors.ts';
import { isDamage, notedDamage } from '../damage.ts';
import {
  DatabaseError,
  openDatabase,
  quoted,
  type ColumnType,
  type Connection,
  type Database,
  type Row,
} from '../duckdb.ts';
import type { FoldBlock, View } from '../view-files.ts';

export interface InstanceRecord {
  readonly instance: number;
  readonly id: string;
}
export interface SessionRecord {
  readonly session: number;
  readonly instance: number;
  readonly id: string;
}

/** One write: everything that a run of stream entries changes. */
export interface Batch {
  /** The position that the store must be at: the fence against a second worker. */
  readonly expectedSequence: number;
  /** Stream sequence of the last entry of the batch; the new position. */
  readonly sequence: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly processedAt: number;
  /** Instances with an entry in the batch. */
  readonly instances: readonly { instance: number; id: string; projectId: string; lastSequence: number }[];
  /** End users seen for the first time. */
  readonly endUsers: readonly { instance: number; endUser: number; id: string; externalId: string }[];
  readonly requests: readonly { id: string; acceptedAt: number }[];
  readonly metadata: readonly {
    instance: number;
    record: 'instance' | 'session' | 'user';
    key: string;
    member: string;
    value: string;
  }[];
  /** Sessions that their caller gave a name in the batch; null: took it away. */
  readonly sessionNames: readonly { session: number; externalId: string | null }[];
  readonly assignment: Assignment;
  readonly state: readonly StateRow[];
  /** The highest numbers given out, this batch's new ones included. */
  readonly counters: Counters;
}

/** Highest number given out to instances, sessions and end users of the shard; 0 at first. */
export interface Counters {
  readonly instances: number;
  readonly sessions: number;
  readonly endUsers: number;
}

/**
 * How much is logged before it is written into the tables. DuckDB guesses the log of an update by the blocks of
 * rows that it touches: in a long history each batch touches hundreds, and its default of 16 MB would write the
 * tables at every commit. Logs of this size are read back in a second or two after a crash.
 */
const CHECKPOINT_THRESHOLD = '128MB';

/** How long a request id guards against its repetition, in the stream's own time. */
const REQUEST_MEMORY_MICROS = 48 * 3600 * 1_000_000;

const STAGES: Readonly<Record<string, readonly [name: string, type: ColumnType][]>> = {
  batch_message: [
    ['position', 'bigint'],
    ['instance', 'integer'],
    ['session', 'integer'],
    ['end_user', 'integer'],
    ['event_at', 'bigint'],
    ['micro', 'integer'],
    ['sat', 'integer'],
    ['dsat', 'integer'],
    ['repeated_requests', 'integer'],
  ],
  batch_occurrence: [
    ['position', 'bigint'],
    ['kind', 'integer'],
    ['entity', 'integer'],
  ],
  batch_opening_author: [
    ['instance', 'integer'],
    ['session', 'integer'],
    ['end_user', 'integer'],
    ['before_position', 'bigint'],
  ],
  batch_instance: [
    ['instance', 'integer'],
    ['id', 'text'],
    ['project', 'text'],
    ['last_sequence', 'bigint'],
    ['processed_at', 'bigint'],
  ],
  batch_session: [
    ['instance', 'integer'],
    ['session', 'integer'],
    ['id', 'text'],
    ['end_user', 'integer'],
    ['title', 'text'],
    ['summary', 'text'],
    ['language', 'text'],
  ],
  batch_end_user: [
    ['instance', 'integer'],
    ['end_user', 'integer'],
    ['id', 'text'],
    ['external_id', 'text'],
  ],
  batch_micro: [
    ['instance', 'integer'],
    ['micro', 'integer'],
    ['topic', 'integer'],
  ],
  batch_topic: [
    ['instance', 'integer'],
    ['topic', 'integer'],
    ['id', 'text'],
    ['name', 'text'],
    ['cluster', 'integer'],
  ],
  batch_cluster: [
    ['instance', 'integer'],
    ['cluster', 'integer'],
    ['id', 'text'],
    ['name', 'text'],
  ],
  batch_signal: [
    ['instance', 'integer'],
    ['signal', 'integer'],
    ['id', 'text'],
    ['name', 'text'],
    ['signal_type', 'text'],
    ['description', 'text'],
  ],
  batch_repeated_request: [
    ['instance', 'integer'],
    ['repeated_request', 'integer'],
    ['id', 'text'],
    ['name', 'text'],
    ['description', 'text'],
  ],
  batch_gap: [
    ['instance', 'integer'],
    ['gap', 'integer'],
    ['id', 'text'],
    ['name', 'text'],
    ['description', 'text'],
    ['gap_type', 'text'],
  ],
  batch_metadata: [
    ['instance', 'integer'],
    ['record', 'text'],
    ['record_key', 'text'],
    ['member', 'text'],
    ['value', 'text'],
  ],
  batch_session_name: [
    ['session', 'integer'],
    ['external_id', 'text'],
  ],
  batch_request: [
    ['id', 'text'],
    ['accepted_at', 'bigint'],
  ],
  batch_state: [
    ['instance', 'integer'],
    ['kind', 'text'],
    ['key', 'integer'],
    ['value', 'blob'],
  ],
  wanted_id: [
    ['id', 'text'],
    ['number', 'bigint'],
  ],
};

/** A stage is made anew once so many bytes were put into it. */
const MOST_STAGED = 4 * 2 ** 20;

function stageDefinition(stage: string): string {
  const columns = (STAGES[stage] ?? []).map(
    ([name, type]) => `"${name}" ${type === 'text' ? 'varchar' : type}`,
  );
  return `create temp table ${stage} (${columns.join(', ')})`;
}

/** About how many bytes rows take. */
function sizeOf(rows: readonly (readonly (number | string | Uint8Array | null)[])[]): number {
  let bytes = 0;
  for (const row of rows)
    for (const value of row) bytes += value === null || typeof value === 'number' ? 8 : value.length + 8;
  return bytes;
}

/** Tables of the worker alone, beside those of the views. */
const OWN_SCHEMA = `
create table meta (
  store uuid, sequence bigint, instances integer, sessions integer, end_users integer, definition varchar
);
create table request (id uuid, accepted_at bigint);
create table assign_state (instance integer, kind varchar, key integer, value blob);
create table session_state (session integer, value blob);
`;

/** Up to so many instances are looked up one by one. */
const EQUALITIES = 40;

const REPLACE_STATE = `
delete from assign_state using batch_state b
  where b.kind <> 'session' and assign_state.instance = b.instance and assign_state.kind = b.kind and assign_state.key = b.key;
insert into assign_state from batch_state where kind <> 'session' and value is not null;
delete from session_state using batch_state b where b.kind = 'session' and session_state.session = b.key;
insert into session_state select key, value from batch_state where kind = 'session' and value is not null
`;

export interface StateStoreOptions {
  /** Folder of one shard: `<data>/views/<epoch>/<shard>`. */
  readonly directory: string;
  readonly views: readonly View[];
  /** What the rows depend on besides stream and views (model, rules, heads): part of the definition. */
  readonly analysis: string;
  readonly threads: number;
  readonly memoryLimit?: string;
  readonly spillDirectory?: string;
}

/** The shard's database cannot be read: what it held has to be made from the stream again. */
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

/** The end of a rehearsal. */
class Rehearsed extends Error {}

/**
 * The worker's own database: the live rows of every view, the position in the stream, and what assign
 * remembers, changed together in one transaction. One process has it open.
 */
export class StateStore {
  readonly directory: string;
  readonly views: readonly View[];
  readonly #database: Database;
  readonly #connection: Connection;
  #sequence: number;
  #counters: Counters;
  readonly #storeId: string;
  /** Rows of each temporary table: stages, and what the views' folds have made. */
  readonly #rows = new Map(Object.keys(STAGES).map((stage) => [stage, 0]));
  /** Bytes that were put into each stage since it was made. */
  readonly #staged = new Map<string, number>();

  private constructor(options: StateStoreOptions, database: Database, connection: Connection, meta: Row) {
    this.directory = options.directory;
    this.views = options.views;
    this.#database = database;
    this.#connection = connection;
    this.#sequence = meta['sequence'] as number;
    this.#counters = {
      instances: meta['instances'] as number,
      sessions: meta['sessions'] as number,
      endUsers: meta['end_users'] as number,
    };
    this.#storeId = String(meta['store']);
  }

  /**
   * Opens (or creates) the shard's database. Throws HeldStateError when another process has it open,
   * SetupError when it cannot be read or was made by other views or another model, DamagedStateError when it is damaged.
   */
  static async open(options: StateStoreOptions): Promise<StateStore> {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    const noted = notedDamage(options.directory, 'state');
    if (noted !== null) throw new DamagedStateError(join(options.directory, 'state.duckdb'), noted);
    const database = await openDatabase({
      threads: options.threads,
      ...(options.memoryLimit === undefined ? {} : { memoryLimit: options.memoryLimit }),
      ...(options.spillDirectory === undefined ? {} : { spillDirectory: options.spillDirectory }),
    });
    const file = join(options.directory, 'state.duckdb');
    try {
      const connection = await database.connect();
      try {
        await connection.run(`attach ${quoted(file)} as st`);
      } catch (error) {
        if (isDamage(error)) throw error;
        if (error instanceof DatabaseError && error.file === 'held') throw new HeldStateError(file, error);
        const reason = error instanceof Error ? error.message : String(error);
        throw new SetupError(
          `${file} cannot be opened (${reason.split('\n')[0]}). Delete ${options.directory} and start again: it is rebuilt from the stream.`,
          { cause: error },
        );
      }
      await connection.run('use st');
      await connection.run(`set checkpoint_threshold = '${CHECKPOINT_THRESHOLD}'`);
      const definition = definitionOf(options.views, options.analysis);
      if (
        (
          await connection.all(
            `select 1 from duckdb_tables() where database_name = 'st' and table_name = 'meta'`,
          )
        ).length === 0
      ) {
        await connection.transaction(async () => {
          await connection.run(OWN_SCHEMA);
          for (const view of options.views) if (view.schema !== '') await connection.run(view.schema);
          await connection.run(`insert into meta values (uuid(), 0, 0, 0, 0, ${quoted(definition)})`);
        });
      }
      const meta = (await connection.one('select * from meta')) as Row;
      if (meta['definition'] !== definition) {
        throw new SetupError(
          `The views in ${options.directory} were made by other view definitions, rules or another embedding model (${String(meta['definition'])} there, ${definition} now). ` +
            `Run "npm run rebuild", or delete that folder: it is rebuilt from the stream.`,
        );
      }
      for (const stage of Object.keys(STAGES)) await connection.run(stageDefinition(stage));
      return new StateStore(options, database, connection, meta);
    } catch (error) {
      database.close();
      if (isDamage(error) && !(error instanceof SetupError))
        throw new DamagedStateError(file, (error as Error).message, { cause: error });
      throw error;
    }
  }

  /** Stream sequence of the last entry that was applied; 0 at first. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Tells this database from another that once stood in its place. */
  get storeId(): string {
    return this.#storeId;
  }

  /** The caller numbers what is new in stream order, from here on, and commits the numbers with `commit`. */
  get counters(): Counters {
    return this.#counters;
  }

  async findInstances(ids: readonly string[]): Promise<InstanceRecord[]> {
    const rows = await this.#lookUp(
      ids,
      'select i.instance, i.id::varchar as id from instance i join wanted_id w on i.id = w.id::uuid',
    );
    return rows.map((row) => ({ instance: row['instance'] as number, id: row['id'] as string }));
  }

  /** Of every instance that has a session of one of these ids. */
  async findSessions(ids: readonly string[]): Promise<SessionRecord[]> {
    const rows = await this.#lookUp(
      ids,
      'select s.session, s.instance, s.id::varchar as id from session s join wanted_id w on s.id = w.id::uuid',
    );
    return rows.map((row) => ({
      session: row['session'] as number,
      instance: row['instance'] as number,
      id: row['id'] as string,
    }));
  }

  /** Ids are UUIDs derived from instance and external id, so they name an end user of one instance. */
  async findEndUsers(ids: readonly string[]): Promise<{ endUser: number; id: string }[]> {
    const rows = await this.#lookUp(
      ids,
      'select u.end_user, u.id::varchar as id from end_user u join wanted_id w on u.id = w.id::uuid',
    );
    return rows.map((row) => ({ endUser: row['end_user'] as number, id: row['id'] as string }));
  }

  /** Those of the requests that were applied before (within 48 hours of their own time). */
  async findRequests(requests: readonly { id: string; acceptedAt: number }[]): Promise<Set<string>> {
    const rows = await this.#lookUpRows(
      requests.map((request) => [request.id, request.acceptedAt]),
      `select distinct w.id from request r join wanted_id w on r.id = w.id::uuid where r.accepted_at >= w.number - ${REQUEST_MEMORY_MICROS}`,
    );
    return new Set(rows.map((row) => row['id'] as string));
  }

  /** What assign remembers of each of these instances but for their sessions; none of a new one. */
  async loadInstanceStates(instances: readonly number[]): Promise<Map<number, StateRow[]>> {
    const states = new Map(instances.map((instance): [number, StateRow[]] => [instance, []]));
    if (instances.length === 0) return states;
    const among = (condition: string): string =>
      `select instance, kind, key, value from assign_state where instance ${condition}`;
    // An equality is compared with the blocks' bounds, and only rows that meet it are read to the end: 3 ms among
    // 600,000 rows. A list costs as much as fifty of them, however long it is.
    const found =
      instances.length <= EQUALITIES
        ? instances.map((instance) => among(`= ${instance}`)).join(' union all ')
        : among(`in (${instances.join()})`);
    const rows = await this.#connection.all(`from (${found}) order by instance, kind, key`);
    for (const row of rows) {
      const instance = row['instance'] as number;
      states.get(instance)?.push({
        instance,
        kind: row['kind'] as string,
        key: row['key'] as number,
        value: row['value'] as Uint8Array,
      });
    }
    return states;
  }

  async loadSessionStates(sessions: readonly number[]): Promise<Map<number, Uint8Array>> {
    if (sessions.length === 0) return new Map();
    const rows = await this.#lookUpRows(
      sessions.map((session) => ['', session]),
      'select s.session, s.value from session_state s join wanted_id w on s.session = w.number',
    );
    return new Map(rows.map((row) => [row['session'] as number, row['value'] as Uint8Array]));
  }

  /**
   * Applies one batch: facts, every view, assign's state, request ids and the position, all or nothing.
   * Throws when the position is not the expected one. A rehearsal does the same, and leaves everything as it was.
   */
  async commit(batch: Batch, { rehearsal = false } = {}): Promise<void> {
    const connection = this.#connection;
    const { counters } = batch;
    try {
      await connection.transaction(async () => {
        const moved = await connection.all(
          `update meta set sequence = ${batch.sequence}, instances = ${counters.instances}, sessions = ${counters.sessions}, end_users = ${counters.endUsers}
           where sequence = ${batch.expectedSequence} returning sequence`,
        );
        if (moved.length !== 1) {
          throw new Error(
            `the views are not at sequence ${batch.expectedSequence}: another worker applied entries to ${this.directory}`,
          );
        }
        await this.#stage(batch);
        await connection.run(`set variable seq = ${batch.sequence}::bigint`);
        for (const view of this.views) for (const block of view.fold) await this.#fold(view, block);
        if (batch.requests.length > 0)
          await connection.run('insert into request select id::uuid, accepted_at from batch_request');
        if (batch.state.length > 0) await connection.run(REPLACE_STATE);
        if (rehearsal) throw new Rehearsed();
      });
    } catch (error) {
      // Stages hold again what they held, and what the views made was rolled back.
      for (const table of this.#rows.keys())
        if (table in STAGES) {
          this.#rows.set(table, Infinity);
          this.#staged.set(table, Infinity);
        } else this.#rows.delete(table);
      if (error instanceof Rehearsed) return;
      throw error;
    }
    this.#sequence = batch.sequence;
    this.#counters = counters;
  }

  /** Runs a block of a view; leaves it out when it would do nothing: then what it makes is empty. */
  async #fold(view: View, { when, statements }: FoldBlock): Promise<void> {
    const makes = statements.flatMap((statement) => statement.makes ?? []);
    const idle = when?.every((table) => this.#rows.get(table) === 0) ?? false;
    // The first time every table has to be made.
    if (idle && makes.every((table) => this.#rows.has(table))) {
      for (const table of makes) await this.#empty(table);
      return;
    }
    for (const { sql, makes: table } of statements) {
      try {
        if (table === null) await this.#connection.run(sql);
        else this.#rows.set(table, (await this.#connection.one(sql))?.['Count'] as number);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        throw new DatabaseError(error, `view ${view.name}, ${sql.slice(0, 200)}: `);
      }
    }
  }

  /** A second connection to the same database, for publication and compaction beside the fold. */
  async connect(): Promise<Connection> {
    const connection = await this.#database.connect();
    await connection.run('use st');
    return connection;
  }

  /** The connection that folds; nothing else may use it while `commit` runs. */
  get connection(): Connection {
    return this.#connection;
  }

  async close(): Promise<void> {
    await this.#connection.run('use memory; checkpoint st; detach st').catch(() => undefined);
    this.#connection.close();
    this.#database.close();
  }

  async #stage(batch: Batch): Promise<void> {
    const { assignment } = batch;
    const none = (value: number | null): number => value ?? 0;
    const rows: Record<string, readonly (readonly (number | string | Uint8Array | null)[])[]> = {
      batch_message: assignment.messages.map((fact) => {
        let sat = 0;
        for (const signal of fact.signals) if (SIGNALS[signal]?.type === 'SAT') sat += 1;
        return [
          fact.position,
          fact.instance,
          fact.session,
          none(fact.user),
          fact.at,
          fact.micro,
          sat,
          fact.signals.length - sat,
          fact.repeatedRequest === null ? 0 : 1,
        ];
      }),
      batch_occurrence: assignment.messages.flatMap((fact) => {
        const found: [number, number, number][] = fact.signals.map((signal) => [
          fact.position,
          KINDS.signal,
          signal,
        ]);
        if (fact.repeatedRequest !== null)
          found.push([fact.position, KINDS.repeatedRequest, fact.repeatedRequest]);
        if (fact.gap !== null) found.push([fact.position, KINDS.gap, fact.gap]);
        return found;
      }),
      batch_opening_author: assignment.openingAuthors.map((row) => [
        row.instance,
        row.session,
        row.user,
        row.beforePosition,
      ]),
      batch_instance: batch.instances.map((row) => [
        row.instance,
        row.id,
        row.projectId,
        row.lastSequence,
        batch.processedAt,
      ]),
      batch_session: assignment.sessions.map((row) => [
        row.instance,
        row.session,
        row.id,
        none(row.user),
        row.title,
        row.summary,
        row.language,
      ]),
      batch_end_user: batch.endUsers.map((row) => [row.instance, row.endUser, row.id, row.externalId]),
      batch_micro: assignment.micros.map((row) => [row.instance, row.micro, row.topic]),
      batch_topic: assignment.topics.map((row) => [row.instance, row.topic, row.id, row.name, row.cluster]),
      batch_cluster: assignment.clusters.map((row) => [row.instance, row.cluster, row.id, row.name]),
      batch_signal: assignment.signals.map((row) => [
        row.instance,
        row.signal,
        row.id,
        row.name,
        row.signalType,
        row.description,
      ]),
      batch_repeated_request: assignment.repeatedRequests.map((row) => [
        row.instance,
        row.repeatedRequest,
        row.id,
        row.name,
        row.description,
      ]),
      batch_gap: assignment.gaps.map((row) => [
        row.instance,
        row.gap,
        row.id,
        row.name,
        row.description,
        row.gapType,
      ]),
      batch_metadata: batch.metadata.map((row) => [row.instance, row.record, row.key, row.member, row.value]),
      batch_session_name: batch.sessionNames.map((row) => [row.session, row.externalId]),
      batch_request: batch.requests.map((row) => [row.id, row.acceptedAt]),
      batch_state: batch.state.map((row) => [row.instance, row.kind, row.key, row.value]),
    };
    for (const [table, values] of Object.entries(rows)) await this.#fill(table, values);
  }

  async #fill(
    table: string,
    rows: readonly (readonly (number | string | Uint8Array | null)[])[],
  ): Promise<void> {
    await this.#empty(table);
    if (rows.length === 0) return;
    this.#rows.set(table, rows.length);
    const columns = (STAGES[table] as [string, ColumnType][]).map(([, type]) => type);
    await this.#connection.append(table, columns, rows);
    this.#staged.set(table, (this.#staged.get(table) ?? 0) + sizeOf(rows));
  }

  async #empty(table: string): Promise<void> {
    if (this.#rows.get(table) === 0) return;
    // What is truncated keeps its memory for as long as the table is there.
    if ((this.#staged.get(table) ?? 0) < MOST_STAGED) await this.#connection.run(`truncate temp.${table}`);
    else {
      await this.#connection.run(`drop table temp.${table}; ${stageDefinition(table)}`);
      this.#staged.set(table, 0);
    }
    this.#rows.set(table, 0);
  }

  #lookUp(ids: readonly string[], sql: string): Promise<Row[]> {
    return this.#lookUpRows(
      ids.map((id) => [id, 0]),
      sql,
    );
  }

  async #lookUpRows(rows: readonly (readonly [string, number])[], sql: string): Promise<Row[]> {
    if (rows.length === 0) return [];
    await this.#fill('wanted_id', rows);
    return this.#connection.all(sql);
  }
}

/** Names what the rows mean: each view with its version, and the analysis. Another definition needs a rebuild. */
export function definitionOf(views: readonly View[], analysis: string): string {
  return `${views
    .map((view) => `${view.name}:${view.version}`)
    .toSorted()
    .join(' ')} ${analysis}`;
}

/**
 * The worker's own database: the live rows of all views, the checkpoint, and the state of topics and conversations. One
 * transaction changes them together, and one process has the database open.
 *
 * Test: test/store/live/live-database.test.ts, test/view-laws.test.ts.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ShownFacts, ShownSession } from '../../domain/curations.ts';
import type { StateRow } from '../../domain/facts.ts';
import { KINDS } from '../../domain/kinds.ts';
import { REQUEST_MEMORY_MICROS } from '../../domain/records.ts';
import type { StateImage } from '../../domain/sharing.ts';
import type { SessionOutcome } from '../../domain/session-outcomes.ts';
import { DatabaseError, quoted, type Connection, type Row } from '../duckdb.ts';
import type { View } from '../view-files.ts';
import type { Batch, Counters, Deferral, DeferredPart } from './batch.ts';
import { LiveDatabase } from './live-database.ts';
import { LOG_FILE, type StateStoreOptions } from './state-database.ts';
import { StateFiles } from './state-files.ts';

export interface InstanceRecord {
  readonly instance: number;
  readonly id: string;
}
export interface SessionRecord {
  readonly session: number;
  readonly instance: number;
  readonly id: string;
}

/** Up to this many instances are looked up with an equality each. */
const EQUALITIES = 40;

const REPLACE_STATE = `
delete from assign_state using batch_state b
  where b.kind <> 'session'
  and assign_state.instance = b.instance and assign_state.kind = b.kind and assign_state.key = b.key;
insert into assign_state
  select instance, kind, key, value from batch_state where kind <> 'session' and value is not null;
delete from session_state using batch_state b where b.kind = 'session' and session_state.session = b.key;
insert into session_state (session, value, part)
  select key, value, part from batch_state where kind = 'session' and value is not null
`;

/** Rolls back a rehearsal. */
class Rehearsed extends Error {}

/** The database of one shard. */
export class StateStore {
  readonly directory: string;
  readonly views: readonly View[];
  /** Id of this database, which distinguishes it from an earlier one in its place. */
  readonly storeId: string;
  /** Memory limit of the database, bytes; undefined: no limit. */
  readonly memoryBytes: number | undefined;
  /** Folder for data that exceeds the memory; undefined: nothing is spilled. */
  readonly spillDirectory: string | undefined;
  /** Parts of entries up to `sequence` that were not applied at the time of opening, in stream order. */
  readonly deferred: readonly DeferredPart[];
  /** By instance id, the sequence up to which its entries are not applied. */
  readonly carried: ReadonlyMap<string, number>;
  readonly #live: LiveDatabase;
  #sequence: number;
  #revision: number;
  #lastEntry: string | null;
  #counters: Counters;
  readonly #files: StateFiles;
  /** Resolves when no commit is in work. */
  #committing: Promise<void> = Promise.resolve();
  /** Resolves when no log is being written into the tables. */
  #writingLog: Promise<void> = Promise.resolve();

  private constructor(options: StateStoreOptions, live: LiveDatabase) {
    const { directory, views, memoryBytes, spillDirectory } = options;
    this.directory = directory;
    this.#files = new StateFiles(directory);
    this.views = views;
    this.memoryBytes = memoryBytes;
    this.spillDirectory = spillDirectory;
    this.storeId = String(live.meta['store']);
    this.deferred = live.deferred;
    this.carried = live.carried;
    this.#live = live;
    this.#sequence = live.meta['sequence'] as number;
    this.#revision = live.meta['revision'] as number;
    this.#lastEntry = live.meta['last_entry'] as string | null;
    this.#counters = countersOf(live.meta);
  }

  /** Opens or creates the shard's database; throws as `openStateDatabase` does. */
  static async open(options: StateStoreOptions): Promise<StateStore> {
    return new StateStore(options, await LiveDatabase.open(options));
  }

  /** The connection that folds; no other code may use it while `commit` runs. */
  get connection(): Connection {
    return this.#live.connection;
  }

  /** Stream sequence up to which all entries are applied, except deferred parts; 0 at first. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Increases with every commit; rows store it as `seq`. Never below `sequence`. */
  get revision(): number {
    return this.#revision;
  }

  /** Digest of the entry at `sequence`; null: unknown. */
  get lastEntry(): string | null {
    return this.#lastEntry;
  }

  /** The caller assigns the next numbers in stream order, and stores them with `commit`. */
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

  /** Finds the sessions of all instances with these ids. */
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

  /** Ids are UUIDs derived from instance and external id, so each names an end user of one instance. */
  async findEndUsers(ids: readonly string[]): Promise<{ endUser: number; id: string }[]> {
    const rows = await this.#lookUp(
      ids,
      'select u.end_user, u.id::varchar as id from end_user u join wanted_id w on u.id = w.id::uuid',
    );
    return rows.map((row) => ({ endUser: row['end_user'] as number, id: row['id'] as string }));
  }

  /** The time at which each id was last accepted; only ids that one of these requests may repeat. */
  async findRequests(requests: readonly { id: string; acceptedAt: number }[]): Promise<Map<string, number>> {
    const rows = await this.#lookUpRows(
      requests.map((request) => [request.id, request.acceptedAt]),
      'select w.id, max(r.accepted_at) as accepted_at from request r join wanted_id w on r.id = w.id::uuid ' +
        `where r.accepted_at >= w.number - ${REQUEST_MEMORY_MICROS} group by w.id`,
    );
    return new Map(rows.map((row) => [row['id'] as string, row['accepted_at'] as number]));
  }

  /** What the messages at these positions show; only those that are there. */
  async findShown(positions: readonly number[]): Promise<Map<number, ShownFacts>> {
    const rows = await this.#lookUpRows(
      positions.map((position) => [String(position), position]),
      `select m.position, m.instance, list(f.entity) filter (f.kind = ${KINDS.signal}) as signals,
  max(f.entity) filter (f.kind = ${KINDS.repeatedRequest}) as repeated_request,
  max(f.entity) filter (f.kind = ${KINDS.gap}) as gap
from message m join wanted_id w on m.position = w.number
left join message_fact f on f.position = m.position and f.kind >= ${KINDS.signal} and not f.gone
group by m.position, m.instance`,
    );
    return new Map(
      rows.map((row) => [
        row['position'] as number,
        {
          instance: row['instance'] as number,
          signals: (row['signals'] as number[] | null) ?? [],
          repeatedRequest: row['repeated_request'] as number | null,
          gap: row['gap'] as number | null,
        },
      ]),
    );
  }

  /** The sessions with these ids, with their instances and outcomes; those of all instances. */
  async findEnded(ids: readonly string[]): Promise<Map<string, ShownSession[]>> {
    const rows = await this.#lookUp(
      ids,
      'select s.session, s.instance, s.outcome, s.id::varchar as id from session s join wanted_id w on s.id = w.id::uuid',
    );
    const ofId = Map.groupBy(rows, (row) => row['id'] as string);
    return new Map(
      [...ofId].map(([id, sessions]) => [
        id,
        sessions.map((row) => ({
          instance: row['instance'] as number,
          session: row['session'] as number,
          outcome: row['outcome'] as SessionOutcome | null,
        })),
      ]),
    );
  }

  /** Assign's state rows of each instance, without sessions; empty for a new instance. */
  async loadInstanceStates(instances: readonly number[]): Promise<Map<number, StateRow[]>> {
    const states = new Map(instances.map((instance): [number, StateRow[]] => [instance, []]));
    if (instances.length === 0) return states;
    const among = (condition: string): string =>
      `select instance, kind, key, value from assign_state where instance ${condition}`;
    // DuckDB compares an equality with the bounds of blocks, and reads only matching rows completely: 3 ms among
    // 600,000 rows. A list costs as much as fifty equalities, whatever its length.
    const found =
      instances.length <= EQUALITIES
        ? instances.map((instance) => among(`= ${instance}`)).join(' union all ')
        : among(`in (${instances.join()})`);
    const rows = await this.connection.all(`from (${found}) order by instance, kind, key`);
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

  /** Counts those rows, and reads little for it. */
  async countInstanceStates(instances: readonly number[]): Promise<number> {
    const row = await this.connection.one(
      `select count(*) as rows from assign_state where instance in (${instances.join()})`,
    );
    return row?.['rows'] as number;
  }

  async loadSessionStates(sessions: readonly number[]): Promise<Map<number, Uint8Array>> {
    if (sessions.length === 0) return new Map();
    const rows = await this.#lookUpRows(
      sessions.map((session) => ['', session]),
      'select s.session, s.value, s.part from session_state s join wanted_id w on s.session = w.number',
    );
    const partsOf = Map.groupBy(rows, (row) => row['session'] as number);
    return new Map([...partsOf].map(([session, parts]) => [session, joined(parts)]));
  }

  /**
   * Applies one batch: facts, views, assign's state, request ids and the checkpoint, all or nothing. Throws when the
   * checkpoint is not the expected one. A rehearsal does the same and rolls back.
   */
  async commit(batch: Batch, { rehearsal = false } = {}): Promise<void> {
    const committing = this.#commit(batch, rehearsal);
    this.#committing = committing.catch(() => undefined);
    await committing;
  }

  async #commit(batch: Batch, rehearsal: boolean): Promise<void> {
    await this.#writingLog;
    const { connection } = this;
    const { counters } = batch;
    const revision = Math.max(this.#revision + 1, batch.sequence);
    try {
      await connection.transaction(async () => {
        const moved = await connection.all(
          `update meta set sequence = ${batch.sequence}, revision = ${revision},
             last_entry = ${batch.lastEntry === null ? 'null' : quoted(batch.lastEntry)}, instances = ${counters.instances},
             sessions = ${counters.sessions}, end_users = ${counters.endUsers}
           where sequence = ${batch.expectedSequence} and revision = ${this.#revision} returning sequence`,
        );
        if (moved.length !== 1) {
          throw new Error(
            `the views are not at sequence ${batch.expectedSequence}: another worker applied entries to ` +
              `${this.directory}`,
          );
        }
        await this.#live.temporary.stage(batch);
        await connection.run(`set variable seq = ${revision}::bigint`);
        for (const view of this.views)
          for (const block of view.fold) await this.#live.temporary.fold(view, block);
        if (batch.requests.length > 0)
          await connection.run('insert into request select id::uuid, accepted_at from batch_request');
        if (batch.state.length > 0) await connection.run(REPLACE_STATE);
        if (batch.deferral !== undefined) await this.#defer(batch.deferral);
        if (rehearsal) throw new Rehearsed();
      });
    } catch (error) {
      this.#live.temporary.rolledBack();
      if (error instanceof Rehearsed) return;
      if (!(await this.#isCommitted(revision, error))) throw error;
    }
    this.#sequence = batch.sequence;
    this.#revision = revision;
    this.#lastEntry = batch.lastEntry;
    this.#counters = counters;
  }

  async #defer({ taken, left }: Deferral): Promise<void> {
    const rows = (parts: readonly (readonly (string | number)[])[]): string =>
      parts
        .map((part) => `(${part.map((value) => (typeof value === 'string' ? quoted(value) : value)).join()})`)
        .join();
    if (taken.length > 0) {
      const keys = rows(taken.map(({ instanceId, sequence }) => [instanceId, sequence]));
      await this.connection.run(`delete from deferred where (instance_id, sequence) in (${keys})`);
    }
    if (left.length === 0) return;
    const values = left.map((part) => [
      part.instanceId,
      part.sequence,
      part.place,
      part.message,
      part.storedAt,
      part.projectId,
    ]);
    await this.connection.run(`insert into deferred values ${rows(values)}`);
  }

  /** Runs work on a separate connection to the database, beside the fold: a compaction, or a copy. */
  beside<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#live.beside(work);
  }

  /**
   * Runs work that may lack memory: again from its start in a reopened database, and, with `raise`, under a higher
   * limit. Rejects with the last error.
   */
  withMemory<T>(work: () => Promise<T>, how: { readonly raise: boolean }): Promise<T> {
    return this.#live.withMemory(work, how);
  }

  /** Bytes of the log: committed changes that are not yet in the tables of the file. */
  get logBytes(): number {
    return statSync(join(this.directory, LOG_FILE), { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Writes the log into the tables, unless another connection reads an older state. Commits wait for it. If it fails,
   * the log stays as it was, and the next work reopens the database.
   */
  async writeLog(): Promise<void> {
    const writing = this.beside((connection) => connection.run('checkpoint st'));
    this.#writingLog = writing.catch(() => undefined);
    try {
      await writing;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.fault !== 'busy') throw error;
    }
  }

  /** The files of the database between two commits. */
  async image(): Promise<StateImage> {
    for (;;) {
      const work = [this.#committing, this.#writingLog, this.#live.reopening];
      await Promise.all(work);
      if (work[0] === this.#committing && work[1] === this.#writingLog && work[2] === this.#live.reopening)
        return this.#files.image(this.#sequence);
    }
  }

  async close(): Promise<void> {
    await this.#live.close();
    this.#files.close();
  }

  /** Returns true if a commit succeeded that threw because its log could not be written into the tables. */
  async #isCommitted(revision: number, error: unknown): Promise<boolean> {
    if (!(error instanceof DatabaseError) || error.fault !== 'checkpoint-failed' || error.file !== null)
      return false;
    await this.#live.reopen();
    return this.#live.meta['revision'] === revision;
  }

  #lookUp(ids: readonly string[], sql: string): Promise<Row[]> {
    return this.#lookUpRows(
      ids.map((id) => [id, 0]),
      sql,
    );
  }

  async #lookUpRows(rows: readonly (readonly [string, number])[], sql: string): Promise<Row[]> {
    if (rows.length === 0) return [];
    await this.#live.temporary.fill('wanted_id', rows);
    return this.connection.all(sql);
  }
}

/** Joins the rows of one session's state, which are in any order. */
function joined(parts: readonly Row[]): Uint8Array {
  const inOrder = parts.toSorted((a, b) => Number(a['part']) - Number(b['part']));
  const values = inOrder.map((row) => row['value'] as Uint8Array);
  return values.length === 1 ? values[0]! : Buffer.concat(values);
}

function countersOf(meta: Row): Counters {
  return {
    instances: meta['instances'] as number,
    sessions: meta['sessions'] as number,
    endUsers: meta['end_users'] as number,
  };
}

/**
 * Deletes from a copy of a shard's database what instances must forget: messages that no longer count, texts, people.
 * Sums and attributes stay unchanged, as `refold` recomputes them.
 *
 * Test: test/store/live/forget.test.ts.
 */
import { forgottenName, gapDescription, repeatDescription } from '../../domain/descriptions.ts';
import type { StateRow } from '../../domain/facts.ts';
import { quoted, withDatabase, type Connection } from '../duckdb.ts';

/** The data of one instance to forget. Times are event times, microseconds since 1970-01-01 UTC; null: no data. */
export interface Forgotten {
  /** UUID, lower case. */
  readonly instanceId: string;
  /**
   * True for an instance whose data ages: it is left out while a part of it is deferred, as its texts are deleted
   * afterwards, and nothing is done if it has no message from before its times.
   */
  readonly waitsFor: boolean;
  /** Positions of messages to delete. */
  readonly positions: Iterable<number>;
  /** Position and place of the feedback to delete. */
  readonly feedback: readonly (readonly [position: number, place: number])[];
  /**
   * Sessions to delete by id, as far as their messages stand before a position; with `isInstance`, all messages before
   * it. Null: neither.
   */
  readonly whole: {
    readonly before: number;
    readonly isSession: (id: string) => boolean;
    readonly isInstance: boolean;
  } | null;
  /** Messages before this time are deleted. */
  readonly countsBefore: number | null;
  /** Sessions without a message since this time lose their title, summary and analysis state. */
  readonly textsBefore: number | null;
  /** End users without a message since this time get a pseudonym, and sessions lose their names. */
  readonly peopleBefore: number | null;
  /** Returns true if an end user is deleted, even without any message. */
  readonly isGone: (externalId: string) => boolean;
  /** The pseudonym of an end user. */
  readonly nobody: (externalId: string) => { readonly id: string; readonly externalId: string };
  /** Returns the changed rows of the analysis state; null: the state does not change. */
  readonly forgetState:
    | ((rows: readonly StateRow[], eventTimes: ReadonlyMap<number, number>, left: Left) => StateRow[])
    | null;
  /** The positions whose event times `forgetState` needs. */
  readonly beginnings: (rows: readonly StateRow[]) => readonly number[];
}

/** For each kind of entity, the numbers that still have a message. */
export type Left = Readonly<Record<'micro' | 'topic' | 'gap' | 'repeated', ReadonlySet<number>>>;

/** Counts of what was forgotten. */
export interface ForgottenCounts {
  readonly messages: number;
  /** Sessions that were deleted, and sessions that lost their texts. */
  readonly sessions: number;
  readonly texts: number;
  /** End users that were deleted, and end users that lost their names. */
  readonly people: number;
  readonly names: number;
}

/** What became of one instance: counts, 'DEFERRED' if it was left out, or null if the shard does not know it. */
export type ForgottenInstance = ForgottenCounts | 'DEFERRED' | null;

/** Forgets all in one transaction. `sequence`: stream position of the copy. `counts`: one item for each instance. */
export async function forgetIn(
  file: string,
  forgotten: readonly Forgotten[],
): Promise<{ readonly sequence: number; readonly counts: readonly ForgottenInstance[] }> {
  return withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as st; use st`);
    const counts: ForgottenInstance[] = [];
    if (forgotten.some(({ waitsFor }) => waitsFor))
      await connection.run(
        `create or replace temp table oldest as
           select instance, epoch_us(min(event_at)) as oldest_at from message group by instance`,
      );
    await connection.transaction(async () => {
      for (const one of forgotten) counts.push(await forgetOne(connection, one));
    });
    const meta = await connection.one('select sequence from meta');
    await connection.run('checkpoint st; use memory; detach st');
    return { sequence: meta?.['sequence'] as number, counts };
  });
}

async function forgetOne(connection: Connection, forgotten: Forgotten): Promise<ForgottenInstance> {
  const found = await connection.one(
    `select instance from instance where id = ${quoted(forgotten.instanceId)}::uuid`,
  );
  if (found === undefined) return null;
  const instance = found['instance'] as number;
  if (forgotten.waitsFor) {
    if (await isDeferred(connection, forgotten.instanceId)) return 'DEFERRED';
    if (!(await isOld(connection, instance, forgotten))) return NOTHING;
  }
  const messages = await dropMessages(connection, instance, forgotten);
  const sessions = await dropSessions(connection, instance);
  const people = await dropPeople(connection, instance, forgotten);
  const texts = await dropTexts(connection, instance, forgotten.textsBefore);
  const names = await dropNames(connection, instance, forgotten);
  await changeState(connection, instance, forgotten);
  return { messages, sessions, texts, people, names };
}

const NOTHING: ForgottenCounts = { messages: 0, sessions: 0, texts: 0, people: 0, names: 0 };

/** Returns true unless all messages of the instance are from the latest of its times or later. */
async function isOld(
  connection: Connection,
  instance: number,
  { countsBefore, textsBefore, peopleBefore }: Forgotten,
): Promise<boolean> {
  const latest = Math.max(countsBefore ?? -Infinity, textsBefore ?? -Infinity, peopleBefore ?? -Infinity);
  const oldest = await connection.one(`select oldest_at from temp.oldest where instance = ${instance}`);
  return oldest === undefined || Number(oldest['oldest_at']) < latest;
}

async function isDeferred(connection: Connection, instanceId: string): Promise<boolean> {
  const id = quoted(instanceId);
  return (await connection.one(`from deferred where lower(instance_id) = ${id} limit 1`)) !== undefined;
}

/** Creates temp `touched_session`: the sessions that lost a message. */
async function dropMessages(
  connection: Connection,
  instance: number,
  { positions, feedback, whole, countsBefore, isGone }: Forgotten,
): Promise<number> {
  await connection.run('create or replace temp table wanted_position (position bigint)');
  await connection.append('wanted_position', ['bigint'], rowsOf(positions));
  const before = countsBefore === null ? 'false' : `event_at < make_timestamp(${countsBefore})`;
  await wantWhole(connection, instance, { whole, isGone });
  const all =
    whole === null
      ? 'false'
      : `position < ${whole.before} and (${whole.isInstance} or session in (select session from whole_session)
          or end_user in (select end_user from whole_user))`;
  await wantFeedback(connection, instance, { feedback, whole });
  await connection.run(
    `create or replace temp table gone as
       select position, session from message
       where instance = ${instance} and (position in (select position from wanted_position) or ${before} or ${all});
     create or replace temp table touched_session as select distinct session from gone;
     delete from feedback where instance = ${instance} and (position, place) in (from wanted_feedback);
     delete from message_fact where instance = ${instance} and position in (select position from gone);
     delete from message_usage where instance = ${instance} and position in (select position from gone);
     delete from message where instance = ${instance} and position in (select position from gone)`,
  );
  return countOf(connection, 'gone');
}

/**
 * Creates temp `whole_session` and `whole_user`. For a deleted end user, the sessions without another named user go
 * whole, and in other sessions the user's messages go. This works even when the stream no longer holds the messages.
 */
async function wantWhole(
  connection: Connection,
  instance: number,
  { whole, isGone }: Pick<Forgotten, 'whole' | 'isGone'>,
): Promise<void> {
  await connection.run(
    `create or replace temp table whole_session (session integer);
     create or replace temp table whole_user (end_user integer)`,
  );
  if (whole === null || whole.isInstance) return;
  const sessions = await connection.all(
    `select session, id::varchar as id from session where instance = ${instance}`,
  );
  const users = await connection.all(
    `select end_user, external_id from end_user where instance = ${instance}`,
  );
  const gone = users.filter((row) => isGone(row['external_id'] as string)).map((row) => row['end_user']);
  await connection.append(
    'whole_session',
    ['integer'],
    sessions.flatMap((row) => (whole.isSession(row['id'] as string) ? [[row['session'] as number]] : [])),
  );
  if (gone.length === 0) return;
  await connection.run(
    `insert into whole_user select unnest([${gone.join()}]);
     insert into whole_session
       select session from message where instance = ${instance} and position < ${whole.before}
       group by session having bool_or(end_user in (${gone.join()}))
         and bool_and(end_user in (0, ${gone.join()}))`,
  );
}

/**
 * Creates temp `wanted_feedback`: the feedback to delete. Call it after `wantWhole`, whose sessions lose theirs, and
 * whose end users lose what they gave.
 */
async function wantFeedback(
  connection: Connection,
  instance: number,
  { feedback, whole }: Pick<Forgotten, 'feedback' | 'whole'>,
): Promise<void> {
  await connection.run('create or replace temp table wanted_feedback (position bigint, place integer)');
  await connection.append('wanted_feedback', ['bigint', 'integer'], feedback);
  if (whole === null) return;
  const rated = await connection.all(
    `select distinct session_id::varchar as id from feedback where instance = ${instance}`,
  );
  const ids = rated.map((row) => row['id'] as string).filter(whole.isSession);
  await connection.run('create or replace temp table rated_session_id (id varchar)');
  await connection.append(
    'rated_session_id',
    ['text'],
    ids.map((id) => [id]),
  );
  await connection.run(
    `insert into wanted_feedback
       select position, place from feedback
       where instance = ${instance} and position < ${whole.before} and (${whole.isInstance}
         or session_id::varchar in (select id from rated_session_id)
         or session in (select session from whole_session)
         or author in (select id from end_user where end_user in (select end_user from whole_user)))`,
  );
}

function* rowsOf(positions: Iterable<number>): Generator<[number]> {
  for (const position of positions) yield [position];
}

/**
 * Deletes sessions without messages. A session that keeps messages loses its title and summary, which may quote the
 * deleted ones.
 */
async function dropSessions(connection: Connection, instance: number): Promise<number> {
  await connection.run(
    `create or replace temp table empty_session as
       select session, id::varchar as id from session
       where instance = ${instance} and session in (select session from touched_session)
         and session not in (select session from message where instance = ${instance});
     update session set title = null, summary = null
       where instance = ${instance} and session in (select session from touched_session);
     delete from session_state where session in (select session from touched_session);
     delete from record_metadata where instance = ${instance} and record = 'session'
       and record_key in (select id from empty_session);
     delete from feedback where instance = ${instance} and session in (select session from empty_session);
     delete from session where instance = ${instance} and session in (select session from empty_session)`,
  );
  return countOf(connection, 'empty_session');
}

/**
 * Deletes end users without messages, with their metadata, and the metadata of those to be forgotten. An end user with
 * a message after the erasure stays.
 */
async function dropPeople(
  connection: Connection,
  instance: number,
  { isGone, whole }: Forgotten,
): Promise<number> {
  const known = await connection.all(
    `select external_id as name from end_user where instance = ${instance}
     union select record_key from record_metadata where instance = ${instance} and record = 'user'`,
  );
  const names = known.map((row) => row['name'] as string).filter(isGone);
  await connection.run('create or replace temp table gone_name (name varchar)');
  await connection.append(
    'gone_name',
    ['text'],
    names.map((name) => [name]),
  );
  await connection.run(
    `create or replace temp table gone_user as
       select end_user, external_id from end_user
       where instance = ${instance}
         and (external_id in (select name from gone_name) or exists (from touched_session))
         and end_user not in (
           select end_user from message where instance = ${instance}
             and (position >= ${whole?.before ?? 0} or end_user not in (select end_user from whole_user)));
     delete from record_metadata where instance = ${instance} and record = 'user' and (
       record_key in (select name from gone_name) or record_key in (select external_id from gone_user));
     update session set end_user = 0
       where instance = ${instance} and end_user in (select end_user from gone_user);
     update message set end_user = 0
       where instance = ${instance} and end_user in (select end_user from gone_user);
     delete from end_user where instance = ${instance} and end_user in (select end_user from gone_user)`,
  );
  if (whole?.isInstance === true) await dropMetadata(connection, instance);
  return countOf(connection, 'gone_user');
}

/** Deletes the metadata of an instance, and of sessions and people that are gone. */
async function dropMetadata(connection: Connection, instance: number): Promise<void> {
  await connection.run(
    `delete from record_metadata where instance = ${instance} and (
       record = 'instance'
       or record = 'session' and record_key not in (select id::varchar from session where instance = ${instance})
       or record = 'user' and record_key not in (select external_id from end_user where instance = ${instance}))`,
  );
}

/** Creates temp `old_session`: sessions without a message since a time. */
async function oldSessions(connection: Connection, instance: number, before: number): Promise<void> {
  await connection.run(
    `create or replace temp table old_session as
       select session from message where instance = ${instance}
       group by session having max(event_at) < make_timestamp(${before})`,
  );
}

async function dropTexts(connection: Connection, instance: number, before: number | null): Promise<number> {
  if (before === null) return 0;
  await oldSessions(connection, instance, before);
  await connection.run(
    `create or replace temp table read_session as
       select session from session where instance = ${instance}
         and session in (select session from old_session) and (title is not null or summary is not null);
     update session set title = null, summary = null
       where instance = ${instance} and session in (select session from old_session);
     delete from session_state where session in (select session from old_session)`,
  );
  return countOf(connection, 'read_session');
}

async function dropNames(
  connection: Connection,
  instance: number,
  { peopleBefore, nobody }: Forgotten,
): Promise<number> {
  if (peopleBefore === null) return 0;
  await oldSessions(connection, instance, peopleBefore);
  const people = await connection.all(
    `select u.end_user, u.external_id from end_user u join (
       select end_user from message where instance = ${instance} and end_user <> 0
       group by end_user having max(event_at) < make_timestamp(${peopleBefore})
     ) using (end_user)
     where u.instance = ${instance} order by u.end_user`,
  );
  await connection.run(
    'create or replace temp table nobody (end_user integer, id varchar, external_id varchar)',
  );
  await connection.append(
    'nobody',
    ['integer', 'text', 'text'],
    people.flatMap((row) => {
      const { id, externalId } = nobody(row['external_id'] as string);
      return externalId === row['external_id'] ? [] : [[row['end_user'] as number, id, externalId]];
    }),
  );
  await connection.run(
    `delete from record_metadata where instance = ${instance} and record = 'user' and record_key not in (
       select external_id from end_user where instance = ${instance});
     delete from record_metadata where instance = ${instance} and record = 'user' and record_key in (
       select u.external_id from end_user u join nobody n using (end_user) where u.instance = ${instance});
     update feedback set author = n.id::uuid
       from end_user u join nobody n using (end_user)
       where u.instance = ${instance} and feedback.instance = ${instance} and feedback.author = u.id;
     update end_user set id = n.id::uuid, external_id = n.external_id
       from nobody n where end_user.end_user = n.end_user and end_user.instance = ${instance};
     delete from record_metadata where instance = ${instance} and record = 'session' and record_key in (
       select id::varchar from session where instance = ${instance}
         and session in (select session from old_session));
     update session set external_id = null
       where instance = ${instance} and session in (select session from old_session)`,
  );
  return countOf(connection, 'nobody');
}

async function changeState(
  connection: Connection,
  instance: number,
  { forgetState, beginnings }: Forgotten,
): Promise<void> {
  if (forgetState === null) return;
  const rows = (
    await connection.all(
      `select kind, key, value from assign_state where instance = ${instance} order by kind, key`,
    )
  ).map(({ kind, key, value }) => ({ instance, kind, key, value }) as StateRow);
  await connection.run('create or replace temp table beginning (position bigint)');
  await connection.append('beginning', ['bigint'], rowsOf(new Set(beginnings(rows))));
  const times = new Map(
    (
      await connection.all(
        `select position, epoch_us(event_at) as at from message join beginning using (position)
         where instance = ${instance}`,
      )
    ).map((row) => [row['position'] as number, row['at'] as number]),
  );
  const left = await leftIn(connection, instance);
  const changed = forgetState(rows, times, left);
  await connection.run(
    'create or replace temp table changed_state (instance integer, kind varchar, key integer, value blob)',
  );
  await connection.append(
    'changed_state',
    ['integer', 'text', 'integer', 'blob'],
    changed.map(({ kind, key, value }) => [instance, kind, key, value]),
  );
  await connection.run(
    `delete from assign_state using changed_state c
       where assign_state.instance = c.instance and assign_state.kind = c.kind and assign_state.key = c.key;
     insert into assign_state from changed_state where value is not null`,
  );
  const emptied = changed.filter(({ kind, key }) => isEntity(kind) && !left[kind].has(key));
  await connection.run('create or replace temp table emptied (kind varchar, key integer, name varchar)');
  await connection.append(
    'emptied',
    ['text', 'integer', 'text'],
    emptied.map(({ kind, key }) => [kind, key, forgottenName(key)]),
  );
  const named = (table: string, kind: string, where = ''): string =>
    `update ${table} set name = e.name from emptied e
       where ${table}.instance = ${instance} and e.kind = '${kind}' and ${table}.${table} = e.key ${where}`;
  const among = (kind: string): string => `(select key from changed_state where kind = '${kind}')`;
  await connection.run(
    `update gap set description = case gap_type when 'TOOL' then ${quoted(gapDescription('TOOL', ''))}
         else ${quoted(gapDescription('KNOWLEDGE', ''))} end
       where instance = ${instance} and gap in ${among('gap')};
     update repeated_request set description = ${quoted(repeatDescription(''))}
       where instance = ${instance} and repeated_request in ${among('repeated')};
     ${named('topic', 'topic', 'and not topic.is_named')};
     ${named('gap', 'gap', 'and not gap.is_named')};
     ${named('repeated_request', 'repeated')}`,
  );
}

const ENTITIES = ['topic', 'gap', 'repeated'] as const;

function isEntity(kind: string): kind is (typeof ENTITIES)[number] {
  return (ENTITIES as readonly string[]).includes(kind);
}

async function leftIn(connection: Connection, instance: number): Promise<Left> {
  const numbers = async (sql: string): Promise<ReadonlySet<number>> =>
    new Set((await connection.all(sql)).map((row) => row['number'] as number));
  const ofKind = (kind: number): Promise<ReadonlySet<number>> =>
    numbers(
      `select distinct entity as number from message_fact
       where instance = ${instance} and kind = ${kind} and not gone`,
    );
  return {
    micro: await numbers(
      `select distinct micro as number from message where instance = ${instance} and micro is not null`,
    ),
    topic: await ofKind(1),
    gap: await ofKind(5),
    repeated: await ofKind(4),
  };
}

async function countOf(connection: Connection, table: string): Promise<number> {
  return (await connection.one(`select count(*)::integer as rows from temp.${table}`))?.['rows'] as number;
}

/**
 * Reads what occurs together with an entity, and the messages that serve as its examples.
 *
 * Test: test/e2e/why-rules.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Statement, TableRows } from '../../store/published/segment-sql.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { hiddenSignals } from '../checks/hidden-signals.ts';
import { cachedNames } from '../names.ts';
import type { Range } from '../routing.ts';
import { segmentCondition } from '../segments.ts';
import type { WhyResponse } from './why-schema.ts';

/** A counted entity and a range. */
export interface Entity {
  readonly instance: number;
  /** One of KINDS; `all` stands for an end user, whose facts are all of their messages. */
  readonly kind: number;
  readonly number: number;
  readonly range: Range;
  /** Only the sessions of it count; empty: all. */
  readonly segment: readonly SegmentChoice[];
}

/** A message that may be an example of the entity. */
export interface ExampleMessage {
  readonly position: number;
  readonly sessionId: string;
  /** Event time, microseconds. */
  readonly at: number;
  readonly micro: number | null;
}

type Signal = Omit<WhyResponse['signals'][number], 'share' | 'instanceShare' | 'lift'>;

/** Entities that occur together with an entity, most frequent first in each list. */
export interface Breakdown extends Pick<
  WhyResponse,
  'topics' | 'gaps' | 'repeatedRequests' | 'languages' | 'endUsers'
> {
  readonly signals: readonly Signal[];
  /** A few messages of each of the largest micro-clusters, largest first. */
  readonly typical: readonly ExampleMessage[];
  /** The newest messages, one for each session. */
  readonly newest: readonly ExampleMessage[];
}

/** Limit of each list. */
const LISTED = 10;
/** Number of micro-clusters that typical messages come from, and of messages of each. */
const [MICROS, OF_EACH] = [10, 3];

/**
 * Topics, clusters and labels occur in all messages about them, end users in all of their messages; other entities in
 * single messages of a session.
 */
function isAboutMessages(kind: number): boolean {
  return kind === KINDS.topic || kind === KINDS.cluster || kind === KINDS.label || kind === KINDS.all;
}

export async function readBreakdown(snapshot: Snapshot, entity: Entity): Promise<Breakdown> {
  const { instance } = entity;
  const [hidden, together, languages, endUsers, examples] = await Promise.all([
    hiddenSignals(snapshot, instance, entity.segment),
    readTogether(snapshot, entity),
    readLanguages(snapshot, entity),
    readEndUsers(snapshot, entity),
    readExamples(snapshot, entity),
  ]);
  const listOf = async <Member>(
    kind: number,
    table: 'topic' | 'signal' | 'gap' | 'repeated_request',
    limit: number,
    member: (row: Row) => Member,
  ) => {
    const names = await cachedNames(snapshot, table, instance);
    return together
      .flatMap(({ kind: found, entity: number, sessions, messages }) => {
        const row = found === kind ? names.get(number) : undefined;
        if (row === undefined || (kind === KINDS.signal && hidden.has(number))) return [];
        const [id, name] = [row['id'] as string, row['name'] as string];
        return [{ id, name, ...member(row), sessions, messages }];
      })
      .sort((a, b) => b.messages - a.messages || (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  };
  const { topic, signal, gap, repeatedRequest } = KINDS;
  return {
    signals: await listOf(signal, 'signal', Infinity, (row) => ({
      signalType: row['signal_type'] as 'SAT' | 'DSAT',
    })),
    topics: await listOf(topic, 'topic', LISTED, () => ({})),
    gaps: await listOf(gap, 'gap', LISTED, (row) => ({ gapType: row['gap_type'] as 'TOOL' | 'KNOWLEDGE' })),
    repeatedRequests: await listOf(repeatedRequest, 'repeated_request', LISTED, () => ({})),
    languages,
    endUsers,
    ...examples,
  };
}

/** Selects the facts of one kind in the range. The entity of a fact may change, so the statement checks it. */
function factsOf({ instance, kind, range }: Entity): TableRows {
  return { table: 'message_fact', equal: { instance, kind }, range: { from: range.start, to: range.end } };
}

function ofEntity({ instance, number, segment }: Entity): string {
  const { sql } = segmentCondition(segment, instance);
  return `not gone and entity = ${number}${sql === null ? '' : ` and ${sql}`}`;
}

/** Runs a statement that uses `ofEntity`. */
function read(
  snapshot: Snapshot,
  { instance, segment }: Entity,
  sql: string,
  { rows, bindings }: Required<Statement>,
): Promise<Row[]> {
  const chosen = segmentCondition(segment, instance);
  return snapshot.all(sql, {
    rows: { ...chosen.rows, ...rows },
    bindings: { ...chosen.bindings, ...bindings },
  });
}

interface Together {
  readonly kind: number;
  readonly entity: number;
  readonly sessions: number;
  readonly messages: number;
}

/** Counts other entities in the messages of the entity, or in its sessions. */
async function readTogether(snapshot: Snapshot, entity: Entity): Promise<Together[]> {
  const { instance, kind, range } = entity;
  const column = isAboutMessages(kind) ? 'position' : 'session';
  const { topic, signal, gap, repeatedRequest } = KINDS;
  // A message has one topic, so other topics cannot occur with a topic.
  const kinds = [signal, gap, repeatedRequest, ...(kind === topic ? [] : [topic])];
  const rows = await read(
    snapshot,
    entity,
    `with own as materialized (select distinct ${column} from @own where ${ofEntity(entity)})
select kind, entity, count(distinct session)::integer as sessions, count(*)::integer as messages
from @found semi join own using (${column}) where not gone group by kind, entity`,
    {
      rows: {
        own: factsOf(entity),
        found: {
          table: 'message_fact',
          equal: { instance },
          range: { from: range.start, to: range.end },
          and: `kind in (${kinds.join(', ')})`,
        },
      },
      bindings: {},
    },
  );
  return (rows as unknown as Together[]).filter(
    (found) => found.kind !== kind || found.entity !== entity.number,
  );
}

async function readLanguages(snapshot: Snapshot, entity: Entity): Promise<WhyResponse['languages']> {
  const rows = await read(
    snapshot,
    entity,
    `select language, count(*)::integer as sessions from (
  select distinct session from @own where ${ofEntity(entity)}
) join @sessions using (session) group by language order by sessions desc, language nulls last`,
    {
      rows: { own: factsOf(entity), sessions: { table: 'session', equal: { instance: entity.instance } } },
      bindings: {},
    },
  );
  return rows as unknown as WhyResponse['languages'];
}

async function readEndUsers(snapshot: Snapshot, entity: Entity): Promise<WhyResponse['endUsers']> {
  if (entity.kind === KINDS.all) return [];
  const rows = await read(
    snapshot,
    entity,
    `select id::varchar as id, external_id as "externalId", sessions, messages from (
  select end_user, count(distinct session)::integer as sessions, count(*)::integer as messages
  from @own where ${ofEntity(entity)} and end_user <> 0 group by end_user
) join @users using (end_user) order by messages desc, sessions desc, id limit ${LISTED}`,
    {
      rows: { own: factsOf(entity), users: { table: 'end_user', equal: { instance: entity.instance } } },
      bindings: {},
    },
  );
  return rows as unknown as WhyResponse['endUsers'];
}

/** Selects the first message about the entity in each session; later ones may not mention it. */
function firstOf(entity: Entity): string {
  // For an end user, a conversation begins at its first micro-cluster: a greeting requests nothing.
  if (entity.kind === KINDS.all)
    return `select arg_min(position, (event_at, position)) as position, session, min(event_at) as event_at,
    arg_min(micro, (event_at, position)) as micro
  from @own where ${ofEntity(entity)} and micro is not null group by session`;
  const first =
    entity.range.start === -Infinity ? `prev_session_at = '-infinity'` : 'prev_session_at < $start';
  return `select position, session, event_at, micro from @own where ${ofEntity(entity)} and ${first}`;
}

async function readExamples(
  snapshot: Snapshot,
  entity: Entity,
): Promise<Pick<Breakdown, 'typical' | 'newest'>> {
  const { instance, range } = entity;
  const isOpen = range.start === -Infinity || entity.kind === KINDS.all;
  const rows = await read(
    snapshot,
    entity,
    `with first as materialized (
  ${firstOf(entity)}
),
sized as (
  select position, session, event_at, micro,
    row_number() over (partition by micro order by event_at desc, position desc) as place,
    count(*) over (partition by micro) as size
  from first
),
largest as (
  select micro from first group by micro order by count(*) desc, micro nulls last limit ${MICROS}
)
select f.position, s.id::varchar as id, f.event_at, f.micro, f.list, f.size from (
  (select position, session, event_at, micro, 0 as list, size from sized
   where place <= ${OF_EACH} and exists (from largest l where l.micro is not distinct from sized.micro))
  union all
  (select position, session, event_at, micro, 1 as list, 0 as size from first
   order by event_at desc, position desc limit ${LISTED})
) f join @sessions s on s.session = f.session
order by list, size desc, case when list = 0 then micro end nulls last, event_at desc, position desc`,
    {
      rows: { own: factsOf(entity), sessions: { table: 'session', equal: { instance } } },
      bindings: isOpen ? {} : { start: { at: range.start } },
    },
  );
  const ofList = (list: number): ExampleMessage[] =>
    rows
      .filter((row) => row['list'] === list)
      .map((row) => ({
        position: row['position'] as number,
        sessionId: row['id'] as string,
        at: row['event_at'] as number,
        micro: row['micro'] as number | null,
      }));
  return { typical: ofList(0), newest: ofList(1) };
}

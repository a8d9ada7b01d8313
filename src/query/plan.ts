import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';
import {
  FILTERS,
  GROUPINGS,
  type EntityCounts,
  type NamesTable,
  type OwnCounts,
} from '../domain/groupings.ts';
import { KINDS } from '../domain/kinds.ts';
import { sqlOf } from '../domain/metrics.ts';
import type { Bindings, BindValue } from '../store/duckdb.ts';
import type { TableRows } from '../store/published/segment-sql.ts';
import type { View, ViewRead } from '../store/view-files.ts';
import type { QueryParameters } from './parameters.ts';

/** A SELECT in which `@name` stands for rows of a published table (store/published/segment-sql.ts). */
export interface Plan {
  readonly sql: string;
  readonly bindings: Bindings;
  readonly rows: Readonly<Record<string, TableRows>>;
  /** Published tables that it reads. */
  readonly tables: readonly string[];
}

/** What a statement gives: rows of the page, `total` (rows of the whole answer), or the rows with the total in each. */
export type Wanted = 'page' | 'total' | 'page and total';

/** Granularities as the rollups number them. */
const GRANULARITY_NUMBER: Readonly<Record<Granularity, number>> = {
  HOUR: 0,
  DAY: 1,
  WEEK: 2,
  MONTH: 3,
  ALL: 4,
};

/** A part of the range that no whole bucket of the rollup covers. */
interface Segment {
  readonly start: number;
  readonly end: number;
}

/** How a range is read: whole buckets `[from, to)` from the rollup, the rest from facts. */
export interface Routing {
  readonly rollup: { readonly from: number; readonly to: number } | null;
  readonly segments: readonly Segment[];
}

/**
 * Splits `[start, end)` (microseconds, ±Infinity for open ends): aligned ranges read the rollup alone; a cut
 * bucket is read from facts; `ALL` over a bounded range has no rollup bucket of its own.
 */
export function route(granularity: Granularity, start: number, end: number): Routing {
  if (start === -Infinity && end === Infinity) return { rollup: { from: start, to: end }, segments: [] };
  if (granularity === 'ALL') return { rollup: null, segments: [{ start, end }] };
  const from = start === -Infinity ? start : nextBucketStart(granularity, start);
  const to = end === Infinity ? end : bucketStart(granularity, end);
  if (from > to) return { rollup: null, segments: [{ start, end }] };
  const segments: Segment[] = [];
  if (start < from) segments.push({ start, end: from });
  if (to < end) segments.push({ start: to, end });
  return { rollup: from < to ? { from, to } : null, segments };
}

/** The whole days of a segment, if it has any, and what it cuts off at its ends. */
function wholeDays({ start, end }: Segment): { days: Segment | null; cuts: Segment[] } {
  const from = nextBucketStart('DAY', start);
  const to = bucketStart('DAY', end);
  if (from >= to) return { days: null, cuts: [{ start, end }] };
  const cuts = [
    { start, end: from },
    { start: to, end },
  ];
  return { days: { start: from, end: to }, cuts: cuts.filter((cut) => cut.start < cut.end) };
}

/** Collects a statement's bindings and the rows that it reads, under names of its own. */
class Statement {
  readonly bindings: Record<string, BindValue> = {};
  readonly rows: Record<string, TableRows> = {};
  readonly #reads: ReadonlyMap<string, ViewRead>;
  #parts = 0;

  constructor(views: readonly View[]) {
    this.#reads = new Map(
      views.flatMap(({ name, read }) => (read === undefined ? [] : [[name, read] as const])),
    );
  }

  bind(value: BindValue): string {
    const name = `v${Object.keys(this.bindings).length}`;
    this.bindings[name] = value;
    return `$${name}`;
  }

  /** A view's read part with the numbers of its columns, and its instants in microseconds or ±Infinity. */
  read(
    view: string,
    numbers: Readonly<Record<string, number>>,
    instants: Readonly<Record<string, number>>,
  ): string {
    const read = this.#reads.get(view);
    if (read === undefined) throw new Error(`view ${view} has no read part`);
    const given = (values: Readonly<Record<string, number>>, name: string): number => {
      const value = values[name];
      if (value === undefined) throw new Error(`view ${view} reads ${name}, which the plan does not give`);
      return value;
    };
    const prefix = `p${(this.#parts += 1)}_`;
    for (const { name, table, equal, range } of read.rows) {
      this.rows[`${prefix}${name}`] = {
        table,
        equal: Object.fromEntries(equal.map((column) => [column, given(numbers, column)])),
        ...(range === null
          ? {}
          : { range: { from: given(instants, range[0]), to: given(instants, range[1]) } }),
      };
    }
    return read.sql.replaceAll(/([@$])(\w+)/g, (_, sign: string, name: string) => {
      if (sign === '$') this.bindings[`${prefix}${name}`] = { at: given(instants, name) };
      return `${sign}${prefix}${name}`;
    });
  }

  /** The facts of one kind in a segment, hour by hour where hours are whole. */
  hourFacts(instance: number, kind: number, { start, end }: Segment): string {
    const fromHour = nextBucketStart('HOUR', start);
    const toHour = bucketStart('HOUR', end);
    const headEnd = Math.min(fromHour, end);
    const instants = {
      start,
      end,
      from_hour: fromHour,
      to_hour: toHour,
      head_end: headEnd,
      tail_start: Math.max(toHour, headEnd),
    };
    return this.read('hour_fact', { instance, kind }, instants);
  }

  /** Condition on a previous-occurrence column: the fact is the first of its chain from `start` on. */
  firstSince(start: number): (column: string) => string {
    if (start === -Infinity) return (column) => `${column} = '-infinity'`;
    let since = '';
    return (column) => {
      // A binding that no part of the statement names would be an error.
      since ||= this.bind({ at: start });
      return `${column} < ${since}`;
    };
  }

  /**
   * Rows that add up by entity to a segment's counts: its whole days from the rollup, less what came back from
   * one of them to another, and the days that it cuts message by message.
   */
  entityCounts(instance: number, kind: number, segment: Segment): string {
    const parts: string[] = [];
    const first = this.firstSince(segment.start);
    const { days, cuts } = wholeDays(segment);
    for (const part of cuts) {
      parts.push(`select entity, (${first('prev_session_at')})::integer as sessions,
    (end_user <> 0 and ${first('prev_user_at')})::integer as users, 1 as messages, sat, dsat
  from (${this.read('fact', { instance, kind }, { start: part.start, end: part.end })})`);
    }
    if (days !== null) {
      const range = { from: days.start, to: days.end };
      parts.push(`select entity, sessions, users, messages, sat, dsat
  from (${this.read('entity_rollup', { instance, kind, granularity: GRANULARITY_NUMBER.DAY }, range)})`);
      parts.push(`select entity, -sessions, -users, 0, 0, 0
  from (${this.read('return_fact', { instance, kind }, { ...range, start: segment.start })})`);
    }
    return parts.join('\n  union all\n  ');
  }

  /** The rows of one instance in a table, as a statement names them. */
  ofInstance(table: string, instance: number): string {
    const name = `r${Object.keys(this.rows).length}`;
    this.rows[name] = { table, equal: { instance } };
    return `@${name}`;
  }

  plan(sql: string): Plan {
    const tables = new Set(Object.values(this.rows).map(({ table }) => table));
    return { sql, bindings: this.bindings, rows: this.rows, tables: [...tables] };
  }

  /** `column in (the UUIDs)`. */
  among(column: string, ids: readonly string[]): string {
    return `${column} in (select unnest(string_split(${this.bind(ids.join(','))}, ','))::uuid)`;
  }
}

/**
 * The statement for a query, one row of output per row of the page: `bucket`, `number` (of the entity in its
 * shard), `id`, the counts, and `first_at` and `last_at` (sessions and end users). What is derived from these
 * is computed for the page alone (`metricOf` in query-runner.ts).
 */
export function planQuery(
  parameters: QueryParameters,
  instance: number,
  views: readonly View[],
  chosen: ChosenEntities,
  wanted: Wanted,
): Plan {
  const statement = new Statement(views);
  const start = parameters.range.start ?? -Infinity;
  const end = parameters.range.end ?? Infinity;
  const routing = route(parameters.granularity, start, end);
  const { counts } = GROUPINGS[parameters.groupBy];
  const rows =
    counts.view === 'entity_rollup'
      ? entityRows(statement, counts, parameters, instance, routing, chosen)
      : ownRows(statement, counts, parameters, instance, routing, { start, end }, chosen);
  const bounds = parameters.bounds.flatMap(({ metric, min, max }) => {
    const value = sqlOf(metric);
    return [
      ...(min === null ? [] : [`${value} >= ${statement.bind(min)}`]),
      ...(max === null ? [] : [`${value} <= ${statement.bind(max)}`]),
    ];
  });
  const filtered = `from (${rows}) q ${bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`}`;
  if (wanted === 'total') return statement.plan(`select count(*) as total ${filtered}`);
  const paged = `order by ${orderOf(parameters)} limit ${statement.bind(parameters.limit)} offset ${statement.bind(parameters.offset)}`;
  if (wanted === 'page') return statement.plan(`select * ${filtered} ${paged}`);
  // Not count(*) over (): a window without partition can end the whole database (docs/decisions/0022).
  return statement.plan(
    `with a as materialized (select * ${filtered}) select *, (select count(*) from a) as total from a ${paged}`,
  );
}

/**
 * Whether the total is better counted by itself: the rows are those of a rollup as they are, and as many as
 * sessions or end users, so that keeping them all for a page costs more than looking through them twice.
 */
export function isCountedApart(parameters: QueryParameters): boolean {
  const { groupBy, granularity, range, ids } = parameters;
  const filters = [ids, ...FILTERS.map((filter) => parameters[filter])];
  return (
    GROUPINGS[groupBy].counts.view !== 'entity_rollup' &&
    route(granularity, range.start ?? -Infinity, range.end ?? Infinity).segments.length === 0 &&
    filters.every((filter) => filter === null)
  );
}

/**
 * Numbers of the entities that a query's filters name, in their instance (sessions: in their shard); what no filter
 * names is absent.
 */
export type ChosenEntities = Readonly<Partial<Record<NamesTable | 'session', readonly number[]>>>;

/** `date` ascending, then the entity's own order, then id (docs/api.md). */
function orderOf({ sort, groupBy, granularity }: QueryParameters): string {
  const own = sqlOf(GROUPINGS[groupBy].order);
  // A column that is the same in every row would still be compared.
  const date = granularity === 'ALL' ? [] : ['bucket asc'];
  const order =
    sort === null
      ? [...date, `${own} desc nulls last`]
      : [`${sqlOf(sort.field)} ${sort.order === 'ASC' ? 'asc' : 'desc'} nulls last`, ...date];
  return [...order, 'id asc'].join(', ');
}

function entityRows(
  statement: Statement,
  { view, kind, names }: EntityCounts,
  parameters: QueryParameters,
  instance: number,
  routing: Routing,
  chosen: ChosenEntities,
): string {
  const { granularity } = parameters;
  const parts: string[] = [];
  if (routing.rollup !== null) {
    parts.push(
      statement.read(view, { instance, kind, granularity: GRANULARITY_NUMBER[granularity] }, routing.rollup),
    );
  }
  for (const segment of routing.segments) {
    const bucket = statement.bind({ at: bucketStart(granularity, segment.start) });
    parts.push(`select ${bucket} as bucket, g.entity, d.id, g.sessions, g.users, g.messages, g.sat, g.dsat from (
  select entity, sum(sessions)::integer as sessions, sum(users)::integer as users, sum(messages)::integer as messages,
    sum(sat)::integer as sat, sum(dsat)::integer as dsat
  from (${statement.entityCounts(instance, kind, segment)}) group by entity having sum(messages) > 0
) g join ${statement.ofInstance(names, instance)} d on d.${names} = g.entity`);
  }
  const among = chosen[names];
  return `select r.bucket, r.entity as number, r.id, r.sessions, r.users, r.messages, r.sat, r.dsat
from (${parts.join('\nunion all\n')}) r ${among === undefined ? '' : `where r.entity in (${numberList(among)})`}`;
}

function numberList(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'null' : numbers.join(', ');
}

/** SESSION and END_USER: their own rollup, or their facts where the range cuts. */
function ownRows(
  statement: Statement,
  { view, names }: OwnCounts,
  parameters: QueryParameters,
  instance: number,
  routing: Routing,
  range: Segment,
  chosen: ChosenEntities,
): string {
  const { granularity } = parameters;
  const ofUsers = names === 'end_user';
  const parts: string[] = [];
  const whole = (): string =>
    statement.read(
      view,
      { instance, granularity: GRANULARITY_NUMBER.ALL },
      { from: -Infinity, to: Infinity },
    );
  const columns = `messages, sat, dsat, repeated_requests${ofUsers ? ', sessions' : ''}, first_at, last_at`;
  if (routing.rollup !== null) {
    parts.push(`select bucket, ${names}, id, ${columns}
from (${statement.read(view, { instance, granularity: GRANULARITY_NUMBER[granularity] }, routing.rollup)})`);
  }
  for (const segment of routing.segments) {
    const bucket = statement.bind({ at: bucketStart(granularity, segment.start) });
    if (ofUsers) parts.push(userCounts(statement, instance, segment, bucket));
    else parts.push(...sessionCounts(statement, instance, segment, bucket, granularity, whole));
  }
  const conditions: string[] = [];
  if (parameters.ids !== null) conditions.push(statement.among('r.id', parameters.ids));
  if (chosen.session !== undefined) conditions.push(`r.session in (${numberList(chosen.session)})`);
  for (const { counts } of Object.values(GROUPINGS)) {
    const numbers = counts.view === 'entity_rollup' ? chosen[counts.names] : undefined;
    if (counts.view !== 'entity_rollup' || numbers === undefined) continue;
    conditions.push(`r.${names} in (
  select ${names} from (${statement.hourFacts(instance, counts.kind, range)}) where entity in (${numberList(numbers)}))`);
  }
  if (parameters.language !== null) {
    conditions.push(`r.session in (
  select d.session from ${statement.ofInstance('session', instance)} d where d.language = ${statement.bind(parameters.language)})`);
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  if (!ofUsers) {
    return `select r.bucket, r.session as number, r.id, r.messages, r.sat, r.dsat, r.repeated_requests, r.first_at, r.last_at
from (${parts.join('\nunion all\n')}) r ${where}`;
  }
  const counts = 'r.sessions, r.messages, r.sat, r.dsat, r.repeated_requests';
  // An end user's createdAt and lastActiveAt are of the whole history, whatever the range and the bucket.
  if (granularity === 'ALL' && routing.rollup !== null) {
    return `select r.bucket, r.end_user as number, r.id, ${counts}, r.first_at, r.last_at
from (${parts.join('\nunion all\n')}) r ${where}`;
  }
  return `select r.bucket, r.end_user as number, r.id, ${counts}, w.first_at, w.last_at
from (${parts.join('\nunion all\n')}) r join (${whole()}) w using (end_user) ${where}`;
}

/** The end users of a segment: its whole days and the days that it cuts, as in `entityCounts`. */
function userCounts(statement: Statement, instance: number, segment: Segment, bucket: string): string {
  const first = statement.firstSince(segment.start);
  const { days, cuts } = wholeDays(segment);
  const parts = cuts.map(
    ({
      start,
      end,
    }) => `select end_user, (${first('prev_session_at')})::integer as sessions, 1 as messages, sat, dsat, repeated_requests
  from (${statement.read('fact', { instance, kind: KINDS.all }, { start, end })}) where end_user <> 0`,
  );
  if (days !== null) {
    const range = { from: days.start, to: days.end };
    parts.push(
      `select end_user, sessions, messages, sat, dsat, repeated_requests
  from (${statement.read('end_user_rollup', { instance, granularity: GRANULARITY_NUMBER.DAY }, range)})`,
      `select entity, -sessions, 0, 0, 0, 0
  from (${statement.read('return_fact', { instance, kind: KINDS.all }, { ...range, start: segment.start })})`,
    );
  }
  return `select ${bucket} as bucket, g.end_user, d.id, messages, sat, dsat, repeated_requests, sessions,
  null::timestamp as first_at, null::timestamp as last_at
from (
  select end_user, sum(sessions)::integer as sessions, sum(messages)::integer as messages, sum(sat)::integer as sat,
    sum(dsat)::integer as dsat, sum(repeated_requests)::integer as repeated_requests
  from (${parts.join('\n  union all\n  ')}) group by end_user having sum(messages) > 0
) g join ${statement.ofInstance('end_user', instance)} d on d.end_user = g.end_user`;
}

/**
 * The sessions of a segment. Over a range of all granularities, those that lie inside it are as they are as a
 * whole, and only those that its ends cut are counted anew; in a cut bucket, which is short, all of them.
 */
function sessionCounts(
  statement: Statement,
  instance: number,
  segment: Segment,
  bucket: string,
  granularity: Granularity,
  whole: () => string,
): string[] {
  const counted = `sum(f.messages)::integer as messages, sum(f.sat)::integer as sat, sum(f.dsat)::integer as dsat,
  sum(f.repeated_requests)::integer as repeated_requests, min(f.first_at) as first_at, max(f.last_at) as last_at`;
  const facts = statement.hourFacts(instance, KINDS.all, segment);
  if (granularity !== 'ALL') {
    return [
      `select ${bucket} as bucket, f.session, d.id, ${counted}
from (${facts}) f join ${statement.ofInstance('session', instance)} d on d.session = f.session group by f.session, d.id`,
    ];
  }
  const start = statement.bind({ at: segment.start });
  const end = statement.bind({ at: segment.end });
  return [
    `select bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at
from (${whole()}) where first_at >= ${start} and last_at < ${end}`,
    `select ${bucket} as bucket, f.session, d.id, ${counted}
from (${facts}) f join (
  select session, id from (${whole()})
  where (first_at < ${start} and last_at >= ${start}) or (first_at < ${end} and last_at >= ${end})
) d on d.session = f.session group by f.session, d.id`,
  ];
}

/**
 * Builds the SQL of queries: whole buckets are read from rollups, the cut ends of a range from facts.
 *
 * Test: test/query/windows.test.ts, test/view-laws.test.ts, test/e2e/query-rules.test.ts.
 */
import {
  FILTERS,
  GROUPINGS,
  type AttributeCounts,
  type EntityCounts,
  type NamesTable,
  type OwnCounts,
} from '../domain/groupings.ts';
import { KINDS } from '../domain/kinds.ts';
import { factSourcesOf, sqlOf, type FactSource } from '../domain/metrics.ts';
import type { View } from '../store/view-files.ts';
import { joinFactMetrics, placedFacts, rangeOf, withGivenSignals } from './fact-metrics.ts';
import type { QueryParameters } from './parameters.ts';
import { route, type BucketRouting, type Range } from './routing.ts';
import { Statement, type Plan } from './statement.ts';

/**
 * The output of a statement: rows of the page, `total` (the number of all rows), or rows with the total in each.
 * `export`: rows of the page with the metrics that facts tell, if the query asks for them.
 */
export type Wanted = 'page' | 'total' | 'page and total' | 'export';

/**
 * Numbers of the entities in a query's filters: per instance, for sessions and end users per shard. A filter that is
 * absent from the query is absent here.
 */
export type ChosenEntities = Readonly<
  Partial<Record<NamesTable | 'session' | 'end_user', readonly number[]>>
>;

/**
 * Plans a query. Each row has `bucket`, `number` (of the entity in its shard), `id`, the counts, and for sessions and
 * end users `first_at` and `last_at`. `metricOf` derives the other metrics for the page's rows only.
 */
export function planQuery(
  parameters: QueryParameters,
  instance: number,
  views: readonly View[],
  chosen: ChosenEntities,
  wanted: Wanted,
): Plan {
  const statement = new Statement(views, instance, parameters.segment);
  const { fields, sort } = parameters;
  const sources = factSourcesOf([sort?.field, ...(wanted === 'export' ? fields : [])]);
  const filtered = filteredRows(statement, parameters, chosen, wanted === 'total' ? [] : sources);
  if (wanted === 'total') return statement.plan(`select count(*) as total ${filtered}`);
  const paged =
    `order by ${orderOf(parameters)} limit ${statement.bind(parameters.limit)} offset ` +
    `${statement.bind(parameters.offset)}`;
  if (wanted === 'page' || wanted === 'export') return statement.plan(`select * ${filtered} ${paged}`);
  // Not count(*) over (): a window without partition can end the whole database (docs/decisions/0022).
  return statement.plan(
    `with a as materialized (select * ${filtered}) select *, (select count(*) from a) as total from a ${paged}`,
  );
}

/** Returns `from …` with every row of a query's answer, unordered, and with what facts tell of `sources`. */
export function filteredRows(
  statement: Statement,
  parameters: QueryParameters,
  chosen: ChosenEntities,
  sources: readonly FactSource[] = [],
): string {
  const { counts } = GROUPINGS[parameters.groupBy];
  const rows =
    counts.view === 'entity_rollup'
      ? entityRows(statement, counts, parameters, chosen)
      : counts.view === 'session_attribute'
        ? attributeRows(statement, parameters)
        : ownRows(statement, counts, parameters, chosen);
  const bounds = parameters.bounds.flatMap(({ metric, min, max }) => {
    const value = sqlOf(metric);
    return [
      ...(min === null ? [] : [`${value} >= ${statement.bind(min)}`]),
      ...(max === null ? [] : [`${value} <= ${statement.bind(max)}`]),
    ];
  });
  const all = sources.reduce(
    (sql, source) => joinFactMetrics(statement, parameters, sql, source),
    withGivenSignals(statement, parameters, rows),
  );
  return `from (${all}) q ${where(bounds)}`;
}

/**
 * Plans the sums over all sessions or end users of a range: a row for each bucket, oldest first, with their number
 * (`rows`), `messages`, `sat`, `dsat` and `repeated_requests`.
 */
export function planTotals(parameters: QueryParameters, instance: number, views: readonly View[]): Plan {
  const statement = new Statement(views, instance, parameters.segment);
  const { counts } = GROUPINGS[parameters.groupBy];
  if (counts.view === 'entity_rollup' || counts.view === 'session_attribute')
    throw new Error(`${parameters.groupBy} does not add up`);
  const rows = withGivenSignals(statement, parameters, ownRows(statement, counts, parameters, {}));
  return statement.plan(
    `select bucket, count(*)::integer as rows, ${sums('messages', 'sat', 'dsat', 'repeated_requests')}
from (${rows}) group by bucket order by bucket`,
  );
}

/**
 * Returns true if the total is cheaper in a statement of its own: for unfiltered rollup rows of sessions or end users,
 * which are too many to materialize for a page.
 */
export function isCountedApart(parameters: QueryParameters): boolean {
  const { groupBy, ids, segment } = parameters;
  const filters = [ids, ...FILTERS.map((filter) => parameters[filter])];
  return (
    segment.length === 0 &&
    (groupBy === 'SESSION' || groupBy === 'END_USER') &&
    routeOf(parameters).cuts.length === 0 &&
    filters.every((filter) => filter === null)
  );
}

/** Routes the query to the buckets of its time zone, if it has them, or else of UTC. */
export function routeOf(parameters: QueryParameters): BucketRouting {
  const { buckets, granularity } = parameters;
  return buckets === undefined ? route(granularity, rangeOf(parameters)) : { rollup: null, cuts: buckets };
}

/** Orders by `date` ascending, then by the entity's own order, then by id (docs/api.md). */
function orderOf({ sort, groupBy, granularity }: QueryParameters): string {
  const own = sqlOf(GROUPINGS[groupBy].order);
  // Omits a constant column, which DuckDB would still compare.
  const date = granularity === 'ALL' ? [] : ['bucket asc'];
  const order =
    sort === null
      ? [...date, `${own} desc nulls last`]
      : [`${sqlOf(sort.field)} ${sort.order === 'ASC' ? 'asc' : 'desc'} nulls last`, ...date];
  return [...order, 'id asc'].join(', ');
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

function numberList(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'null' : numbers.join(', ');
}

/** Returns `sum(a)::integer as a, …`. */
function sums(...columns: readonly string[]): string {
  return columns.map((column) => `sum(${column})::integer as ${column}`).join(', ');
}

/** Returns true if only facts tell the counts: those of a time zone's buckets, and of a segment but of its sessions. */
function isFromFacts({ buckets, segment }: QueryParameters, isOfSessions: boolean): boolean {
  return buckets !== undefined || (segment.length > 0 && !isOfSessions);
}

/** Reads entities from the shared rollup, and from facts where the range cuts a bucket or a segment is chosen. */
function entityRows(
  statement: Statement,
  { view, kind, names }: EntityCounts,
  parameters: QueryParameters,
  chosen: ChosenEntities,
): string {
  const fromFacts = isFromFacts(parameters, false);
  const { rollup, cuts } = routeOf(parameters);
  const parts =
    rollup === null || fromFacts ? [] : [statement.rollup(view, parameters.granularity, rollup, kind)];
  if (fromFacts)
    parts.push(`select g.bucket, g.entity, d.id, g.sessions, g.users, g.messages, g.sat, g.dsat
from (${factCounts(statement, kind, 'entity', parameters)}) g
join ${statement.names(names)} d on d.${names} = g.entity`);
  for (const cut of fromFacts ? [] : cuts) {
    const bucket = statement.bind({ at: cut.bucket });
    const counts = statement.counts(view, kind, cut, {
      message: (isFirst) => `entity, (${isFirst('prev_session_at')})::integer as sessions,
    (end_user <> 0 and ${isFirst('prev_user_at')})::integer as users, 1 as messages, sat, dsat`,
      day: 'entity, sessions, users, messages, sat, dsat',
      returns: 'entity, -sessions, -users, 0, 0, 0',
    });
    parts.push(`select ${bucket} as bucket, g.entity, d.id, g.sessions, g.users, g.messages, g.sat, g.dsat from (
  select entity, ${sums('sessions', 'users', 'messages', 'sat', 'dsat')}
  from (${counts}) group by entity having sum(messages) > 0
) g join ${statement.names(names)} d on d.${names} = g.entity`);
  }
  const among = chosen[names];
  return `select r.bucket, r.entity as number, r.id, r.sessions, r.users, r.messages, r.sat, r.dsat
from (${parts.join('\nunion all\n')}) r ${where(among === undefined ? [] : [`r.entity in (${numberList(among)})`])}`;
}

/** Counts the values of an attribute from the facts of the sessions that have them. */
function attributeRows(statement: Statement, parameters: QueryParameters): string {
  const { segmentKey, instanceId, ids } = parameters;
  const { valuesIn } = statement.attribute(segmentKey ?? '');
  return `select r.bucket, r.segment as number, d.id, r.sessions, r.users, r.messages, r.sat, r.dsat, d.value
from (${factCounts(statement, KINDS.all, 'segment', parameters)}) r
join (${valuesIn(instanceId)}) d using (segment)
${where(ids === null ? [] : [statement.among('d.id', ids)])}`;
}

/** Reads sessions or end users from their rollup, and from facts where the range cuts a bucket. */
function ownRows(
  statement: Statement,
  { view, names }: OwnCounts,
  parameters: QueryParameters,
  chosen: ChosenEntities,
): string {
  const { granularity } = parameters;
  const { rollup, cuts } = routeOf(parameters);
  const ofUsers = names === 'end_user';
  const fromFacts = isFromFacts(parameters, !ofUsers);
  const counts = ['messages', 'sat', 'dsat', 'repeated_requests', ...(ofUsers ? ['sessions'] : [])];
  const whole = (): string =>
    ofUsers && parameters.segment.length > 0
      ? `select end_user, min(first_at) as first_at, max(last_at) as last_at
from (${statement.hourFacts(KINDS.all, { start: -Infinity, end: Infinity })}) group by end_user`
      : statement.rollup(view, 'ALL', { from: -Infinity, to: Infinity });
  const parts: string[] = [];
  if (rollup !== null && !fromFacts) {
    parts.push(`select bucket, ${names}, id, ${counts.join(', ')}, first_at, last_at
from (${statement.rollup(view, granularity, rollup)})`);
  }
  if (fromFacts)
    parts.push(`select bucket, ${names}, d.id, ${counts.join(', ')}, g.first_at, g.last_at
from (${factCounts(statement, KINDS.all, names, parameters)}) g join ${statement.names(names)} d using (${names})`);
  for (const cut of fromFacts ? [] : cuts) {
    const bucket = statement.bind({ at: cut.bucket });
    if (ofUsers) parts.push(userCounts(statement, cut, bucket));
    else if (granularity === 'ALL') parts.push(...cutSessionCounts(statement, cut, bucket, whole));
    else parts.push(sessionCounts(statement, cut, bucket, statement.names('session')));
  }
  const filters = where(ownFilters(statement, names, parameters, chosen));
  // Uses the whole history for an end user's createdAt and lastActiveAt, whatever the range and bucket.
  const needsWhole = ofUsers && (granularity !== 'ALL' || rollup === null);
  const times = needsWhole ? 'w.first_at, w.last_at' : 'r.first_at, r.last_at';
  return `select r.bucket, r.${names} as number, r.id, ${counts.map((column) => `r.${column}`).join(', ')}, ${times}
from (${parts.join('\nunion all\n')}) r ${needsWhole ? `join (${whole()}) w using (end_user) ` : ''}${filters}`;
}

/** Returns the SQL conditions of a query's filters on sessions or end users. */
function ownFilters(
  statement: Statement,
  names: OwnCounts['names'],
  parameters: QueryParameters,
  chosen: ChosenEntities,
): string[] {
  const conditions: string[] = [];
  if (parameters.ids !== null) conditions.push(statement.among('r.id', parameters.ids));
  if (chosen.session !== undefined) conditions.push(`r.session in (${numberList(chosen.session)})`);
  const { end_user: users } = chosen;
  if (users !== undefined && names === 'end_user') conditions.push(`r.end_user in (${numberList(users)})`);
  else if (users !== undefined) {
    conditions.push(`r.session in (
  select session from (${statement.hourFacts(KINDS.all, rangeOf(parameters))})
  where end_user in (${numberList(users)}))`);
  }
  for (const { counts } of Object.values(GROUPINGS)) {
    const numbers = counts.view === 'entity_rollup' ? chosen[counts.names] : undefined;
    if (counts.view !== 'entity_rollup' || numbers === undefined) continue;
    conditions.push(`r.${names} in (
  select ${names} from (${statement.hourFacts(counts.kind, rangeOf(parameters))})
  where entity in (${numberList(numbers)}))`);
  }
  if (parameters.language !== null) {
    conditions.push(`r.session in (
  select d.session from ${statement.names('session')} d where d.language = ${statement.bind(parameters.language)})`);
  }
  if (parameters.outcome !== null) {
    const outcomes = parameters.outcome.map((outcome) => statement.bind(outcome)).join(', ');
    conditions.push(`r.session in (
  select d.session from ${statement.names('session')} d where d.outcome in (${outcomes}))`);
  }
  for (const [searched, columns] of [
    [parameters.titleContains, ['title']],
    [parameters.textContains, ['title', 'summary']],
  ] as const) {
    if (searched === null) continue;
    const text = statement.bind(searched);
    const contained = columns.map((column) => `contains(lower(nfc_normalize(d.${column})), lower(${text}))`);
    conditions.push(`r.session in (
  select d.session from ${statement.names('session')} d
  where ${contained.join(' or ')})`);
  }
  return conditions;
}

/** Counts entities, sessions or end users in each bucket from facts. */
function factCounts(
  statement: Statement,
  kind: number,
  by: 'entity' | (OwnCounts | AttributeCounts)['names'],
  parameters: QueryParameters,
): string {
  return `select bucket, ${by}, count(distinct session)::integer as sessions,
  count(distinct nullif(end_user, 0))::integer as users, ${sums('messages', 'sat', 'dsat', 'repeated_requests')},
  min(first_at) as first_at, max(last_at) as last_at
from ${placedFacts(statement, kind, parameters)}
${by === 'end_user' ? 'where end_user <> 0 ' : ''}group by bucket, ${by}`;
}

function userCounts(statement: Statement, range: Range, bucket: string): string {
  const counts = statement.counts('end_user_rollup', KINDS.all, range, {
    message: (isFirst) =>
      `end_user, (${isFirst('prev_session_at')})::integer as sessions, 1 as messages, sat, dsat, repeated_requests`,
    messageIf: 'end_user <> 0',
    day: 'end_user, sessions, messages, sat, dsat, repeated_requests',
    returns: 'entity, -sessions, 0, 0, 0, 0',
  });
  return `select ${bucket} as bucket, g.end_user, d.id, messages, sat, dsat, repeated_requests, sessions,
  null::timestamp as first_at, null::timestamp as last_at
from (
  select end_user, ${sums('sessions', 'messages', 'sat', 'dsat', 'repeated_requests')}
  from (${counts}) group by end_user having sum(messages) > 0
) g join ${statement.names('end_user')} d on d.end_user = g.end_user`;
}

/** Sums the facts of a range for each of `sessions`, which has columns `session` and `id`. */
function sessionCounts(statement: Statement, range: Range, bucket: string, sessions: string): string {
  return `select ${bucket} as bucket, f.session, d.id, ${sums('messages', 'sat', 'dsat', 'repeated_requests')},
  min(f.first_at) as first_at, max(f.last_at) as last_at
from (${statement.hourFacts(KINDS.all, range)}) f join ${sessions} d on d.session = f.session group by f.session, d.id`;
}

/** Plans the counts of some sessions within a range, by number; rows as in `planQuery`. */
export function planSessions(
  instance: number,
  range: Range,
  views: readonly View[],
  numbers: readonly number[],
): Plan {
  const statement = new Statement(views, instance);
  // Binds one value, because statements are cached by their text.
  const cut = `select unnest(string_split(${statement.bind(numbers.join(','))}, ','))::integer`;
  const sessions = `(select session, id from ${statement.names('session')} where session in (${cut}))`;
  return statement.plan(sessionCounts(statement, range, statement.bind({ at: -Infinity }), sessions));
}

/** Takes sessions inside the range from the rollup, and counts only those that its ends cut. */
function cutSessionCounts(
  statement: Statement,
  range: Range,
  bucket: string,
  whole: () => string,
): [inside: string, cut: string] {
  const [start, end] = [statement.bind({ at: range.start }), statement.bind({ at: range.end })];
  return [
    `select bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at
from (${whole()}) where first_at >= ${start} and last_at < ${end}`,
    sessionCounts(
      statement,
      range,
      bucket,
      `(
  select session, id from (${whole()})
  where (first_at < ${start} and last_at >= ${start}) or (first_at < ${end} and last_at >= ${end})
)`,
    ),
  ];
}

/**
 * Counts from facts what no rollup holds: waits, how sessions ended, who came back, and what messages cost. Each source
 * is a statement of its own on the rows of a page, so that answers which do not ask for it cost nothing more.
 *
 * Test: test/view-laws.test.ts, test/query/held-answers.test.ts.
 */
import { GROUPINGS, type AttributeCounts, type OwnCounts } from '../domain/groupings.ts';
import { KINDS } from '../domain/kinds.ts';
import { RETURN_DAYS, type FactSource } from '../domain/metrics.ts';
import type { LocalBucket } from '../domain/local-time.ts';
import type { SessionOutcome } from '../domain/session-outcomes.ts';
import { bucketStart, type Granularity } from '../domain/time.ts';
import type { View } from '../store/view-files.ts';
import type { QueryParameters } from './parameters.ts';
import type { Range } from './routing.ts';
import { Statement, type Plan } from './statement.ts';

/** The columns of each source, with their values where no fact has any. */
export const FACT_COLUMNS: Readonly<Record<FactSource, Readonly<Record<string, 0 | null>>>> = {
  waits: { wait: null, wait_p95: null },
  outcomes: { handed_over: 0, dropped_off: 0, resolved_least: 0, resolved_most: 0 },
  returns: { came_back: 0 },
  moods: { dissatisfied: 0, excess_dissatisfied: 0 },
  usage: { input_tokens: null, output_tokens: null, cost_nanos: null },
};

/** The attribute by which callers say that a person took over. */
const HANDED_OVER = 'handedOver';
const RESOLVED: readonly SessionOutcome[] = ['solved'];
const PERHAPS_RESOLVED: readonly SessionOutcome[] = [...RESOLVED, 'thanked', 'open'];

/** Condition on the column of the entities' numbers. */
type IsAsked = (column: string) => string;

/** Returns SQL for rows with the columns of a source besides. */
export function joinFactMetrics(
  statement: Statement,
  parameters: QueryParameters,
  rows: string,
  source: FactSource,
): string {
  const columns = Object.entries(FACT_COLUMNS[source]).map(([column, none]) =>
    none === null ? column : `coalesce(${column}, ${none}) as ${column}`,
  );
  return `select q.*, ${columns.join(', ')} from (${rows}) q
left join (${COUNTED[source](statement, parameters, () => 'true')}) using (bucket, number)`;
}

/** Returns SQL for rows whose `sat` and `dsat` count what the query asks for; rows themselves count what was inferred. */
export function withGivenSignals(statement: Statement, parameters: QueryParameters, rows: string): string {
  const { signals } = parameters;
  if (signals === null || signals === 'inferred') return rows;
  const given = ['sat', 'dsat'].map(
    (column) => `count(*) filter (signal_type = '${column.toUpperCase()}')::integer as given_${column}`,
  );
  const counted = ['sat', 'dsat'].map(
    (column) => `${signals === 'all' ? `q.${column} + ` : ''}coalesce(given_${column}, 0) as ${column}`,
  );
  return `select q.* replace (${counted.join(', ')}) from (${rows}) q
left join (
  select bucket, number, ${given.join(', ')}
  from (${messagesOfRows(statement, parameters, () => 'true')}) join (
    select position, signal_type
    from (${statement.facts(KINDS.signal, wholeRange(parameters))}) f
    join ${statement.names('signal')} s on s.signal = f.entity and s.source = 'GIVEN'
  ) using (position)
  group by bucket, number
) using (bucket, number)`;
}

/** Plans one source for some rows of an answer, by number: `bucket`, `number` and the source's columns. */
export function planFactMetrics(
  parameters: QueryParameters,
  instance: number,
  views: readonly View[],
  source: FactSource,
  numbers: readonly number[],
): Plan {
  const statement = new Statement(views, instance, parameters.segment);
  const list = statement.bind([...new Set(numbers)].join(','));
  const isAsked: IsAsked = (column) => `${column} in (select unnest(string_split(${list}, ','))::integer)`;
  return statement.plan(COUNTED[source](statement, parameters, isAsked));
}

/** Returns SQL for `bucket`, `number` and the columns of a source. Rows without any may be missing. */
const COUNTED: Readonly<
  Record<FactSource, (statement: Statement, parameters: QueryParameters, isAsked: IsAsked) => string>
> = {
  waits(statement, parameters, isAsked) {
    const { kind, by } = countedOf(parameters);
    const read = ofAttribute(statement, statement.facts(kind, wholeRange(parameters)), parameters);
    const facts = placedIn(statement, parameters, read, 'event_at');
    return `select bucket, ${by} as number, quantile_disc(wait, 0.5) as wait, quantile_disc(wait, 0.95) as wait_p95
from ${facts} where wait > 0 and ${isAsked(by)} group by bucket, ${by}`;
  },

  outcomes(statement, parameters, isAsked) {
    const isOne = (outcomes: readonly SessionOutcome[]): string =>
      `outcome in (${outcomes.map((outcome) => `'${outcome}'`).join(', ')})`;
    const count = (condition: string): string => `(count(*) filter (where ${condition}))::integer`;
    return `select bucket, number, ${count("outcome = 'handed_over' or said")} as handed_over, ${count('unanswered')} as dropped_off,
  ${count(isOne(RESOLVED))} as resolved_least, ${count(isOne(PERHAPS_RESOLVED))} as resolved_most
from (${sessionsOfRows(statement, parameters, isAsked)})
join ${statement.names('session')} using (session)
left join (
  select session, true as said from ${statement.attributeRows(HANDED_OVER)} where value = 'true'
) using (session)
group by bucket, number`;
  },

  returns(statement, parameters, isAsked) {
    const { kind, by, isOfTopics } = countedOf(parameters);
    const always = { start: -Infinity, end: Infinity };
    // Sessions of a row need not lie in the range that it counts, and what follows them neither.
    const visits = `select entity, end_user, session, min(first_at) as first_at, max(last_at) as last_at
    from (${statement.hourFacts(isOfTopics ? kind : KINDS.topic, always)})
    where end_user <> 0 and ${isOfTopics ? isAsked('entity') : 'true'} group by all`;
    return `select bucket, number, count(*)::integer as came_back
from (${sessionsOfRows(statement, parameters, isAsked)}) s
semi join (
  select entity, end_user, session, last_at, min(first_at) over (
    partition by entity, end_user order by first_at
    range between interval 1 microsecond following and unbounded following
  ) as next_at
  from (${visits})
  qualify next_at <= last_at + interval ${RETURN_DAYS} days
) v on v.session = s.session${isOfTopics ? ' and v.entity = s.number' : ''}${by === 'end_user' ? ' and v.end_user = s.number' : ''}
group by bucket, number`;
  },

  moods(statement, parameters, isAsked) {
    const all = placedFacts(statement, KINDS.all, { ...parameters, segmentKey: null });
    return `with mood as materialized (
  select bucket, session, max(dsat) > 0 as is_dissatisfied from ${all} group by bucket, session
)
select bucket, number, (count(*) filter (is_dissatisfied))::integer as dissatisfied,
  count(*) filter (is_dissatisfied) - count(*) * any_value(share) as excess_dissatisfied
from (${sessionsOfRows(statement, parameters, isAsked)}) join mood using (bucket, session)
join (select bucket, avg(is_dissatisfied::integer) as share from mood group by bucket) using (bucket)
group by bucket, number`;
  },

  usage(statement, parameters, isAsked) {
    const { kind } = countedOf(parameters);
    // Few signals and gaps are on a message that costs; their sessions do.
    const isOfSessions = kind === KINDS.signal || kind === KINDS.repeatedRequest || kind === KINDS.gap;
    const used = isOfSessions
      ? `(${sessionsOfRows(statement, parameters, isAsked)}) join ${placedIn(
          statement,
          parameters,
          `select * from ${statement.usage(wholeRange(parameters))}`,
          'event_at',
        )} using (bucket, session)`
      : `(${messagesOfRows(statement, parameters, isAsked)}) join (
  select position, input_tokens, output_tokens, cost_nanos from ${statement.usage(wholeRange(parameters))}
) using (position)`;
    return `select bucket, number, sum(input_tokens)::double as input_tokens, sum(output_tokens)::double as output_tokens,
  sum(cost_nanos)::double as cost_nanos
from ${used} group by bucket, number`;
  },
};

/** Returns SQL for each message of each row: `bucket`, `number`, `position`. */
function messagesOfRows(statement: Statement, parameters: QueryParameters, isAsked: IsAsked): string {
  const { kind, by } = countedOf(parameters);
  const facts = ofAttribute(statement, statement.facts(kind, wholeRange(parameters)), parameters);
  return `select bucket, ${by} as number, position
from ${placedIn(statement, parameters, facts, 'event_at')}
where ${isCounted(by, isAsked)}`;
}

/** Returns SQL for each session of each row once: `bucket`, `number`, `session`. */
function sessionsOfRows(statement: Statement, parameters: QueryParameters, isAsked: IsAsked): string {
  const { kind, by } = countedOf(parameters);
  return `select distinct bucket, ${by} as number, session
from ${placedFacts(statement, kind, parameters)} where ${isCounted(by, isAsked)}`;
}

/** Condition on facts: they are of an entity that is asked for. End user 0 stands for none. */
function isCounted(by: Counted['by'], isAsked: IsAsked): string {
  return `${by === 'end_user' ? 'end_user <> 0 and ' : ''}${isAsked(by)}`;
}

/** The kind of facts that a grouping counts, and the column of the entity's number. */
interface Counted {
  readonly kind: number;
  readonly by: 'entity' | (OwnCounts | AttributeCounts)['names'];
  /** True if the entities are topics or topic clusters. */
  readonly isOfTopics: boolean;
}

function countedOf({ groupBy }: QueryParameters): Counted {
  const { counts } = GROUPINGS[groupBy];
  return counts.view === 'entity_rollup'
    ? {
        kind: counts.kind,
        by: 'entity',
        isOfTopics: counts.kind === KINDS.topic || counts.kind === KINDS.cluster,
      }
    : { kind: KINDS.all, by: counts.names, isOfTopics: false };
}

/** Returns SQL for facts, hour by hour or message by message, with the `bucket` of the query that they lie in. */
export function placedFacts(statement: Statement, kind: number, parameters: QueryParameters): string {
  const { buckets } = parameters;
  const range = wholeRange(parameters);
  const areWhole = buckets?.every(({ bucket }) => bucket === bucketStart('HOUR', bucket)) ?? true;
  const read = areWhole ? statement.hourFacts(kind, range) : statement.messageFacts(kind, range);
  return placedIn(statement, parameters, ofAttribute(statement, read, parameters), 'first_at');
}

/** Returns SQL for rows with the `bucket` of the query in which their instant lies. */
function placedIn(
  statement: Statement,
  { buckets, granularity }: QueryParameters,
  rows: string,
  column: 'first_at' | 'event_at',
): string {
  return buckets === undefined
    ? `(select ${bucketOf(granularity, column)} as bucket, * from (${rows}))`
    : `(select f.*, b.bucket from (${rows}) f asof join ${startsOf(statement, buckets)} on f.${column} >= b.bucket)`;
}

/** Returns SQL for facts with the number of their session's value, where a query groups by an attribute. */
function ofAttribute(statement: Statement, facts: string, { segmentKey }: QueryParameters): string {
  if (segmentKey === null) return facts;
  return `select * from (${facts}) join (${statement.attribute(segmentKey).sessions}) using (session)`;
}

export function rangeOf({ range }: QueryParameters): Range {
  return { start: range.start ?? -Infinity, end: range.end ?? Infinity };
}

/** Returns the range of the query's buckets, or of the query where buckets are those of UTC. */
function wholeRange(parameters: QueryParameters): Range {
  const { buckets } = parameters;
  if (buckets === undefined) return rangeOf(parameters);
  return { start: buckets[0]?.start ?? 0, end: buckets.at(-1)?.end ?? 0 };
}

/** Returns a row with the start of each bucket of a time zone. */
function startsOf(statement: Statement, buckets: readonly LocalBucket[]): string {
  // Binds one value, because statements are cached by their text.
  const starts = statement.bind(buckets.map(({ bucket }) => bucket).join(','));
  return `(select make_timestamp(unnest(string_split(${starts}, ','))::bigint) as bucket) b`;
}

/** Returns SQL for the start of the bucket of an instant. */
function bucketOf(granularity: Granularity, column: string): string {
  return granularity === 'ALL'
    ? "'-infinity'::timestamp"
    : `date_trunc('${granularity.toLowerCase()}', ${column})::timestamp`;
}

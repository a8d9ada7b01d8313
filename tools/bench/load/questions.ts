import { GROUPINGS, type GroupBy } from '../../../src/domain/groupings.ts';
import type { Metric } from '../../../src/domain/metrics.ts';
import { bucketStart, formatInstant } from '../../../src/domain/time.ts';
import { SYNTHETIC_IDS } from '../../../test/support/synthetic-stream.ts';
import { IS_NO_TEST, IS_PRO, type History } from './history.ts';

const DAY = 86_400e6;
const WEEK = 7 * DAY;
const PAGE = 50;

/** One question, asked of the service and, as one plain SQL, of the raw messages. */
export interface Asked {
  /** Query parameters without `instanceId`. */
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * For `instance = N`, Columns: total, bucket (text, null for
   * ALL), id, then the fields in order; instants as microseconds.
   */
  readonly sql: (instance: number) => string;
  readonly fields: readonly Metric[];
}

/** How fast it has to be at the medians, milliseconds; by messages of history. */
export type Targets = Readonly<Record<number, number>>;

export interface Question {
  readonly name: string;
  readonly rollup: boolean;
  readonly targets: Targets;
  /** Another one at each call; `random` gives 0 to 1. */
  readonly ask: (random: () => number) => Asked;
}

/** Repeatable numbers from 0 (inclusive) to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const ROLLUP_TARGETS = { 1_000_000: 1.5, 10_000_000: 3 };
const SEGMENT_TARGETS = { 1_000_000: 25 };

/** The questions of a dashboard, over a history. */
export function questionsOf(
  history: Pick<History, 'start' | 'end' | 'topics' | 'messages' | 'instances'>,
): Question[] {
  const sessions = history.messages / history.instances / 10;
  const between = (random: () => number, from: number, to: number): number =>
    from + Math.floor(random() * (to - from));
  const one = <T>(random: () => number, list: readonly T[]): T => list[between(random, 0, list.length)] as T;
  /** Cuts hours and buckets at both ends. */
  const unaligned = (random: () => number): Range => {
    const length = between(random, DAY, (history.end - history.start) * 0.8);
    const start = between(random, history.start, history.end - length);
    return { start, end: start + length };
  };
  const aligned = (random: () => number, unit: number, from: number, count: number): Range => {
    const last = Math.floor((history.end - count * unit - from) / unit);
    const start = from + between(random, 0, last + 1) * unit;
    return { start, end: start + count * unit };
  };
  // The first pages are looked at far more often than the deep ones.
  const page = (random: () => number, rows: number): number => Math.floor(Math.max(1, rows) ** random()) - 1;

  const topics =
    (segment: Segment = EVERYBODY) =>
    (random: () => number): Asked =>
      entityQuestion('TOPIC', 'ALL', unaligned(random), 0, segment);
  const topicsByDay =
    (segment: Segment = EVERYBODY) =>
    (random: () => number): Asked => {
      const range = aligned(random, DAY, history.start, 90);
      return entityQuestion('TOPIC', 'DAY', range, page(random, history.topics * 20), segment);
    };
  const byWeek =
    (groupBy: 'GAP' | 'CSAT_DSAT', rows: number) =>
    (random: () => number): Asked => {
      const range = aligned(random, WEEK, firstWeek(history.start), 26);
      return entityQuestion(groupBy, 'WEEK', range, page(random, rows));
    };
  const endUsers =
    (rangeOf: (random: () => number) => Range | null, rows: number, segment: Segment = EVERYBODY) =>
    (random: () => number): Asked => {
      const range = rangeOf(random);
      const sort = one(random, END_USER_SORTS);
      return endUserQuestion(range, sort, one(random, ['ASC', 'DESC']), page(random, rows), segment);
    };
  /** The more discussed a topic, the more often it is looked at. */
  const sessionsOfTopic = (random: () => number): Asked => {
    const topic = Math.floor(history.topics ** random());
    return sessionQuestion(topic, one(random, ['ASC', 'DESC']), page(random, sessions / 100));
  };
  const rollup = (name: string, targets: Targets, ask: Question['ask']): Question => {
    return { name, rollup: true, targets, ask };
  };
  const exact = (name: string, targets: Targets, ask: Question['ask']): Question => {
    return { name, rollup: false, targets, ask };
  };
  return [
    rollup('TOPIC by DAY, 90 days', ROLLUP_TARGETS, topicsByDay()),
    exact('TOPIC ALL, unaligned range', { 1_000_000: 3, 10_000_000: 6 }, topics()),
    exact('SESSION by topic, by lastActiveAt', { 1_000_000: 5, 10_000_000: 10 }, sessionsOfTopic),
    rollup(
      'END_USER ALL',
      { 1_000_000: 5, 10_000_000: 10 },
      endUsers(() => null, sessions / 10),
    ),
    rollup('GAP by WEEK, 26 weeks', ROLLUP_TARGETS, byWeek('GAP', 400)),
    rollup('CSAT_DSAT by WEEK, 26 weeks', ROLLUP_TARGETS, byWeek('CSAT_DSAT', 250)),
    exact('TOPIC by DAY of a segment, 90 days', SEGMENT_TARGETS, topicsByDay(PRO)),
    exact('TOPIC by DAY without a value left out, 90 days', SEGMENT_TARGETS, topicsByDay(NO_TEST)),
    exact('TOPIC ALL of a segment, unaligned range', SEGMENT_TARGETS, topics(PRO)),
    exact('END_USER of a segment, unaligned range', SEGMENT_TARGETS, endUsers(unaligned, sessions / 80, PRO)),
    exact('END_USER, unaligned range', { 1_000_000: 7, 10_000_000: 14 }, endUsers(unaligned, sessions / 20)),
  ];
}

/** A segment: parameters, and the condition on raw messages. */
const PRO = { parameters: { 'segment.plan': 'pro' }, sql: `and ${IS_PRO}` } as const;
const NO_TEST = { parameters: { 'segment.environment!': 'test' }, sql: `and ${IS_NO_TEST}` } as const;
const EVERYBODY = { parameters: {}, sql: '' } as const;
type Segment = typeof PRO | typeof NO_TEST | typeof EVERYBODY;

const END_USER_SORTS = ['sessions', 'messages', 'sat', 'dsat', 'repeatedRequests'] as const;

function firstWeek(start: number): number {
  return bucketStart('WEEK', start) + WEEK;
}

function literal(micros: number): string {
  return `timestamp '${formatInstant(micros).replace('T', ' ').replace('Z', '')}'`;
}

function within({ start, end }: Range): string {
  return `sent_at >= ${literal(start)} and sent_at < ${literal(end)}`;
}

function rangeParameters(range: Range | null): Record<string, string> {
  return range === null
    ? {}
    : { 'dateRange.start': formatInstant(range.start), 'dateRange.end': formatInstant(range.end) };
}

/** All but what facts tell, which the raw messages do not have. */
type Comparable = Exclude<Metric, (typeof FACT_METRICS)[number]>;
const FACT_METRICS = [
  'waitSeconds',
  'waitSecondsP95',
  'handedOver',
  'droppedOff',
  'resolvedAtLeast',
  'resolvedAtMost',
  'cameBack',
  'dissatisfied',
  'excessDissatisfied',
  'inputTokens',
  'outputTokens',
  'costUsd',
] as const;

/** Returns what is asked of a grouping. */
function comparable(groupBy: GroupBy): readonly Comparable[] {
  return GROUPINGS[groupBy].metrics.filter(
    (metric): metric is Comparable => !FACT_METRICS.some((other) => other === metric),
  );
}

/** The expression of each metric over the counts of a group. */
const COLUMNS: Readonly<Record<Comparable, string>> = {
  sessions: 'sessions',
  users: 'users',
  messages: 'messages',
  avgMessagesPerSession: 'messages::float8 / sessions as average',
  sat: 'sat',
  dsat: 'dsat',
  netSat: '(sat - dsat) * 100.0::float8 / messages as net_sat',
  duration:
    'case when messages >= 2 then cast(extract(epoch from last_at - first_at) as float8) end as duration',
  lastActiveAt: 'cast(last_at as varchar) as last_at',
  repeatedRequests: 'repeated_requests',
};

function columnsOf(fields: readonly Comparable[]): string {
  return fields.map((field) => COLUMNS[field]).join(', ');
}

function entityQuestion(
  groupBy: 'TOPIC' | 'GAP' | 'CSAT_DSAT',
  granularity: 'DAY' | 'WEEK' | 'ALL',
  range: Range,
  offset: number,
  segment: Segment = EVERYBODY,
): Asked {
  const fields = comparable(groupBy);
  const column = { TOPIC: 'topic', GAP: 'gap', CSAT_DSAT: 'signal' }[groupBy];
  const bucket =
    granularity === 'ALL' ? 'null::timestamp' : `date_trunc('${granularity.toLowerCase()}', sent_at)`;
  return {
    parameters: {
      groupBy,
      timeGranularity: granularity,
      fields: fields.join(','),
      ...rangeParameters(range),
      ...segment.parameters,
      limit: String(PAGE),
      offset: String(offset),
    },
    fields,
    sql: (instance) => `
select count(*) over () as total, ${granularity === 'ALL' ? 'null' : `cast(bucket as varchar)`} as bucket, d.id,
  ${columnsOf(fields)}
from (
  select ${bucket} as bucket, ${column}, count(distinct session) as sessions, count(distinct end_user) as users,
    count(*) as messages, sum(sat) as sat, sum(dsat) as dsat
  from message where instance = ${instance} and ${column} is not null and ${within(range)} ${segment.sql} group by 1, 2
) g join ${column} d on d.instance = ${instance} and d.${column} = g.${column}
order by g.bucket, messages desc, d.id limit ${PAGE} offset ${offset}`,
  };
}

function sessionQuestion(topic: number, order: string, offset: number): Asked {
  const fields = comparable('SESSION');
  return {
    parameters: {
      groupBy: 'SESSION',
      fields: fields.join(','),
      topicIds: SYNTHETIC_IDS.topic(topic),
      'sort.field': 'lastActiveAt',
      'sort.order': order,
      limit: String(PAGE),
      offset: String(offset),
    },
    fields,
    sql: (instance) => `
select count(*) over () as total, null as bucket, d.id, ${columnsOf(fields)}
from (
  select session, count(*) as messages, min(sent_at) as first_at, max(sent_at) as last_at,
    sum(sat) as sat, sum(dsat) as dsat, count(repeated_request) as repeated_requests
  from message where instance = ${instance} and session in (
    select session from message where instance = ${instance} and topic = ${topic}
  ) group by session
) g join session d on d.instance = ${instance} and d.session = g.session
order by g.last_at ${order}, d.id limit ${PAGE} offset ${offset}`,
  };
}

function endUserQuestion(
  range: Range | null,
  sort: (typeof END_USER_SORTS)[number],
  order: string,
  offset: number,
  segment: Segment = EVERYBODY,
): Asked {
  const fields = comparable('END_USER');
  return {
    parameters: {
      groupBy: 'END_USER',
      fields: fields.join(','),
      ...segment.parameters,
      ...rangeParameters(range),
      'sort.field': sort,
      'sort.order': order,
      limit: String(PAGE),
      offset: String(offset),
    },
    fields,
    sql: (instance) => `
select count(*) over () as total, null as bucket, d.id, ${columnsOf(fields)}
from (
  select end_user, count(distinct session) as sessions, count(*) as messages, sum(sat) as sat, sum(dsat) as dsat,
    count(repeated_request) as repeated_requests
  from message where instance = ${instance} and end_user is not null ${range === null ? '' : `and ${within(range)}`}
    ${segment.sql}
  group by end_user
) g join end_user d on d.instance = ${instance} and d.end_user = g.end_user
order by g.${COLUMNS[sort]} ${order}, d.id limit ${PAGE} offset ${offset}`,
  };
}

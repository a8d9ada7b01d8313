/**
 * The metrics of answers (docs/api.md), one declaration each, in the order of the answer's schema. CONTRIBUTING.md
 * has the recipe for a metric.
 *
 * Test: test/query/parameters.test.ts, test/query/held-answers.test.ts, test/view-laws.test.ts.
 */
import { z } from 'zod';
import { formatInstant } from './time.ts';
import { usdOf } from './usage.ts';
import { secondsOfStep } from './waits.ts';

/** A row of a query's result: values by column name. */
export type Counts = Readonly<Record<string, unknown>>;

interface MetricDeclaration {
  /** Schema of the value in an answer. */
  readonly schema: z.ZodType;
  /**
   * SQL over a row's columns, for sorting and bounds. Default: the column of the metric's name. It puts rows in the order
   * of `value` and is null where `value` is; null sorts last. `/` of DuckDB is no integer division: 7 / 2 is 3.5.
   */
  readonly sql?: string;
  /** Returns the value in an answer. Default: the column of the metric's name. */
  readonly value?: (row: Counts) => number | string | null;
  /** The parameters `min…` and `max…` bound it. */
  readonly bounded?: true;
  /** A quotient of counts: its change in percent tells nothing. */
  readonly ratio?: true;
  /** No rollup holds it: a statement of its own counts it from facts (src/query/fact-metrics.ts). */
  readonly facts?: FactSource;
}

/** What is counted from facts in one statement. */
export const FACT_SOURCES = ['waits', 'outcomes', 'returns', 'moods', 'usage'] as const;
export type FactSource = (typeof FACT_SOURCES)[number];

/** Somebody who comes back later than this comes for something new. */
export const RETURN_DAYS = 7;

const count = z.int().min(0);
export const dateTime = z.iso.datetime().describe('UTC, event time.');

const DECLARED = {
  sessions: {
    schema: count.describe(
      'Sessions with a message of the group in the range (in the bucket, where there are buckets).',
    ),
    bounded: true,
  },
  users: { schema: count.describe('End users with a message of the group in the range; each counts once.') },
  messages: {
    schema: count.describe(
      'Messages of the group in the range, of any role. For a signal, gap or repeated request: how often it ' +
        'occurred, which may be more than once in a session.',
    ),
    bounded: true,
  },
  avgMessagesPerSession: {
    schema: z.number().min(0).describe('messages / sessions.'),
    sql: 'messages / sessions',
    value: (row) => number(row, 'messages') / number(row, 'sessions'),
    ratio: true,
  },
  sat: {
    schema: count.describe('SAT signals on messages of the group. A message may have several; each counts.'),
    bounded: true,
  },
  dsat: {
    schema: count.describe('DSAT signals on messages of the group. A message may have several; each counts.'),
    bounded: true,
  },
  netSat: {
    schema: z
      .number()
      .nullable()
      .describe(
        'Percent: (sat - dsat) / messages * 100. Signals count, not messages, so it may lie beyond ±100. Null ' +
          'without messages.',
      ),
    sql: '(sat - dsat) / messages',
    value: (row) => ((number(row, 'sat') - number(row, 'dsat')) * 100) / number(row, 'messages'),
    ratio: true,
  },
  duration: {
    schema: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'Seconds from the first to the last message of the session in the range. Null with fewer than two.',
      ),
    sql: 'case when messages >= 2 then last_at - first_at end',
    value: (row) =>
      number(row, 'messages') < 2 ? null : (number(row, 'last_at') - number(row, 'first_at')) / 1e6,
  },
  lastActiveAt: {
    schema: dateTime.nullable().describe('Event time of the last message of the session in the range, UTC.'),
    sql: 'last_at',
    value: (row) => formatInstant(number(row, 'last_at')),
  },
  repeatedRequests: {
    schema: count.describe('Requests that had to be made again in the same session.'),
    sql: 'repeated_requests',
    value: (row) => number(row, 'repeated_requests'),
    bounded: true,
  },
  waitSeconds: {
    schema: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'Seconds from a user turn to the reply that arrives next in its session: the median (the lower of the two ' +
          'in the middle), within 5 %. For a signal or a repeated request: to the reply that it comes after. ' +
          'Waits below a millisecond are not measured. Null without any.',
      ),
    sql: 'wait',
    value: (row) => waitOf(row, 'wait'),
    facts: 'waits',
  },
  waitSecondsP95: {
    schema: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'The wait that 95 % of the waits do not exceed, seconds, within 5 %; counted as waitSeconds. Null without any.',
      ),
    sql: 'wait_p95',
    value: (row) => waitOf(row, 'wait_p95'),
    facts: 'waits',
  },
  handedOver: {
    schema: count.describe(
      'Those of `sessions` that the assistant handed over to a person (outcome `handed_over`), or whose attribute ' +
        '`handedOver` is true.',
    ),
    sql: 'handed_over',
    value: (row) => number(row, 'handed_over'),
    facts: 'outcomes',
  },
  droppedOff: {
    schema: count.describe(
      'Those of `sessions` that end before the assistant answers a wish or question of the user, unless the user says ' +
        'that it is solved.',
    ),
    sql: 'dropped_off',
    value: (row) => number(row, 'dropped_off'),
    facts: 'outcomes',
  },
  resolvedAtLeast: {
    schema: count.describe('Those of `sessions` that end solved: at least so many were resolved.'),
    sql: 'resolved_least',
    value: (row) => number(row, 'resolved_least'),
    facts: 'outcomes',
  },
  resolvedAtMost: {
    schema: count.describe(
      'Those of `sessions` that end solved, thanked or open: at most so many were resolved. The outcome counts, ' +
        'whatever an attribute says.',
    ),
    sql: 'resolved_most',
    value: (row) => number(row, 'resolved_most'),
    facts: 'outcomes',
  },
  cameBack: {
    schema: count.describe(
      'Those of `sessions` whose end user began another session about the same topic afterwards, at most ' +
        `${RETURN_DAYS} days after its last message about it. With groupBy=TOPIC the topic of the row counts, with ` +
        'TOPIC_CLUSTER the cluster, else any topic of the session.',
    ),
    sql: 'came_back',
    value: (row) => number(row, 'came_back'),
    facts: 'returns',
  },
  dissatisfied: {
    schema: count.describe(
      'Those of `sessions` with a DSAT signal that was found in their texts, in the range (in the bucket).',
    ),
    sql: 'dissatisfied',
    value: (row) => number(row, 'dissatisfied'),
    facts: 'moods',
  },
  excessDissatisfied: {
    schema: z
      .number()
      .describe(
        'How many more of `sessions` are dissatisfied than if it were as large a share of them as of all sessions of ' +
          'the instance in the range (in the bucket), or of the segment; below 0: fewer.',
      ),
    sql: 'round(excess_dissatisfied, 3)',
    // To the thousandth; never -0.
    value: (row) => Math.round(number(row, 'excess_dissatisfied') * 1000) / 1000 + 0,
    facts: 'moods',
  },
  inputTokens: {
    schema: count
      .nullable()
      .describe(
        'Tokens that messages of the group took in, as their metadata says. For a signal, gap or repeated ' +
          'request: messages of its sessions in the range. Null where nothing is said of any.',
      ),
    sql: 'input_tokens',
    value: (row) => nullable(row, 'input_tokens'),
    facts: 'usage',
  },
  outputTokens: {
    schema: count.nullable().describe('Tokens that came out, counted as inputTokens.'),
    sql: 'output_tokens',
    value: (row) => nullable(row, 'output_tokens'),
    facts: 'usage',
  },
  costUsd: {
    schema: z
      .number()
      .min(0)
      .nullable()
      .describe('What the messages cost, US dollars to the billionth, counted as inputTokens.'),
    sql: 'cost_nanos',
    value: (row) => {
      const nanos = nullable(row, 'cost_nanos');
      return nanos === null ? null : usdOf(nanos);
    },
    facts: 'usage',
  },
} as const satisfies Readonly<Record<string, MetricDeclaration>>;

function number(row: Counts, column: string): number {
  return row[column] as number;
}

function nullable(row: Counts, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

function waitOf(row: Counts, column: string): number | null {
  return row[column] === null ? null : secondsOfStep(number(row, column));
}

export type Metric = keyof typeof DECLARED;
export type BoundedMetric = {
  [M in Metric]: (typeof DECLARED)[M] extends { readonly bounded: true } ? M : never;
}[Metric];

const DECLARATIONS: Readonly<Record<Metric, MetricDeclaration>> = DECLARED;

/** Errors and the OpenAPI document use this order. */
export const METRICS = Object.keys(DECLARED) as readonly Metric[];
export const BOUNDED_METRICS = METRICS.filter(
  (metric): metric is BoundedMetric => DECLARATIONS[metric].bounded === true,
);

export function isRatio(metric: Metric): boolean {
  return DECLARATIONS[metric].ratio === true;
}

/** Returns what statements besides the one of the rows count of some metrics, in a fixed order. */
export function factSourcesOf(fields: readonly (SortField | undefined)[]): FactSource[] {
  return FACT_SOURCES.filter((source) =>
    fields.some(
      (field) => field !== undefined && field !== 'createdAt' && DECLARATIONS[field].facts === source,
    ),
  );
}

/** Metrics, and the other sort fields. */
export const SORT_FIELDS = [...METRICS, 'createdAt'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Returns the SQL over a row's columns by which rows are sorted and bounded. */
export function sqlOf(field: SortField): string {
  return field === 'createdAt' ? 'first_at' : (DECLARATIONS[field].sql ?? field);
}

export function metricOf(row: Counts, metric: Metric): number | string | null {
  const { value } = DECLARATIONS[metric];
  return value === undefined ? number(row, metric) : value(row);
}

/** Returns the value where there are no messages: null if the metric's schema allows it, else 0. */
export function metricOfNothing(metric: Metric): 0 | null {
  return DECLARATIONS[metric].schema.safeParse(null).success ? null : 0;
}

/** Returns the sort value of a row, in the order of `sqlOf`; NaN stands for null. */
export function sortValueOf(row: Counts, field: SortField): number {
  if (field === 'createdAt') return number(row, 'first_at');
  if (field === 'lastActiveAt') return number(row, 'last_at');
  return (metricOf(row, field) as number | null) ?? NaN;
}

type MetricsShape = { [M in Metric]: z.ZodOptional<(typeof DECLARED)[M]['schema']> };

/** Each metric is present only if it was asked for. */
export const metricsSchema = z
  .strictObject(
    Object.fromEntries(
      METRICS.map((metric) => [metric, DECLARATIONS[metric].schema.optional()]),
    ) as MetricsShape,
  )
  .describe('The metrics that were asked for.');

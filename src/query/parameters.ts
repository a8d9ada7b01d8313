/**
 * Parses the parameters of queries. All faults of a query are reported together.
 *
 * Test: test/query/parameters.test.ts.
 */
import { z } from 'zod';
import { AppError } from '../errors.ts';
import type { ErrorDetail } from '../errors.ts';
import { isExternalId } from '../domain/ids.ts';
import {
  dimensionFieldsOf,
  FILTERS,
  GROUP_BYS,
  GROUPINGS,
  groupingsWith,
  type Filter,
  type GroupBy,
} from '../domain/groupings.ts';
import {
  BOUNDED_METRICS,
  METRICS,
  SORT_FIELDS,
  type BoundedMetric,
  type Metric,
  type SortField,
} from '../domain/metrics.ts';
import { LIFE_STATES, type LifeState } from '../domain/lives.ts';
import { SESSION_OUTCOMES, type SessionOutcome } from '../domain/session-outcomes.ts';
import {
  COUNTED_SIGNALS,
  SIGNAL_SOURCES,
  type CountedSignals,
  type SignalSource,
} from '../domain/signal-kinds.ts';
import { isTimeZone, startOfDate, type LocalBucket } from '../domain/local-time.ts';
import { formatInstant, GRANULARITIES, parseTime } from '../domain/time.ts';
import type { Granularity } from '../domain/time.ts';
import { givenUuid } from '../domain/uuid.ts';
import type { SegmentChoice } from '../domain/attributes.ts';
import { languageOf } from './language-tag.ts';
import { attributeNameSchema, segmentSchema, withSegment } from './segments.ts';

/** A bound on a metric of the row, inclusive; null: open. */
export interface Bound {
  readonly metric: Metric;
  readonly min: number | null;
  readonly max: number | null;
}

/** A valid query (docs/api.md). Ids are lower case; lists have no duplicates. */
export interface QueryParameters {
  readonly instanceId: string;
  readonly groupBy: GroupBy;
  /** Microseconds since 1970-01-01 UTC; start inclusive, end exclusive; null: open. */
  readonly range: { readonly start: number | null; readonly end: number | null };
  readonly granularity: Granularity;
  /** IANA time zone of days, weeks and months; null: UTC. */
  readonly timeZone: string | null;
  /** The buckets of the time zone, once `inTimeZone` has added them. */
  readonly buckets?: readonly LocalBucket[];
  /** At least one, all available for `groupBy`. */
  readonly fields: readonly Metric[];
  /** All available for `groupBy`. */
  readonly dimensionFields: readonly string[];
  /** Attributes of the sessions that count, each name once; empty: all sessions. */
  readonly segment: readonly SegmentChoice[];
  /** Filters: null when absent, else at least one id. */
  readonly ids: readonly string[] | null;
  readonly topicIds: readonly string[] | null;
  readonly clusterIds: readonly string[] | null;
  readonly signalIds: readonly string[] | null;
  readonly repeatedRequestIds: readonly string[] | null;
  readonly gapIds: readonly string[] | null;
  readonly labelIds: readonly string[] | null;
  readonly endUserIds: readonly string[] | null;
  readonly gapType: 'TOOL' | 'KNOWLEDGE' | null;
  readonly signalSource: SignalSource | null;
  /** Any of these states of life; what nobody tracked is OPEN. */
  readonly lifeStates: readonly LifeState[] | null;
  /** What `sat` and `dsat` count; null: what was inferred. */
  readonly signals: CountedSignals | null;
  /** ISO 639-1 code, lower case. */
  readonly language: string | null;
  /** Any of these outcomes. */
  readonly outcome: readonly SessionOutcome[] | null;
  /** External id of a session or an end user. */
  readonly externalId: string | null;
  /** In Unicode's composed form (NFC), as the next one. */
  readonly titleContains: string | null;
  readonly textContains: string | null;
  /** The attribute by whose values SEGMENT groups; null for other groupings. */
  readonly segmentKey: string | null;
  readonly limit: number;
  readonly offset: number;
  /** Null: the default order of docs/api.md. */
  readonly sort: { readonly field: SortField; readonly order: 'ASC' | 'DESC' } | null;
  readonly bounds: readonly Bound[];
}

/** Limit of `offset` and the bounds: the largest integer that JSON numbers carry exactly. */
const MAX_INTEGER = 9_007_199_254_740_991;

function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const uuid = givenUuid.toLowerCase();

/** Accepts digits only: no sign, fraction or exponent. */
function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .pipe(z.int(message).min(min, message).max(max, message));
}

/** A `+` in a query string decodes to a space, so a space before an offset was a plus. */
const LOST_PLUS = /(?<=:.*) (?=\d{2}:?\d{2}$)/;

const instant = z
  .string()
  .transform((text, context) => {
    const at = parseTime(text.replace(LOST_PLUS, '+'));
    if (at !== null) return at;
    context.addIssue(
      'must be a date or date-time that exists, such as 2025-03-01, 2025-03-01T00:00:00Z or 2025-03-01T01:00:00+01:00',
    );
    return z.NEVER;
  })
  .meta({ type: 'string', examples: ['2025-03-01T00:00:00Z', '2025-03-01', '2025-03-01T01:00:00+01:00'] });

const MAX_ZONE_LENGTH = 64;

export const timeZone = z
  .string()
  .max(MAX_ZONE_LENGTH, `must be at most ${MAX_ZONE_LENGTH} characters long`)
  .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')
  .meta({ type: 'string', maxLength: MAX_ZONE_LENGTH, examples: ['Europe/Berlin', 'UTC'] });

type RawParameters = Readonly<Record<string, string | string[]>>;

/** Replaces dates in `dateRange` by the first instant of the day in the query's time zone. */
export function withLocalDates(raw: RawParameters): RawParameters {
  const { timeZone: zone } = raw;
  if (typeof zone !== 'string' || zone.length > MAX_ZONE_LENGTH || !isTimeZone(zone)) return raw;
  const dates = (['dateRange.start', 'dateRange.end'] as const).flatMap((name) => {
    const text = raw[name];
    const at = typeof text === 'string' ? startOfDate(text, zone) : null;
    return at === null ? [] : [[name, formatInstant(at)] as const];
  });
  return dates.length === 0 ? raw : { ...raw, ...Object.fromEntries(dates) };
}

const language = z
  .string()
  .min(1, 'must not be empty')
  .max(10, 'must be at most 10 characters long')
  .transform((tag, context) => {
    const code = languageOf(tag);
    if (code !== null) return code;
    context.addIssue('must be the tag of a language, such as en or pt-BR');
    return z.NEVER;
  })
  .meta({ type: 'string', minLength: 1, maxLength: 10, examples: ['en', 'en-US'] });

/** A comma-separated list. Rejects an empty list or item; accepts duplicates. */
function listOf<Item extends z.ZodType<string, string>>(item: Item) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item));
}

/** Describes what each grouping has; groupings with the same list share a sentence. */
function describeEach(has: (groupBy: GroupBy) => readonly string[]): string {
  const groups = new Map<string, GroupBy[]>();
  for (const groupBy of GROUP_BYS) {
    const list = has(groupBy).join(', ');
    if (list !== '') groups.set(list, [...(groups.get(list) ?? []), groupBy]);
  }
  return [...groups].map(([list, groupings]) => `${groupings.join(', ')}: ${list}.`).join(' ');
}

/** Describes a filter: its groupings, and what it selects. */
function only(filter: Filter, what: string): string {
  return `${groupingsWith(filter).join(' and ')}: only ${what}`;
}

type Side = 'min' | 'max';
type BoundName = `${Side}${Capitalize<BoundedMetric>}`;

/** The parameters that bound metrics. */
const BOUNDS = BOUNDED_METRICS.flatMap((metric) =>
  (['min', 'max'] as const).map((side) => {
    const name = `${side}${metric.charAt(0).toUpperCase()}${metric.slice(1)}` as BoundName;
    return { name, metric, side };
  }),
);

function boundSchema(metric: Metric, side: Side) {
  const groupings = GROUP_BYS.filter((groupBy) => GROUPINGS[groupBy].metrics.includes(metric)).join(', ');
  return integer(0, MAX_INTEGER)
    .optional()
    .describe(
      `${groupings}: only rows with ${side === 'min' ? 'at least' : 'at most'} so many ${metric} (inclusive).`,
    );
}

const boundSchemas = Object.fromEntries(
  BOUNDS.map(({ name, metric, side }) => [name, boundSchema(metric, side)]),
) as Record<BoundName, ReturnType<typeof boundSchema>>;

/** Text that names the sort fields besides the metrics, and their groupings. */
const EXTRA_SORTS = [
  GROUP_BYS.filter((groupBy) => GROUPINGS[groupBy].sorts.length > 0).join(' and '),
  [...new Set(GROUP_BYS.flatMap((groupBy) => GROUPINGS[groupBy].sorts))].join(' and '),
].join(' also ');

const searchedText = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters long')
  .transform((text) => text.normalize('NFC'))
  .meta({ type: 'string', minLength: 1, maxLength: 200, examples: ['refund'] });

const NOT_IN_ORDER = 'must be before dateRange.end';

type DateRange = Readonly<Partial<Record<'dateRange.start' | 'dateRange.end', number | undefined>>>;

/**
 * What `refine` takes for a range whose dates must be in order. Zod changes the second argument, so each call has its own.
 */
export function rangeInOrder(): [(range: DateRange) => boolean, { path: string[]; message: string }] {
  return [
    (range) => (range['dateRange.start'] ?? -Infinity) < (range['dateRange.end'] ?? Infinity),
    { path: ['dateRange.start'], message: NOT_IN_ORDER },
  ];
}

/**
 * Schemas of the query parameters, from the text of the URL to typed values. `parseQueryParameters` checks the rules
 * between parameters.
 */
export const queryParameterSchemas = z.strictObject({
  groupBy: oneOf(GROUP_BYS).describe('The entity that rows stand for.'),
  instanceId: uuid.describe('The instance to query.'),
  fields: listOf(oneOf(METRICS)).describe(
    `Comma-separated metrics, of those that the grouping has. ${describeEach((groupBy) => GROUPINGS[groupBy].metrics)}`,
  ),
  'dateRange.start': instant
    .optional()
    .describe(
      'Only messages from this event time on (inclusive): an instant with Z or an offset, or a date for its ' +
        'midnight in the time zone. Left out: from the first message on.',
    ),
  'dateRange.end': instant
    .optional()
    .describe(
      'Only messages before this event time (exclusive): written like dateRange.start; a date leaves out that ' +
        'day itself. Left out: to the last message.',
    ),
  timeGranularity: oneOf(GRANULARITIES)
    .default('ALL')
    .describe('ALL: one row per group. Else one row per group and bucket; weeks start on Monday.'),
  timeZone: timeZone
    .optional()
    .describe(
      'Whose days, weeks and months are meant, in buckets and in dates of dateRange: a name of the IANA database. ' +
        'Left out: that of the instance, which is UTC until somebody sets it.',
    ),
  dimensionFields: listOf(z.string().min(1, 'must not hold an empty name'))
    .optional()
    .describe(
      `Comma-separated members of the row's entity, besides those that it always has. ` +
        describeEach(dimensionFieldsOf),
    ),
  segment: segmentSchema.optional(),
  ids: listOf(uuid).optional().describe('Only groups with these ids.'),
  topicIds: listOf(uuid).optional().describe(only('topicIds', 'those with one of these topics.')),
  clusterIds: listOf(uuid)
    .optional()
    .describe(only('clusterIds', 'those with a topic of one of these topic clusters.')),
  signalIds: listOf(uuid)
    .optional()
    .describe(only('signalIds', 'those with one of these satisfaction signals.')),
  repeatedRequestIds: listOf(uuid)
    .optional()
    .describe(only('repeatedRequestIds', 'those with one of these repeated requests.')),
  gapIds: listOf(uuid).optional().describe(only('gapIds', 'those with one of these gaps.')),
  labelIds: listOf(uuid).optional().describe(only('labelIds', 'those with one of these labels.')),
  endUserIds: listOf(uuid)
    .optional()
    .describe(only('endUserIds', 'those with a message of one of these end users.')),
  gapType: oneOf(['TOOL', 'KNOWLEDGE']).optional().describe(only('gapType', 'gaps of this type.')),
  signalSource: oneOf(SIGNAL_SOURCES)
    .optional()
    .describe(
      only(
        'signalSource',
        'signals found in texts (INFERRED), given by end users as feedback (GIVEN), or observed in what the assistant ' +
          'does (OBSERVED). Left out: all, but for observed ones that people have not yet checked to be right in 85 %.',
      ),
    ),
  lifeStates: listOf(oneOf(LIFE_STATES))
    .optional()
    .describe(
      only(
        'lifeStates',
        'those that stand in one of these states by TRACK. What nobody has said anything of is OPEN.',
      ),
    ),
  signals: oneOf(COUNTED_SIGNALS)
    .optional()
    .describe(
      'What sat, dsat and netSat count: signals that were inferred from texts (inferred, as when it is left out), ' +
        'feedback that end users gave (given; of a message once up and once down at most), or the sum of both (all).',
    ),
  language: language
    .optional()
    .describe(
      only('language', 'sessions in this language. Of a tag only the language counts: en-US means en.'),
    ),
  outcome: listOf(oneOf(SESSION_OUTCOMES))
    .optional()
    .describe(only('outcome', 'sessions that ended in one of these ways.')),
  externalId: z
    .string()
    .refine(isExternalId, 'must be 1 to 255 characters long')
    .meta({ minLength: 1, maxLength: 255 })
    .optional()
    .describe(
      only(
        'externalId',
        'what its caller calls so, to the letter: a session by metadata.session.externalId, an end user by userId.',
      ),
    ),
  titleContains: searchedText
    .optional()
    .describe(
      only(
        'titleContains',
        'sessions whose title contains this text, in capital or small letters; every other character counts.',
      ),
    ),
  textContains: searchedText
    .optional()
    .describe(
      only(
        'textContains',
        'sessions whose title or summary contains this text, in capital or small letters; every other character ' +
          'counts.',
      ),
    ),
  limit: integer(1, 10_000).default(50).describe('The most rows to answer.'),
  offset: integer(0, MAX_INTEGER).default(0).describe('How many rows to skip.'),
  'sort.field': oneOf(SORT_FIELDS).optional().describe(`A metric of the grouping; ${EXTRA_SORTS}.`),
  'sort.order': oneOf(['ASC', 'DESC'])
    .optional()
    .describe('Of sort.field; DESC when left out. No effect without sort.field.'),
  segmentKey: attributeNameSchema
    .optional()
    .describe('Required with groupBy=SEGMENT, and for it alone: the attribute by whose values to group.'),
  ...boundSchemas,
});

type Values = z.output<typeof queryParameterSchemas>;
type Name = keyof Values;

/**
 * Parses the parameters of a query URL; a repeated name has an array of values. Throws AppError VALIDATION_ERROR with
 * every fault; `details[].path` is the parameter's name.
 */
export function parseQueryParameters(raw: RawParameters): QueryParameters {
  const faults: ErrorDetail[] = [];
  const fault = (path: string, message: string): void => {
    if (!faults.some((known) => known.path === path && known.message === message))
      faults.push({ path, message });
  };
  const values = readValues(withSegment(withLocalDates(raw)), fault);
  checkTogether(values, fault);
  refuse(faults);
  return toParameters(values as Values);
}

/** Makes the session query of a route whose parameters have the same names. Throws AppError VALIDATION_ERROR. */
export function sessionQueryOf(
  values: Partial<Omit<Values, 'groupBy' | 'fields'>> & Pick<Values, 'instanceId' | 'limit' | 'fields'>,
): QueryParameters {
  const all: Values = { ...values, groupBy: 'SESSION', timeGranularity: 'ALL', offset: 0 };
  const faults: ErrorDetail[] = [];
  checkTogether(all, (path, message) => faults.push({ path, message }));
  refuse(faults);
  return toParameters(all);
}

function refuse(faults: readonly ErrorDetail[]): void {
  if (faults.length === 0) return;
  throw new AppError('VALIDATION_ERROR', `The query is not valid: ${summaryOf(faults)}`, { details: faults });
}

function summaryOf(faults: readonly ErrorDetail[]): string {
  const [first] = faults;
  const rest = faults.length - 1;
  const more = rest === 0 ? '' : ` (and ${rest} more)`;
  return first === undefined ? '' : `${first.path} ${first.message}${more}.`;
}

type Fault = (path: string, message: string) => void;

/** Parses each parameter by itself; reports and omits invalid ones. */
function readValues(raw: Readonly<Record<string, unknown>>, fault: Fault): Partial<Values> {
  const shape = queryParameterSchemas.shape;
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(shape, name)) fault(name, 'is not a parameter of this operation');
  }
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const given = Object.hasOwn(raw, name) ? raw[name] : undefined;
    if (Array.isArray(given)) {
      fault(name, 'must be given once; separate several values with commas where a list is allowed');
      continue;
    }
    if (given === undefined && REQUIRED.has(name)) {
      fault(name, 'is required');
      continue;
    }
    const parsed = schema.safeParse(given);
    if (parsed.success) values[name] = Array.isArray(parsed.data) ? [...new Set(parsed.data)] : parsed.data;
    else
      for (const { path, message } of parsed.error.issues)
        fault(name === 'segment' && path.length > 0 ? `${name}.${String(path[0])}` : name, message);
  }
  return values;
}

const REQUIRED: ReadonlySet<string> = new Set(['groupBy', 'instanceId', 'fields'] satisfies Name[]);

/** Checks the rules between parameters. */
function checkTogether(values: Partial<Values>, fault: Fault): void {
  const start = values['dateRange.start'];
  const end = values['dateRange.end'];
  if (start !== undefined && end !== undefined && start >= end) {
    fault('dateRange.start', NOT_IN_ORDER);
  }
  const { groupBy } = values;
  if (groupBy === undefined) return;

  const { metrics, sorts, filters } = GROUPINGS[groupBy];
  const has = `${groupBy} has ${metrics.join(', ')}`;
  const missing = (values.fields ?? []).filter((field) => !metrics.includes(field));
  if (missing.length > 0) fault('fields', `${missing.join(', ')} not available: ${has}`);

  if (groupBy === 'SEGMENT' && values.segmentKey === undefined) fault('segmentKey', 'is required');

  const dimensions = dimensionFieldsOf(groupBy);
  const unknown = (values.dimensionFields ?? []).filter((field) => !dimensions.includes(field));
  if (unknown.length > 0)
    fault('dimensionFields', `${unknown.join(', ')} not available: ${groupBy} has ${dimensions.join(', ')}`);

  const sortField = values['sort.field'];
  const sortable: readonly SortField[] = [...new Set([...metrics, ...sorts])];
  if (sortField !== undefined && !sortable.includes(sortField)) {
    fault('sort.field', `${sortField} not available: ${groupBy} sorts by ${sortable.join(', ')}`);
  }

  for (const filter of FILTERS) {
    if (values[filter] !== undefined && !filters.includes(filter)) {
      fault(filter, `works with groupBy=${groupingsWith(filter).join(' and ')} only`);
    }
  }
  for (const { name, metric } of BOUNDS) {
    if (values[name] !== undefined && !metrics.includes(metric)) {
      fault(name, `${metric} not available: ${has}`);
    }
  }
}

/** Returns the zone, or null for UTC. */
export function zoneOf(name: string | undefined): string | null {
  return name === undefined || /^(?:etc\/)?utc$/i.test(name) ? null : name;
}

function toParameters(values: Values): QueryParameters {
  const field = values['sort.field'];
  const bounds = new Map<Metric, { metric: Metric; min: number | null; max: number | null }>();
  for (const { name, metric, side } of BOUNDS) {
    const value = values[name];
    if (value === undefined) continue;
    const known = bounds.get(metric) ?? { metric, min: null, max: null };
    bounds.set(metric, { ...known, [side]: value });
  }
  const filters = Object.fromEntries(
    (['ids', ...FILTERS] as const).map((filter) => [filter, values[filter] ?? null]),
  ) as Pick<QueryParameters, 'ids' | Filter>;
  return {
    instanceId: values.instanceId,
    groupBy: values.groupBy,
    range: { start: values['dateRange.start'] ?? null, end: values['dateRange.end'] ?? null },
    granularity: values.timeGranularity,
    timeZone: zoneOf(values.timeZone),
    fields: values.fields,
    dimensionFields: values.dimensionFields ?? [],
    segment: values.segment ?? [],
    ...filters,
    limit: values.limit,
    offset: values.offset,
    sort: field === undefined ? null : { field, order: values['sort.order'] ?? 'DESC' },
    bounds: [...bounds.values()],
  };
}

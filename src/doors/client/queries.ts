/**
 * Types of queries, and their conversion to URL parameters.
 *
 * Test: test/doors/client/package.test.ts.
 */
import type { Pagination } from './contract.ts';
import type {
  BoundOf,
  DimensionFieldOf,
  EntityOf,
  FilterValues,
  Granularity,
  GroupBy,
  Groupings,
  Instant,
  MetricOf,
  MetricValues,
  SortFieldOf,
} from './groupings.ts';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every read. */
export interface ReadOptions extends CallOptions {
  /** Default: the client's instance. */
  readonly instanceId?: string | undefined;
  /** Position of an ingest or curation: the answer includes it unless `waitResult` is `timeout`. */
  readonly waitFor?: number | null | undefined;
}

export interface DateRange {
  /** Inclusive; default: the first message. */
  readonly start?: Instant | undefined;
  /** Exclusive; default: after the last message. */
  readonly end?: Instant | undefined;
}

/**
 * Only sessions with these attributes: members of their metadata, such as `{ plan: ['pro', 'team'], beta: true }`. Of one
 * name any of its values, of several names all.
 */
export type Segment = Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;
type AttributeValue = string | number | boolean;

/** Result of `waitFor`; null without it. */
export interface Waited {
  readonly waitResult: 'reached' | 'timeout' | null;
}

type FiltersOf<G extends GroupBy> = {
  readonly [F in Groupings[G]['filter']]?: FilterValues[F] | undefined;
};
type BoundsOf<G extends GroupBy> = { readonly [B in BoundOf<G>]?: number | undefined };

interface QueryBase<
  G extends GroupBy,
  F extends MetricOf<G>,
  D extends DimensionFieldOf<G>,
  T extends Granularity,
> extends ReadOptions {
  readonly groupBy: G;
  readonly fields: readonly F[];
  readonly dimensionFields?: readonly D[] | undefined;
  readonly dateRange?: DateRange | undefined;
  readonly timeGranularity?: T | undefined;
  /** Time zone of days, weeks and months, such as "Europe/Berlin". Default: that of the instance. */
  readonly timeZone?: string | undefined;
  readonly segment?: Segment | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly sort?: { readonly field: SortFieldOf<G>; readonly order?: 'ASC' | 'DESC' | undefined } | undefined;
  /** Page size: 1 to 10,000. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** A query; metrics, filters and fields that the grouping lacks are compile errors. */
export type Query<
  G extends GroupBy,
  F extends MetricOf<G> = MetricOf<G>,
  D extends DimensionFieldOf<G> = DimensionFieldOf<G>,
  T extends Granularity = Granularity,
> = QueryBase<G, F, D, T> & FiltersOf<G> & BoundsOf<G>;

/** A row with the metrics `F`, the entity with the dimension fields `D`, and `date` if there are buckets. */
export interface Row<
  G extends GroupBy,
  F extends MetricOf<G>,
  D extends DimensionFieldOf<G> = never,
  T extends Granularity = 'ALL',
> {
  readonly dimensions: { readonly [N in Groupings[G]['name']]: EntityOf<G, D> } & DateOf<T>;
  readonly fields: { readonly [M in F]: MetricValues[M] };
}

/** Adds the start of the bucket. */
type DateOf<T extends Granularity> = [T] extends ['ALL']
  ? unknown
  : 'ALL' extends T
    ? { readonly date?: string | undefined }
    : { readonly date: string };

export interface Page<
  G extends GroupBy,
  F extends MetricOf<G>,
  D extends DimensionFieldOf<G> = never,
  T extends Granularity = 'ALL',
> extends Waited {
  readonly elements: readonly Row<G, F, D, T>[];
  readonly pagination: Pagination;
  /** Processing time of the newest message in the answer; null if there is none. */
  readonly lastProcessedAt: string | null;
}

/** A list is a parameter that is given several times. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

const DATE_RANGE = 'dateRange';

/** Converts options to URL parameters: lists with commas but of segments, instants in UTC, undefined left out. */
export function parametersOf(options: object, instanceId?: string): Parameters {
  const parameters: Record<string, string | readonly string[]> = {};
  if (instanceId !== undefined) parameters['instanceId'] = instanceId;
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined || value === null || NO_PARAMETERS.has(name)) continue;
    if (name === DATE_RANGE || name === 'sort') {
      for (const [member, part] of Object.entries(value))
        if (part !== undefined) parameters[`${name}.${member}`] = textOf(part);
    } else if (name === 'segment') {
      for (const [member, part] of Object.entries(value))
        parameters[`segment.${member}`] = [part].flat().map(String);
    } else if (!Array.isArray(value)) parameters[name] = textOf(value);
    // An empty list of dimension fields means none; the service refuses other empty lists.
    else if (value.length > 0 || name !== 'dimensionFields') parameters[name] = value.map(textOf).join(',');
  }
  return parameters;
}

const NO_PARAMETERS: ReadonlySet<string> = new Set(['signal', 'waitFor', 'instanceId']);

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

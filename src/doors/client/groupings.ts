/**
 * Types of queries by grouping.
 *
 * Test: test/doors/client/package.test.ts.
 */
import type { BoundedMetric, Granularity, Groupings, MetricValues } from './contract.ts';

export type {
  FilterValues,
  Granularity,
  Groupings,
  MetricValues,
  Named,
  SessionOutcome,
} from './contract.ts';

/** An instant in UTC or with an offset, or a date (its midnight in UTC). */
export type Instant = string | Date;

export type GroupBy = keyof Groupings;
export type Metric = keyof MetricValues;
export type MetricOf<G extends GroupBy> = Groupings[G]['metric'];
export type DimensionFieldOf<G extends GroupBy> = keyof Groupings[G]['onRequest'];
export type SortFieldOf<G extends GroupBy> = MetricOf<G> | Groupings[G]['sort'];
/** Buckets of a trend. */
export type TrendGranularity = Exclude<Granularity, 'ALL'>;

/** `minSessions`, `maxSessions` … for the bounded metrics of a grouping. */
export type BoundOf<G extends GroupBy> = `${'min' | 'max'}${Capitalize<MetricOf<G> & BoundedMetric>}`;

/** Entity of a grouping with the dimension fields `D`. */
export type EntityOf<G extends GroupBy, D extends DimensionFieldOf<G> = never> = Groupings[G]['always'] &
  Pick<Groupings[G]['onRequest'], D>;

/** Entity with all its fields. */
export type WholeEntityOf<G extends GroupBy> = EntityOf<G, DimensionFieldOf<G>>;

/** Covered by test/domain/groupings.test.ts. */
import type { Granularity } from './time.ts';

/** Kinds of entity as the views number them (views/fact.sql). */
export const KINDS = { all: 0, topic: 1, cluster: 2, signal: 3, repeatedRequest: 4, gap: 5 } as const;

/** Granularities as the rollups number them. */
export const GRANULARITY_NUMBER: Readonly<Record<Granularity, number>> = {
  HOUR: 0,
  DAY: 1,
  WEEK: 2,
  MONTH: 3,
  ALL: 4,
};

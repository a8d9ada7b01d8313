/**
 * The numbers of kinds and granularities in the views.
 *
 * Test: test/domain/groupings.test.ts.
 */
import type { Granularity } from './time.ts';

/** Numbers of entity kinds (views/fact.sql). */
export const KINDS = {
  all: 0,
  topic: 1,
  cluster: 2,
  signal: 3,
  repeatedRequest: 4,
  gap: 5,
  label: 6,
} as const;

/** The place of a fact among those of its message; that of labels is in views/fact.sql alone. */
export function slotOf(kind: number, entity: number): number {
  return kind === KINDS.signal ? 8 + entity : kind;
}

/** Numbers of granularities in the rollups. */
export const GRANULARITY_NUMBER: Readonly<Record<Granularity, number>> = {
  HOUR: 0,
  DAY: 1,
  WEEK: 2,
  MONTH: 3,
  ALL: 4,
};

/**
 * Plans which segments to compact.
 *
 * Test: test/store/published/publication.test.ts.
 */
import type { PublishedTable } from '../view-files.ts';
import type { Segment } from './manifest.ts';
import type { SegmentPlan } from './segment-copy.ts';

/** The segments of each table, oldest and largest first. */
export type TableSegments = Readonly<Record<string, readonly Segment[]>>;

/** The thresholds of compaction. */
export interface CompactionLimits {
  /** Rows in the delta segments at which the largest of them are compacted into lower ones. */
  readonly compactRows: number;
  /** A compaction includes an earlier segment that has at most this many times the rows included so far. */
  readonly compactRatio: number;
}

/** Share of `compactRows` that a compaction leaves in the delta segments: tables that change little stay there. */
const LEFT_IN_DELTA = 0.25;
/** A larger table is compacted by `compactRatio` alone, never fully. */
const FULL_COMPACTION_ROWS = 20_000_000;

/** The segments of a table; empty if it has none. */
export function segmentsOf(segments: TableSegments, table: PublishedTable): readonly Segment[] {
  return segments[table.name] ?? [];
}

/** Plans a compaction of the tables with the largest delta segments, and the lower segments that each includes. */
export function planCompaction(
  tables: readonly PublishedTable[],
  delta: Readonly<Record<string, Segment>>,
  sealed: TableSegments,
  { compactRows, compactRatio }: CompactionLimits,
): SegmentPlan[] {
  const rowsOf = (table: PublishedTable): number => delta[table.name]?.rows ?? 0;
  const plans: SegmentPlan[] = [];
  let left = sumRows(Object.values(delta));
  for (const table of tables.toSorted((a, b) => rowsOf(b) - rowsOf(a))) {
    if (left <= compactRows * LEFT_IN_DELTA) break;
    let rows = rowsOf(table);
    left -= rows;
    const below = [...segmentsOf(sealed, table)];
    for (let last = below.at(-1); last !== undefined; last = below.at(-1)) {
      if (last.rows > compactRatio * rows) break;
      rows += last.rows;
      below.pop();
    }
    plans.push({ table, below, rows });
  }
  return plans;
}

/** Plans to compact each table with several lower segments to a single one, those with most segments first. */
export function planFullCompaction(tables: readonly PublishedTable[], sealed: TableSegments): SegmentPlan[] {
  return tables
    .map((table) => ({ table, segments: segmentsOf(sealed, table) }))
    .filter(({ segments }) => segments.length > 1 && sumRows(segments) <= FULL_COMPACTION_ROWS)
    .toSorted((a, b) => b.segments.length - a.segments.length)
    .map(({ table, segments }) => ({ table, below: [], rows: sumRows(segments) }));
}

export function sumRows(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.rows, 0);
}

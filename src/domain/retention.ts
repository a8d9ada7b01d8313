/**
 * Computes when the data of an instance passes its retention: texts first, then identities, then counts. Data that is
 * gone stays gone, also when the retention is raised later.
 *
 * Test: test/domain/retention.test.ts.
 */

/** Periods in days; null: no limit. */
export interface Retention {
  /** For texts, titles, summaries, quotes and vectors of conversations without a message for this long. */
  readonly textDays: number | null;
  /** Names of end users without a message for this long, and metadata of them and of their conversations. */
  readonly peopleDays: number | null;
  /** Messages older than this no longer count. */
  readonly countDays: number | null;
  /** Lower bound of the other periods. */
  readonly keepAtLeastDays: number | null;
}

/** An instance and its retention. */
export interface Retained {
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly retention: Retention;
}

export const KEPT_FOR_EVER: Retention = {
  textDays: null,
  peopleDays: null,
  countDays: null,
  keepAtLeastDays: null,
};

/** Event times before which data is removed, microseconds since 1970-01-01 UTC; null: nothing is. */
export interface Cutoffs {
  readonly texts: number | null;
  readonly people: number | null;
  readonly counts: number | null;
}

/** Rows that a run removed from the views. */
export interface AgedCounts {
  readonly messages: number;
  readonly sessions: number;
  readonly texts: number;
  readonly people: number;
}

/** The latest retention run of an instance. */
export interface RetentionRun {
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly cutoffs: Cutoffs;
  /** Cutoffs of the last run that finished. */
  readonly former: Cutoffs;
  /** Stream sequence up to which entries are rewritten; null while views are still trimmed. */
  readonly position: number | null;
  /** ISO 8601, UTC, as the next one. */
  readonly startedAt: string;
  /** Null while the run is in progress or interrupted. */
  readonly doneAt: string | null;
  readonly counts: AgedCounts;
  /** Stream entries that were rewritten. */
  readonly entries: number;
  /**
   * True once this or an earlier run removed texts or messages: the stream alone can no longer reproduce the counts.
   */
  readonly lostTexts: boolean;
  /** Error of the last attempt, or null. */
  readonly fault: string | null;
}

const DAY = 86_400_000_000;

/** Rounds cutoffs down to midnight UTC, so that they move once a day. `now`: microseconds. */
export function cutoffsOf({ textDays, peopleDays, countDays }: Retention, now: number): Cutoffs {
  const midnight = Math.floor(now / DAY) * DAY;
  const before = (days: number | null): number | null => (days === null ? null : midnight - days * DAY);
  return { texts: before(textDays), people: before(peopleDays), counts: before(countDays) };
}

/** Returns true if `cutoffs` remove something that `than` kept. */
export function isFurther(cutoffs: Cutoffs, than: Cutoffs): boolean {
  return (['texts', 'people', 'counts'] as const).some(
    (part) => (cutoffs[part] ?? -Infinity) > (than[part] ?? -Infinity),
  );
}

export const NO_COUNTS: AgedCounts = { messages: 0, sessions: 0, texts: 0, people: 0 };
const NO_CUTOFFS: Cutoffs = cutoffsOf(KEPT_FOR_EVER, 0);

/**
 * Returns the runs to begin or resume: those of instances with data that has aged past a cutoff since their last run.
 */
export function dueRuns(
  retained: readonly Retained[],
  runs: readonly RetentionRun[],
  now: number,
): RetentionRun[] {
  const known = new Map(runs.map((run) => [run.instanceId, run]));
  return retained.flatMap(({ instanceId, retention }) => {
    const last = known.get(instanceId);
    // Until a run reaches the stream, the current retention applies.
    if (last !== undefined && last.doneAt === null && last.position !== null) return [last];
    const before = last === undefined ? NO_CUTOFFS : last.doneAt === null ? last.former : last.cutoffs;
    const cutoffs = cutoffsOf(retention, now);
    if (!isFurther(cutoffs, before)) return [];
    return [
      {
        instanceId,
        // Never moves a cutoff back, even if the retention was raised.
        cutoffs: furthest(cutoffs, before),
        former: before,
        position: null,
        startedAt: new Date(Math.floor(now / 1000)).toISOString(),
        doneAt: null,
        counts: NO_COUNTS,
        entries: 0,
        lostTexts: last?.lostTexts ?? false,
        fault: null,
      },
    ];
  });
}

function furthest(one: Cutoffs, other: Cutoffs): Cutoffs {
  const later = (part: keyof Cutoffs): number | null => {
    const most = Math.max(one[part] ?? -Infinity, other[part] ?? -Infinity);
    return most === -Infinity ? null : most;
  };
  return { texts: later('texts'), people: later('people'), counts: later('counts') };
}

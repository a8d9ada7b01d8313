/**
 * How long what was said in an instance is kept: first its text goes, then who said it, then that it was said. Covered
 * by test/domain/retention.test.ts.
 */

/** Days; null: for ever. */
export interface Retention {
  /** Text, titles, summaries, quotes and vectors of conversations of which nothing was said for so long. */
  readonly textDays: number | null;
  /** Names of end users of whom nothing was said for so long, and metadata of them and of their conversations. */
  readonly peopleDays: number | null;
  /** Messages that are so old: they no longer count. */
  readonly countDays: number | null;
  /** None of the others may be less. */
  readonly keepAtLeastDays: number | null;
}

/** An instance, and how long it keeps what was said there. */
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

/** Instants before which something goes: event times, microseconds since 1970-01-01 UTC; null: nothing does. */
export interface Cutoffs {
  readonly texts: number | null;
  readonly people: number | null;
  readonly counts: number | null;
}

/** What a run took out of the views. */
export interface AgedCounts {
  readonly messages: number;
  readonly sessions: number;
  readonly texts: number;
  readonly people: number;
}

/** The newest run of an instance's retention. */
export interface RetentionRun {
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly cutoffs: Cutoffs;
  /** Those of the last run that was done. */
  readonly former: Cutoffs;
  /** Stream sequence up to which entries are written anew; null: views come first. */
  readonly position: number | null;
  /** ISO 8601, UTC, as the next one. */
  readonly startedAt: string;
  /** Null: it is in work, or was interrupted. */
  readonly doneAt: string | null;
  readonly counts: AgedCounts;
  /** Entries of the stream that were written anew. */
  readonly entries: number;
  /** Whether texts or messages went, with this run or one before: the stream alone can no longer tell what was counted. */
  readonly lostTexts: boolean;
  /** Why it failed last; null: it did not. */
  readonly fault: string | null;
}

const DAY = 86_400_000_000;

/** Cutoffs are at midnight UTC, so that they move once a day. `now`: microseconds. */
export function cutoffsOf({ textDays, peopleDays, countDays }: Retention, now: number): Cutoffs {
  const midnight = Math.floor(now / DAY) * DAY;
  const before = (days: number | null): number | null => (days === null ? null : midnight - days * DAY);
  return { texts: before(textDays), people: before(peopleDays), counts: before(countDays) };
}

/** Whether cutoffs take away what others left. */
export function isFurther(cutoffs: Cutoffs, than: Cutoffs): boolean {
  return (['texts', 'people', 'counts'] as const).some(
    (part) => (cutoffs[part] ?? -Infinity) > (than[part] ?? -Infinity),
  );
}

export const NO_COUNTS: AgedCounts = { messages: 0, sessions: 0, texts: 0, people: 0 };
const NO_CUTOFFS: Cutoffs = cutoffsOf(KEPT_FOR_EVER, 0);

/** The runs that are to be begun or gone on with: something became old enough since the last one was done. */
export function dueRuns(
  retained: readonly Retained[],
  runs: readonly RetentionRun[],
  now: number,
): RetentionRun[] {
  const known = new Map(runs.map((run) => [run.instanceId, run]));
  return retained.flatMap(({ instanceId, retention }) => {
    const last = known.get(instanceId);
    // As long as nothing went, what is kept now counts.
    if (last !== undefined && last.doneAt === null && last.position !== null) return [last];
    const before = last === undefined ? NO_CUTOFFS : last.doneAt === null ? last.former : last.cutoffs;
    const cutoffs = cutoffsOf(retention, now);
    if (!isFurther(cutoffs, before)) return [];
    return [
      {
        instanceId,
        // What is gone stays gone, also where it would be kept longer now.
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

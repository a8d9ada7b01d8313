/**
 * Splits a query's range into buckets of its time zone.
 *
 * Test: test/query/local-buckets.test.ts, test/view-laws.test.ts.
 */
import { formatLocalBucket, hasWholeHours, localBuckets } from '../domain/local-time.ts';
import { formatBucket } from '../domain/time.ts';
import { AppError } from '../errors.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import type { QueryParameters } from './parameters.ts';
import { Statement } from './statement.ts';

/** Limit of buckets; each bucket of a time zone is counted as a range of its own. */
const MOST_BUCKETS = 2500;

/**
 * Adds the buckets of the time zone, unless they equal those of UTC. Throws AppError VALIDATION_ERROR if there are too
 * many.
 */
export async function inTimeZone(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  views: readonly View[],
): Promise<QueryParameters> {
  const { granularity, timeZone, range } = parameters;
  if (timeZone === null || granularity === 'ALL') return parameters;
  const { start, end } = await activeTimes(snapshot, instance, views);
  const active = { start: Math.max(range.start ?? start, start), end: Math.min(range.end ?? end, end) };
  // The range has no messages.
  if (active.start >= active.end) return { ...parameters, buckets: [{ start: 0, end: 0, bucket: 0 }] };
  if (granularity === 'HOUR' && hasWholeHours(timeZone, active)) return parameters;
  const buckets = localBuckets(granularity, timeZone, active, MOST_BUCKETS);
  if (buckets !== null) return { ...parameters, buckets };
  const message = `gives more than ${MOST_BUCKETS} buckets in this timeZone: ask for a shorter range or larger buckets`;
  throw new AppError('VALIDATION_ERROR', `The query is not valid: timeGranularity ${message}.`, {
    details: [{ path: 'timeGranularity', message }],
  });
}

/** Returns the span from the first message of the instance until just after its last. */
function activeTimes(
  snapshot: Snapshot,
  instance: number,
  views: readonly View[],
): Promise<{ readonly start: number; readonly end: number }> {
  const statement = new Statement(views, instance);
  const whole = statement.rollup('session_rollup', 'ALL', { from: -Infinity, to: Infinity });
  const { sql, tables, ...rest } = statement.plan(
    `select epoch_us(min(first_at))::double as first, epoch_us(max(last_at))::double as last from (${whole})`,
  );
  return snapshot.cached(`active times of ${instance}`, tables, async () => {
    const [row] = await snapshot.all(sql, rest);
    const { first, last } = row as { readonly first: number | null; readonly last: number | null };
    return { start: first ?? 0, end: (last ?? -1) + 1 };
  });
}

/** Returns the label of a bucket in an answer. */
export function nameOfBucket(start: number, { timeZone }: Pick<QueryParameters, 'timeZone'>): string {
  return timeZone === null ? formatBucket(start) : formatLocalBucket(start, timeZone);
}

/**
 * Counts sessions by day for tests of chance. Keeps the invariant that a session of a range counts once in it, on its
 * first day there: counted on each of its days, one session would weigh as much as several that agree.
 *
 * Test: test/query/changes/differences-reader.test.ts, test/query/effects/effects-reader.test.ts.
 */
import { GROUPINGS, type GroupBy } from '../domain/groupings.ts';
import { KINDS } from '../domain/kinds.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import { placedFacts } from './fact-metrics.ts';
import { inTimeZone } from './local-buckets.ts';
import { parseQueryParameters, type QueryParameters } from './parameters.ts';
import { Statement } from './statement.ts';

/** The sessions that are counted. */
export interface SessionsAsked extends Pick<
  QueryParameters,
  'instanceId' | 'range' | 'timeZone' | 'segment'
> {
  readonly snapshot: Snapshot;
  readonly views: readonly View[];
  /** As facts have it. */
  readonly instance: number;
}

/** How many sessions, by the start of a day, microseconds since 1970. */
export type SessionDays = ReadonlyMap<number, number>;

/** Counts the sessions by first day, in the order of time; with an `entity`, those that have it, by the first day with it. */
export async function firstDays(
  asked: SessionsAsked,
  groupBy: GroupBy = 'SESSION',
  entity: number | null = null,
): Promise<SessionDays> {
  const rows = await readDays(asked, (facts) => {
    const isAsked = entity === null ? '' : `where entity = ${entity}`;
    return `select bucket, count(*)::integer as sessions
from (select session, min(bucket) as bucket from ${facts(groupBy)} ${isAsked} group by session)
group by bucket order by bucket`;
  });
  return new Map(rows.map((row) => [row['bucket'] as number, row['sessions'] as number]));
}

/** Counts the sessions of each entity, by number: each on its first day in the range, whether it has the entity then or later. */
export async function firstDaysOfEntities(
  asked: SessionsAsked,
  groupBy: GroupBy,
): Promise<ReadonlyMap<number, SessionDays>> {
  const rows = await readDays(
    asked,
    (facts) => `select entity, bucket, count(*)::integer as sessions
from (select distinct entity, session from ${facts(groupBy)})
join (select session, min(bucket) as bucket from ${facts('SESSION')} group by session) using (session)
group by entity, bucket`,
  );
  const found = new Map<number, Map<number, number>>();
  for (const row of rows) {
    const entity = row['entity'] as number;
    const days = found.get(entity) ?? new Map<number, number>();
    found.set(entity, days.set(row['bucket'] as number, row['sessions'] as number));
  }
  return found;
}

/** Runs a statement on the facts of groupings, with the `bucket` of the day in which they lie. */
async function readDays(
  { snapshot, views, instance, instanceId, range, timeZone, segment }: SessionsAsked,
  write: (facts: (groupBy: GroupBy) => string) => string,
): Promise<Row[]> {
  const plain = parseQueryParameters({ instanceId, groupBy: 'SESSION', fields: 'messages' });
  const asked = { ...plain, granularity: 'DAY', range, timeZone, segment } as const;
  const days = await inTimeZone(snapshot, asked, instance, views);
  const statement = new Statement(views, instance, segment);
  const plan = statement.plan(write((groupBy) => placedFacts(statement, kindOf(groupBy), days)));
  return snapshot.all(plan.sql, plan);
}

function kindOf(groupBy: GroupBy): number {
  const { counts } = GROUPINGS[groupBy];
  return counts.view === 'entity_rollup' ? counts.kind : KINDS.all;
}

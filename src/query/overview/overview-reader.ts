/**
 * Computes the overview of an instance from one snapshot: its metrics, their trend, languages, outcomes, and how
 * far feedback agrees with what was inferred.
 *
 * Test: test/e2e/overview-rules.test.ts.
 */
import { usdOf } from '../../domain/usage.ts';
import { KINDS } from '../../domain/kinds.ts';
import { metricOf, metricOfNothing } from '../../domain/metrics.ts';
import type { Granularity } from '../../domain/time.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import type { AnswerReading } from '../answer.ts';
import { InstanceReader, processedAt, readInstanceRow } from '../instance-reader.ts';
import { inTimeZone, nameOfBucket } from '../local-buckets.ts';
import { parseQueryParameters, zoneOf } from '../parameters.ts';
import { planTotals } from '../plan.ts';
import { rangeIn } from '../routing.ts';
import { checkSegment } from '../segments.ts';
import { Statement } from '../statement.ts';
import { readAgreement } from './agreement.ts';
import { OVERVIEW_METRICS, type OverviewParameters, type OverviewResponse } from './overview-schema.ts';

type Fields = OverviewResponse['fields'];

type BreakdownRow = OverviewResponse['languages'][number] &
  OverviewResponse['outcomes'][number] & {
    readonly isLanguage: boolean;
    readonly nanos: number | null;
  };

const NOTHING: Row = { messages: 0 };

export class OverviewReader extends InstanceReader<AnswerReading> {
  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read(parameters: OverviewParameters, caller = ''): Promise<OverviewResponse> {
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, parameters), caller);
  }

  async #find(snapshot: Snapshot, parameters: OverviewParameters): Promise<OverviewResponse> {
    const row = await readInstanceRow(snapshot, parameters.instanceId);
    if (row === undefined)
      return {
        fields: fieldsOf(NOTHING),
        trend: [],
        languages: [],
        outcomes: [],
        agreement: null,
        lastProcessedAt: null,
      };
    const number = row['instance'] as number;
    await checkSegment(snapshot, number, parameters.segment ?? []);
    const [whole, trend, breakdown, agreement] = await Promise.all([
      this.#totals(snapshot, parameters, number, 'ALL'),
      this.#totals(snapshot, parameters, number, parameters.timeGranularity),
      this.#breakdown(snapshot, parameters, number),
      readAgreement(
        snapshot,
        number,
        new Statement(this.options.views, number, parameters.segment),
        rangeIn(parameters),
      ),
    ]);
    return {
      fields: fieldsOf(whole[0] ?? NOTHING),
      trend: trend.map((bucket) => ({
        date: nameOfBucket(bucket['bucket'] as number, { timeZone: zoneOf(parameters.timeZone) }),
        fields: fieldsOf(bucket),
      })),
      ...breakdown,
      agreement,
      lastProcessedAt: processedAt(row, this.options),
    };
  }

  /**
   * Counts the sessions of the range by language, with the number of those with a topic, and by outcome, with what they
   * cost.
   */
  async #breakdown(
    snapshot: Snapshot,
    parameters: OverviewParameters,
    instance: number,
  ): Promise<Pick<OverviewResponse, 'languages' | 'outcomes'>> {
    const statement = new Statement(this.options.views, instance, parameters.segment);
    const [all, topics] = [KINDS.all, KINDS.topic].map((kind) =>
      statement.hourFacts(kind, rangeIn(parameters)),
    );
    const plan = statement.plan(`select grouping(outcome) = 1 as "isLanguage", language, outcome,
  count(*)::integer as sessions, count(t.session)::integer as "withTopic", sum(c.nanos)::double as nanos
from (select distinct session from (${all})) a
join ${statement.names('session')} s on s.session = a.session
left join (select distinct session from (${topics})) t on t.session = a.session
left join (select session, sum(cost_nanos) as nanos from ${statement.usage(rangeIn(parameters))} group by session) c
  on c.session = a.session
group by grouping sets ((language), (outcome)) order by sessions desc, language nulls last, outcome nulls last`);
    const rows = (await snapshot.all(plan.sql, plan)) as unknown as BreakdownRow[];
    return {
      languages: rows.flatMap(({ isLanguage, language, sessions, withTopic }) =>
        isLanguage ? [{ language, sessions, withTopic }] : [],
      ),
      outcomes: rows.flatMap(({ isLanguage, outcome, sessions, nanos }) =>
        isLanguage ? [] : [{ outcome, sessions, costUsd: nanos === null ? null : usdOf(nanos) }],
      ),
    };
  }

  /** Returns a row for each bucket, oldest first. */
  async #totals(
    snapshot: Snapshot,
    parameters: OverviewParameters,
    instance: number,
    granularity: Granularity,
  ): Promise<Row[]> {
    const range = {
      start: parameters['dateRange.start'] ?? null,
      end: parameters['dateRange.end'] ?? null,
    };
    const [sessions, users] = await Promise.all(
      (['SESSION', 'END_USER'] as const).map(async (groupBy) => {
        const { instanceId, timeZone, segment = [], signals } = parameters;
        const query = parseQueryParameters({ instanceId, groupBy, fields: 'messages' });
        const asked = { ...query, range, granularity, timeZone: zoneOf(timeZone), segment };
        // The rows of end users are counted, and nothing of them is summed.
        const counted = groupBy === 'SESSION' ? { ...asked, signals: signals ?? null } : asked;
        const { views } = this.options;
        const plan = planTotals(await inTimeZone(snapshot, counted, instance, views), instance, views);
        return snapshot.all(plan.sql, plan);
      }),
    );
    const usersIn = new Map((users ?? []).map((row) => [row['bucket'], row['rows']]));
    return (sessions ?? []).map((row) => ({
      ...row,
      sessions: row['rows'] ?? 0,
      users: usersIn.get(row['bucket']) ?? 0,
    }));
  }
}

function fieldsOf(row: Row): Fields {
  const isEmpty = row['messages'] === 0;
  return Object.fromEntries(
    OVERVIEW_METRICS.map((metric) => [metric, isEmpty ? metricOfNothing(metric) : metricOf(row, metric)]),
  );
}

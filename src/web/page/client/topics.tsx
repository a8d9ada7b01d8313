/**
 * The topics by cluster, largest first, with trend, share and net satisfaction.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { QueryResponse, Row } from './api.ts';
import { LONGEST_NET, NetBar, ShareBar, Sparkline, type Point } from './charts.tsx';
import { filled } from './compared.ts';
import { MakeTopic } from './curate.tsx';
import { formatCount, formatShare } from './format.ts';
import { LifeTag } from './life.tsx';
import { Empty, Go, Head, Section } from './parts.tsx';
import { datesOf, type Period } from './period.ts';

export interface FoundTopics {
  readonly topics: QueryResponse;
  readonly clusters: QueryResponse;
  /** Trends of the largest topics. */
  readonly topicTrends: readonly Row[];
}

interface Group {
  readonly id: string;
  readonly rows: readonly Row[];
  /** Undefined for a cluster of one topic with the same name, which needs no heading. */
  readonly cluster: Row | undefined;
}

function groupsOf({ topics, clusters }: FoundTopics): Group[] {
  const idOf = ({ dimensions: { topic } }: Row): string => topic?.clusterId ?? `alone ${topic?.id}`;
  const groups = [...Map.groupBy(topics.elements, idOf)].map(([id, rows]) => {
    const cluster = clusters.elements.find(({ dimensions }) => dimensions.cluster?.id === id);
    const sessions = cluster?.fields.sessions ?? rows[0]?.fields.sessions ?? 0;
    const isHeading =
      rows.length > 1 || cluster?.dimensions.cluster?.name !== rows[0]?.dimensions.topic?.name;
    return { id, rows, cluster: isHeading ? cluster : undefined, sessions };
  });
  return groups.sort((a, b) => b.sessions - a.sessions);
}

function cellsOf(groups: readonly Group[]) {
  return [
    ['cluster', 'topic', 'id', 'sessions', 'users', 'messages', 'sat', 'dsat', 'netSat'],
    ...groups.flatMap(({ rows, cluster }) =>
      rows.map(({ dimensions, fields }) => [
        cluster?.dimensions.cluster?.name ?? '',
        dimensions.topic?.name ?? '',
        dimensions.topic?.id ?? '',
        fields.sessions ?? 0,
        fields.users ?? 0,
        fields.messages ?? 0,
        fields.sat ?? 0,
        fields.dsat ?? 0,
        fields.netSat ?? null,
      ]),
    ),
  ];
}

/** Returns the trends of the largest topics by id. */
function trendsOf(rows: readonly Row[], period: Period): ReadonlyMap<string, readonly Point[]> {
  const dates = datesOf(
    { ...period, granularity: period.coarse },
    rows[0]?.dimensions.date,
    rows.at(-1)?.dimensions.date,
  );
  const points = ({ dimensions, fields }: Row): Point => ({
    date: dimensions.date ?? '',
    value: fields.sessions ?? 0,
  });
  return new Map(
    [...Map.groupBy(rows, ({ dimensions }) => dimensions.topic?.id ?? '')].map(([id, own]) => [
      id,
      filled(own.map(points), dates),
    ]),
  );
}

export function Topics({
  found,
  all,
  period,
}: {
  readonly found: FoundTopics;
  /** Number of conversations in the period, with a topic or not. */
  readonly all: number;
  readonly period: Period;
}) {
  const groups = groupsOf(found);
  const trends = trendsOf(found.topicTrends, period);
  if (groups.length === 0) {
    return (
      <Section title="Topics">
        <Empty>A topic appears with its third request.</Empty>
      </Section>
    );
  }
  return (
    <Section title="Topics" csv={() => cellsOf(groups)} action={<MakeTopic words="New topic …" />}>
      <table class="topics">
        <Head
          columns={[
            ['Topic'],
            ['Trend', 'wide'],
            ['Conversations', 'number'],
            ['Net satisfaction', 'number'],
          ]}
        />
        {groups.map(({ id, rows, cluster }) => (
          <tbody key={id}>
            {cluster === undefined ? null : (
              <tr class="cluster">
                <th scope="rowgroup" colSpan={2}>
                  <Go to={{ view: 'cluster', id }} title={cluster.dimensions.cluster?.name ?? ''}>
                    {cluster.dimensions.cluster?.name}
                  </Go>
                </th>
                <td class="number">{formatCount(cluster.fields.sessions)}</td>
                <td class="number" />
              </tr>
            )}
            {rows.map((row) => (
              <Topic
                key={row.dimensions.topic?.id}
                row={row}
                isInside={cluster !== undefined}
                trend={trends.get(row.dimensions.topic?.id ?? '')}
                share={all === 0 ? 0 : (row.fields.sessions ?? 0) / all}
              />
            ))}
          </tbody>
        ))}
      </table>
      {found.topics.elements.some(({ fields }) => Math.abs(fields.netSat ?? 0) > LONGEST_NET) ? (
        <p class="faint wide">A bar with a gap is cut: net satisfaction is beyond ±{LONGEST_NET}.</p>
      ) : null}
    </Section>
  );
}

function Topic({
  row: { dimensions, fields },
  isInside,
  trend,
  share,
}: {
  readonly row: Row;
  readonly isInside: boolean;
  readonly trend: readonly Point[] | undefined;
  readonly share: number;
}) {
  const { id = '', name = '', life } = dimensions.topic ?? {};
  return (
    <tr>
      <td class={isInside ? 'name inside' : 'name'}>
        <Go to={{ view: 'topic', id }} title={name}>
          {name}
        </Go>
        <LifeTag life={life} />
      </td>
      <td class="wide">
        {trend === undefined ? null : <Sparkline points={trend} label={`Conversations about ${name}`} />}
      </td>
      <td class="number">
        {formatCount(fields.sessions)} <span class="faint">{formatShare(share)}</span>
        <ShareBar share={share} />
      </td>
      <td class="number">
        <NetBar value={fields.netSat} />
      </td>
    </tr>
  );
}

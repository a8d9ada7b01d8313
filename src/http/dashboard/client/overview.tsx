/** The first view: how the instance does, what people talk about, and what changed. */
import { api, type ChangesResponse, type OverviewResponse, type QueryResponse, type Row } from './api.ts';
import { NetBar, ShareBar, Sparkline, Trend, type Point } from './charts.tsx';
import { languageName, shownCount, shownShare } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Figure, Go, Ranked, Section } from './parts.tsx';
import { datesOf, usePeriod, type Period } from './period.ts';

interface Found {
  readonly now: OverviewResponse;
  /** Null: nothing is compared. */
  readonly before: OverviewResponse | null;
  readonly changes: ChangesResponse | null;
  readonly topics: QueryResponse;
  readonly clusters: QueryResponse;
  readonly topicTrends: QueryResponse;
  readonly gaps: QueryResponse;
  readonly repeats: QueryResponse;
}

async function ask(period: Period, signal: AbortSignal): Promise<Found> {
  const { range, granularity, instance, compare } = period;
  const base = { instanceId: instance, ...range };
  const isCompared = compare !== 'none' && range['dateRange.start'] !== undefined;
  const query = (groupBy: string, fields: string, more: Readonly<Record<string, string | number>> = {}) =>
    api.query({ ...base, groupBy, fields, ...more }, signal);
  const changes = isCompared ? await api.changes({ ...base, compare }, signal) : null;
  const [now, before, topics, clusters, topicTrends, gaps, repeats] = await Promise.all([
    api.overview({ ...base, timeGranularity: granularity }, signal),
    changes === null
      ? null
      : api.overview(
          {
            instanceId: instance,
            'dateRange.start': changes.before.start,
            'dateRange.end': changes.before.end,
            timeGranularity: granularity,
          },
          signal,
        ),
    query('TOPIC', 'sessions,users,messages,sat,dsat,netSat', { 'sort.field': 'sessions', limit: 1000 }),
    query('TOPIC_CLUSTER', 'sessions,netSat', { 'sort.field': 'sessions', limit: 1000 }),
    query('TOPIC', 'sessions', { timeGranularity: granularity, limit: 10_000 }),
    query('GAP', 'sessions,users,messages', { 'sort.field': 'sessions', limit: 10 }),
    query('REPEATED_REQUEST', 'sessions,users,messages', { 'sort.field': 'sessions', limit: 10 }),
  ]);
  return { now, before, changes, topics, clusters, topicTrends, gaps, repeats };
}

export function Overview({ version }: { readonly version: string }) {
  const period = usePeriod();
  const { value, error } = useAnswer(`overview ${period.name}`, version, (signal) => ask(period, signal));
  if (value === null) return error === null ? <p class="loading">Loading …</p> : <Fault error={error} />;
  const { now, before, changes } = value;
  if (now.fields.messages === 0) return <NothingHere period={period} />;
  return (
    <>
      {error === null ? null : <Fault error={error} />}
      <Figures now={now} before={before} />
      <SessionsTrend now={now} before={before} period={period} />
      <div class="columns">
        <div>
          <Topics found={value} period={period} />
        </div>
        <div>
          {changes === null ? null : <Changes changes={changes} />}
          <Gaps rows={value.gaps.elements} />
          <Repeats rows={value.repeats.elements} />
          <Languages languages={now.languages} />
        </div>
      </div>
    </>
  );
}

function NothingHere({ period }: { readonly period: Period }) {
  if (period.range['dateRange.start'] !== undefined) {
    return (
      <Empty>
        No message has a time in this period. <Go to={{ range: 'all' }}>Show all time</Go>
      </Empty>
    );
  }
  const url = location.origin;
  const body = `{"instanceId":"${period.instance}","messages":[{"role":"user","userId":"ada","content":"Where is my parcel?"}]}`;
  return (
    <div class="teach">
      <h2>This instance has no message yet</h2>
      <p>Send a conversation:</p>
      <pre>
        <code>{`curl ${url}/v1/ingest/ -H 'x-api-key: YOUR_KEY' -H 'content-type: application/json' \\\n  -d '${body}'`}</code>
      </pre>
      <p>Or import a file, or load the demo:</p>
      <pre>
        <code>{`npm run import -- FILE.jsonl --instance ${period.instance}\nnpm run demo`}</code>
      </pre>
      <p>What arrives shows here within two seconds.</p>
    </div>
  );
}

function Figures({
  now,
  before,
}: {
  readonly now: OverviewResponse;
  readonly before: OverviewResponse | null;
}) {
  // A period without a message is nothing to compare with.
  const isCompared = before !== null && (before.fields.messages ?? 0) > 0;
  const was = (metric: keyof OverviewResponse['fields']) =>
    !isCompared ? undefined : ((before.fields[metric] ?? null) as number | null);
  const { sessions, users, messages, sat, dsat, netSat } = now.fields;
  return (
    <div class="figures">
      <Figure label="Conversations" now={sessions} before={was('sessions')} />
      <Figure label="Users" now={users} before={was('users')} />
      <Figure label="Messages" now={messages} before={was('messages')} />
      <Figure label="Satisfied" now={sat} before={was('sat')} goodWhen="up" />
      <Figure label="Dissatisfied" now={dsat} before={was('dsat')} goodWhen="down" />
      <Figure label="Net satisfaction, %" now={netSat} before={was('netSat')} isNet goodWhen="up" />
    </div>
  );
}

function pointsOf(trend: OverviewResponse['trend'], dates: readonly string[]): Point[] {
  const values = new Map(trend.map(({ date, fields }) => [date, fields.sessions ?? 0]));
  return dates.map((date) => ({ date, value: values.get(date) ?? 0 }));
}

function SessionsTrend({
  now,
  before,
  period,
}: {
  readonly now: OverviewResponse;
  readonly before: OverviewResponse | null;
  readonly period: Period;
}) {
  const dates = datesOf(period, now.trend[0]?.date, now.trend.at(-1)?.date);
  const dayBefore = before?.trend[0]?.date;
  const shift = period.shiftMs;
  const earlier =
    before === null || shift === null || dayBefore === undefined
      ? null
      : pointsOf(
          before.trend,
          dates.map(
            (date) => `${new Date(new Date(date).getTime() - shift).toISOString().slice(0, 13)}:00:00Z`,
          ),
        );
  return (
    <Section title="Conversations over time">
      <Trend points={pointsOf(now.trend, dates)} before={earlier} label="Conversations" />
    </Section>
  );
}

function Topics({ found, period }: { readonly found: Found; readonly period: Period }) {
  const { topics, clusters, topicTrends, now } = found;
  const all = now.fields.sessions ?? 0;
  const trends = Map.groupBy(topicTrends.elements, ({ dimensions }) => dimensions.topic?.id ?? '');
  const dates = datesOf(
    period,
    topicTrends.elements[0]?.dimensions.date,
    topicTrends.elements.at(-1)?.dimensions.date,
  );
  const byCluster = Map.groupBy(topics.elements, ({ dimensions }) => dimensions.topic?.clusterId ?? '');
  const groups = [...byCluster].map(([id, rows]) => {
    const cluster = clusters.elements.find(({ dimensions }) => dimensions.cluster?.id === id);
    // A cluster of one topic says nothing that the topic does not.
    const isShown = rows.length > 1 && id !== '';
    return {
      id,
      rows,
      cluster: isShown ? cluster : undefined,
      sessions: cluster?.fields.sessions ?? rows[0]?.fields.sessions ?? 0,
    };
  });
  groups.sort((a, b) => b.sessions - a.sessions);
  const csv = () => [
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
  const sparkOf = (row: Row): Point[] => {
    const values = new Map(
      (trends.get(row.dimensions.topic?.id ?? '') ?? []).map(({ dimensions, fields }) => [
        dimensions.date ?? '',
        fields.sessions ?? 0,
      ]),
    );
    return dates.map((date) => ({ date, value: values.get(date) ?? 0 }));
  };
  return (
    <Section title="Topics" csv={csv}>
      {topics.elements.length === 0 ? (
        <Empty>A topic appears with its third request.</Empty>
      ) : (
        <table class="topics">
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <th scope="col" class="wide">
                Trend
              </th>
              <th scope="col" class="number">
                Conversations
              </th>
              <th scope="col" class="number">
                Net satisfaction
              </th>
            </tr>
          </thead>
          {groups.map(({ id, rows, cluster }) => (
            <tbody key={id}>
              {cluster === undefined ? null : (
                <tr class="cluster">
                  <th scope="rowgroup" colSpan={2}>
                    <Go to={{ view: 'cluster', id }}>{cluster.dimensions.cluster?.name}</Go>
                  </th>
                  <td class="number">{shownCount(cluster.fields.sessions)}</td>
                  <td class="number" />
                </tr>
              )}
              {rows.map((row) => (
                <tr key={row.dimensions.topic?.id}>
                  <td class={cluster === undefined ? 'name' : 'name inside'}>
                    <Go to={{ view: 'topic', id: row.dimensions.topic?.id ?? '' }}>
                      {row.dimensions.topic?.name}
                    </Go>
                  </td>
                  <td class="wide">
                    <Sparkline
                      points={sparkOf(row)}
                      label={`Conversations about ${row.dimensions.topic?.name}`}
                    />
                  </td>
                  <td class="number">
                    {shownCount(row.fields.sessions)}{' '}
                    <span class="faint">{shownShare(all === 0 ? 0 : (row.fields.sessions ?? 0) / all)}</span>
                    <ShareBar share={all === 0 ? 0 : (row.fields.sessions ?? 0) / all} />
                  </td>
                  <td class="number">
                    <NetBar value={row.fields.netSat} />
                  </td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      )}
    </Section>
  );
}

const CHANGE_WORDS = { new: 'new', rising: 'rising', falling: 'falling', gone: 'gone' } as const;

function Changes({ changes: { changes, before } }: { readonly changes: ChangesResponse }) {
  return (
    <Section title="What changed">
      {changes.length === 0 ? (
        <Empty>
          {before.sessions === 0
            ? 'There is nothing to compare with: the period before has no conversation.'
            : 'Nothing that is more than chance.'}
        </Empty>
      ) : (
        <table>
          <tbody>
            {changes.slice(0, 12).map((change) => {
              const { topic, gap, csatDsatSignal } = change;
              const entity = topic ?? gap ?? csatDsatSignal;
              const view = topic !== undefined ? 'topic' : gap !== undefined ? 'gap' : 'signal';
              const kind = csatDsatSignal?.signalType ?? (gap === undefined ? 'topic' : 'gap');
              return (
                <tr key={entity?.id}>
                  <td>
                    <Go to={{ view, id: entity?.id ?? '' }}>{entity?.name}</Go>{' '}
                    <span class="faint">{kind}</span>
                  </td>
                  <td>
                    <span class={`change ${change.change}`}>{CHANGE_WORDS[change.change]}</span>
                  </td>
                  <td class="number">
                    {shownShare(change.shareBefore)} → {shownShare(change.share)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Gaps({ rows }: { readonly rows: readonly Row[] }) {
  const csv = () => [
    ['gap', 'type', 'id', 'sessions', 'users', 'messages'],
    ...rows.map(({ dimensions: { gap }, fields }) => [
      gap?.name ?? '',
      gap?.gapType ?? '',
      gap?.id ?? '',
      fields.sessions ?? 0,
      fields.users ?? 0,
      fields.messages ?? 0,
    ]),
  ];
  return (
    <Section title="Gaps" csv={csv}>
      {rows.length === 0 ? (
        <Empty>The assistant admitted no missing ability or knowledge.</Empty>
      ) : (
        <Ranked
          rows={rows.map(({ dimensions: { gap }, fields }) => ({
            id: gap?.id ?? '',
            name: gap?.name ?? '',
            note: gap?.gapType === 'TOOL' ? 'ability' : 'knowledge',
            count: fields.sessions,
            to: { view: 'gap', id: gap?.id ?? '' },
          }))}
        />
      )}
    </Section>
  );
}

/** With so many conversations and so small a part of them with a topic, a language may be one that the model lacks. */
const [ENOUGH, FEW] = [20, 0.25];

function Languages({ languages }: { readonly languages: OverviewResponse['languages'] }) {
  const { state } = useNavigation();
  const lacking = languages.filter(
    ({ language, sessions, withTopic }) =>
      language !== null && sessions >= ENOUGH && withTopic / sessions < FEW,
  );
  return (
    <Section title="Languages">
      <Ranked
        rows={languages.slice(0, 10).map(({ language, sessions }) => ({
          id: language ?? '',
          name: languageName(language),
          count: sessions,
          ...(language === null
            ? {}
            : { to: { view: 'conversations', filters: { ...state.filters, language } } }),
        }))}
      />
      {lacking.length === 0 ? null : (
        <p class="faint">
          Few conversations in {lacking.map(({ language }) => languageName(language)).join(' and ')} have a
          topic. The model may not know {lacking.length === 1 ? 'this language' : 'these languages'} well.
        </p>
      )}
    </Section>
  );
}

function Repeats({ rows }: { readonly rows: readonly Row[] }) {
  const csv = () => [
    ['request', 'id', 'sessions', 'users', 'messages'],
    ...rows.map(({ dimensions: { repeatedRequest }, fields }) => [
      repeatedRequest?.name ?? '',
      repeatedRequest?.id ?? '',
      fields.sessions ?? 0,
      fields.users ?? 0,
      fields.messages ?? 0,
    ]),
  ];
  return (
    <Section title="Asked again" csv={csv}>
      {rows.length === 0 ? (
        <Empty>Nobody had to ask for the same thing again.</Empty>
      ) : (
        <Ranked
          rows={rows.map(({ dimensions: { repeatedRequest }, fields }) => ({
            id: repeatedRequest?.id ?? '',
            name: repeatedRequest?.name ?? '',
            count: fields.sessions,
            to: { view: 'repeat', id: repeatedRequest?.id ?? '' },
          }))}
        />
      )}
    </Section>
  );
}

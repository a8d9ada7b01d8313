/**
 * The overview: key figures of the instance, its topics and its changes.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { LeftOut } from '../../../domain/attributes.ts';
import { ByAttribute } from './by-attribute.tsx';
import { WaysIn } from './connect.tsx';
import { api, type OverviewResponse, type QueryResponse, type Row } from './api.ts';
import { ChangesInShort } from './changes.tsx';
import { Trend, type Point } from './charts.tsx';
import { askBefore, filled, isComparable, lateDayOf, trendBefore, type Before } from './compared.ts';
import { formatUsd, languageName, outcomeWords } from './format.ts';
import { useAnswer, useNavigation, useParts } from './hooks.ts';
import { Effects } from './effects.tsx';
import { Labels, Repeats, Signals } from './found.tsx';
import { Gaps } from './gaps.tsx';
import { BeganLate, Empty, Fact, Fault, Figure, Go, Loading, Ranked, Section } from './parts.tsx';
import { datesOf, usePeriod, type Period } from './period.ts';
import { releasesIn } from './releases.ts';
import { SATISFACTION_WORDS } from './satisfaction.tsx';
import { conversationParameters } from './filters.ts';
import { EmptiedBySegment, useAttributes, type Attributes } from './segments.tsx';
import { Topics, type FoundTopics } from './topics.tsx';
import { Languages } from './why-parts.tsx';

interface Lists extends FoundTopics {
  readonly gaps: QueryResponse;
  readonly repeats: QueryResponse;
  readonly signals: QueryResponse;
  /** What the assistant did wrong, checked or not; null: not asked for. */
  readonly observed: QueryResponse | null;
  readonly labels: QueryResponse;
}

/** Limit of topics with a trend; their buckets fit in one answer. */
const SPARKLINES = 100;

async function askLists(
  { range, signals: counted, coarse, instance }: Period,
  isShared: boolean,
  signal: AbortSignal,
): Promise<Lists> {
  const query = (groupBy: string, fields: string, more: Readonly<Record<string, string | number>>) =>
    api.query({ instanceId: instance, ...range, groupBy, fields, ...more }, signal);
  const largest = { 'sort.field': 'sessions' };
  // A link gives access to no dimension field.
  const life = isShared ? {} : { dimensionFields: 'life' };
  const topicsWithTrends = async () => {
    const metrics = 'sessions,users,messages,sat,dsat,netSat';
    const topics = await query('TOPIC', metrics, { ...largest, ...counted, ...life, limit: 1000 });
    const ids = topics.elements.slice(0, SPARKLINES).map(({ dimensions }) => dimensions.topic?.id ?? '');
    const buckets = { timeGranularity: coarse, ids: ids.join(','), limit: 10_000 };
    const trends = ids.length === 0 ? null : await query('TOPIC', 'sessions', buckets);
    return { topics, topicTrends: trends?.elements ?? [] };
  };
  const [topics, clusters, gaps, repeats, signals, observed, labels] = await Promise.all([
    topicsWithTrends(),
    query('TOPIC_CLUSTER', 'sessions,netSat', { ...largest, ...counted, limit: 1000 }),
    query('GAP', 'sessions,users,messages,dissatisfied,excessDissatisfied', {
      ...life,
      'sort.field': 'excessDissatisfied',
      limit: 1000,
    }),
    query('REPEATED_REQUEST', 'sessions,users,messages', { ...largest, ...life, limit: 1000 }),
    query('CSAT_DSAT', 'sessions,users,messages', { ...largest, ...life }),
    // A link shows what is checked.
    isShared ? null : query('CSAT_DSAT', 'sessions', { ...largest, signalSource: 'OBSERVED' }),
    query('LABEL', 'sessions,users,messages', { ...largest, limit: 200 }),
  ]);
  return { ...topics, clusters, gaps, repeats, signals, observed, labels };
}

/** The statements about what is listed: other ones may tell other effects, which messages change once a week at most. */
function livesIn({ topics, gaps, repeats, signals }: Lists): string {
  const rows = [topics, gaps, repeats, signals].flatMap(({ elements }) => elements);
  return rows
    .flatMap(({ dimensions: { topic, gap, repeatedRequest, csatDsatSignal } }) => {
      const { life } = topic ?? gap ?? repeatedRequest ?? csatDsatSignal ?? {};
      return life?.curationId ?? [];
    })
    .toSorted()
    .join();
}

/** Parts below the figures: topics, changes, gaps, repeats, signals, and the short lists. */
const PARTS = 6;

/** Shows the numbers first; the comparison and the lists follow as they arrive. */
export function Overview({ leaveOut, version }: { readonly leaveOut: LeftOut; readonly version: string }) {
  const period = usePeriod();
  const { isShared } = useNavigation();
  const { name } = period;
  const numbers = useAnswer(`numbers ${name}`, version, (signal) =>
    api.overview(
      {
        instanceId: period.instance,
        ...period.range,
        ...period.signals,
        timeGranularity: period.granularity,
      },
      signal,
    ),
  );
  const compared = useAnswer(`before ${name}`, version, (signal) => askBefore(period, signal));
  const lists = useAnswer(`lists ${name}`, version, (signal) => askLists(period, isShared, signal));
  const attributes = useAttributes(version);
  const error = numbers.error ?? compared.error ?? lists.error;
  const now = numbers.value;
  const rendered = useParts(PARTS, now !== null && lists.value !== null);
  if (now === null) return error === null ? <Loading /> : <Fault error={error} />;
  if (now.fields.messages === 0) return <NothingHere period={period} />;
  const before = compared.value;
  return (
    <>
      <Fault error={error} />
      <Figures now={now} before={isComparable(before) ? before.overview : null} />
      <BeganLate day={lateDayOf(before)} />
      <SessionsTrend now={now} before={before} period={period} attributes={attributes} />
      {lists.value === null || isShared ? null : <HowSure topics={lists.value.topics.elements} />}
      {lists.value === null ? null : (
        <div class="columns">
          <div>
            {rendered < 1 ? null : (
              <Topics found={lists.value} all={now.fields.sessions ?? 0} period={period} />
            )}
            {rendered < PARTS ? null : (
              <ByAttribute attributes={attributes} leaveOut={leaveOut} version={version} />
            )}
          </div>
          <div>
            {before === null || rendered < 2 ? null : <ChangesInShort found={before.changes} />}
            {rendered < 3 ? null : (
              <>
                <Effects lives={livesIn(lists.value)} />
                <Gaps rows={lists.value.gaps.elements} hasCosts={costOf(now) !== null} version={version} />
              </>
            )}
            {rendered < 4 ? null : <Repeats rows={lists.value.repeats.elements} />}
            {rendered < 5 ? null : (
              <Signals
                rows={lists.value.signals.elements}
                observed={lists.value.observed?.elements ?? null}
                agreement={now.agreement}
              />
            )}
            {rendered < PARTS ? null : (
              <>
                <Labels rows={lists.value.labels.elements} />
                <Outcomes outcomes={now.outcomes} />
                <KnownLanguages languages={now.languages} />
              </>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** Says where to find out how often the numbers are wrong, by the example of the largest topic. */
function HowSure({ topics }: { readonly topics: readonly Row[] }) {
  const topic = topics[0]?.dimensions.topic;
  return topic === undefined ? null : (
    <p class="faint">
      Models and rules judge what is counted here, and can be wrong. The page of each topic, gap, repeated
      request and signal says how sure its number is, once somebody has checked a sample of up to 50
      conversations: <Go to={{ view: 'topic', id: topic.id, at: 'check' }}>check “{topic.name}”</Go>.
    </p>
  );
}

const NOTHING = 'There is no message in this period.';

function NothingHere({ period }: { readonly period: Period }) {
  const { isShared } = useNavigation();
  return isShared ? <Empty>{NOTHING}</Empty> : <NothingYet period={period} />;
}

function NothingYet({ period }: { readonly period: Period }) {
  const ever = useAnswer(`ever ${period.instance}`, '', (signal) =>
    api.overview({ instanceId: period.instance, timeGranularity: 'MONTH' }, signal),
  );
  if (ever.value === null && ever.error === null) return <Loading />;
  if (ever.value?.fields.messages !== 0) {
    return (
      <Empty>
        {NOTHING} {period.clock === null ? null : <Go to={{ range: 'all' }}>Show all time</Go>}
        <EmptiedBySegment parameters={conversationParameters(period, {})} />
      </Empty>
    );
  }
  return (
    <div class="teach">
      <h2>This instance has no messages yet</h2>
      <p>
        New messages show here within two seconds. <code>npm run demo</code> loads conversations to look at.
      </p>
      <WaysIn />
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
  const was = (metric: keyof OverviewResponse['fields']) =>
    before === null ? undefined : ((before.fields[metric] ?? null) as number | null);
  const { state } = useNavigation();
  const words = SATISFACTION_WORDS[state.signals];
  const { sessions, users, messages, sat, dsat, netSat } = now.fields;
  const cost = costOf(now);
  return (
    <div class="figures">
      <Figure
        label="Conversations"
        now={sessions}
        before={was('sessions')}
        to={{ view: 'conversations', filters: {} }}
      />
      <Figure label="Users" now={users} before={was('users')} to={{ view: 'users', filters: {} }} />
      <Figure label="Messages" now={messages} before={was('messages')} />
      <Figure
        label={words.sat[0]}
        now={sat}
        before={was('sat')}
        goodWhen="up"
        meaning={words.sat[1]}
        to={{ view: 'conversations', filters: { mood: 'satisfied' }, order: 'best' }}
      />
      <Figure
        label={words.dsat[0]}
        now={dsat}
        before={was('dsat')}
        goodWhen="down"
        meaning={words.dsat[1]}
        to={{ view: 'conversations', filters: { mood: 'dissatisfied' }, order: 'worst' }}
      />
      <Figure
        label="Net satisfaction"
        now={netSat}
        before={was('netSat')}
        unit="net"
        of={{ now: sessions ?? 0, before: was('sessions') ?? 0 }}
        goodWhen="up"
        meaning={words.net}
      />
      {cost === null ? null : (
        <Fact label="Cost of replies" text={formatUsd(cost)} note="as sent with the messages" />
      )}
    </div>
  );
}

/** Returns what the conversations cost; null where no message says so. */
function costOf({ outcomes }: OverviewResponse): number | null {
  const costs = outcomes.flatMap(({ costUsd }) => costUsd ?? []);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
}

function pointsOf(trend: OverviewResponse['trend']): Point[] {
  return trend.map(({ date, fields }) => ({ date, value: fields.sessions ?? 0 }));
}

function SessionsTrend({
  now,
  before,
  period,
  attributes,
}: {
  readonly now: OverviewResponse;
  readonly before: Before | null;
  readonly period: Period;
  readonly attributes: Attributes;
}) {
  const points = pointsOf(now.trend);
  const dates = datesOf(period, points[0]?.date, points.at(-1)?.date);
  const trend = trendBefore(before, pointsOf(before?.overview.trend ?? []), period);
  return (
    <Section title="Conversations over time">
      <Trend
        points={filled(points, dates)}
        before={trend}
        period={period}
        releases={releasesIn(attributes, dates, period.clock)}
        label="Conversations"
      />
    </Section>
  );
}

/** A language with at least ENOUGH conversations, of which less than FEW have a topic, may be unknown to the model. */
const [ENOUGH, FEW] = [20, 0.25];

function KnownLanguages({ languages }: { readonly languages: OverviewResponse['languages'] }) {
  const lacking = languages.filter(
    ({ language, sessions, withTopic }) =>
      language !== null && sessions >= ENOUGH && withTopic / sessions < FEW,
  );
  return (
    <Languages languages={languages} view="conversations">
      {lacking.length === 0 ? null : (
        <p class="faint">
          Few conversations in {lacking.map(({ language }) => languageName(language)).join(' and ')} have a
          topic. The model may not know {lacking.length === 1 ? 'this language' : 'these languages'} well.
        </p>
      )}
    </Languages>
  );
}

function Outcomes({ outcomes }: { readonly outcomes: OverviewResponse['outcomes'] }) {
  const { state } = useNavigation();
  return (
    <Section title="How conversations ended">
      <Ranked
        rows={outcomes.map(({ outcome, sessions, costUsd }) => ({
          id: outcome ?? '',
          name: outcomeWords(outcome).label,
          title: outcomeWords(outcome).meaning,
          count: sessions,
          ...(costUsd === null ? {} : { note: formatUsd(costUsd) }),
          ...(outcome === null
            ? {}
            : { to: { view: 'conversations', filters: { ...state.filters, outcome } } }),
        }))}
      />
    </Section>
  );
}

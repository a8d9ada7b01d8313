/**
 * The numbers of a topic, topic cluster, gap, repeated request, signal, label or end user, as figures.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { ComponentChildren } from 'preact';
import type { WhyResponse } from './api.ts';
import type { Compared } from './compared.ts';
import {
  counted,
  excessOf,
  formatBounds,
  formatCount,
  formatDay,
  formatNet,
  formatSeconds,
  formatShare,
  formatUsd,
  RESOLVED_MEANING,
  tellingOf,
} from './format.ts';
import { useNavigation } from './hooks.ts';
import { Fact, Figure } from './parts.tsx';
import { SATISFACTION_WORDS } from './satisfaction.tsx';
import type { EntityKind } from './state.ts';
import { clockAt } from './zone.ts';

function shareOf(part: number | null | undefined, all: number | null | undefined): number {
  return (all ?? 0) === 0 ? 0 : (part ?? 0) / (all ?? 1);
}

type CountedMetric =
  | 'sessions'
  | 'users'
  | 'messages'
  | 'sat'
  | 'dsat'
  | 'dissatisfied'
  | 'handedOver'
  | 'droppedOff'
  | 'cameBack';

/** Undefined without a comparison. */
function was(before: Compared['before'], metric: CountedMetric) {
  return before === null ? undefined : (before[metric] ?? 0);
}

export function Figures({
  kind,
  compared,
  sure,
}: {
  readonly kind: EntityKind;
  readonly compared: Compared;
  /** How sure the share of conversations is. */
  readonly sure: ComponentChildren;
}) {
  const { now, before, all, allBefore } = compared;
  const isAbout = kind === 'topic' || kind === 'cluster' || kind === 'label';
  return (
    <div class="figures">
      <Figure label="Conversations" now={now.sessions ?? 0} before={was(before, 'sessions')} />
      <Figure
        label="Share of all"
        unit="share"
        of={{ now: all.sessions ?? 0, before: allBefore?.sessions ?? 0 }}
        now={shareOf(now.sessions, all.sessions)}
        before={before === null ? undefined : shareOf(before.sessions, allBefore?.sessions)}
        note={sure}
      />
      <Figure label="Users" now={now.users ?? 0} before={was(before, 'users')} />
      <Figure
        label={isAbout ? 'Messages' : 'Times'}
        now={now.messages ?? 0}
        before={was(before, 'messages')}
      />
      {isAbout ? <Satisfaction compared={compared} /> : null}
      <Endings compared={compared} hasExcess={kind !== 'signal' && kind !== 'repeat'} />
      <Cost of={now} />
      <Wait of={now} isBefore={kind === 'signal' || kind === 'repeat'} />
    </div>
  );
}

const ENDINGS = [
  ['handedOver', 'Handed over', 'They went on with a person.'],
  ['droppedOff', 'Left without an answer', 'They end with a question or wish that nobody answered.'],
  ['cameBack', 'Came back', 'The user asked about the same topic again within 7 days.'],
] as const;

/** Shows how the conversations ended, and who came back. */
function Endings({
  compared: { now, before },
  hasExcess,
}: {
  readonly compared: Compared;
  /** False for what is a sign of dissatisfaction or satisfaction itself. */
  readonly hasExcess: boolean;
}) {
  const { sessions, dissatisfied = 0, resolvedAtLeast: least = 0, resolvedAtMost: most = 0 } = now;
  const percent = [least, most].map((part) => formatShare(shareOf(part, sessions)));
  return (
    <>
      <Figure
        label="Dissatisfied conversations"
        now={dissatisfied}
        before={was(before, 'dissatisfied')}
        goodWhen="down"
        meaning="The user showed dissatisfaction at any point, with this or with something else."
        note={hasExcess ? excessWords(now) : undefined}
      />
      <Fact
        label="Resolved"
        text={formatBounds(least, most)}
        meaning={RESOLVED_MEANING}
        {...(tellingOf(sessions) === 'none'
          ? {}
          : { note: `${[...new Set(percent)].join(' to ')} of the conversations` })}
      />
      {ENDINGS.map(([metric, label, meaning]) => (
        <Figure
          key={metric}
          label={label}
          now={now[metric] ?? 0}
          before={was(before, metric)}
          goodWhen="down"
          meaning={meaning}
        />
      ))}
    </>
  );
}

/** Says how many more conversations are dissatisfied than of as many average ones; undefined for as many. */
function excessWords(now: Compared['now']): string | undefined {
  const more = excessOf(now);
  const words = `${formatCount(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'}`;
  return more === 0 ? undefined : `${words} than in as many average conversations`;
}

/** Shows what the messages cost; nothing where none says it. */
function Cost({ of: { costUsd, inputTokens, outputTokens } }: { readonly of: Compared['now'] }) {
  const tokens = `${formatCount(inputTokens)} tokens in, ${formatCount(outputTokens)} out`;
  const said = (value: number | null | undefined): boolean => value !== null && value !== undefined;
  if (costUsd !== null && costUsd !== undefined)
    return <Fact label="Cost of replies" text={formatUsd(costUsd)} note={tokens} />;
  return said(inputTokens) || said(outputTokens) ? <Fact label="Tokens" text={tokens} /> : null;
}

/** Shows the wait for replies. `isBefore`: the wait for the reply that the user judges or asks again after. */
function Wait({
  of: { waitSeconds: median, waitSecondsP95: p95 },
  isBefore,
}: {
  readonly of: Compared['now'];
  readonly isBefore: boolean;
}) {
  if (median === null || median === undefined) return null;
  return (
    <Fact
      label={isBefore ? 'Wait before it' : 'Wait for a reply'}
      text={formatSeconds(median)}
      {...(p95 == null || p95 <= median
        ? {}
        : { note: `half of the waits were longer, one in 20 longer than ${formatSeconds(p95)}` })}
    />
  );
}

/** Compared with the instance's average and the period before. */
function Satisfaction({ compared: { now, before, all } }: { readonly compared: Compared }) {
  const { state } = useNavigation();
  const words = SATISFACTION_WORDS[state.signals];
  return (
    <>
      <Figure label={words.sat[0]} now={now.sat ?? 0} before={was(before, 'sat')} goodWhen="up" />
      <Figure label={words.dsat[0]} now={now.dsat ?? 0} before={was(before, 'dsat')} goodWhen="down" />
      <Figure
        label="Net satisfaction"
        unit="net"
        of={{ now: now.sessions ?? 0, before: before?.sessions ?? 0 }}
        now={now.netSat}
        before={before === null ? undefined : (before.netSat ?? null)}
        goodWhen="up"
        note={`average ${formatNet(all.netSat)}`}
      />
    </>
  );
}

const DAY_MS = 86_400_000;

/** Shows if a user returns: first and last day, and days active. */
export function UserFigures({
  compared,
  endUser,
  days,
}: {
  readonly compared: Compared;
  readonly endUser: WhyResponse['endUser'];
  /** Number of active days; null until known. */
  readonly days: number | null;
}) {
  const { now, before } = compared;
  const { createdAt, lastActiveAt } = endUser ?? {};
  const dayOf = (instant: string | null | undefined): number =>
    Math.floor(Date.parse(clockAt(instant ?? '')) / DAY_MS);
  const span = dayOf(lastActiveAt) - dayOf(createdAt);
  return (
    <div class="figures">
      <Figure label="Conversations" now={now.sessions ?? 0} before={was(before, 'sessions')} />
      <Figure label="Messages" now={now.messages ?? 0} before={was(before, 'messages')} />
      <Figure label="Days active" now={days} />
      <Fact label="First seen" text={formatDay(createdAt ?? '')} />
      <Fact
        label="Last seen"
        text={formatDay(lastActiveAt ?? '')}
        note={span >= 1 ? `${counted(span, 'day')} after the first` : 'on the same day'}
      />
      <Satisfaction compared={compared} />
      <Endings compared={compared} hasExcess />
      <Cost of={now} />
      <Wait of={now} isBefore={false} />
    </div>
  );
}

/**
 * The page of a topic, topic cluster, gap, repeated request, signal or end user, with the numbers behind it.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { LeftOut } from '../../../domain/attributes.ts';
import { api, type WhyResponse } from './api.ts';
import { BriefOf } from './brief.tsx';
import { EntityByAttribute } from './by-attribute.tsx';
import { Trend } from './charts.tsx';
import { Checks, ChecksOfGapType, HowSure, useChecks, useShownChecks } from './check.tsx';
import { askCompared, type Compared } from './compared.ts';
import { Conversations } from './conversations.tsx';
import { CuratedName, isCurated } from './curate.tsx';
import { DecisionsAbout, useDecisionsAbout, type Listed } from './decisions.tsx';
import { Erase } from './erase.tsx';
import { conversationParameters, FILTER_GROUPINGS } from './filters.ts';
import { Figures, UserFigures } from './entity-figures.tsx';
import { useAnswer, useNavigation, useTitle } from './hooks.ts';
import { LabelName } from './labels.tsx';
import { isTracked, LifeOf } from './life.tsx';
import { BeganLate, Empty, Fault, Go, Loading, Section } from './parts.tsx';
import { usePeriod, type Period } from './period.ts';
import { releasesIn } from './releases.ts';
import { EmptiedBySegment, useAttributes, type Attributes } from './segments.tsx';
import { isEntity, type EntityKind } from './state.ts';
import { Languages, Signals, Together, Users, Wordings } from './why-parts.tsx';

const WORDS: Readonly<Record<EntityKind, string>> = {
  topic: 'Topic',
  cluster: 'Topic cluster',
  gap: 'Gap',
  repeat: 'Asked again',
  signal: 'Signal',
  label: 'Label',
  user: 'User',
};

const FROM_FACTS =
  'waitSeconds,waitSecondsP95,handedOver,droppedOff,resolvedAtLeast,resolvedAtMost,cameBack,' +
  'dissatisfied,excessDissatisfied,inputTokens,outputTokens,costUsd';
const COUNTS = `sessions,users,messages,${FROM_FACTS}`;
const FIELDS: Readonly<Record<EntityKind, string>> = {
  topic: `${COUNTS},sat,dsat,netSat`,
  cluster: `${COUNTS},sat,dsat,netSat`,
  gap: COUNTS,
  repeat: COUNTS,
  signal: COUNTS,
  label: `${COUNTS},sat,dsat,netSat`,
  user: `sessions,messages,sat,dsat,netSat,repeatedRequests,${FROM_FACTS}`,
};

interface Found {
  readonly name: string;
  readonly description: string | undefined;
  readonly compared: Compared;
  /** Null for a signal, which has no such route. */
  readonly why: WhyResponse | null;
  readonly life: WhyResponse['life'];
  /** Number of active days; null except for an end user. */
  readonly days: number | null;
}

export function EntityPage({
  kind,
  leaveOut,
  version,
}: {
  readonly kind: EntityKind;
  /** What the instance leaves out. */
  readonly leaveOut: LeftOut;
  readonly version: string;
}) {
  const { state, isShared } = useNavigation();
  const period = usePeriod();
  const { value, error } = useAnswer(`${kind} ${state.id} ${period.name}`, version, (signal) =>
    askFound(kind, state.id, period, isShared, signal),
  );
  const checks = useChecks(kind, state.id);
  useShownChecks(value === null ? null : checks, CHECKS);
  const attributes = useAttributes(version);
  const decisions = useDecisionsAbout(
    state.id,
    (isCurated(kind) || isTracked(kind) || kind === 'label') && !isShared,
    version,
  );
  useTitle(state.session !== '' ? null : value === null ? '' : value.name);
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  const { name, description, compared, why, life } = value;
  return (
    <>
      <Heading kind={kind} id={state.id} name={name} note={description} decisions={decisions} />
      {isTracked(kind) ? <LifeOf kind={kind} id={state.id} name={name} life={life} /> : null}
      {kind === 'gap' && !isShared ? (
        <BriefOf key={period.name} id={state.id} name={name} type={why?.gap?.gapType} />
      ) : null}
      {why?.heir == null ? null : (
        <p class="notice">
          It has merged into <Go to={{ id: why.heir.id }}>{why.heir.name}</Go>; the numbers are those of that
          one.
        </p>
      )}
      {why?.topic?.isHidden === true ? (
        <p class="notice">
          This topic is hidden: its requests count as having no topic. The list of decisions below can undo
          it.
        </p>
      ) : null}
      {kind === 'user' ? (
        <UserFigures compared={compared} endUser={why?.endUser} days={value.days} />
      ) : (
        <Figures
          kind={kind}
          compared={compared}
          sure={checks === null ? null : <HowSure asked={checks} to={CHECKS} />}
        />
      )}
      <BeganLate day={compared.lateDay} />
      {checks === null ? null : (
        <div id={CHECKS}>
          <Checks asked={checks} about={aboutOf(kind, value)} />
        </div>
      )}
      <EntityTrend
        compared={compared}
        period={period}
        attributes={attributes}
        label={kind === 'user' ? 'Messages' : 'Conversations'}
      />
      {kind === 'user' ? null : (
        <EntityByAttribute
          groupBy={FILTER_GROUPINGS[kind]}
          id={state.id}
          hasNet={FIELDS[kind].includes('netSat')}
          leaveOut={leaveOut}
          version={version}
        />
      )}
      {why === null ? null : (
        <div class="columns even">
          <div>
            <Wordings found={why} kind={kind} />
            <Signals found={why} kind={kind} />
          </div>
          <div>
            <Together found={why} />
            {why.languages.length === 0 ? null : <Languages languages={why.languages} view={kind} />}
            <Users found={why} all={compared.now.users ?? 0} />
          </div>
        </div>
      )}
      {isShared || why?.gap == null ? null : <ChecksOfGapType type={why.gap.gapType} />}
      <DecisionsAbout rows={decisions ?? []} />
      {isShared ? null : <Conversations version={version} />}
    </>
  );
}

/** Id of the element with the checks. */
const CHECKS = 'how-sure';

/** Says what counts as it: a topic, and a label that nobody described, by typical wordings. */
function aboutOf(kind: EntityKind, { description = '', why }: Found): string {
  if (kind !== 'topic' && (kind !== 'label' || description !== '')) return description;
  const typical = (why?.wordings.typical ?? []).slice(0, TYPICAL).map(({ text }) => `“${text}”`);
  return typical.length === 0 ? '' : `As in ${typical.join(', ')}.`;
}
const TYPICAL = 3;

async function askFound(
  kind: EntityKind,
  id: string,
  period: Period,
  isShared: boolean,
  signal: AbortSignal,
): Promise<Found> {
  const groupBy = FILTER_GROUPINGS[kind];
  const base = { instanceId: period.instance };
  const comparing = askCompared(period, groupBy, id, FIELDS[kind], signal);
  if (kind === 'signal') {
    const [compared, { elements }] = await Promise.all([
      comparing,
      // A link gives access to its period only.
      api.query(
        {
          ...base,
          ...(isShared ? period.range : { dimensionFields: 'life' }),
          groupBy,
          fields: 'sessions',
          ids: id,
        },
        signal,
      ),
    ]);
    const found = elements[0]?.dimensions.csatDsatSignal;
    const name = found?.name ?? (isShared ? 'Signal' : 'This instance has no such signal');
    return {
      name,
      description: found?.description,
      compared,
      why: null,
      life: found?.life ?? null,
      days: null,
    };
  }
  const range = { ...base, ...period.range };
  const [compared, why, days] = await Promise.all([
    comparing,
    api.why(kind, id, { ...range, timeGranularity: period.granularity }, signal),
    kind === 'user'
      ? api.query(
          { ...range, groupBy, ids: id, fields: 'messages', timeGranularity: 'DAY', limit: 1 },
          signal,
        )
      : null,
  ]);
  const { topic, cluster, gap, repeatedRequest, label, endUser } = why;
  const entity = topic ?? cluster ?? gap ?? repeatedRequest ?? label;
  return {
    name: entity?.name ?? endUser?.externalId ?? '',
    description: gap?.description ?? repeatedRequest?.description ?? label?.description,
    compared,
    why,
    life: why.life,
    days: days?.pagination.total ?? null,
  };
}

function Heading({
  kind,
  id,
  name,
  note,
  decisions,
}: {
  readonly kind: EntityKind;
  readonly id: string;
  readonly name: string;
  readonly note: string | undefined;
  readonly decisions: readonly Listed[] | null;
}) {
  const { isShared } = useNavigation();
  return (
    <div class="heading">
      <p class="faint">
        {isShared ? null : (
          <>
            <Go to={{ view: 'overview', id: '' }}>Overview</Go> /{' '}
          </>
        )}
        {kind === 'user' ? <Go to={{ view: 'users', id: '' }}>Users</Go> : WORDS[kind]}
      </p>
      {isCurated(kind) && !isShared ? (
        <CuratedName kind={kind} id={id} name={name} decisions={decisions} />
      ) : kind === 'label' && !isShared ? (
        <LabelName name={name} decisions={decisions} />
      ) : (
        <h1>{name}</h1>
      )}
      {note === undefined || note === '' ? null : <p class="lead">{note}</p>}
      {kind === 'user' ? (
        <div class="curate">
          <Erase what={{ kind: 'END_USER', id, name }} after={{ view: 'users', id: '' }} />
        </div>
      ) : null}
    </div>
  );
}

function EntityTrend({
  compared,
  period,
  attributes,
  label,
}: {
  readonly compared: Compared;
  readonly period: Period;
  readonly attributes: Attributes;
  readonly label: string;
}) {
  const { points, pointsBefore } = compared;
  const { state, isShared } = useNavigation();
  if (points.every(({ value }) => value === 0))
    return (
      <Empty>
        There is nothing of it in this period.
        {isShared || !isEntity(state.view) ? null : (
          <EmptiedBySegment parameters={conversationParameters(period, { [state.view]: state.id })} />
        )}
      </Empty>
    );
  return (
    <Section title={`${label} over time`}>
      <Trend
        points={points}
        before={pointsBefore}
        period={period}
        releases={releasesIn(
          attributes,
          points.map(({ date }) => date),
          period.clock,
        )}
        label={label}
      />
    </Section>
  );
}

/** The page of a topic, topic cluster, gap, repeated request or signal: why its number is what it is. */
import { api, type WhyResponse } from './api.ts';
import { Trend } from './charts.tsx';
import { Conversations } from './conversations.tsx';
import { languageName, shownCount, shownInstant, shownShare } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Figure, Go, Ranked, Section } from './parts.tsx';
import { datesOf, usePeriod, type Period } from './period.ts';
import type { EntityKind } from './state.ts';

const WORDS: Readonly<Record<EntityKind, string>> = {
  topic: 'Topic',
  cluster: 'Topic cluster',
  gap: 'Gap',
  repeat: 'Asked again',
  signal: 'Signal',
};

export function EntityPage({ kind, version }: { readonly kind: EntityKind; readonly version: string }) {
  return kind === 'signal' ? <SignalPage version={version} /> : <WhyPage kind={kind} version={version} />;
}

function Heading({
  kind,
  name,
  note,
}: {
  readonly kind: EntityKind;
  readonly name: string;
  readonly note?: string;
}) {
  return (
    <div class="heading">
      <p class="faint">
        <Go to={{ view: 'overview', id: '', filters: {} }}>Overview</Go> / {WORDS[kind]}
      </p>
      <h1>{name}</h1>
      {note === undefined ? null : <p class="lead">{note}</p>}
    </div>
  );
}

/** A signal has no why of its own: what it is, and the conversations that have it. */
function SignalPage({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const base = {
    instanceId: period.instance,
    groupBy: 'CSAT_DSAT',
    fields: 'sessions,users,messages',
    ids: state.id,
  };
  const { value, error } = useAnswer(`signal ${state.id} ${period.name}`, version, async (signal) => {
    const [now, ever] = await Promise.all([
      api.query({ ...base, ...period.range }, signal),
      api.query(base, signal),
    ]);
    return { now: now.elements[0], ever: ever.elements[0] };
  });
  if (value === null) return error === null ? <p class="loading">Loading …</p> : <Fault error={error} />;
  const { csatDsatSignal: found } = value.ever?.dimensions ?? {};
  if (found === undefined) return <Empty>This instance has no such signal.</Empty>;
  const { sessions, users, messages } = value.now?.fields ?? {};
  return (
    <>
      <Heading kind="signal" name={found.name} note={found.description} />
      <div class="figures">
        <Figure label="Conversations" now={sessions ?? 0} before={undefined} />
        <Figure label="Users" now={users ?? 0} before={undefined} />
        <Figure label="Times" now={messages ?? 0} before={undefined} />
      </div>
      <Conversations version={version} />
    </>
  );
}

function WhyPage({
  kind,
  version,
}: {
  readonly kind: Exclude<EntityKind, 'signal'>;
  readonly version: string;
}) {
  const { state } = useNavigation();
  const period = usePeriod();
  const { value, error } = useAnswer(`${kind} ${state.id} ${period.name}`, version, (signal) =>
    api.why(
      kind,
      state.id,
      { instanceId: period.instance, ...period.range, timeGranularity: period.granularity },
      signal,
    ),
  );
  if (value === null) return error === null ? <p class="loading">Loading …</p> : <Fault error={error} />;
  const { topic, cluster, gap, repeatedRequest, heir, fields } = value;
  const entity = topic ?? cluster ?? gap ?? repeatedRequest;
  const note = gap?.description ?? repeatedRequest?.description;
  return (
    <>
      <Heading kind={kind} name={entity?.name ?? ''} {...(note === undefined ? {} : { note })} />
      {heir === null ? null : (
        <p class="notice">
          It has merged into <Go to={{ id: heir.id }}>{heir.name}</Go>; the numbers are those of that one.
        </p>
      )}
      <div class="figures">
        <Figure label="Conversations" now={fields.sessions} before={undefined} />
        <Figure label="Users" now={fields.users} before={undefined} />
        <Figure
          label={kind === 'gap' || kind === 'repeat' ? 'Times' : 'Messages'}
          now={fields.messages}
          before={undefined}
        />
        {fields.sat === undefined ? null : <Figure label="Satisfied" now={fields.sat} before={undefined} />}
        {fields.dsat === undefined ? null : (
          <Figure label="Dissatisfied" now={fields.dsat} before={undefined} />
        )}
        {fields.netSat === undefined ? null : (
          <Figure label="Net satisfaction, %" now={fields.netSat} before={undefined} isNet />
        )}
      </div>
      <EntityTrend found={value} period={period} />
      <div class="columns even">
        <div>
          <Wordings found={value} />
          <Signals found={value} />
        </div>
        <div>
          <Together found={value} />
          <Languages found={value} />
          <Users found={value} />
        </div>
      </div>
      {kind === 'cluster' ? null : <Conversations version={version} />}
    </>
  );
}

function EntityTrend({ found: { trend }, period }: { readonly found: WhyResponse; readonly period: Period }) {
  if (trend.length === 0) return <Empty>It did not occur in this period.</Empty>;
  const values = new Map(trend.map(({ date, fields }) => [date, fields.sessions ?? 0]));
  const points = datesOf(period, trend[0]?.date, trend.at(-1)?.date).map((date) => ({
    date,
    value: values.get(date) ?? 0,
  }));
  return (
    <Section title="Conversations over time">
      <Trend points={points} before={null} label="Conversations" />
    </Section>
  );
}

function Wordings({ found: { wordings } }: { readonly found: WhyResponse }) {
  const typical = new Set(wordings.typical.map(({ position }) => position));
  const lists = [
    ['Typical wordings', wordings.typical],
    ['Newest', wordings.newest.filter(({ position }) => !typical.has(position))],
  ] as const;
  return (
    <>
      {lists.map(([title, list]) =>
        list.length === 0 ? null : (
          <Section key={title} title={title}>
            <ul class="wordings">
              {list.map(({ position, sessionId, text, createdAt }) => (
                <li key={position}>
                  <Go to={{ session: sessionId }}>“{text}”</Go>
                  <span class="faint"> {shownInstant(createdAt)}</span>
                </li>
              ))}
            </ul>
          </Section>
        ),
      )}
    </>
  );
}

function Signals({ found: { signals } }: { readonly found: WhyResponse }) {
  if (signals.length === 0) return null;
  return (
    <Section title="Signals, beside the average">
      <table>
        <thead>
          <tr>
            <th scope="col">Signal</th>
            <th scope="col" class="number">
              Here
            </th>
            <th scope="col" class="number">
              Average
            </th>
            <th scope="col" class="number">
              Times the average
            </th>
          </tr>
        </thead>
        <tbody>
          {signals.map(({ id, name, signalType, sessions, share, instanceShare, lift }) => (
            <tr key={id}>
              <td>
                <span class={signalType === 'SAT' ? 'dot good' : 'dot bad'} aria-hidden="true" />
                <Go to={{ view: 'signal', id }}>{name}</Go>
                <span class="hidden"> ({signalType})</span>
              </td>
              <td class="number">
                {shownShare(share)} <span class="faint">({shownCount(sessions)})</span>
              </td>
              <td class="number">{shownShare(instanceShare)}</td>
              <td class="number">{lift === null ? '–' : `${lift.toFixed(1)} ×`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Together({ found }: { readonly found: WhyResponse }) {
  const lists = [
    ['Topics', 'topic', found.topics],
    ['Gaps', 'gap', found.gaps],
    ['Asked again', 'repeat', found.repeatedRequests],
  ] as const;
  return (
    <>
      {lists.map(([title, view, list]) =>
        list.length === 0 ? null : (
          <Section key={title} title={title}>
            <Ranked
              rows={list.map(({ id, name, sessions }) => ({ id, name, count: sessions, to: { view, id } }))}
            />
          </Section>
        ),
      )}
    </>
  );
}

function Languages({ found: { languages } }: { readonly found: WhyResponse }) {
  const { state } = useNavigation();
  if (languages.length === 0) return null;
  return (
    <Section title="Languages">
      <Ranked
        rows={languages.map(({ language, sessions }) => ({
          id: language ?? '',
          name: languageName(language),
          count: sessions,
          ...(language === null ? {} : { to: { filters: { ...state.filters, language } } }),
        }))}
      />
    </Section>
  );
}

function Users({ found: { endUsers } }: { readonly found: WhyResponse }) {
  if (endUsers.length === 0) return null;
  return (
    <Section title="Users">
      <Ranked
        rows={endUsers.map(({ id, externalId, sessions }) => ({ id, name: externalId, count: sessions }))}
      />
    </Section>
  );
}

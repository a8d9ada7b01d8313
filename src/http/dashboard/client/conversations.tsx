/** The conversations behind a number, and the filters that they have. */
import { useState } from 'preact/hooks';
import { api, type QueryResponse, type Row } from './api.ts';
import { languageName, shownCount, shownInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Go, Section } from './parts.tsx';
import { usePeriod, type Period } from './period.ts';
import { FILTERS, type FilterName, type PageState } from './state.ts';

const PAGE = 50;

const PARAMETERS: Readonly<Record<FilterName, string>> = {
  topic: 'topicIds',
  gap: 'gapIds',
  repeat: 'repeatedRequestIds',
  signal: 'signalIds',
  language: 'language',
};

/** The entity of the page filters like any other. */
export function filtersOf({ view, id, filters }: PageState): PageState['filters'] {
  return view === 'topic' || view === 'gap' || view === 'repeat' || view === 'signal'
    ? { ...filters, [view]: id }
    : filters;
}

/** One page of the conversations that a state chooses, the newest first. */
export function askConversations(
  period: Period,
  filters: PageState['filters'],
  limit: number,
  signal?: AbortSignal,
): Promise<QueryResponse> {
  const given = Object.fromEntries(FILTERS.map((name) => [PARAMETERS[name], filters[name]]));
  return api.query(
    {
      instanceId: period.instance,
      ...period.range,
      groupBy: 'SESSION',
      fields: 'messages,duration,lastActiveAt,sat,dsat,repeatedRequests',
      dimensionFields: 'title,summary,language',
      limit,
      ...given,
    },
    signal,
  );
}

export function Conversations({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const filters = filtersOf(state);
  const [limit, setLimit] = useState(PAGE);
  const name = `conversations ${period.name} ${JSON.stringify(filters)} ${limit}`;
  const { value, error } = useAnswer(name, version, (signal) =>
    askConversations(period, filters, limit, signal),
  );
  if (value === null) return error === null ? <p class="loading">Loading …</p> : <Fault error={error} />;
  const rows = value.elements;
  const { total } = value.pagination;
  const csv = () => [
    [
      'session',
      'title',
      'summary',
      'language',
      'messages',
      'sat',
      'dsat',
      'repeatedRequests',
      'lastActiveAt',
    ],
    ...rows.map(({ dimensions: { session }, fields }) => [
      session?.id ?? '',
      session?.title ?? '',
      session?.summary ?? '',
      session?.language ?? '',
      fields.messages ?? 0,
      fields.sat ?? 0,
      fields.dsat ?? 0,
      fields.repeatedRequests ?? 0,
      fields.lastActiveAt ?? '',
    ]),
  ];
  return (
    <Section title={`${shownCount(total)} ${total === 1 ? 'conversation' : 'conversations'}`} csv={csv}>
      {rows.length === 0 ? <NoConversation filters={filters} /> : null}
      <ul class="conversations">
        {rows.map((row) => (
          <Conversation key={row.dimensions.session?.id} row={row} />
        ))}
      </ul>
      {rows.length < total && limit < 10_000 ? (
        <button type="button" onClick={() => setLimit(Math.min(10_000, limit * 2))}>
          Show more
        </button>
      ) : null}
    </Section>
  );
}

function Conversation({ row: { dimensions, fields } }: { readonly row: Row }) {
  const { session } = dimensions;
  if (session === undefined) return null;
  return (
    <li>
      <Go to={{ session: session.id }} class="title">
        {session.title ?? 'Without a title'}
      </Go>
      {session.summary === null || session.summary === undefined ? null : <p>{session.summary}</p>}
      <p class="faint">
        {shownInstant(fields.lastActiveAt ?? '')} · {shownCount(fields.messages)} messages ·{' '}
        {languageName(session.language ?? null)}
        {(fields.sat ?? 0) > 0 ? <span class="tag good">satisfied</span> : null}
        {(fields.dsat ?? 0) > 0 ? <span class="tag bad">dissatisfied</span> : null}
        {(fields.repeatedRequests ?? 0) > 0 ? <span class="tag">asked again</span> : null}
      </p>
    </li>
  );
}

const FILTER_WORDS: Readonly<Record<FilterName, string>> = {
  topic: 'this topic',
  gap: 'this gap',
  repeat: 'this repeated request',
  signal: 'this signal',
  language: 'this language',
};

function NoConversation({ filters }: { readonly filters: PageState['filters'] }) {
  const { state } = useNavigation();
  const given = FILTERS.filter((name) => filters[name] !== undefined);
  const removable = given.filter((name) => state.filters[name] !== undefined);
  if (given.length === 0) return <Empty>No conversation in this period.</Empty>;
  return (
    <Empty>
      No conversation in this period has {given.map((name) => FILTER_WORDS[name]).join(' and ')}.{' '}
      {removable.map((name) => (
        <Go key={name} to={{ filters: { ...state.filters, [name]: undefined } as PageState['filters'] }}>
          Without {FILTER_WORDS[name]}
        </Go>
      ))}{' '}
      {state.range === 'all' ? null : <Go to={{ range: 'all' }}>All time</Go>}
    </Empty>
  );
}

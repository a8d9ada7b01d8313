/**
 * The list of the conversations that filters select.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api, type Row } from './api.ts';
import { ChecksOf } from './check.tsx';
import { FilterBar, useFilterNames } from './filter-bar.tsx';
import { conversationParameters, FILTER_WORDS, filtersOf, type Filters } from './filters.ts';
import { counted, outcomeWords, languageName, formatCount, formatInstant } from './format.ts';
import { useAnswer, useNarrow, useNavigation } from './hooks.ts';
import { Go, Outcome, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import { EmptiedBySegment } from './segments.tsx';
import { TextSearchList } from './text-search-list.tsx';
import type { FilterName } from './state.ts';
import { titleOf } from './transcript-words.ts';
import { useRows, VirtualList } from './virtual-list.tsx';

export function Conversations({ version }: { readonly version: string }) {
  const { said } = useNavigation().state.filters;
  return said === undefined ? <ListedConversations version={version} /> : <TextSearchList said={said} />;
}

function ListedConversations({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const narrow = useNarrow();
  const filters = filtersOf(state);
  const parameters = conversationParameters(period, filters, state.order);
  const list = useRows(parameters, version);
  const { total } = list;
  const title = total === null ? 'Conversations' : counted(total, 'conversation');
  const { outcome, ...others } = state.filters;
  const isAlone = Object.values(others).every((value) => value === undefined || value === '');
  return (
    <>
      {outcome === undefined || outcome === '' || !isAlone ? null : (
        <ChecksOf of="OUTCOME" id={outcome} about={outcomeWords(outcome).meaning} />
      )}
      <Section title={title} {...(total === null || total === 0 ? {} : { csv: () => api.csv(parameters) })}>
        <FilterBar />
        <VirtualList
          list={list}
          rowHeight={narrow ? 140 : 66}
          label="Conversations"
          empty={<NothingLeft filters={filters} />}
        >
          {(row) => <Conversation row={row} />}
        </VirtualList>
      </Section>
    </>
  );
}

function Conversation({ row: { dimensions, fields } }: { readonly row: Row }) {
  const { session } = dimensions;
  if (session === undefined) return null;
  const title = titleOf(session, null, 'Without a title');
  return (
    <div class="conversation">
      <p class="title">
        <Go to={{ session: session.id }} title={title}>
          {title}
        </Go>
      </p>
      <p class="summary" title={session.summary ?? ''}>
        {session.summary ?? ''}
      </p>
      <p class="faint meta">
        {(fields.sat ?? 0) > 0 ? <span class="tag good">satisfied</span> : null}
        {(fields.dsat ?? 0) > 0 ? <span class="tag bad">dissatisfied</span> : null}
        {(fields.repeatedRequests ?? 0) > 0 ? <span class="tag">asked again</span> : null}{' '}
        <span>
          <Outcome outcome={session.outcome ?? null} /> · {formatCount(fields.messages)} messages ·{' '}
          {languageName(session.language ?? null)} · {formatInstant(fields.lastActiveAt ?? '')}
        </span>
      </p>
    </div>
  );
}

/**
 * Finds the filter that excludes everything: counts the conversations without each of them, and over the whole history.
 */
function NothingLeft({ filters }: { readonly filters: Filters }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const names = useFilterNames();
  const own = Object.keys(state.filters) as FilterName[];
  const { value } = useAnswer(`without ${period.name} ${JSON.stringify(filters)}`, '', async (signal) => {
    const count = async (left: Filters, isEver: boolean): Promise<number> => {
      const {
        'dateRange.start': start,
        'dateRange.end': end,
        ...rest
      } = conversationParameters(period, left);
      const range = isEver ? {} : { 'dateRange.start': start, 'dateRange.end': end };
      return (await api.query({ ...rest, ...range, limit: 1 }, signal)).pagination.total;
    };
    const without = own.map(async (name) => {
      const { [name]: _removed, ...left } = filters;
      return { name, total: await count(left, false) };
    });
    // In one Promise.all, so that every rejection is handled.
    const [ever, ...others] = await Promise.all([count(filters, true), ...without]);
    return { ever, without: others };
  });
  const nameOf = (name: FilterName): string => `${FILTER_WORDS[name].phrase} ${names[name] ?? ''}`.trim();
  const entity = state.id === '' ? [] : ['what this page is about'];
  const all = [...entity, ...own.map(nameOf)];
  return (
    <>
      No conversation {state.range === 'all' ? '' : 'in this period '}
      {all.length === 0 ? 'is here' : `has ${all.join(' and ')}`}.{' '}
      {value === null ? null : (
        <>
          {value.without
            .filter(({ total }) => total > 0)
            .map(({ name, total }) => (
              <Go key={name} to={{ filters: { ...state.filters, [name]: '' } }}>
                Without {nameOf(name)}: {formatCount(total)}
              </Go>
            ))}
          {value.ever === 0 || state.range === 'all' ? null : (
            <Go to={{ range: 'all' }}>In all time: {formatCount(value.ever)}</Go>
          )}
        </>
      )}
      {/* Above the list of an entity without conversations stands the same. */}
      {state.id !== '' && own.length === 0 ? null : (
        <EmptiedBySegment parameters={conversationParameters(period, filters)} />
      )}
    </>
  );
}

/**
 * The controls that filter conversations and end users, and the list of active filters.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { api, type OverviewResponse, type Row } from './api.ts';
import {
  FILTER_GROUPINGS,
  FILTER_WORDS,
  filtersOf,
  MOOD_WORDS,
  nameOf,
  namedOf,
  ORDER_WORDS,
  type Named,
} from './filters.ts';
import { languageName, outcomeWords, formatCount, TYPE_WORDS } from './format.ts';
import { useAnswer, useNarrow, useNavigation } from './hooks.ts';
import { usePeriod } from './period.ts';
import { ENTITIES, filtersOfView, MOODS, ORDERS, type FilterName } from './state.ts';

/** Pause in typing before a search starts. */
const REST_MS = 300;
/** Longer, because a search in texts takes the service about a second. */
const TEXT_SEARCH_REST_MS = 800;

interface Option extends Named {
  /** Number of conversations, or of users on the list of users. */
  readonly count: number;
  /** Explains the name. */
  readonly title?: string;
}
type Options = Readonly<Partial<Record<FilterName, readonly Option[]>>>;

/** Filters whose values are listed; there are too many users for that. */
const LISTED = [...ENTITIES.filter((kind) => kind !== 'user'), 'language', 'outcome'] as const;

/** Returns the values of each filter, most frequent first, counted in the whole period without other filters. */
function useOptions(names: readonly FilterName[], metric: 'sessions' | 'users'): Options {
  const period = usePeriod();
  const { value } = useAnswer(
    `options ${period.name} ${metric} ${names.join()}`,
    '',
    async (signal): Promise<Options> => {
      const base = { instanceId: period.instance, ...period.range };
      let whole: Promise<OverviewResponse> | undefined;
      const overview = (): Promise<OverviewResponse> =>
        (whole ??= api.overview({ ...base, timeGranularity: 'MONTH' }, signal));
      const optionsOf = async (name: (typeof LISTED)[number]): Promise<readonly Option[]> => {
        if (name === 'outcome')
          return (await overview()).outcomes.flatMap(({ outcome, sessions }) => {
            const { label, meaning } = outcomeWords(outcome);
            return outcome === null ? [] : [{ id: outcome, name: label, title: meaning, count: sessions }];
          });
        if (name === 'language') {
          const { languages } = await overview();
          return languages.flatMap(({ language, sessions }) =>
            language === null ? [] : [{ id: language, name: languageName(language), count: sessions }],
          );
        }
        const groupBy = FILTER_GROUPINGS[name];
        const { elements } = await api.query(
          { ...base, groupBy, fields: metric, 'sort.field': metric, limit: 1000 },
          signal,
        );
        const keyOf = (row: Row): string => namedOf(row).name.toLowerCase();
        // Two gaps may have one name: the assistant can do nothing about a thing, and knows nothing of it.
        const alike = Map.groupBy(elements, keyOf);
        return elements.map((row) => {
          const named = namedOf(row);
          const isAmbiguous = (alike.get(keyOf(row))?.length ?? 0) > 1;
          const type = row.dimensions.gap?.gapType;
          const name = isAmbiguous && type !== undefined ? `${named.name} (${TYPE_WORDS[type]})` : named.name;
          return { ...named, name, count: row.fields[metric] ?? 0 };
        });
      };
      const listed = LISTED.filter((name) => names.includes(name));
      const lists = await Promise.all(listed.map(optionsOf));
      return Object.fromEntries(listed.map((name, index) => [name, lists[index] ?? []]));
    },
  );
  return value ?? {};
}

/** Returns the names of the active filters' values. */
export function useFilterNames(): Readonly<Partial<Record<FilterName, string>>> {
  const { state } = useNavigation();
  const given = Object.entries(state.filters) as [FilterName, string][];
  const { value } = useAnswer(`names ${state.instance} ${JSON.stringify(given)}`, '', async (signal) =>
    Object.fromEntries(
      await Promise.all(
        given.map(async ([name, id]) => [name, await nameOf(state.instance, name, id, signal)] as const),
      ),
    ),
  );
  return value ?? {};
}

export function FilterBar() {
  const { state, go } = useNavigation();
  const narrow = useNarrow();
  const names = filtersOfView(state.view);
  const options = useOptions(names, state.view === 'users' ? 'users' : 'sessions');
  const given = Object.keys(filtersOf(state));
  const chosen = useFilterNames();
  const set = (name: FilterName, value: string): void => go({ filters: { ...state.filters, [name]: value } });
  return (
    <details class="filters" open={!narrow}>
      <summary>Filter</summary>
      <div role="search" aria-label="Filter conversations">
        {names.includes('text') ? <TitleSearch /> : null}
        {LISTED.filter((name) => names.includes(name)).map((name) => (
          <Choice
            key={name}
            label={FILTER_WORDS[name].label}
            value={state.filters[name] ?? ''}
            valueName={chosen[name] ?? ''}
            options={options[name] ?? []}
            isCounted={given.every((other) => other === name)}
            onChoice={(value) => set(name, value)}
          />
        ))}
        <select
          aria-label={FILTER_WORDS.mood.label}
          class={state.filters.mood === undefined ? '' : 'chosen'}
          value={state.filters.mood ?? ''}
          onChange={(event) => set('mood', event.currentTarget.value)}
        >
          <option value="">{FILTER_WORDS.mood.label}</option>
          {MOODS.map((mood) => (
            <option key={mood} value={mood}>
              {MOOD_WORDS[mood].label}
            </option>
          ))}
        </select>
        {names.includes('user') ? <UserSearch onFound={(id) => set('user', id)} /> : null}
        {state.filters.said === undefined ? <OrderChoice /> : null}
      </div>
    </details>
  );
}

/** Absent in a search in texts, which has an order of its own. */
function OrderChoice() {
  const { state, go } = useNavigation();
  return (
    <select
      aria-label="Order"
      value={state.order}
      onChange={(event) => go({ order: event.currentTarget.value as (typeof ORDERS)[number] })}
    >
      {ORDERS.map((order) => (
        <option key={order} value={order}>
          {order !== 'usual'
            ? ORDER_WORDS[order].label
            : state.view === 'users'
              ? 'Most conversations first'
              : 'Newest first'}
        </option>
      ))}
    </select>
  );
}

function Choice({
  label,
  value,
  valueName,
  options,
  isCounted,
  onChoice,
}: {
  readonly label: string;
  readonly value: string;
  /** Name of the selected value, which the period may not contain. */
  readonly valueName: string;
  readonly options: readonly Option[];
  /** True if counts match the list: no other filter is active, and the page is not one of an entity. */
  readonly isCounted: boolean;
  readonly onChoice: (value: string) => void;
}) {
  const isListed = value === '' || options.some(({ id }) => id === value);
  if (options.length === 0 && value === '') return null;
  return (
    <select
      aria-label={label}
      class={value === '' ? '' : 'chosen'}
      title={valueName}
      value={value}
      onChange={(event) => onChoice(event.currentTarget.value)}
    >
      <option value="">{label}</option>
      {isListed ? null : <option value={value}>{valueName}</option>}
      {options.map(({ id, name, title, count }) => (
        <option key={id} value={id} title={title ?? name}>
          {isCounted ? `${name} (${formatCount(count)})` : name}
        </option>
      ))}
    </select>
  );
}

/** Searches while the user types. */
function TitleSearch() {
  const { state, go } = useNavigation();
  const { said } = state.filters;
  const [searchesTexts, setSearchesTexts] = useState(said !== undefined);
  const searched = said ?? state.filters.text ?? '';
  const search = (value: string, inTexts: boolean, how?: 'replace'): void => {
    const chosen = inTexts ? { text: '', said: value } : { text: value, said: '' };
    go({ filters: { ...state.filters, ...chosen } }, how);
  };
  const [text, setText] = useState(searched);
  useEffect(() => setText(searched), [searched]);
  useEffect(() => {
    if (text.trim() === searched) return;
    const timer = setTimeout(
      () => search(text.trim(), searchesTexts, searched === '' ? undefined : 'replace'),
      searchesTexts ? TEXT_SEARCH_REST_MS : REST_MS,
    );
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <>
      <input
        type="search"
        aria-label={searchesTexts ? 'Text in messages' : 'Text in title or summary'}
        placeholder={searchesTexts ? 'Search messages' : 'Search titles and summaries'}
        maxLength={200}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label>
        <input
          type="checkbox"
          checked={searchesTexts}
          onChange={({ currentTarget: { checked } }) => {
            setSearchesTexts(checked);
            if (searched !== '') search(searched, checked);
          }}
        />{' '}
        in messages
      </label>
    </>
  );
}

/** Finds an end user by their exact userId. */
function UserSearch({ onFound }: { readonly onFound: (id: string) => void }) {
  const { state } = useNavigation();
  const [missing, setMissing] = useState('');
  const find = async (externalId: string): Promise<void> => {
    const { elements } = await api.query({
      instanceId: state.instance,
      groupBy: 'END_USER',
      fields: 'sessions',
      externalId,
    });
    const id = elements[0]?.dimensions.endUser?.id;
    setMissing(id === undefined ? externalId : '');
    if (id !== undefined) onFound(id);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget as HTMLFormElement;
        const name = new FormData(form).get('user');
        if (typeof name !== 'string' || name.trim() === '') return;
        form.reset();
        find(name.trim()).catch(() => setMissing(name.trim()));
      }}
    >
      <input name="user" aria-label="Name of a user" placeholder="User, exact name" maxLength={255} />
      <span role="status" class="faint">
        {missing === '' ? '' : `There is no user “${missing}”.`}
      </span>
    </form>
  );
}

/** Shows the active filters besides the page's own entity. */
export function Chips() {
  const { state, go } = useNavigation();
  const names = useFilterNames();
  const given = filtersOfView(state.view).filter((name) => state.filters[name] !== undefined);
  if (given.length === 0) return null;
  return (
    <p class="chips">
      {given.map((name) => {
        const value = (names[name] ?? '') === '' ? '' : `: ${names[name]}`;
        const words = `${FILTER_WORDS[name].label}${value}`;
        return (
          <button
            key={name}
            type="button"
            title={words}
            onClick={() => go({ filters: { ...state.filters, [name]: '' } })}
          >
            <span class="words">{words}</span> <span aria-hidden="true">×</span>
            <span class="hidden"> take this filter off</span>
          </button>
        );
      })}
      {given.length < 2 ? null : (
        <button type="button" class="quiet" onClick={() => go({ filters: {} })}>
          Clear all <kbd>Esc</kbd>
        </button>
      )}
    </p>
  );
}

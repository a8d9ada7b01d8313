/** What the page shows, as its URL says it. Covered by test/http/dashboard/state.test.ts. */
import { SESSION_OUTCOMES } from '../../../domain/session-outcomes.ts';

export const RANGES = ['24h', '7d', '28d', '90d', '365d', 'all'] as const;
export type RangeName = (typeof RANGES)[number];

export const COMPARISONS = ['previous', 'year', 'none'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Buckets of a trend; `auto`: as fit the range. */
export const BUCKETS = ['auto', 'hour', 'day', 'week', 'month'] as const;
export type BucketName = (typeof BUCKETS)[number];

/** What has a page of its own, and what filters conversations. */
export const ENTITIES = ['topic', 'cluster', 'gap', 'repeat', 'signal', 'user'] as const;
export type EntityKind = (typeof ENTITIES)[number];

/** Pages that are about no single entity. */
const LISTS = ['overview', 'conversations', 'users', 'changes', 'decisions', 'alerts', 'connect'] as const;

/** What conversations are chosen by: entities, a language, an outcome, and a text in their title. */
export const FILTERS = [...ENTITIES, 'language', 'outcome', 'text'] as const;
export type FilterName = (typeof FILTERS)[number];
/** What end users are chosen by. */
const USER_FILTERS: readonly FilterName[] = ['topic', 'cluster'];

export interface PageState {
  /** Id of the instance; '' until one is chosen. */
  readonly instance: string;
  readonly range: RangeName;
  readonly compare: Comparison;
  readonly buckets: BucketName;
  readonly view: (typeof LISTS)[number] | EntityKind;
  /** Id of the entity that has the page. */
  readonly id: string;
  /** Id of the conversation that is open; '' for none. */
  readonly session: string;
  /** Conversations must have all of these: ids, the code of a language, an outcome, a text. */
  readonly filters: Readonly<Partial<Record<FilterName, string>>>;
}

export const START: PageState = {
  instance: '',
  range: '28d',
  compare: 'previous',
  buckets: 'auto',
  view: 'overview',
  id: '',
  session: '',
  filters: {},
};

const ID = /^[0-9a-f-]{36}$/i;
/** As many characters as the API takes. */
const MAX_TEXT = 200;

function oneOf<Value extends string>(values: readonly Value[], text: string | null, otherwise: Value): Value {
  return values.find((value) => value === text) ?? otherwise;
}

/** Reads `location.search`; what is not known is as at the start. */
export function readState(search: string): PageState {
  const parameters = new URLSearchParams(search);
  const idOf = (name: string): string => {
    const text = parameters.get(name) ?? '';
    return ID.test(text) ? text.toLowerCase() : '';
  };
  const id = idOf('id');
  const named = oneOf([...LISTS, ...ENTITIES], parameters.get('view'), START.view);
  const view = isEntity(named) && id === '' ? START.view : named;
  const valueOf = (name: FilterName): string => {
    const text = (parameters.get(name) ?? '').trim();
    if (name === 'language') return /^[a-z]{2,3}$/.test(text) ? text : '';
    if (name === 'outcome') return oneOf([...SESSION_OUTCOMES, ''], text, '');
    return name === 'text' ? text.slice(0, MAX_TEXT) : idOf(name);
  };
  const filters: Partial<Record<FilterName, string>> = {};
  for (const name of filtersOfView(view)) {
    const value = valueOf(name);
    if (value !== '') filters[name] = value;
  }
  return {
    instance: idOf('instance'),
    range: oneOf(RANGES, parameters.get('range'), START.range),
    compare: oneOf(COMPARISONS, parameters.get('compare'), START.compare),
    buckets: oneOf(BUCKETS, parameters.get('buckets'), START.buckets),
    view,
    id: isEntity(view) ? id : '',
    session: idOf('session'),
    filters,
  };
}

/** Whether a view is the page of one entity. */
export function isEntity(view: PageState['view']): view is EntityKind {
  return ENTITIES.some((kind) => kind === view);
}

/** The filters that choose what a view lists. A view without a list has none: they would change nothing on it. */
export function filtersOfView(view: PageState['view']): readonly FilterName[] {
  if (view === 'users') return USER_FILTERS;
  return view === 'conversations' || isEntity(view) ? FILTERS.filter((name) => name !== view) : [];
}

/** A state with changes, less the filters that its view does not have. */
export function changed(state: PageState, changes: Partial<PageState>): PageState {
  const next = { ...state, ...changes };
  const known = filtersOfView(next.view);
  const filters = Object.fromEntries(
    known.flatMap((name) => {
      const value = next.filters[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  return { ...next, filters };
}

/** `?…` for a state; what is as at the start is left out. */
export function writeState(state: PageState): string {
  const parameters = new URLSearchParams();
  for (const name of ['instance', 'range', 'compare', 'buckets', 'view', 'id', 'session'] as const)
    if (state[name] !== START[name]) parameters.set(name, state[name]);
  for (const name of FILTERS) {
    const value = state.filters[name];
    if (value !== undefined) parameters.set(name, value);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<Exclude<RangeName, '24h' | 'all'>, number>> = {
  '7d': 7,
  '28d': 28,
  '90d': 90,
  '365d': 365,
};

/**
 * The instants of a range that ends with the current hour (24h) or day, in UTC, and the buckets of its trend; null:
 * all time.
 */
export function rangeOf(
  name: RangeName,
  nowMs: number,
): { readonly start: string; readonly end: string; readonly granularity: 'HOUR' | 'DAY' | 'WEEK' } | null {
  if (name === 'all') return null;
  const unit = name === '24h' ? DAY_MS / 24 : DAY_MS;
  const end = (Math.floor(nowMs / unit) + 1) * unit;
  const start = name === '24h' ? end - DAY_MS : end - DAYS[name] * DAY_MS;
  const granularity = name === '24h' ? 'HOUR' : name === '365d' || name === '90d' ? 'WEEK' : 'DAY';
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), granularity };
}

const HOURS_OF: Readonly<Record<Exclude<BucketName, 'auto'>, number>> = {
  hour: 1,
  day: 24,
  week: 168,
  month: 720,
};
/** A trend has at most about so many buckets. */
const MOST_BUCKETS = 2500;

/** The buckets that a range can be shown in. All time is as long as ten years. */
export function bucketsFor(range: RangeName): readonly BucketName[] {
  const days = range === '24h' ? 1 : range === 'all' ? 3650 : DAYS[range];
  return BUCKETS.filter(
    (name) =>
      name === 'auto' || (HOURS_OF[name] <= days * 24 && (days * 24) / HOURS_OF[name] <= MOST_BUCKETS),
  );
}

/** Every bucket from the first of a range to its last, so that a chart shows those without messages too. */
export function bucketsOf(
  start: string,
  end: string,
  granularity: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH',
): string[] {
  const buckets: string[] = [];
  const at = new Date(start);
  at.setUTCMinutes(0, 0, 0);
  if (granularity !== 'HOUR') at.setUTCHours(0);
  if (granularity === 'WEEK') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
  if (granularity === 'MONTH') at.setUTCDate(1);
  const last = new Date(end).getTime();
  while (at.getTime() < last && buckets.length < 10_000) {
    buckets.push(`${at.toISOString().slice(0, 13)}:00:00Z`);
    if (granularity === 'HOUR') at.setUTCHours(at.getUTCHours() + 1);
    else if (granularity === 'DAY') at.setUTCDate(at.getUTCDate() + 1);
    else if (granularity === 'WEEK') at.setUTCDate(at.getUTCDate() + 7);
    else at.setUTCMonth(at.getUTCMonth() + 1);
  }
  return buckets;
}

/**
 * The state of the page and its representation in the URL. Reading a written state gives the same state; unknown values
 * become defaults.
 *
 * Test: test/web/page/state.test.ts.
 */
import { isLeftOutName } from '../../../domain/attributes.ts';
import { SESSION_OUTCOMES } from '../../../domain/session-outcomes.ts';
import { COUNTED_SIGNALS, type CountedSignals } from '../../../domain/signal-kinds.ts';

/** Ranges that end now. */
export const RANGES = ['24h', '7d', '28d', '90d', '365d', 'all'] as const;
/** Calendar weeks, from Monday to Sunday, and months. */
export const CALENDAR = ['this-week', 'last-week', 'this-month', 'last-month'] as const;
/** `2026-11-01/2026-11-07`: first and last day, both inclusive. */
type Days = `${string}/${string}`;
export type RangeName = (typeof RANGES)[number] | (typeof CALENDAR)[number] | Days;

export const COMPARISONS = ['previous', 'year', 'none'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Buckets of a trend; `auto` fits the range. */
export const BUCKETS = ['auto', 'hour', 'day', 'week', 'month'] as const;
export type BucketName = (typeof BUCKETS)[number];

/** Entities with a page of their own, which also filter conversations. */
export const ENTITIES = ['topic', 'cluster', 'gap', 'repeat', 'signal', 'label', 'user'] as const;
export type EntityKind = (typeof ENTITIES)[number];

/** Pages of no single entity. */
const LISTS = ['overview', 'conversations', 'users', 'changes', 'decisions', 'alerts', 'connect'] as const;

/** A conversation or user has at least one such signal. */
export const MOODS = ['satisfied', 'dissatisfied', 'repeated'] as const;
export type Mood = (typeof MOODS)[number];

/**
 * Filters of conversations: entities, a language, an outcome, a mood, a text in title or summary, and a text in
 * messages.
 */
export const FILTERS = [...ENTITIES, 'language', 'outcome', 'mood', 'text', 'said'] as const;
export type FilterName = (typeof FILTERS)[number];
/** Filters of end users. */
const USER_FILTERS: readonly FilterName[] = ['topic', 'cluster', 'mood'];

/** Orders of a list; `usual`: newest conversation first, user with most conversations first. */
export const ORDERS = ['usual', 'worst', 'best', 'longest', 'repeats'] as const;
export type Order = (typeof ORDERS)[number];

/** A value of an attribute of conversations. */
export type ChosenValue = readonly [attribute: string, value: string];

export interface PageState {
  /** Id of the instance; '' until one is selected. */
  readonly instance: string;
  readonly range: RangeName;
  readonly compare: Comparison;
  readonly buckets: BucketName;
  readonly view: (typeof LISTS)[number] | EntityKind;
  /** Id of the page's entity. */
  readonly id: string;
  /** Order of the view's list. */
  readonly order: Order;
  /** Id of the open conversation; '' for none. */
  readonly session: string;
  /** Conversations must pass all of these: ids, a language code, an outcome, a text. */
  readonly filters: Readonly<Partial<Record<FilterName, string>>>;
  /**
   * Only conversations with these attributes count, on every view; of one attribute any of its values. `environment!`
   * leaves out those with the value; with an empty one it leaves out none, whatever the instance does.
   */
  readonly segment: readonly ChosenValue[];
  /** What counts as satisfaction, on every view. */
  readonly signals: CountedSignals;
  /**
   * The attribute of the table, on the overview and on an entity's page; '' for the usual. On the overview, the two values
   * of which it says what differs.
   */
  readonly attribute: string;
  readonly value: string;
  readonly against: string;
  /** The part of an entity's page that is scrolled to once it shows; another page begins at its top. */
  readonly at: (typeof PLACES)[number];
}

const PLACES = ['top', 'check'] as const;

const NO_PAIR = { attribute: '', value: '', against: '' } as const;

export const START: PageState = {
  instance: '',
  range: '28d',
  compare: 'previous',
  buckets: 'auto',
  view: 'overview',
  id: '',
  order: 'usual',
  session: '',
  filters: {},
  segment: [],
  signals: 'inferred',
  ...NO_PAIR,
  at: 'top',
};

/** What the parameters of a segment begin with. */
export const SEGMENT = 'segment.';
const ID = /^[0-9a-f-]{36}$/i;
/** Limit of the API, characters. */
const MAX_TEXT = 200;

function oneOf<Value extends string>(values: readonly Value[], text: string | null, otherwise: Value): Value {
  return values.find((value) => value === text) ?? otherwise;
}

/** Reads `location.search`; unknown values become the defaults of START. */
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
    if (name === 'mood') return oneOf([...MOODS, ''], text, '');
    if (name === 'outcome') return oneOf([...SESSION_OUTCOMES, ''], text, '');
    return name === 'text' || name === 'said' ? text.slice(0, MAX_TEXT) : idOf(name);
  };
  const filters: Partial<Record<FilterName, string>> = {};
  for (const name of filtersOfView(view)) {
    const value = valueOf(name);
    if (value !== '') filters[name] = value;
  }
  return {
    instance: idOf('instance'),
    range: rangeNamed(parameters.get('range')),
    compare: oneOf(COMPARISONS, parameters.get('compare'), START.compare),
    buckets: oneOf(BUCKETS, parameters.get('buckets'), START.buckets),
    view,
    id: isEntity(view) ? id : '',
    order:
      filtersOfView(view).length === 0 ? START.order : oneOf(ORDERS, parameters.get('order'), START.order),
    session: idOf('session'),
    filters,
    segment: [...parameters].flatMap(([name, value]): ChosenValue[] =>
      name.startsWith(SEGMENT) && name.length > SEGMENT.length && (value.trim() !== '' || isLeftOutName(name))
        ? [[name.slice(SEGMENT.length), value.slice(0, MAX_TEXT)]]
        : [],
    ),
    signals: oneOf(COUNTED_SIGNALS, parameters.get('signals'), START.signals),
    ...pairOf(view, pairIn(parameters)),
    at: isEntity(view) ? oneOf(PLACES, parameters.get('at'), START.at) : START.at,
  };
}

type Pair = Pick<PageState, 'attribute' | 'value' | 'against'>;

/** The overview has all of it, the page of an entity the attribute of its table. */
function pairOf(view: PageState['view'], { attribute, value, against }: Pair): Pair {
  if (view === 'overview') return { attribute, value, against };
  return isEntity(view) ? { ...NO_PAIR, attribute } : NO_PAIR;
}

function pairIn(parameters: URLSearchParams): Pair {
  const [attribute = '', value = '', against = ''] = ['attribute', 'value', 'against'].map((name) =>
    (parameters.get(name) ?? '').slice(0, MAX_TEXT),
  );
  return attribute === '' ? NO_PAIR : { attribute, value, against };
}

/** Returns true for the page of one entity. */
export function isEntity(view: PageState['view']): view is EntityKind {
  return ENTITIES.some((kind) => kind === view);
}

/** Returns the filters of a view's list; empty for a view without a list. */
export function filtersOfView(view: PageState['view']): readonly FilterName[] {
  if (view === 'users') return USER_FILTERS;
  return view === 'conversations' || isEntity(view) ? FILTERS.filter((name) => name !== view) : [];
}

/** Applies changes to a state, and removes filters that its view lacks; `at` holds for one step. */
export function changed(state: PageState, changes: Partial<PageState>): PageState {
  const next = { ...state, at: START.at, ...changes };
  const buckets = bucketsFor(next.range).includes(next.buckets) ? next.buckets : START.buckets;
  const known = filtersOfView(next.view);
  const filters = Object.fromEntries(
    known.flatMap((name) => {
      const value = next.filters[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const order = known.length === 0 ? START.order : next.order;
  return { ...next, buckets, order, filters, ...pairOf(next.view, next) };
}

/** Returns `?…`; omits the defaults of START. */
export function writeState(state: PageState): string {
  const parameters = new URLSearchParams();
  const own = [
    'instance',
    'range',
    'compare',
    'buckets',
    'signals',
    'view',
    'id',
    'order',
    'session',
    'at',
  ] as const;
  for (const name of own) if (state[name] !== START[name]) parameters.set(name, state[name]);
  for (const name of FILTERS) {
    const value = state.filters[name];
    if (value !== undefined) parameters.set(name, value);
  }
  for (const name of ['attribute', 'value', 'against'] as const)
    if (state[name] !== '') parameters.set(name, state[name]);
  for (const [name, value] of state.segment) parameters.append(`${SEGMENT}${name}`, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** As `writeState`, but always names the view, because the address of a link must. */
export function addressOf(state: PageState): string {
  // Readers with a link see no attributes.
  const parameters = new URLSearchParams(writeState({ ...state, ...NO_PAIR, at: START.at }));
  parameters.set('view', state.view);
  return `?${parameters.toString()}`;
}

const DAY_MS = 86_400_000;
/** A trend over more days has weekly buckets. */
const MOST_DAYS = 62;

function rangeNamed(text: string | null): RangeName {
  return daysOf(text ?? '') === null ? oneOf([...RANGES, ...CALENDAR], text, START.range) : (text as Days);
}

/** Returns the first and last day of a range, milliseconds; null if it names no days or has them in the wrong order. */
function daysOf(name: string): readonly [first: number, last: number] | null {
  const [, ...days] = /^(\d{4}-\d\d-\d\d)\/(\d{4}-\d\d-\d\d)$/.exec(name) ?? [];
  const [first = NaN, last = NaN] = days.map((day) => Date.parse(`${day}T00:00:00Z`));
  // `Date.parse` turns a day that does not exist into another one, or into NaN.
  const isReal = days.every((day, index) => dayText([first, last][index]!) === day);
  return days.length > 0 && isReal && first <= last ? [first, last] : null;
}

function dayText(ms: number): string {
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 10);
}

/** Returns the first day of the week or month of a day, `back` weeks or months earlier. */
function calendarStart(unit: 'week' | 'month', dayMs: number, back: number): number {
  const day = new Date(dayMs);
  if (unit === 'month') return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() - back, 1);
  return dayMs - (((day.getUTCDay() + 6) % 7) + 7 * back) * DAY_MS;
}

/** Returns start and end, milliseconds; a range that ends now ends with the current hour (24h) or day, in UTC. */
function instantsOf(name: Exclude<RangeName, 'all'>, nowMs: number): readonly [start: number, end: number] {
  const days = daysOf(name);
  if (days !== null) return [days[0], days[1] + DAY_MS];
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const [, which, unit] = /^(this|last)-(week|month)$/.exec(name) ?? [];
  if (unit === 'week' || unit === 'month') {
    const start = calendarStart(unit, today, which === 'last' ? 1 : 0);
    return [start, which === 'last' ? calendarStart(unit, today, 0) : today + DAY_MS];
  }
  if (name === '24h') {
    const end = (Math.floor(nowMs / (DAY_MS / 24)) + 1) * (DAY_MS / 24);
    return [end - DAY_MS, end];
  }
  return [today + DAY_MS - Number.parseInt(name, 10) * DAY_MS, today + DAY_MS];
}

/** Returns start, end and trend buckets of a range; null for the whole history. */
export function rangeOf(
  name: RangeName,
  nowMs: number,
): { readonly start: string; readonly end: string; readonly granularity: 'HOUR' | 'DAY' | 'WEEK' } | null {
  if (name === 'all') return null;
  const [start, end] = instantsOf(name, nowMs);
  const days = (end - start) / DAY_MS;
  const granularity = days <= 1 ? 'HOUR' : days > MOST_DAYS ? 'WEEK' : 'DAY';
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), granularity };
}

/** Returns the possible comparisons of a range: nothing precedes the whole history. */
export function comparisonsFor(range: RangeName): readonly Comparison[] {
  return range === 'all' ? ['none'] : COMPARISONS;
}

const WEEK_MS = 7 * DAY_MS;

/** The offset of the period before, as in GET /v1/changes, and its name. */
export interface Earlier {
  readonly weeks: number;
  /** `period before` only if it ends where the range begins. */
  readonly name: string;
}

/** Returns the offset of the period before: whole weeks, so that both periods have the same weekdays. */
export function earlierOf(name: RangeName, compare: 'previous' | 'year', nowMs: number): Earlier {
  if (name === 'all') return { weeks: 0, name: compare === 'year' ? 'year before' : 'period before' };
  const [start, end] = instantsOf(name, nowMs);
  const least = Math.ceil((end - start) / WEEK_MS);
  if (compare === 'year') return { weeks: Math.max(52, least), name: 'year before' };
  const isAdjacent = least * WEEK_MS === end - start;
  return {
    weeks: least,
    name: isAdjacent ? 'period before' : least === 1 ? 'week before' : `${least} weeks before`,
  };
}

/** Returns the days of a range, the initial value of the day inputs. */
export function asDays(name: RangeName, nowMs: number): readonly [first: string, last: string] {
  const [start, end] = instantsOf(name === 'all' ? '365d' : name, nowMs);
  return [dayText(start), dayText(end - 1)];
}

const HOURS_OF: Readonly<Record<Exclude<BucketName, 'auto'>, number>> = {
  hour: 1,
  day: 24,
  week: 168,
  month: 720,
};
/** Approximate limit of buckets in a trend. */
const MOST_BUCKETS = 2500;

/** Returns the possible buckets of a range; the whole history counts as ten years. */
export function bucketsFor(range: RangeName): readonly BucketName[] {
  // The kinds of buckets are the same for a month of any length.
  const [start, end] = range === 'all' ? [0, 3650 * DAY_MS] : instantsOf(range, Date.UTC(2026, 0, 31));
  const days = (end - start) / DAY_MS;
  return BUCKETS.filter(
    (name) =>
      name === 'auto' || (HOURS_OF[name] <= days * 24 && (days * 24) / HOURS_OF[name] <= MOST_BUCKETS),
  );
}

/** Returns every bucket of a range, so that charts include those without messages. */
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

/**
 * Limits requests with a link to the link's view.
 *
 * Test: test/web/links.test.ts.
 */
import type { FastifyRequest } from 'fastify';
import { SHARED_GROUPINGS, type Shared } from '../contract/shared.ts';
import { formatLocalBucket, instantOfLocal, startOfDate } from '../domain/local-time.ts';
import { SHARED_VIEWS, type SharedView } from '../domain/shared-views.ts';
import { COUNTED_SIGNALS } from '../domain/signal-kinds.ts';
import { DAY_MICROS, parseTime } from '../domain/time.ts';
import { AppError } from '../errors.ts';
import { invalidRequest } from './ingest/validation.ts';
import { periodsOf } from '../query/changes/changes-reader.ts';
import {
  addressOf,
  BUCKETS,
  CALENDAR,
  COMPARISONS,
  isEntity,
  rangeOf,
  RANGES,
  readState,
  START,
  type PageState,
} from './page/client/state.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rules for links. Absent: they may not use the route. */
    shared?: Shared<never>;
  }
}

/** Members of an address that a link keeps. */
const HELD = ['view', 'id', 'range', 'compare', 'buckets', 'signals'] as const;
const RULES: Readonly<Record<(typeof HELD)[number] | 'segment', string>> = {
  view: `must have \`view\`, one of ${SHARED_VIEWS.join(', ')}, and no open conversation`,
  id: 'must have an `id` that is a UUID where it shows one thing, and none elsewhere',
  range:
    'must have a `range` that is one of ' +
    `${[...RANGES, ...CALENDAR].join(', ')} or two days in their order, as 2026-11-01/2026-11-07`,
  compare: `must have a \`compare\` that is one of ${COMPARISONS.join(', ')}`,
  buckets: `must have a \`buckets\` that is one of ${BUCKETS.join(', ')}`,
  signals: `must have \`signals\` that is one of ${COUNTED_SIGNALS.join(', ')}`,
  segment:
    'must have no `segment`, because a link shows all conversations but those that the instance leaves out',
};

/**
 * Returns the address of a link in canonical form. The page replaces unknown values by defaults; a link that did so
 * could show more than intended, so they are refused. Throws AppError VALIDATION_ERROR.
 */
export function sharedView(search: string): string {
  const given = new URLSearchParams(search);
  const { session, ...state } = readState(search);
  const { view, id, range, compare, buckets, signals } = state;
  const [named = ''] = given.getAll('view');
  if (session !== '' || !isShared(named)) throw notSharable(['view']);
  // Without its segment, a view shows more than who shares it sees.
  if ([...given.keys()].some((name) => /^segment(?:$|[.[])/u.test(name))) throw notSharable(['segment']);
  // Without an id, the page would show the overview.
  if (isEntity(named) && id === '') throw notSharable(['id']);
  const wrong = HELD.filter((name) => {
    const values = given.getAll(name);
    const value = name === 'id' ? values[0]?.toLowerCase() : values[0];
    return values.length > 1 || (value !== undefined && value !== state[name]);
  });
  if (wrong.length > 0) throw notSharable(wrong);
  // Filters select conversations, which a link never shows.
  return addressOf({ ...START, view, id, range, compare, buckets, signals });
}

function notSharable(names: readonly (keyof typeof RULES)[]): AppError {
  return invalidRequest(names.map((name) => ({ path: 'view', message: RULES[name] })));
}

/** The current time, and the time zone of the instance. */
interface Now {
  readonly ms: number;
  readonly zone: string;
}

/**
 * Runs before anything is read for a request with a link. Refuses everything that is not explicitly allowed: routes,
 * parameters, values, other notations of a value, response types. Throws AppError FORBIDDEN.
 */
export function holdToView(request: FastifyRequest, view: string, now: Now): void {
  const { shared, instance } = request.routeOptions.config;
  const state = readState(view);
  if (shared === undefined || !isShared(state.view) || !shared.views.includes(state.view))
    throw outsideView();
  const { accept = '*/*', 'x-wait-for-position': wait } = request.headers;
  if (wait !== undefined || (accept !== '*/*' && accept !== 'application/json')) throw outsideView();
  const { id } = request.params as { readonly id?: string };
  if (id !== undefined && id !== state.id) throw outsideView();
  const query = request.query as Readonly<Record<string, string | readonly string[]>>;
  for (const [name, value] of Object.entries(query))
    if (!shared.free.includes(name) && !(typeof value === 'string' && isOfView(name, value, state)))
      throw outsideView();
  if (instance !== 'parameters') return;
  if (isEntity(state.view) && 'groupBy' in query && !('ids' in query)) throw outsideView();
  if (shared.compares === true && !('compare' in query)) throw outsideView();
  if (!isInRange(query, state, now, shared.compares === true)) throw outsideView();
}

/** Reduces an answer to what the request's link may show; returns it whole for other requests. */
export function redactForLink({ key, routeOptions }: FastifyRequest, answer: object): object {
  if (key?.link === undefined) return answer;
  const { view } = readState(key.link.view);
  const { shared } = routeOptions.config;
  if (shared === undefined || !isShared(view)) throw outsideView();
  return shared.redact(answer as never, view);
}

/** Returns true if a parameter agrees with the link's view; `isInRange` checks the ranges. */
function isOfView(name: string, value: string, { view, id, compare, signals }: PageState): boolean {
  switch (name) {
    case 'instanceId':
    case 'dateRange.start':
    case 'dateRange.end':
      return true;
    case 'groupBy':
      return isShared(view) && SHARED_GROUPINGS[view].includes(value);
    case 'ids':
      // On a list, ids select among the shown entities.
      return !isEntity(view) || value === id;
    case 'signals':
      return value === signals;
    case 'compare':
      return value !== 'none' && value === comparedWith({ view, compare });
    default:
      return false;
  }
}

/** Tolerance for a browser's clock, and for a page that stays open over midnight. */
const TOLERANCE_MS = 3_600_000;

/** Returns the comparison of a view; the view of changes always compares. */
function comparedWith({ view, compare }: Pick<PageState, 'view' | 'compare'>): PageState['compare'] {
  return compare === 'none' && view === 'changes' ? 'previous' : compare;
}

/**
 * Returns true if the requested range lies in the range of the view or in the one before. On a route that compares, the
 * range must lie in the view's, and its period before in either.
 */
function isInRange(
  query: Readonly<Record<string, unknown>>,
  state: PageState,
  { ms, zone }: Now,
  compares: boolean,
): boolean {
  if (state.range === 'all') return true;
  const [start, end] = [query['dateRange.start'], query['dateRange.end']].map((text) =>
    typeof text === 'string' ? (startOfDate(text, zone) ?? parseTime(text)) : null,
  );
  if (typeof start !== 'number' || typeof end !== 'number') return false;
  const asked = { start, end };
  const compare = comparedWith(state);
  return [-TOLERANCE_MS, 0, TOLERANCE_MS].some((later) => {
    const range = rangeOfView(state, ms + later, zone);
    if (range === null) return false;
    if (compare === 'none') return isWithin(asked, range);
    const ranges = [range, beforeOf(range, compare, zone)];
    const isInView = (wanted: Range): boolean => ranges.some((each) => isWithin(wanted, each));
    return compares ? isWithin(asked, range) && isInView(beforeOf(asked, compare, zone)) : isInView(asked);
  });
}

/** In microseconds. */
interface Range {
  readonly start: number;
  readonly end: number;
}

function isWithin(inner: Range, outer: Range): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** Returns the range of a view; null: the whole history. */
function rangeOfView({ range }: PageState, ms: number, zone: string): Range | null {
  const clock = formatLocalBucket(ms * 1000, zone).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const local = rangeOf(range, Date.parse(`${clock}Z`));
  if (local === null) return null;
  const [first = 0, end = 0] = [local.start, local.end].map((text) => instantOfLocal(Date.parse(text), zone));
  // With a clock change, a day is not 24 hours long, but the range of 24 hours is.
  return { start: range === '24h' ? end - DAY_MICROS : first, end };
}

/** Returns the period before, as in GET /v1/changes. */
function beforeOf(range: Range, compare: 'previous' | 'year', zone: string): Range {
  return periodsOf(range, compare, range.end, zone).before;
}

function isShared(view: string): view is SharedView {
  return (SHARED_VIEWS as readonly string[]).includes(view);
}

function outsideView(): AppError {
  return new AppError('FORBIDDEN', 'The link shows one view of one instance, and nothing else.');
}

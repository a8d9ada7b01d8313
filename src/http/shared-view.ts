/** Holds whoever has a link to the view that it shows. Covered by test/http/links.test.ts. */
import type { FastifyRequest } from 'fastify';
import { SHARED_GROUPINGS, type Shared } from '../contract/shared.ts';
import { formatLocalBucket, instantOfLocal, startOfDate } from '../domain/local-time.ts';
import { SHARED_VIEWS, type SharedView } from '../domain/shared-views.ts';
import { DAY_MICROS, parseTime } from '../domain/time.ts';
import { AppError } from '../errors.ts';
import { periodsOf } from '../query/changes/changes-reader.ts';
import { isEntity, rangeOf, readState, START, writeState, type PageState } from './dashboard/client/state.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a link may use the route. Absent: not at all. */
    shared?: Shared<never>;
  }
}

/** What a link holds of an address; null: it shows a view that no link may. */
export function sharedView(search: string): string | null {
  const { view, id, range, compare, buckets, session } = readState(search);
  if (session !== '' || !isShared(view)) return null;
  // Filters choose conversations, which a link shows none of.
  return writeState({ ...START, view, id, range, compare, buckets });
}

/** Moment, and the time zone of the instance. */
interface Now {
  readonly ms: number;
  readonly zone: string;
}

/**
 * Before anything is read for a request that shows a link. Everything that is not allowed here is refused: the route, a
 * parameter, a value, another form of the same value, a type of answer. Throws AppError FORBIDDEN.
 */
export function holdToView(request: FastifyRequest, view: string, now: Now): void {
  const { shared, instance } = request.routeOptions.config;
  const state = readState(view);
  if (shared === undefined || !isShared(state.view) || !shared.views.includes(state.view)) throw notShown();
  const { accept = '*/*', 'x-wait-for-position': wait } = request.headers;
  if (wait !== undefined || (accept !== '*/*' && accept !== 'application/json')) throw notShown();
  const { id } = request.params as { readonly id?: string };
  if (id !== undefined && id !== state.id) throw notShown();
  const query = request.query as Readonly<Record<string, string | readonly string[]>>;
  for (const [name, value] of Object.entries(query))
    if (!shared.free.includes(name) && !(typeof value === 'string' && isOfView(name, value, state)))
      throw notShown();
  if (instance !== 'parameters') return;
  if (isEntity(state.view) && 'groupBy' in query && !('ids' in query)) throw notShown();
  if (!isInRange(query, state, now)) throw notShown();
}

/** What a link shows of an answer to its request; the whole to others. */
export function shownTo({ key, routeOptions }: FastifyRequest, answer: object): object {
  if (key?.link === undefined) return answer;
  const { view } = readState(key.link.view);
  const { shared } = routeOptions.config;
  if (shared === undefined || !isShared(view)) throw notShown();
  return shared.shown(answer as never, view);
}

/** Whether a parameter says of the view what the link says; ranges are looked at together. */
function isOfView(name: string, value: string, { view, id, compare }: PageState): boolean {
  switch (name) {
    case 'instanceId':
    case 'dateRange.start':
    case 'dateRange.end':
      return true;
    case 'groupBy':
      return isShared(view) && SHARED_GROUPINGS[view].includes(value);
    case 'ids':
      // Those of a list choose among what it shows.
      return !isEntity(view) || value === id;
    case 'compare':
      return value === compare || (compare === 'none' && view === 'changes' && value === 'previous');
    default:
      return false;
  }
}

/** How far the clock of a browser may be off, and how long a page may stand open over midnight. */
const TOLERANCE_MS = 3_600_000;

/** Whether the range of a request lies in the one of the view, or in the one that it is compared with. */
function isInRange(query: Readonly<Record<string, unknown>>, state: PageState, { ms, zone }: Now): boolean {
  if (state.range === 'all') return true;
  const [start, end] = [query['dateRange.start'], query['dateRange.end']].map((text) =>
    typeof text === 'string' ? (startOfDate(text, zone) ?? parseTime(text)) : null,
  );
  if (typeof start !== 'number' || typeof end !== 'number') return false;
  return [-TOLERANCE_MS, 0, TOLERANCE_MS]
    .flatMap((later) => rangesOf(state, ms + later, zone))
    .some((range) => range.start <= start && end <= range.end);
}

/** The range of a view, and the one that it is compared with: microseconds. */
function rangesOf({ range, compare, view }: PageState, ms: number, zone: string) {
  const clock = formatLocalBucket(ms * 1000, zone).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const local = rangeOf(range, Date.parse(`${clock}Z`));
  if (local === null) return [];
  const [first = 0, end = 0] = [local.start, local.end].map((text) => instantOfLocal(Date.parse(text), zone));
  // A day has more hours, or fewer, where clocks are changed; 24 hours are 24 hours.
  const start = range === '24h' ? end - DAY_MICROS : first;
  if (compare === 'none' && view !== 'changes') return [{ start, end }];
  const asked = compare === 'none' ? 'previous' : compare;
  return [{ start, end }, periodsOf({ start, end }, asked, end, zone).before];
}

function isShared(view: string): view is SharedView {
  return (SHARED_VIEWS as readonly string[]).includes(view);
}

function notShown(): AppError {
  return new AppError('FORBIDDEN', 'The link shows one view of one instance, and nothing else.');
}

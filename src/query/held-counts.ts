/**
 * Sums rollups and facts of a range from rows in memory. The sums equal those of the statements in plan.ts.
 *
 * Test: test/query/held-answers.test.ts, test/view-laws.test.ts.
 */
import type { OwnCounts, EntityCounts } from '../domain/groupings.ts';
import { GRANULARITY_NUMBER, KINDS } from '../domain/kinds.ts';
import { DAY_MICROS, type Granularity } from '../domain/time.ts';
import type { Columns } from '../store/duckdb.ts';
import { lowerBound, type HeldPart, type HeldRows } from '../store/published/held-rows.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import { wholeUnits, type Range } from './routing.ts';

/** `[from, to)`, microseconds or ±Infinity. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The counted entities of one instance. */
export interface Counted {
  readonly snapshot: Snapshot;
  readonly instance: number;
  readonly counts: EntityCounts | OwnCounts;
}

/** Returns SQL for an instant as DOUBLE, microseconds. `missing` replaces -infinity and null. */
export const instant = (column: string, missing = '-infinity'): string =>
  `coalesce(epoch_us(${column})::double, '${missing}'::double)`;

/** Returns columns that are selected under their own names. */
export const sameNames = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

/** What the rows of each rollup add up. */
export const SUMS = {
  entity_rollup: ['sessions', 'users', 'messages', 'sat', 'dsat'],
  session_rollup: ['messages', 'sat', 'dsat', 'repeated_requests'],
  end_user_rollup: ['sessions', 'messages', 'sat', 'dsat', 'repeated_requests'],
} as const;

/** Loads the rows of a rollup; `number` is the entity's. Rows of ALL are sorted by `id` where they have one. */
export function rollupOf({ snapshot, instance, counts }: Counted, granularity: Granularity) {
  const isEntity = counts.view === 'entity_rollup';
  const isWhole = granularity === 'ALL' && !isEntity;
  return snapshot.held({
    table: counts.view,
    equal: {
      instance,
      granularity: GRANULARITY_NUMBER[granularity],
      ...(isEntity ? { kind: counts.kind } : {}),
    },
    columns: {
      ...(isWhole
        ? { first_at: instant('first_at'), last_at: instant('last_at') }
        : { bucket: instant('bucket') }),
      number: isEntity ? 'entity' : counts.names,
      ...sameNames(SUMS[counts.view]),
    },
    ...(isWhole ? { id: 'id::varchar' } : {}),
    key: isWhole ? ['id'] : ['bucket', 'number'],
  });
}

/**
 * Columns that link a fact to the previous one of its session and user; `missing` replaces absent links. Only rollups
 * of entities count users.
 */
function linksOf({ view }: EntityCounts | OwnCounts, missing: string): Record<string, string> {
  const session = { session_before: instant('prev_session_at', missing) };
  return view === 'entity_rollup' ? { ...session, user_before: instant('prev_user_at', missing) } : session;
}

function factsOf({ snapshot, instance, counts }: Counted, range: Span): Promise<HeldRows | null> {
  return snapshot.held({
    table: 'message_fact',
    equal: { instance, kind: kindOf(counts) },
    range,
    columns: {
      // Not the id of the fact: with the room of a message's facts it may be more than a number holds exactly.
      position: 'position::double',
      slot: '(fact_id % 256)::smallint',
      sent_at: instant('event_at'),
      number: 'entity',
      has_user: '(end_user <> 0)::tinyint',
      ...sameNames(['sat', 'dsat', 'repeated_requests']),
      ...linksOf(counts, '-infinity'),
    },
    key: ['sent_at', 'position', 'slot'],
  });
}

function returnsOf({ snapshot, instance, counts }: Counted): Promise<HeldRows | null> {
  return snapshot.held({
    table: 'return_fact',
    equal: { instance, kind: kindOf(counts) },
    columns: { sent_at: instant('event_at'), number: 'entity', weight: 'weight', ...linksOf(counts, 'nan') },
    key: ['sent_at'],
  });
}

/** Returns the kind of facts that a rollup counts. */
export const kindOf = (counts: EntityCounts | OwnCounts): number =>
  counts.view === 'entity_rollup' ? counts.kind : KINDS.all;

/** The range of the entities' numbers. */
export interface Numbers {
  readonly least: number;
  readonly size: number;
}

/** Sums, indexed by number minus `least`. */
export type Sums = Readonly<
  Record<'sessions' | 'users' | 'messages' | 'sat' | 'dsat' | 'repeated_requests', Int32Array>
>;

/** Sums of `size` numbers before anything is added. */
export function noSums(size: number): Sums {
  const none = (): Int32Array => new Int32Array(size);
  return {
    sessions: none(),
    users: none(),
    messages: none(),
    sat: none(),
    dsat: none(),
    repeated_requests: none(),
  };
}

/** An array by number may have this many times as many places as there are numbers. */
const SPARSEST = 16;
const FEW_PLACES = 2 ** 16;

/** Returns the range of all numbers; null if they lie too far apart for an array. */
export function spanOf(columns: readonly ArrayLike<number>[]): Numbers | null {
  let [least, most, count] = [Infinity, -Infinity, 0];
  for (const column of columns) {
    count += column.length;
    for (let at = 0; at < column.length; at += 1) {
      const number = column[at]!;
      if (number < least) least = number;
      if (number > most) most = number;
    }
  }
  if (count === 0) return { least: 1, size: 0 };
  const size = most - least + 1;
  return size <= Math.max(FEW_PLACES, SPARSEST * count) ? { least, size } : null;
}

/**
 * Returns the sums of each topic, cluster, signal, repeated request, gap or end user in a range: its whole days, minus
 * subjects that returned in them, plus the messages before and after. Null if there are too many rows to hold.
 */
export async function sumsOf(counted: Counted, range: Range, { least, size }: Numbers): Promise<Sums | null> {
  const { rollup: days, cuts } = wholeUnits('DAY', range);
  const [rollup, returns] =
    days === null ? [[], []] : await Promise.all([rollupOf(counted, 'DAY'), returnsOf(counted)]);
  if (rollup === null || returns === null) return null;
  const together = daysTogether(counted.snapshot);
  const pieces = cuts.flatMap((cut) => [...spansOf(cut, together)].map((span) => ({ cut, span })));
  const facts = await Promise.all(pieces.map(({ span }) => factsOf(counted, span)));
  if (facts.includes(null)) return null;
  const sums = noSums(size);
  if (days !== null) {
    for (const part of rollup)
      for (const name of SUMS[counted.counts.view])
        addUp(part, placesWithin(part, 'bucket', days), least, name, sums[name]);
    for (const { columns } of returns) {
      const places = placesWithin({ columns }, 'sent_at', days);
      takeReturns(columns, places, least, range.start, 'session_before', sums.sessions);
      if ('user_before' in columns.numbers)
        takeReturns(columns, places, least, range.start, 'user_before', sums.users);
    }
  }
  for (const [index, { cut }] of pieces.entries())
    for (const part of facts[index] ?? []) addFacts(part, cut, range.start, least, sums);
  return sums;
}

/** Facts are loaded in pieces of a power of two of days, with about this many facts each. */
const FACTS_TOGETHER = 30_000;
const MOST_DAYS = 32;

function daysTogether(snapshot: Snapshot): number {
  const days = FACTS_TOGETHER / snapshot.rowsPerDay('message_fact');
  return Math.min(MOST_DAYS, 2 ** Math.max(0, Math.floor(Math.log2(days))));
}

export type Places = readonly [first: number, end: number];

/** Returns the rows whose instant is in a range; rows are sorted by it. */
export function placesWithin(
  { columns: { numbers } }: Pick<HeldPart, 'columns'>,
  column: string,
  { from, to }: Span,
): Places {
  return [lowerBound(numbers[column]!, from), lowerBound(numbers[column]!, to)];
}

function addUp(part: HeldPart, [first, end]: Places, least: number, name: string, sums: Int32Array): void {
  const { columns, skip } = part;
  const [number, values] = [columns.numbers['number']!, columns.numbers[name]!];
  for (let row = first; row < end; row += 1)
    if (skip === null || skip[row] === 0) sums[number[row]! - least]! += values[row]!;
}

function takeReturns(
  { numbers }: Columns,
  [first, end]: Places,
  least: number,
  start: number,
  link: 'session_before' | 'user_before',
  sums: Int32Array,
): void {
  const [number, before, weight] = [numbers['number']!, numbers[link]!, numbers['weight']!];
  for (let row = first; row < end; row += 1)
    if (before[row]! >= start) sums[number[row]! - least]! -= weight[row]!;
}

/** Counts a session or an end user at the fact whose previous one lies before the range. */
function addFacts(
  { columns: { numbers, rows }, skip }: HeldPart,
  cut: Range,
  start: number,
  least: number,
  sums: Sums,
): void {
  const [sentAt, number, hasUser] = [numbers['sent_at']!, numbers['number']!, numbers['has_user']!];
  const [session, user] = [numbers['session_before']!, numbers['user_before']];
  const [sat, dsat, again] = [numbers['sat']!, numbers['dsat']!, numbers['repeated_requests']!];
  for (let row = 0; row < rows; row += 1) {
    if (sentAt[row]! < cut.start || sentAt[row]! >= cut.end || skip?.[row] === 1) continue;
    const at = number[row]! - least;
    // End user 0 stands for no user.
    if (at < 0) continue;
    if (session[row]! < start || session[row] === -Infinity) sums.sessions[at]! += 1;
    if (user !== undefined && hasUser[row] === 1 && (user[row]! < start || user[row] === -Infinity))
      sums.users[at]! += 1;
    sums.messages[at]! += 1;
    sums.sat[at]! += sat[row]!;
    sums.dsat[at]! += dsat[row]!;
    sums.repeated_requests[at]! += again[row]!;
  }
}

/** Yields the aligned pieces of `days` days that overlap a bounded range. */
function* spansOf({ start, end }: Range, days: number): Generator<Span> {
  const size = days * DAY_MICROS;
  for (let from = Math.floor(start / size) * size; from < end; from += size) yield { from, to: from + size };
}

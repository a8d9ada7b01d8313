/**
 * Counts the sessions of a segment from hourly facts in memory. The sums equal those of `factCounts` in plan.ts:
 * sessions and end users are distinct values, as their links to earlier facts may lead out of the segment.
 *
 * Test: test/query/held-answers.test.ts, test/view-laws.test.ts.
 */
import type { SegmentChoice } from '../domain/attributes.ts';
import { giveWay } from '../domain/give-way.ts';
import type { LocalBucket } from '../domain/local-time.ts';
import { KINDS } from '../domain/kinds.ts';
import { bucketStart, HOUR_MICROS, nextBucketStart } from '../domain/time.ts';
import { quoted, type Columns } from '../store/duckdb.ts';
import type { HeldPart, HeldRows } from '../store/published/held-rows.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import {
  instant,
  kindOf,
  noSums,
  placesWithin,
  sameNames,
  spanOf,
  type Counted,
  type Numbers,
  type Places,
  type Sums,
} from './held-counts.ts';
import type { QueryParameters } from './parameters.ts';
import { wholeUnits, type Range } from './routing.ts';
import { Statement } from './statement.ts';

/** The sessions of a segment, by number. */
export class SegmentSessions {
  readonly #least: number;
  /** 1 for a session of the segment, from `least` on. */
  readonly #marks: Uint8Array;
  /** True if sessions without a mark belong to it. */
  readonly #others: boolean;

  constructor(least: number, marks: Uint8Array, others: boolean) {
    this.#least = least;
    this.#marks = marks;
    this.#others = others;
  }

  get byteLength(): number {
    return this.#marks.byteLength;
  }

  has(session: number): boolean {
    const at = session - this.#least;
    return at < 0 || at >= this.#marks.length ? this.#others : this.#marks[at] === 1;
  }

  /** Returns the sessions that joined or left since `before`; null if none did. */
  changedSince(before: SegmentSessions): SegmentSessions | null {
    const least = Math.min(this.#least, before.#least);
    const end = Math.max(this.#least + this.#marks.length, before.#least + before.#marks.length);
    const marks = new Uint8Array(Math.max(0, end - least));
    let isAny = false;
    for (let at = 0; at < marks.length; at += 1)
      if (this.has(least + at) !== before.has(least + at)) {
        marks[at] = 1;
        isAny = true;
      }
    return isAny ? new SegmentSessions(least, marks, false) : null;
  }
}

/** Returns the sessions of a segment from rows in memory; null if they are not held. */
export async function sessionsOf(
  snapshot: Snapshot,
  instance: number,
  segment: readonly SegmentChoice[],
): Promise<SegmentSessions | null> {
  const read = segment.map(({ name, values }) =>
    snapshot.held({
      table: 'session_attribute',
      equal: { instance },
      and: `name = ${quoted(name)}`,
      // Hexadecimal digits: an @ in a value would stand for a table.
      columns: {
        session: 'session',
        chosen: `coalesce(hex(value) in (${values.map(hexOf).join()}), false)::tinyint`,
      },
      key: ['session'],
    }),
  );
  const rows = await Promise.all(read);
  if (rows.some((held) => held === null)) return null;
  const parts = rows.map((held) => held ?? []);
  const isLeftOut = segment.map((choice) => choice.isLeftOut === true);
  const known = parts[0] === undefined ? [] : (made.get(parts[0]) ?? []);
  const same = known.find(
    (one) =>
      one.parts.length === parts.length &&
      parts.every((held, index) => held === one.parts[index] && isLeftOut[index] === one.isLeftOut[index]),
  );
  if (same !== undefined) return same.sessions;
  const sessions = sessionsIn(parts, isLeftOut);
  if (sessions !== null && parts[0] !== undefined)
    made.set(parts[0], [...known, { parts, isLeftOut, sessions }]);
  return sessions;
}

interface Made {
  readonly parts: readonly HeldRows[];
  readonly isLeftOut: readonly boolean[];
  readonly sessions: SegmentSessions;
}

/** Segments by the rows of their first attribute: rows of one manifest never change. */
const made = new WeakMap<HeldRows, readonly Made[]>();

function sessionsIn(parts: readonly HeldRows[], isLeftOut: readonly boolean[]): SegmentSessions | null {
  const span = spanOf(parts.flat().map(({ columns }) => columns.numbers['session']!));
  if (span === null) return null;
  const { least, size } = span;
  const marks = new Uint8Array(size).fill(1);
  for (const [index, held] of parts.entries()) {
    const found = new Uint8Array(size);
    for (const { columns, skip } of held) {
      const [session, chosen] = [columns.numbers['session']!, columns.numbers['chosen']!];
      for (let row = 0; row < columns.rows; row += 1)
        if (chosen[row] === 1 && skip?.[row] !== 1) found[session[row]! - least] = 1;
    }
    const isWanted = isLeftOut[index] === true ? 0 : 1;
    for (let at = 0; at < size; at += 1) if (found[at] !== isWanted) marks[at] = 0;
  }
  // A session without any of the attributes is in what only leaves out.
  return new SegmentSessions(least, marks, isLeftOut.every(Boolean));
}

const hexOf = (text: string): string => quoted(Buffer.from(text).toString('hex').toUpperCase());

/** Hourly facts of a segment. */
export interface SegmentFacts {
  readonly sessions: SegmentSessions;
  readonly hours: HeldRows;
}

/** Returns the hourly facts of a query's segment from rows in memory; null if they are not held. */
export async function segmentFactsOf(
  counted: Counted,
  segment: readonly SegmentChoice[],
): Promise<SegmentFacts | null> {
  const { snapshot, instance, counts } = counted;
  const sessions = await sessionsOf(snapshot, instance, segment);
  if (sessions === null) return null;
  const isOfUsers = counts.view !== 'entity_rollup';
  const hours = await snapshot.held({
    table: 'hour_fact',
    equal: { instance, kind: kindOf(counts) },
    columns: {
      hour: instant('hour'),
      number: isOfUsers ? 'end_user' : 'entity',
      ...sameNames(['session', 'messages', 'sat', 'dsat']),
      ...(isOfUsers
        ? {
            repeated_requests: 'repeated_requests',
            first_at: instant('first_at'),
            last_at: instant('last_at'),
          }
        : { end_user: 'end_user' }),
    },
    key: ['hour', 'number', 'session', ...(isOfUsers ? [] : ['end_user'])],
  });
  return hours === null ? null : { sessions, hours };
}

/** Returns the buckets of a query; null if there are more than `most`. */
export function bucketsOf(
  { hours }: SegmentFacts,
  { granularity, buckets }: QueryParameters,
  { start, end }: Range,
  most: number,
): readonly LocalBucket[] | null {
  if (buckets !== undefined) return buckets;
  if (granularity === 'ALL') return [{ start, end, bucket: -Infinity }];
  const found: LocalBucket[] = [];
  const ends = hours.flatMap(({ columns: { rows, numbers } }) =>
    rows === 0 ? [] : [numbers['hour']![0]!, numbers['hour']![rows - 1]! + HOUR_MICROS],
  );
  const last = Math.min(
    end,
    ends.reduce((one, other) => Math.max(one, other), -Infinity),
  );
  let from = Math.max(
    start,
    ends.reduce((one, other) => Math.min(one, other), Infinity),
  );
  while (from < last) {
    if (found.length === most) return null;
    const bucket = bucketStart(granularity, from);
    const to = Math.min(end, nextBucketStart(granularity, bucket + 1));
    found.push({ start: from, end: to, bucket });
    from = to;
  }
  return found;
}

/** A statement reads the cut hours at the ends of one range; for more, one statement for all is faster. */
export const MOST_CUT_HOURS = 2;

/** Returns the sums of a segment in each range, in order; null if ranges cut too many hours. */
export async function segmentSumsOf(
  counted: Counted,
  { sessions, hours }: SegmentFacts,
  ranges: readonly Range[],
  span: Numbers,
  views: readonly View[],
): Promise<readonly Sums[] | null> {
  const routed = ranges.map((range) => wholeUnits('HOUR', range));
  if (routed.reduce((count, { cuts }) => count + cuts.length, 0) > MOST_CUT_HOURS) return null;
  const all: Sums[] = [];
  for (const { rollup, cuts } of routed) {
    const sums = noSums(span.size);
    const seen = { sessions: new Pairs(), users: new Pairs() };
    for (const part of rollup === null ? [] : hours) {
      await addHours(part, placesWithin(part, 'hour', rollup!), sessions, span, sums, seen);
    }
    for (const cut of cuts) {
      const columns = await messagesIn(counted, cut, views);
      await addHours({ columns, skip: null }, [0, columns.rows], sessions, span, sums, seen);
    }
    all.push(sums);
  }
  return all;
}

/** Returns the messages of a range that lies within an hour. */
export async function messagesIn(
  { snapshot, instance, counts }: Counted,
  cut: Range,
  views: readonly View[],
): Promise<Columns> {
  const statement = new Statement(views, instance);
  const kind = kindOf(counts);
  const number = kind === KINDS.all ? 'end_user' : 'entity';
  const plan =
    statement.plan(`select ${number} as number, session, end_user, messages, sat, dsat, repeated_requests
from (${statement.messageFacts(kind, cut)})`);
  const rows = await snapshot.all(plan.sql, plan);
  const names = ['number', 'session', 'end_user', 'messages', 'sat', 'dsat', 'repeated_requests'];
  const columnOf = (name: string): Int32Array => Int32Array.from(rows, (row) => row[name] as number);
  return {
    rows: rows.length,
    numbers: Object.fromEntries(names.map((name) => [name, columnOf(name)])),
    texts: {},
  };
}

/** Rows that are added up before it yields to other work: about a millisecond. */
export const ADDED_AT_ONCE = 2 ** 15;

async function addHours(
  { columns: { numbers }, skip }: Pick<HeldPart, 'columns' | 'skip'>,
  [first, end]: Places,
  segment: SegmentSessions,
  { least, size }: Numbers,
  sums: Sums,
  seen: { readonly sessions: Pairs; readonly users: Pairs },
): Promise<void> {
  const [number, session, user] = [numbers['number']!, numbers['session']!, numbers['end_user']];
  const [messages, sat, dsat] = [numbers['messages']!, numbers['sat']!, numbers['dsat']!];
  const again = numbers['repeated_requests'];
  for (let row = first; row < end; row += 1) {
    if ((row - first) % ADDED_AT_ONCE === ADDED_AT_ONCE - 1) await giveWay();
    const at = number[row]! - least;
    // End user 0, who stands for none, has no place.
    if (at < 0 || at >= size || skip?.[row] === 1 || !segment.has(session[row]!)) continue;
    if (seen.sessions.add(at, session[row]!)) sums.sessions[at]! += 1;
    if (user !== undefined && user[row] !== 0 && seen.users.add(at, user[row]!)) sums.users[at]! += 1;
    sums.messages[at]! += messages[row]!;
    sums.sat[at]! += sat[row]!;
    sums.dsat[at]! += dsat[row]!;
    if (again !== undefined) sums.repeated_requests[at]! += again[row]!;
  }
}

/** First and last activity of end users in a segment, whatever the range; indexed by number minus `least`. */
export function activityOf(
  { sessions, hours }: SegmentFacts,
  { least, size }: Numbers,
): Readonly<Record<'first_at' | 'last_at', Float64Array>> {
  const firstAt = new Float64Array(size).fill(Infinity);
  const lastAt = new Float64Array(size).fill(-Infinity);
  for (const { columns, skip } of hours) {
    const { number, session, first_at: first, last_at: last } = columns.numbers;
    for (let row = 0; row < columns.rows; row += 1) {
      const at = number![row]! - least;
      if (at < 0 || at >= size || skip?.[row] === 1 || !sessions.has(session![row]!)) continue;
      if (first![row]! < firstAt[at]!) firstAt[at] = first![row]!;
      if (last![row]! > lastAt[at]!) lastAt[at] = last![row]!;
    }
  }
  return { first_at: firstAt, last_at: lastAt };
}

/** Places of a set of pairs at first. */
const FEW_PAIRS = 2048;

/**
 * A set of pairs of integers, one from 0 and one below 2^31, with open addressing: a Set of JavaScript takes ten times
 * as long.
 */
export class Pairs {
  /** The first number plus one, then the second; 0 where there is none. */
  #places = new Int32Array(FEW_PAIRS);
  #count = 0;

  /** Adds a pair; returns false if the set has it. */
  add(one: number, other: number): boolean {
    if (!this.#put(one + 1, other)) return false;
    this.#count += 1;
    if (this.#count * 4 > this.#places.length) this.#grow();
    return true;
  }

  clear(): void {
    // A table that one burst made large is not emptied again and again.
    if (this.#places.length > FEW_PAIRS) this.#places = new Int32Array(FEW_PAIRS);
    else if (this.#count > 0) this.#places.fill(0);
    this.#count = 0;
  }

  #put(one: number, other: number): boolean {
    const places = this.#places;
    const last = places.length - 1;
    let at = Math.imul(other, 0x9e3779b1) ^ Math.imul(one, 0x85ebca6b);
    at = ((at ^ (at >>> 15)) << 1) & last;
    for (; places[at] !== 0; at = (at + 2) & last)
      if (places[at] === one && places[at + 1] === other) return false;
    places[at] = one;
    places[at + 1] = other;
    return true;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(before.length * 4);
    for (let at = 0; at < before.length; at += 2)
      if (before[at] !== 0) this.#put(before[at]!, before[at + 1]!);
  }
}

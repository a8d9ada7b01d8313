/**
 * Answers queries from rows in memory. A page is either the one that `planQuery` would return, row by row, or null.
 *
 * Test: test/query/held-answers.test.ts, test/view-laws.test.ts.
 */
import { FILTERS, GROUPINGS } from '../domain/groupings.ts';
import { factSourcesOf, sortValueOf, sqlOf, type SortField } from '../domain/metrics.ts';
import type { Columns, Row } from '../store/duckdb.ts';
import type { HeldPart, HeldRows, Orders } from '../store/published/held-rows.ts';
import { ordered } from '../store/published/row-order.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import { cachedNames } from './names.ts';
import {
  instant,
  rollupOf,
  spanOf,
  sumsOf,
  type Counted,
  type Numbers,
  type Span,
  type Sums,
} from './held-counts.ts';
import { activityOf, bucketsOf, segmentFactsOf, segmentSumsOf, sessionsOf } from './held-segments.ts';
import { moodsOf } from './held-moods.ts';
import type { QueryParameters } from './parameters.ts';
import { planSessions, routeOf, type ChosenEntities } from './plan.ts';
import type { Range } from './routing.ts';
import { segmentRollupOf } from './segment-rollups.ts';

/** Rows of a page, and the number of rows on all pages. */
export interface Page {
  readonly page: readonly Row[];
  readonly total: number;
}

/** Candidate rows, column by column. */
interface Part {
  readonly rows: number;
  readonly numbers: Columns['numbers'];
  readonly idOf: (row: number) => string;
  /** True if rows are sorted by id. */
  readonly isById: boolean;
  /** 1 excludes the row. */
  readonly skip: Uint8Array | null;
  /** Requested buckets `[from, to)`; null: all. */
  readonly buckets: Span | null;
  readonly members: Members | null;
  /** Cached sort orders of the rows; null for a part made for one query. */
  readonly orders: Orders | null;
}

/** Marks, indexed by number minus `least`: 1 includes the entity. */
interface Members {
  readonly least: number;
  readonly marks: Uint8Array;
}

/** A sort key. Keys apply in order, then the id. */
interface Key {
  readonly field: SortField | 'bucket';
  readonly isDescending: boolean;
}

/** A query on one instance. */
interface Asked extends Counted {
  readonly parameters: QueryParameters;
  readonly range: Range;
  readonly chosen: ChosenEntities;
  readonly views: readonly View[];
}

/** Filters that rows or the chosen numbers answer. */
const ANSWERED: readonly string[] = [
  'topicIds',
  'clusterIds',
  'signalIds',
  'repeatedRequestIds',
  'gapIds',
  'gapType',
  'signalSource',
  'lifeStates',
  'externalId',
];
/** The database makes answers with a larger limit or offset, because it does not block other queries. */
const LONGEST = 1000;
const DEEPEST = 20_000;
/** Each bucket of a time zone is summed as a range of its own. */
const MOST_RANGES = 200;

/**
 * Returns the page that `planQuery` would return, from rows in memory. Null if the query needs rows that are not held,
 * or too many of them.
 */
export async function heldPage(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  chosen: ChosenEntities,
  views: readonly View[],
): Promise<Page | null> {
  const { counts } = GROUPINGS[parameters.groupBy];
  if (parameters.limit > LONGEST || parameters.offset > DEEPEST) return null;
  const sorting = factSourcesOf([parameters.sort?.field]);
  if (sorting.some((source) => source !== 'moods') || (sorting.length > 0 && !mayHoldMoods(parameters)))
    return null;
  if (counts.view === 'session_attribute') return null;
  if ((parameters.buckets?.length ?? 0) > MOST_RANGES) return null;
  if (FILTERS.some((filter) => parameters[filter] !== null && !ANSWERED.includes(filter))) return null;
  const range = { start: parameters.range.start ?? -Infinity, end: parameters.range.end ?? Infinity };
  const asked = { snapshot, instance, counts, parameters, range, chosen, views };
  const found = counts.view === 'entity_rollup' ? await entityParts(asked) : await ownParts(asked);
  const parts = found === null ? null : await withMoods(asked, found);
  if (parts === null || (sorting.length > 0 && !parts.every(hasMoods))) return null;
  const keys = keysOf(parameters);
  const sorted: Sorted[] = [];
  for (const part of parts) sorted.push(await sortedPart(part, keys, parameters));
  return pageOf(sorted, keys, parameters);
}

/** Only rows without buckets have them in memory. */
function mayHoldMoods({ groupBy, granularity }: QueryParameters): boolean {
  return granularity === 'ALL' && GROUPINGS[groupBy].counts.view === 'entity_rollup';
}

const hasMoods = ({ numbers }: Part): boolean => 'dissatisfied' in numbers;

/** Adds what the query asks of the source `moods`, where it can be counted from rows in memory. */
async function withMoods(asked: Asked, parts: readonly Part[]): Promise<readonly Part[]> {
  const { parameters, range, views } = asked;
  const isAsked = factSourcesOf([...parameters.fields, parameters.sort?.field]).includes('moods');
  if (!isAsked || !mayHoldMoods(parameters)) return parts;
  const span = spanOf(parts.map(({ numbers }) => numbers['number']!));
  const moods =
    span === null ? null : await moodsOf(asked, { segment: parameters.segment, range, span, views });
  if (span === null || moods === null) return parts;
  return parts.map((part) => {
    const number = part.numbers['number']!;
    const columns = Object.entries(moods).map(([name, values]: [string, Float64Array]) => [
      name,
      Float64Array.from(number, (one) => values[one - span.least]!),
    ]);
    // Cached orders are of rows without these columns.
    return { ...part, numbers: { ...part.numbers, ...Object.fromEntries(columns) }, orders: null };
  });
}

/** Returns the keys of `orderOf` in plan.ts: `date` ascending, then the entity's own order, then id. */
function keysOf({ sort, groupBy, granularity }: QueryParameters): Key[] {
  const date: Key[] = granularity === 'ALL' ? [] : [{ field: 'bucket', isDescending: false }];
  if (sort === null) return [...date, { field: GROUPINGS[groupBy].order, isDescending: true }];
  return [{ field: sort.field, isDescending: sort.order === 'DESC' }, ...date];
}

/** Reads topics, clusters, signals, repeated requests or gaps: whole buckets from the rollup, cut ones as sums. */
async function entityParts(asked: Asked): Promise<Part[] | null> {
  const { snapshot, instance, counts, parameters, chosen } = asked;
  if (counts.view !== 'entity_rollup') return null;
  const { granularity } = parameters;
  const names = await cachedNames(snapshot, counts.names, instance);
  const span = spanOf([[...names.keys()]]);
  if (span === null) return null;
  const among = chosen[counts.names];
  const members = among === undefined ? null : membersAmong(among, span);
  const idIn = (numbers: Columns['numbers']) => (row: number) =>
    names.get(numbers['number']![row]!)?.['id'] as string;
  const { rollup, cuts } = routeOf(parameters);
  const parts: Part[] = [];
  const addSums = (sums: Sums, bucketOfSums: number): void => {
    const rows = [...names.keys()].filter((number) => sums.messages[number - span.least]! > 0);
    const bucket = new Float64Array(rows.length).fill(bucketOfSums);
    const numbers = { ...gathered(sums, Int32Array.from(rows), span), bucket };
    parts.push({ ...OWN, rows: rows.length, numbers, idOf: idIn(numbers), members });
  };
  const addRollup = (held: HeldRows, { from, to }: Span): void => {
    const buckets = from === -Infinity && to === Infinity ? null : { from, to };
    for (const { columns, skip, orders } of held) {
      const { rows, numbers } = columns;
      parts.push({ rows, numbers, idOf: idIn(numbers), isById: false, skip, buckets, members, orders });
    }
  };
  if (parameters.segment.length > 0) {
    const facts = await segmentFactsOf(asked, parameters.segment);
    if (facts === null) return null;
    const name = JSON.stringify(parameters.segment);
    const held = rollup === null ? null : await segmentRollupOf(facts, name, granularity);
    if (held !== null && rollup !== null) addRollup(held, rollup);
    const buckets = held === null ? bucketsOf(facts, parameters, asked.range, MOST_RANGES) : cuts;
    if (buckets === null) return null;
    const sums = await segmentSumsOf(asked, facts, buckets, span, asked.views);
    sums?.forEach((own, index) => addSums(own, buckets[index]!.bucket));
    return sums === null ? null : parts;
  }
  if (rollup !== null) {
    const held = await rollupOf(asked, granularity);
    if (held === null) return null;
    addRollup(held, rollup);
  }
  for (const cut of cuts) {
    const sums = await sumsOf(asked, cut, span);
    if (sums === null) return null;
    addSums(sums, cut.bucket);
  }
  return parts;
}

/** Defaults of a part made for one query. */
const OWN = { isById: true, skip: null, buckets: null, members: null, orders: null } as const;

function membersAmong(numbers: readonly number[], { least, size }: Numbers): Members {
  const marks = new Uint8Array(size);
  for (const number of numbers) marks[number - least] = 1;
  return { least, marks };
}

/** Returns the sums of the given numbers as columns. */
function gathered(sums: Sums, numbers: Int32Array, { least }: Numbers): Columns['numbers'] {
  const columns: Record<string, Int32Array> = { number: numbers };
  for (const [name, own] of Object.entries(sums)) {
    const column = (columns[name] = new Int32Array(numbers.length));
    for (let row = 0; row < numbers.length; row += 1) column[row] = own[numbers[row]! - least]!;
  }
  return columns;
}

/** Reads sessions or end users without buckets: over the whole history, or within the range. */
async function ownParts(asked: Asked): Promise<Part[] | null> {
  const { parameters, counts, range } = asked;
  if (parameters.granularity !== 'ALL') return null;
  const whole = await rollupOf(asked, 'ALL');
  const span = whole === null ? null : spanIn(whole);
  if (whole === null || span === null) return null;
  const members = await membersOf(asked, span);
  if (members === undefined) return null;
  const isCut =
    range.start !== -Infinity ||
    range.end !== Infinity ||
    (parameters.segment.length > 0 && counts.view === 'end_user_rollup');
  const parts = !isCut
    ? whole.map(wholePart)
    : counts.view === 'session_rollup'
      ? await cutSessions(asked, whole)
      : await cutUsers(asked, whole, span);
  return parts?.map((part) => ({ ...part, members })) ?? null;
}

/** Rows of one manifest never change, so their spans are cached. */
const spans = new WeakMap<HeldRows, Numbers | null>();

function spanIn(rows: HeldRows): Numbers | null {
  const known = spans.get(rows);
  if (known !== undefined) return known;
  const span = spanOf(rows.map(({ columns }) => columns.numbers['number']!));
  spans.set(rows, span);
  return span;
}

function wholePart({ columns, skip, orders }: HeldPart): Part {
  const { rows, numbers, texts } = columns;
  return { ...OWN, rows, numbers, idOf: (row) => texts['id']![row]!, skip, orders };
}

/** With more entities, one statement is faster. */
const MOST_CHOSEN = 8;

/**
 * Marks the sessions or end users that pass every entity filter. Null: the query has no such filter. Undefined: the
 * rows are not held.
 */
async function membersOf(
  { snapshot, instance, counts: { names }, chosen, range, parameters: { segment } }: Asked,
  { least, size }: Numbers,
): Promise<Members | null | undefined> {
  let marks: Uint8Array | null = null;
  const sessions = await sessionsOf(snapshot, instance, segment);
  if (sessions === null) return undefined;
  if (segment.length > 0 && names === 'session')
    marks = Uint8Array.from({ length: size }, (_, at) => Number(sessions.has(least + at)));
  for (const { counts } of Object.values(GROUPINGS)) {
    const entities = counts.view === 'session_attribute' ? undefined : chosen[counts.names];
    if (entities === undefined) continue;
    const found = new Uint8Array(size);
    if (counts.view !== 'entity_rollup') for (const number of entities) found[number - least] = 1;
    // Membership within a range needs facts.
    else if (range.start !== -Infinity || range.end !== Infinity || entities.length > MOST_CHOSEN)
      return undefined;
    else
      for (const entity of entities) {
        const hours = await snapshot.held({
          table: 'hour_fact',
          equal: { instance, kind: counts.kind, entity },
          columns: { session: 'session', end_user: 'end_user', hour: instant('hour') },
          key: ['hour', 'session', 'end_user'],
        });
        if (hours === null) return undefined;
        for (const { columns, skip } of hours) {
          const { numbers, rows } = columns;
          const [number, session] = [numbers[names]!, numbers['session']!];
          for (let row = 0; row < rows; row += 1)
            if (skip?.[row] !== 1 && sessions.has(session[row]!)) found[number[row]! - least] = 1;
        }
      }
    const before: Uint8Array | null = marks;
    marks = before === null ? found : found.map((has, at) => has & before[at]!);
  }
  return marks === null ? null : { least, marks };
}

/** Returns the end users of a range with the sums of their messages in it. */
async function cutUsers(asked: Asked, whole: HeldRows, span: Numbers): Promise<Part[] | null> {
  const { parameters, range, views } = asked;
  const facts = parameters.segment.length === 0 ? null : await segmentFactsOf(asked, parameters.segment);
  if (parameters.segment.length > 0 && facts === null) return null;
  const [sums] = (facts === null
    ? [await sumsOf(asked, range, span)]
    : await segmentSumsOf(asked, facts, [range], span, views)) ?? [null];
  if (sums === null || sums === undefined) return null;
  const activity = facts === null ? null : activityOf(facts, span);
  return whole.map(({ columns, skip }) => {
    const number = columns.numbers['number']!;
    const rows = new Uint32Array(columns.rows);
    let count = 0;
    for (let row = 0; row < columns.rows; row += 1)
      if (skip?.[row] !== 1 && sums.messages[number[row]! - span.least]! > 0) rows[count++] = row;
    const found = rows.subarray(0, count);
    // First and last activity cover the whole history, whatever the range.
    const own = taken(number as Int32Array, found, new Int32Array(count));
    const times = (name: 'first_at' | 'last_at'): Float64Array =>
      activity === null
        ? taken(columns.numbers[name] as Float64Array, found, new Float64Array(count))
        : Float64Array.from(own, (user) => activity[name][user - span.least]!);
    return {
      ...OWN,
      rows: count,
      numbers: {
        ...gathered(sums, own, span),
        first_at: times('first_at'),
        last_at: times('last_at'),
      },
      idOf: (row) => columns.texts['id']![found[row]!]!,
    };
  });
}

function taken<Typed extends Float64Array | Int32Array>(
  column: Typed,
  rows: Uint32Array,
  into: Typed,
): Typed {
  for (let at = 0; at < rows.length; at += 1) into[at] = column[rows[at]!]!;
  return into;
}

/** Limit of sessions in one statement. */
const MOST_CUT = 5000;

/** Takes sessions inside the range from the rollup; a statement counts those that its ends cut. */
async function cutSessions(
  { snapshot, instance, range, views }: Asked,
  whole: HeldRows,
): Promise<Part[] | null> {
  const cut: number[] = [];
  const inside = whole.map((part): Part => {
    const { columns, skip } = part;
    const { rows, numbers } = columns;
    const [first, last] = [numbers['first_at']!, numbers['last_at']!];
    const isCutAt = (row: number, end: number): boolean => first[row]! < end && last[row]! >= end;
    for (let row = 0; row < rows; row += 1)
      if ((isCutAt(row, range.start) || isCutAt(row, range.end)) && skip?.[row] !== 1)
        cut.push(numbers['number']![row]!);
    const outside = skip?.slice() ?? new Uint8Array(rows);
    for (let row = 0; row < rows; row += 1)
      if (first[row]! < range.start || last[row]! >= range.end) outside[row] = 1;
    return { ...wholePart(part), skip: outside };
  });
  if (cut.length > MOST_CUT) return null;
  if (cut.length === 0) return inside;
  const plan = planSessions(instance, range, views, cut);
  const rows = (await snapshot.all(plan.sql, plan)).toSorted((one, other) =>
    (one['id'] as string) < (other['id'] as string) ? -1 : 1,
  );
  const columns = ['messages', 'sat', 'dsat', 'repeated_requests', 'first_at', 'last_at'];
  const column = (name: string): Float64Array => Float64Array.from(rows, (row) => row[name] as number);
  const numbers = {
    ...Object.fromEntries(columns.map((name) => [name, column(name)])),
    number: column('session'),
  };
  return [...inside, { ...OWN, rows: rows.length, numbers, idOf: (row) => rows[row]!['id'] as string }];
}

/** The selected rows of a part, sorted: as many as the page may need, and their total number. */
interface Sorted {
  readonly part: Part;
  readonly rows: Uint32Array;
  readonly count: number;
}

async function sortedPart(part: Part, keys: readonly Key[], parameters: QueryParameters): Promise<Sorted> {
  const { orders } = part;
  if (orders === null) {
    const asked = askedFor(part, everyRow(part), keys, parameters, Infinity);
    return { ...asked, rows: await inOrder(part, asked.rows, keys) };
  }
  const order = await orders.of(JSON.stringify(keys), () => inOrder(part, everyRow(part), keys));
  return askedFor(part, order, keys, parameters, parameters.offset + parameters.limit);
}

function everyRow({ rows }: Part): Uint32Array {
  const all = new Uint32Array(rows);
  for (let row = 0; row < rows; row += 1) all[row] = row;
  return all;
}

/** Keeps the selected rows in their order, the first `most` of them, and counts all. */
function askedFor(
  part: Part,
  rows: Uint32Array,
  [first]: readonly Key[],
  { bounds, ids, groupBy }: QueryParameters,
  most: number,
): Sorted {
  const { skip, buckets, members, idOf, orders } = part;
  const [bucket, number] = [part.numbers['bucket']!, part.numbers['number']!];
  // Members select entities by number.
  const named = ids === null || GROUPINGS[groupBy].counts.view === 'entity_rollup' ? null : new Set(ids);
  const limits = bounds.map(({ metric, min, max }) => {
    const value = valueIn(part, metric);
    return (row: number) => !(value(row) < (min ?? -Infinity)) && !(value(row) > (max ?? Infinity));
  });
  // Defined outside of the loop: a closure inside would cost memory for every row.
  const isOutside = (row: number): boolean => !limits.every((isKept) => isKept(row));
  const isByBucket = orders !== null && buckets !== null && first?.field === 'bucket';
  const some = isByBucket
    ? rows.subarray(placeOf(rows, bucket, buckets.from), placeOf(rows, bucket, buckets.to))
    : rows;
  const areWithin = buckets === null || isByBucket;
  if (areWithin && skip === null && members === null && named === null && bounds.length === 0)
    return { part, rows: some, count: some.length };
  const found = new Uint32Array(Math.min(most, some.length));
  let count = 0;
  for (let at = 0; at < some.length; at += 1) {
    const row = some[at]!;
    if (skip !== null && skip[row] === 1) continue;
    if (members !== null && members.marks[number[row]! - members.least] !== 1) continue;
    if (!areWithin && (bucket[row]! < buckets.from || bucket[row]! >= buckets.to)) continue;
    if (named !== null && !named.has(idOf(row))) continue;
    if (limits.length > 0 && isOutside(row)) continue;
    if (count < found.length) found[count] = row;
    count += 1;
  }
  return { part, rows: found.subarray(0, count), count };
}

/**
 * Binary search: returns the index of the first row whose value is at least `value`. The rows are sorted by the column.
 */
function placeOf(rows: Uint32Array, column: ArrayLike<number>, value: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[rows[middle]!]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sorts by id, then stably by each key from the last to the first. */
async function inOrder(part: Part, rows: Uint32Array, keys: readonly Key[]): Promise<Uint32Array> {
  let order = part.isById ? rows : await byId(part, rows);
  for (const { field, isDescending } of keys.toReversed())
    order = await ordered(order, valueIn(part, field), isDescending);
  return order;
}

function byId({ idOf, numbers }: Part, rows: Uint32Array): Promise<Uint32Array> {
  const number = numbers['number']!;
  const ids = new Map<number, string>();
  for (const row of rows) if (!ids.has(number[row]!)) ids.set(number[row]!, idOf(row));
  const inOrderOfIds = [...ids].toSorted(([, one], [, other]) => (one < other ? -1 : 1));
  const ranks = new Map(inOrderOfIds.map(([own], rank) => [own, rank]));
  return ordered(rows, (row) => ranks.get(number[row]!)!, false);
}

/** Returns the function that reads the value by which rows are sorted or bounded. */
function valueIn({ numbers }: Pick<Part, 'numbers'>, field: Key['field']): (row: number) => number {
  const column = numbers[field === 'bucket' ? field : sqlOf(field)];
  if (column !== undefined) return (row) => column[row]!;
  return (row) => sortValueOf(countsIn(numbers, row), field as SortField);
}

const countsIn = (numbers: Columns['numbers'], row: number) => ({
  messages: numbers['messages']![row]!,
  sat: numbers['sat']![row]!,
  dsat: numbers['dsat']![row]!,
  sessions: numbers['sessions']?.[row],
  users: numbers['users']?.[row],
  repeated_requests: numbers['repeated_requests']?.[row],
  first_at: numbers['first_at']?.[row],
  last_at: numbers['last_at']?.[row],
  // Where they are missing, a statement counts them.
  ...(numbers['dissatisfied'] === undefined
    ? {}
    : {
        dissatisfied: numbers['dissatisfied'][row]!,
        excess_dissatisfied: numbers['excess_dissatisfied']![row]!,
      }),
});

/** Merges the sorted parts into one page. */
function pageOf(
  parts: readonly Sorted[],
  keys: readonly Key[],
  { limit, offset }: Pick<QueryParameters, 'limit' | 'offset'>,
): Page {
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const values = parts.map(({ part }) => keys.map(({ field }) => valueIn(part, field)));
  const next = parts.map(() => 0);
  const isBefore = (one: number, other: number): boolean => {
    const [row, against] = [parts[one]!.rows[next[one]!]!, parts[other]!.rows[next[other]!]!];
    for (let index = 0; index < keys.length; index += 1) {
      const [x, y] = [values[one]![index]!(row), values[other]![index]!(against)];
      if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(y);
      return x < y !== keys[index]!.isDescending;
    }
    return parts[one]!.part.idOf(row) < parts[other]!.part.idOf(against);
  };
  const page: Row[] = [];
  const end = Math.min(total, offset + limit);
  for (let at = 0; at < end; at += 1) {
    let first = -1;
    for (let index = 0; index < parts.length; index += 1)
      if (next[index]! < parts[index]!.rows.length && (first < 0 || isBefore(index, first))) first = index;
    const { part, rows } = parts[first]!;
    const row = rows[next[first]!]!;
    next[first]! += 1;
    if (at < offset) continue;
    const { numbers, idOf } = part;
    page.push({
      ...(countsIn(numbers, row) as Row),
      bucket: numbers['bucket']?.[row] ?? -Infinity,
      number: numbers['number']![row]!,
      id: idOf(row),
    });
  }
  return { page, total };
}

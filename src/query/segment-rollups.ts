/**
 * Rollups of a segment in memory: what the hourly facts of its sessions add up to in each bucket. A bucket is added up
 * again only when its facts change, or when a session of it joins or leaves the segment.
 *
 * Test: test/query/held-answers.test.ts, test/query/segment-rollups.test.ts.
 */
import { giveWay } from '../domain/give-way.ts';
import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';
import type { Columns } from '../store/duckdb.ts';
import { lowerBound, Orders, type HeldPart, type HeldRows } from '../store/published/held-rows.ts';
import { spanOf, SUMS } from './held-counts.ts';
import { ADDED_AT_ONCE, Pairs, type SegmentFacts, type SegmentSessions } from './held-segments.ts';

interface Built {
  /** Facts of which it is the rollup; parts that are gone are not kept for it. */
  readonly hours: WeakRef<HeldRows>;
  readonly sessions: SegmentSessions;
  /** The buckets of each part but the largest, by its number. */
  readonly parts: ReadonlyMap<number, ReadonlySet<number>>;
  /** Rows of all buckets as they were when they were added up last together, by bucket. */
  readonly base: Omit<HeldPart, 'skip'>;
  /** Buckets that were added up again since. */
  readonly changed: ReadonlySet<number>;
  readonly rows: HeldRows;
}

/** Rollups by segment and granularity, as long as the largest part of the facts is held. */
const kept = new WeakMap<Columns, Map<string, Promise<Built | null> | null>>();
/** Rollups of one kind and instance; the least recently asked goes first. */
const MOST_KEPT = 16;
/** When more of the rows than one in so many have changed, all are added up. */
const CHANGED_SHARE = 8;
/** A bucket takes as long as so many facts. */
const FACTS_OF_BUCKET = 128;

/** Numbers of parts, as long as they are held. */
const numbersOfParts = new WeakMap<Columns, number>();
let lastPart = 0;

function numberOf(columns: Columns): number {
  const known = numbersOfParts.get(columns) ?? (lastPart += 1);
  numbersOfParts.set(columns, known);
  return known;
}

/**
 * Returns the rollup of the entities of a segment. Null when it is asked for the first time, and when the numbers of the
 * entities lie too far apart.
 */
export async function segmentRollupOf(
  facts: SegmentFacts,
  segment: string,
  granularity: Granularity,
): Promise<HeldRows | null> {
  const [largest] = facts.hours;
  if (largest === undefined) return [];
  const own = kept.get(largest.columns) ?? new Map<string, Promise<Built | null> | null>();
  kept.set(largest.columns, own);
  const name = `${granularity} of ${segment}`;
  const before = own.get(name);
  own.delete(name);
  const [eldest] = own.keys();
  if (eldest !== undefined && own.size === MOST_KEPT) {
    own.delete(eldest);
    largest.orders.keep(eldest, 0);
  }
  if (before === undefined) {
    own.set(name, null);
    return null;
  }
  const made = rebuilt(before, facts, granularity, (bytes) => {
    if (own.get(name) === made) largest.orders.keep(name, bytes);
  });
  own.set(name, made);
  try {
    return (await made)?.rows ?? null;
  } catch (error) {
    if (own.get(name) === made) own.delete(name);
    throw error;
  }
}

async function rebuilt(
  known: Promise<Built | null> | null,
  facts: SegmentFacts,
  granularity: Granularity,
  keep: (bytes: number) => void,
): Promise<Built | null> {
  const before = await known;
  const { hours, sessions } = facts;
  if (before?.hours.deref() === hours && before.sessions === sessions) return before;
  const [, ...later] = hours;
  const own = new Map<number, ReadonlySet<number>>();
  for (const { columns } of later) {
    const number = numberOf(columns);
    own.set(number, before?.parts.get(number) ?? (await bucketsIn(columns, granularity, null)));
  }
  const made = { hours: new WeakRef(hours), sessions, parts: own };
  const changed = before === null ? null : await changedSince(before, facts, own, granularity);
  if (before === null || changed === null) {
    const columns = await addedUp(facts, granularity, null);
    if (columns === null) return null;
    const base = { columns, orders: new Orders(() => keep(bytes())) };
    const bytes = (): number => bytesOf(columns) + 4 * columns.rows * base.orders.count + sessions.byteLength;
    keep(bytes());
    return { ...made, base, changed: new Set(), rows: [{ ...base, skip: null }] };
  }
  const again = await addedUp(facts, granularity, changed);
  if (again === null) return null;
  const { base } = before;
  const skip = new Uint8Array(base.columns.rows);
  const bucket = base.columns.numbers['bucket']!;
  for (const one of changed)
    for (let row = lowerBound(bucket, one); row < skip.length && bucket[row] === one; row += 1) skip[row] = 1;
  const orders = new Orders(() => undefined);
  // The orders of the few new rows are made with each change.
  const bytes =
    bytesOf(base.columns) + 4 * skip.length * base.orders.count + skip.length + 2 * bytesOf(again);
  keep(bytes + sessions.byteLength);
  return {
    ...made,
    base,
    changed,
    rows: [
      { ...base, skip },
      { columns: again, skip: null, orders },
    ],
  };
}

function bytesOf({ numbers }: Columns): number {
  return Object.values(numbers).reduce((bytes, column) => bytes + column.byteLength, 0);
}

/**
 * Returns the buckets whose sums may differ from the base: those of files that came or went, and those of sessions that
 * joined or left the segment. Null if they are so many that all are added up anew.
 */
async function changedSince(
  { sessions: before, parts: were, base, changed: already }: Built,
  { sessions, hours }: SegmentFacts,
  are: ReadonlyMap<number, ReadonlySet<number>>,
  granularity: Granularity,
): Promise<ReadonlySet<number> | null> {
  const changed = new Set(already);
  for (const [these, those] of [
    [were, are],
    [are, were],
  ] as const)
    for (const [number, buckets] of these)
      if (!those.has(number)) for (const bucket of buckets) changed.add(bucket);
  const moved = sessions.changedSince(before);
  if (moved !== null)
    for (const { columns } of hours)
      for (const bucket of await bucketsIn(columns, granularity, moved)) changed.add(bucket);
  const bucket = base.columns.numbers['bucket']!;
  let rows = 0;
  for (const one of changed) rows += lowerBound(bucket, one + 1) - lowerBound(bucket, one);
  return rows * CHANGED_SHARE > base.columns.rows ? null : changed;
}

/** Returns the buckets in which there are facts, of all sessions or of some. */
async function bucketsIn(
  { rows, numbers }: Columns,
  granularity: Granularity,
  sessions: SegmentSessions | null,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const [hour, session] = [numbers['hour']!, numbers['session']!];
  let end = -Infinity;
  for (let row = 0; row < rows; row += 1) {
    if (row % ADDED_AT_ONCE === ADDED_AT_ONCE - 1) await giveWay();
    if (hour[row]! < end || (sessions !== null && !sessions.has(session[row]!))) continue;
    const bucket = bucketStart(granularity, hour[row]!);
    end = nextBucketStart(granularity, bucket + 1);
    found.add(bucket);
  }
  return found;
}

/**
 * Adds up facts by bucket and entity: all, or those of some buckets. Rows come in the order of buckets. Null if the
 * numbers of the entities lie too far apart.
 */
async function addedUp(
  { sessions, hours }: SegmentFacts,
  granularity: Granularity,
  only: ReadonlySet<number> | null,
): Promise<Columns | null> {
  const entities = spanOf(hours.map(({ columns }) => columns.numbers['number']!));
  if (entities === null) return null;
  const { least, size } = entities;
  const found = { bucket: [] as number[], number: [] as number[] };
  const sums = SUMS.entity_rollup.map((): number[] => []);
  const places = new Int32Array(size).fill(-1);
  const [seenSessions, seenUsers] = [new Pairs(), new Pairs()];
  let read = 0;
  for (const bucket of only === null ? everyBucket(hours, granularity) : inOrder(only)) {
    const end = nextBucketStart(granularity, bucket + 1);
    const first = found.bucket.length;
    // A bucket costs as much as some facts.
    if ((read += FACTS_OF_BUCKET) % ADDED_AT_ONCE < FACTS_OF_BUCKET) await giveWay();
    seenSessions.clear();
    seenUsers.clear();
    for (const { columns, skip } of hours) {
      const { hour, number, session, end_user: user, messages, sat, dsat } = columns.numbers;
      for (let row = lowerBound(hour!, bucket); row < columns.rows && hour![row]! < end; row += 1) {
        if ((read += 1) % ADDED_AT_ONCE === 0) await giveWay();
        if (skip?.[row] === 1 || !sessions.has(session![row]!)) continue;
        const at = number![row]! - least;
        let place = places[at]!;
        if (place < first) {
          place = places[at] = found.bucket.length;
          found.bucket.push(bucket);
          found.number.push(number![row]!);
          for (const sum of sums) sum.push(0);
        }
        if (seenSessions.add(at, session![row]!)) sums[0]![place]! += 1;
        // End user 0 stands for none.
        if (user![row] !== 0 && seenUsers.add(at, user![row]!)) sums[1]![place]! += 1;
        sums[2]![place]! += messages![row]!;
        sums[3]![place]! += sat![row]!;
        sums[4]![place]! += dsat![row]!;
      }
    }
  }
  const numbers: Record<string, Float64Array | Int32Array> = {
    bucket: Float64Array.from(found.bucket),
    number: Int32Array.from(found.number),
  };
  for (const [index, name] of SUMS.entity_rollup.entries()) numbers[name] = Int32Array.from(sums[index]!);
  return { rows: found.bucket.length, numbers, texts: {} };
}

function inOrder(buckets: ReadonlySet<number>): readonly number[] {
  return [...buckets].toSorted((one, other) => one - other);
}

/** Yields the buckets in which there are facts. */
function* everyBucket(hours: HeldRows, granularity: Granularity): Generator<number> {
  let from = -Infinity;
  for (;;) {
    let next = Infinity;
    for (const { columns } of hours) {
      const hour = columns.numbers['hour']!;
      const row = lowerBound(hour, from);
      if (row < columns.rows && hour[row]! < next) next = hour[row]!;
    }
    if (next === Infinity) return;
    const bucket = bucketStart(granularity, next);
    yield bucket;
    from = nextBucketStart(granularity, bucket + 1);
  }
}

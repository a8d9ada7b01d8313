/**
 * Finds the history that a call repeats among the known turns. Keeps the invariant that the places ascend, so a turn is
 * found once. Takes time linear in both. Test: test/doors/traces/assembly/merge-span.test.ts.
 */
import type { TurnKey, Turn, Zone } from './turn.ts';

/** What a call asks behind its history. */
export interface Question {
  readonly hash: string | undefined;
  /** Tells whether a turn with this hash may be the call's question. Otherwise somebody asked the same before. */
  readonly mayBe: (turn: Turn) => boolean;
}

/** Where a history is among the known turns. */
export interface Alignment {
  /** For each message of the history the index of its turn; null: it is not known. */
  readonly places: (number | null)[];
  /** The index behind the turn that the history ends with; null: its end is not known. */
  readonly end: number | null;
}

/** A history is known at another place than the beginning if its last messages are: so many are compared. */
const TAIL = 32;
/** If a history is not known as a whole, so many of its newest messages are compared with as many turns. */
const MAX_SIDE = 600;

/**
 * Looks for a history from the beginning of the turns, then for its end anywhere, because applications cut histories.
 * If neither is known, it takes the longest common prefix, and compares what follows it.
 */
export function alignHistory(
  turns: readonly Turn[],
  history: readonly TurnKey[],
  zone: Zone,
  asks: Question,
): Alignment {
  const [known, past] = numbered(turns, history);
  let prefix = 0;
  while (prefix < past.length && past[prefix] === known[prefix]) prefix += 1;
  const ends = endsOf(known, past);
  if (prefix === past.length) ends.unshift(prefix);
  const ranks = ranksOf(turns, asks);
  let best: { readonly end: number; readonly rank: number } | null = null;
  for (const end of ends) {
    const isLate = end > zone.end && end !== prefix;
    const rank = (ranks[end] as number) - (isLate ? 3 : 0);
    if (best === null || rank > best.rank) best = { end, rank };
  }
  if (best !== null) {
    const from = best.end - past.length;
    return { places: history.map((_, index) => Math.max(0, from + index)), end: best.end };
  }
  const places = [
    ...Array.from({ length: prefix }, (_, index) => index),
    ...commonPlaces(known.subarray(prefix, Math.max(prefix, zone.end)), past.subarray(prefix), prefix),
  ];
  takeCounterparts(places, turns, history, zone.begin);
  const last = places.findLast((place) => place !== null);
  return { places, end: last === undefined ? null : last + 1 };
}

/** Ranks each place by its question: 2 if it is there, 1 if there is none, 0 if somebody else asked it. */
function ranksOf(turns: readonly Turn[], { hash, mayBe }: Question): Uint8Array {
  const ranks = new Uint8Array(turns.length + 1).fill(1);
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index] as Turn;
    if (turn.role === 'user')
      ranks[index] = turn.hash === hash ? (mayBe(turn) ? 2 : 0) : (ranks[index + 1] ?? 1);
  }
  return ranks;
}

/** Turns and messages as numbers: the same for the same words of the same role. */
function numbered(turns: readonly TurnKey[], history: readonly TurnKey[]): readonly [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const numberOf = ({ role, hash }: TurnKey): number => {
    const name = role === 'user' ? `?${hash}` : hash;
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  return [Int32Array.from(turns, numberOf), Int32Array.from(history, numberOf)];
}

/** The places at which the last messages of a history end, the newest first. */
function endsOf(known: Int32Array, past: Int32Array): number[] {
  const length = Math.min(past.length, TAIL);
  const ends: number[] = [];
  for (let end = known.length; end >= length; end -= 1) {
    let same = 0;
    while (same < length && known[end - 1 - same] === past[past.length - 1 - same]) same += 1;
    if (same === length) ends.push(end);
  }
  return ends;
}

/** A longest common subsequence, as late among the turns as possible. `offset`: the index of the first turn. */
function commonPlaces(known: Int32Array, past: Int32Array, offset: number): (number | null)[] {
  const [fromTurn, fromPast] = [known.length, past.length].map((all) => Math.max(0, all - MAX_SIDE)) as [
    number,
    number,
  ];
  const [newest, rows] = [known.subarray(fromTurn), past.subarray(fromPast)];
  const width = newest.length + 1;
  const lengths = new Uint16Array((rows.length + 1) * width);
  for (let row = 1; row <= rows.length; row += 1)
    for (let column = 1; column < width; column += 1) {
      const at = row * width + column;
      lengths[at] =
        newest[column - 1] === rows[row - 1]
          ? (lengths[at - width - 1] as number) + 1
          : Math.max(lengths[at - width] as number, lengths[at - 1] as number);
    }
  const places: (number | null)[] = Array.from(past, () => null);
  let [row, column] = [rows.length, newest.length];
  while (row > 0 && column > 0) {
    const at = row * width + column;
    if (newest[column - 1] === rows[row - 1]) {
      row -= 1;
      column -= 1;
      places[fromPast + row] = offset + fromTurn + column;
    } else if ((lengths[at - width] as number) >= (lengths[at - 1] as number)) row -= 1;
    else column -= 1;
  }
  return places;
}

/**
 * Takes a message that is not known for the turn of the same role that stands at its place between two that are known:
 * applications store answers otherwise than they were given, and questions otherwise than they asked the model.
 * `end`: a turn behind the last known message stands before it.
 */
function takeCounterparts(
  places: (number | null)[],
  turns: readonly Turn[],
  history: readonly TurnKey[],
  end: number,
): void {
  let next = end;
  const limits = places.toReversed().map((place) => (next = place ?? next));
  if (places.every((place) => place === null)) return;
  const free = { user: 0, assistant: 0 };
  let behind = 0;
  for (const [index, { role }] of history.entries()) {
    const place = places[index] ?? null;
    if (place !== null) {
      behind = place + 1;
      continue;
    }
    const limit = limits[places.length - 1 - index] as number;
    free[role] = Math.max(free[role], behind);
    while (free[role] < limit && turns[free[role]]?.role !== role) free[role] += 1;
    if (free[role] >= limit) continue;
    places[index] = free[role];
    behind = free[role] + 1;
  }
}

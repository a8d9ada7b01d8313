import type { KnownTurn, Said } from './known-turn.ts';
import type { Zone } from './span-zone.ts';

/** Where a history is among the known turns. */
export interface Alignment {
  /** For each message of the history the turn that it is; null: it is not known. Ascending. */
  readonly places: readonly (number | null)[];
  /** Behind which turn the history ends; null: the turns do not say, so the time has to. */
  readonly place: number | null;
}

/** Of what is not known as a whole, so many of the newest turns and messages are compared. */
const MAX_SIDE = 600;

/**
 * Finds a history among the known turns. `zone`: the places where it may end, told by time. Messages that are not
 * found where both sides have one of the same role between two that are found, are the same: applications store
 * answers otherwise than they were given, and questions otherwise than they asked the model.
 */
export function alignHistory(
  turns: readonly KnownTurn[],
  history: readonly Said[],
  zone: Pick<Zone, 'begin' | 'end'>,
): Alignment {
  const borders = bordersOf(history);
  const whole = wholeAt(turns, history, borders, zone);
  if (whole !== null) {
    const from = whole - history.length;
    // Said before something that was answered: a conversation that goes on from an earlier place.
    return { places: history.map((_, index) => from + index), place: whole < zone.begin ? null : whole };
  }
  // Calls that have not come yet are missing at its end.
  const beginning = beginningAt(turns, history, borders, zone);
  if (beginning !== null) {
    const { length, place } = beginning;
    return { places: history.map((_, index) => (index < length ? place - length + index : null)), place };
  }
  const places = commonPlaces(turns, history, zone.end);
  fillGaps(places, turns, history, zone.begin);
  const last = places.at(-1) ?? null;
  const known = places.findLast((place) => place !== null) ?? null;
  if (known === null) return { places, place: null };
  const end = (last ?? known) + 1;
  return { places, place: end < zone.begin ? null : end };
}

function isEqual(turn: Said | undefined, other: Said | undefined): boolean {
  return turn !== undefined && turn.hash === other?.hash && turn.role === other.role;
}

/** The best place behind a run of turns that is the whole history; null when there is none. */
function wholeAt(
  turns: readonly KnownTurn[],
  history: readonly Said[],
  borders: readonly number[],
  { begin, end }: Pick<Zone, 'begin' | 'end'>,
): number | null {
  const found = placesOf(turns, history, borders);
  if (found.length === 0) return null;
  const inZone = found.filter((place) => place >= begin && place <= end);
  if (inZone[0] === history.length) return history.length;
  // With a later time: the answer was finished after the person had gone on. A question is never so late.
  let lateUntil = end;
  while (lateUntil < turns.length && isLate(turns[lateUntil] as KnownTurn)) lateUntil += 1;
  return (
    inZone.at(-1) ??
    found.find((place) => place > end && place <= lateUntil) ??
    found.findLast((place) => place < begin) ??
    null
  );
}

function isLate({ role, inferred }: KnownTurn): boolean {
  return inferred === 'history' || role === 'assistant';
}

/** The places behind each run of turns that is the whole history, ascending. (Knuth, Morris and Pratt.) */
function placesOf(turns: readonly Said[], history: readonly Said[], borders: readonly number[]): number[] {
  const found: number[] = [];
  if (history.length > turns.length) return found;
  let length = 0;
  for (let place = 1; place <= turns.length; place += 1) {
    const turn = turns[place - 1];
    while (length > 0 && (length === history.length || !isEqual(turn, history[length])))
      length = borders[length] ?? 0;
    if (isEqual(turn, history[length])) length += 1;
    if (length === history.length) found.push(place);
  }
  return found;
}

/**
 * The longest beginning of the history, but not all of it, that ends within the zone, and behind which turn; the first
 * turns if they are it, else as late as possible. (Knuth, Morris and Pratt: time linear in both.)
 */
function beginningAt(
  turns: readonly Said[],
  history: readonly Said[],
  borders: readonly number[],
  { begin, end }: Pick<Zone, 'begin' | 'end'>,
): { readonly length: number; readonly place: number } | null {
  if (history.length < 2) return null;
  let best = { length: 0, place: 0 };
  let length = 0;
  for (let place = 1; place <= Math.min(end, turns.length); place += 1) {
    const turn = turns[place - 1];
    while (length > 0 && (length >= history.length - 1 || !isEqual(turn, history[length])))
      length = borders[length] ?? 0;
    if (isEqual(turn, history[length])) length += 1;
    const isBetter = length > best.length || (length === best.length && best.place !== length);
    if (place >= begin && length > 0 && isBetter) best = { length, place };
  }
  return best.length > 0 ? best : null;
}

/** For each length of a beginning, the longest shorter one with which it ends. */
function bordersOf(history: readonly Said[]): readonly number[] {
  const borders = [0, 0];
  let length = 0;
  for (let index = 1; index < history.length; index += 1) {
    while (length > 0 && !isEqual(history[index], history[length])) length = borders[length] ?? 0;
    if (isEqual(history[index], history[length])) length += 1;
    borders.push(length);
  }
  return borders;
}

/** A longest common subsequence of the turns before `end` and the history, as late among the turns as possible. */
function commonPlaces(turns: readonly KnownTurn[], history: readonly Said[], end: number): (number | null)[] {
  const places: (number | null)[] = history.map(() => null);
  const fromTurn = Math.max(0, end - MAX_SIDE);
  const numbers = new Map<string, number>();
  const newest = turns.slice(fromTurn, end).map((turn) => numberOf(turn, numbers));
  // Messages that are no turn would only be passed over.
  const rows: { readonly index: number; readonly number: number }[] = [];
  for (let index = Math.max(0, history.length - MAX_SIDE); index < history.length; index += 1) {
    const said = history[index] as Said;
    if (numbers.has(said.hash)) rows.push({ index, number: numberOf(said, numbers) });
  }
  if (rows.length === 0) return places;
  const width = newest.length + 1;
  const lengths = new Uint16Array((rows.length + 1) * width);
  for (let row = 1; row <= rows.length; row += 1) {
    const { number } = rows[row - 1] as (typeof rows)[number];
    const line = row * width;
    for (let column = 1; column < width; column += 1) {
      const at = line + column;
      const above = lengths[at - width] as number;
      const before = lengths[at - 1] as number;
      if (newest[column - 1] === number) lengths[at] = (lengths[at - width - 1] as number) + 1;
      else lengths[at] = above >= before ? above : before;
    }
  }
  let [row, column] = [rows.length, newest.length];
  while (row > 0 && column > 0) {
    const { index, number } = rows[row - 1] as (typeof rows)[number];
    const at = row * width + column;
    if (newest[column - 1] === number) {
      places[index] = fromTurn + column - 1;
      row -= 1;
      column -= 1;
    } else if ((lengths[at - width] as number) >= (lengths[at - 1] as number)) row -= 1;
    else column -= 1;
  }
  return places;
}

/** The same number for what is said by the same role in the same words. */
function numberOf({ role, hash }: Said, numbers: Map<string, number>): number {
  let number = numbers.get(hash);
  if (number === undefined) {
    number = numbers.size;
    numbers.set(hash, number);
  }
  return 2 * number + (role === 'user' ? 1 : 0);
}

/** Takes unknown messages beside known ones for the turns of the same role that stand there, before `end`. */
function fillGaps(
  places: (number | null)[],
  turns: readonly KnownTurn[],
  history: readonly Said[],
  end: number,
): void {
  const last = places.findLast((place) => place !== null) ?? null;
  if (last === null) return;
  let free = 0;
  const nextKnown = nextKnownOf(places, end);
  const before = Math.max(end, last);
  const nextOf = { user: nextWith('user', turns, before), assistant: nextWith('assistant', turns, before) };
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index] ?? null;
    if (place !== null) {
      free = place + 1;
      continue;
    }
    const { role } = history[index] as Said;
    const turn = nextOf[role][free] ?? Infinity;
    if (turn >= (nextKnown[index] ?? end)) continue;
    places[index] = turn;
    free = turn + 1;
  }
}

/** For each message the next one that was found, or `end`. */
function nextKnownOf(places: readonly (number | null)[], end: number): readonly number[] {
  let next = end;
  return places
    .toReversed()
    .map((place) => (next = place ?? next))
    .toReversed();
}

/** For each of the turns before `end`, the next one of a role from there on. */
function nextWith(
  role: Said['role'],
  turns: readonly KnownTurn[],
  end: number,
): Readonly<Record<number, number>> {
  const found = new Float64Array(end).fill(Infinity);
  for (let index = end - 1; index >= 0; index -= 1)
    found[index] = turns[index]?.role === role ? index : (found[index + 1] ?? Infinity);
  return found;
}

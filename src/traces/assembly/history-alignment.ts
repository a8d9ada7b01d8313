import type { KnownTurn } from './known-turns.ts';

type Said = Pick<KnownTurn, 'role' | 'hash'>;

/** Where a history is among the known turns. */
export interface Alignment {
  /** For each message of the history the turn that it is; null: it is not known. Ascending. */
  readonly places: readonly (number | null)[];
  /** Behind which turn the history ends; null: the turns do not say, so the time has to. */
  readonly place: number | null;
}

/** Beyond so many comparisons only the newest turns and messages are compared. */
const MAX_SIDE = 600;

/**
 * Finds a history among the known turns. `zone`: the places where it may end, told by time. Messages that are not
 * found where both sides have one of the same role between two that are found, are the same: applications store
 * answers otherwise than they were given, and questions otherwise than they asked the model.
 */
export function alignHistory(
  turns: readonly KnownTurn[],
  history: readonly Said[],
  zone: { readonly begin: number; readonly end: number },
): Alignment {
  const whole = wholeAt(turns, history, zone);
  if (whole !== null) {
    const from = whole - history.length;
    // Said before something that was answered: a conversation that goes on from an earlier place.
    return { places: history.map((_, index) => from + index), place: whole < zone.begin ? null : whole };
  }
  // Calls that have not come yet are missing at its end.
  const beginning = beginningAt(turns, history, zone);
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
  { begin, end }: { readonly begin: number; readonly end: number },
): number | null {
  const found: number[] = [];
  for (let place = history.length; place <= turns.length; place += 1) {
    let index = history.length - 1;
    while (index >= 0 && isEqual(turns[place - history.length + index], history[index])) index -= 1;
    if (index < 0) found.push(place);
  }
  const inZone = found.filter((place) => place >= begin && place <= end);
  if (inZone.includes(history.length)) return history.length;
  // With a later time: the answer was finished after the person had gone on. A question is never so late.
  const isLate = (place: number): boolean =>
    place > end &&
    turns.slice(end, place).every(({ role, inferred }) => inferred === 'history' || role === 'assistant');
  return inZone.at(-1) ?? found.find(isLate) ?? found.findLast((place) => place < begin) ?? null;
}

/**
 * The longest beginning of the history, but not all of it, that ends within the zone, and behind which turn; the first
 * turns if they are it, else as late as possible. (Knuth, Morris and Pratt: time linear in both.)
 */
function beginningAt(
  turns: readonly Said[],
  history: readonly Said[],
  { begin, end }: { readonly begin: number; readonly end: number },
): { readonly length: number; readonly place: number } | null {
  const borders = bordersOf(history);
  let best = { length: 0, place: 0 };
  let length = 0;
  for (let place = 1; place <= Math.min(end, turns.length); place += 1) {
    while (length > 0 && (length >= history.length - 1 || !isEqual(turns[place - 1], history[length])))
      length = borders[length] ?? 0;
    if (history.length > 1 && isEqual(turns[place - 1], history[length])) length += 1;
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
  const [fromTurn, fromSaid] = [Math.max(0, end - MAX_SIDE), Math.max(0, history.length - MAX_SIDE)];
  const [rows, columns] = [history.length - fromSaid, end - fromTurn];
  const lengths = new Uint16Array((rows + 1) * (columns + 1));
  const at = (row: number, column: number): number => lengths[row * (columns + 1) + column] ?? 0;
  for (let row = 1; row <= rows; row += 1) {
    for (let column = 1; column <= columns; column += 1) {
      const equal = isEqual(turns[fromTurn + column - 1], history[fromSaid + row - 1]);
      lengths[row * (columns + 1) + column] = equal
        ? at(row - 1, column - 1) + 1
        : Math.max(at(row - 1, column), at(row, column - 1));
    }
  }
  let [row, column] = [rows, columns];
  while (row > 0 && column > 0) {
    if (isEqual(turns[fromTurn + column - 1], history[fromSaid + row - 1])) {
      places[fromSaid + row - 1] = fromTurn + column - 1;
      row -= 1;
      column -= 1;
    } else if (at(row - 1, column) >= at(row, column - 1)) row -= 1;
    else column -= 1;
  }
  return places;
}

/** Takes unknown messages beside known ones for the turns of the same role that stand there, before `end`. */
function fillGaps(
  places: (number | null)[],
  turns: readonly KnownTurn[],
  history: readonly Said[],
  end: number,
): void {
  if (places.every((place) => place === null)) return;
  let free = 0;
  const nextKnown = nextKnownOf(places, end);
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index] ?? null;
    if (place !== null) {
      free = place + 1;
      continue;
    }
    const next = nextKnown[index] ?? end;
    for (let turn = free; turn < next; turn += 1) {
      if (turns[turn]?.role !== history[index]?.role) continue;
      places[index] = turn;
      free = turn + 1;
      break;
    }
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

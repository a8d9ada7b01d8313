/**
 * Reads dates written for people: `29.11.25, 09:15`, `11/29/2026 9:15 PM`, `2026/11/29`. Keeps the invariant that all
 * dates of a column or chat decide if day or month comes first, never a single one.
 *
 * Test: test/doors/import/written-dates.test.ts.
 */
import { instantOfLocal } from '../../domain/local-time.ts';
import { formatInstant } from '../../domain/time.ts';

/** Orders of day and month in numeric dates. */
export const DATE_ORDERS = ['day-first', 'month-first'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Settings for times without an offset. */
export interface TimeReading {
  /** Order of dates such as `11/1/2026`; null rejects such dates. */
  readonly order: DateOrder | null;
  /** IANA time zone; undefined is UTC. */
  readonly zone?: string | undefined;
}

/** A date and a time of day as written. */
export interface WrittenTime {
  readonly text: string;
  /** The three numbers of the date in the order of the text; a two-digit year has 2000 added. */
  readonly numbers: readonly [number, number, number];
  readonly kind: 'year-first' | 'day-first' | 'open';
  /** Seconds since midnight. */
  readonly seconds: number;
}

/** Markers of 12-hour clocks: `PM`, `p. m.`, and those before the time in Chinese, Japanese and Korean. */
const FORENOON = 'a\\.?\\s?m\\.?|上午|午前|오전';
const AFTERNOON = 'p\\.?\\s?m\\.?|下午|午後|오후';
const HALF = `${FORENOON}|${AFTERNOON}`;
const IS_AFTERNOON = new RegExp(`^(?:${AFTERNOON})$`, 'i');
/** Every repetition is bounded, so that matching takes linear time. */
const DATE = String.raw`(\d{1,4})(?:([./-])|\. )(\d{1,2})(?:[./-]|\. )(\d{1,4})\.?`;
const CLOCK = String.raw`(?:(${HALF})\s?)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s?(${HALF}))?`;
/** Text between date and time: `, `, ` um `, ` à `, ` klo `. */
const BETWEEN = String.raw`,?\s(?:(?:um|à|at|às|alle|klo|kl\.)\s)?`;
/** Pattern of a date and time with its groups, for use in larger patterns. */
export const DATE_TIME = `${DATE}${BETWEEN}${CLOCK}`;
const WHOLE = new RegExp(`^${DATE}(?:${BETWEEN}${CLOCK})?$`, 'i');
/** Longer texts are no dates. */
const MOST_CHARACTERS = 50;

/** Reads a date with or without a time of day; null for other text. The calendar may still lack the date. */
export function readWritten(text: string): WrittenTime | null {
  if (text.length > MOST_CHARACTERS) return null;
  const found = WHOLE.exec(text.trim());
  return found === null ? null : writtenOf(found);
}

/** Reads a match of a pattern whose groups of `DATE_TIME` start at `first`; null if it is no date and time. */
export function writtenOf(found: RegExpExecArray, first = 1): WrittenTime | null {
  const [one = '', mark = '.', two = '', three = '', before, hour = '0', minute = '0', second = '0', behind] =
    found.slice(first, first + 9);
  const half = before ?? behind;
  const hours = Number(hour);
  if (hours > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  if (half !== undefined && (hours > 12 || hours === 0) && !IS_EAST_ASIAN.test(half)) return null;
  const isAfternoon = half !== undefined && IS_AFTERNOON.test(half);
  const onClock = half === undefined ? hours : (hours % 12) + (isAfternoon ? 12 : 0);
  const isYearFirst = one.length === 4;
  if (isYearFirst ? three.length > 2 : one.length > 2 || (three.length !== 2 && three.length !== 4))
    return null;
  return {
    text: found[0],
    numbers: [Number(one), Number(two), Number(three) + (three.length === 2 && !isYearFirst ? 2000 : 0)],
    kind: isYearFirst ? 'year-first' : mark === '.' ? 'day-first' : 'open',
    seconds: onClock * 3600 + Number(minute) * 60 + Number(second),
  };
}

/** East Asian clocks write 0 for 12. */
const IS_EAST_ASIAN = /^[^a-z]/i;

/** Converts to milliseconds since 1970 as if in UTC; null if the calendar has no such date in this order. */
export function localMs({ numbers, kind, seconds }: WrittenTime, order: DateOrder | null): number | null {
  const [one, two, three] = numbers;
  // Both orders give the same date.
  const known = kind !== 'open' ? kind : one === two ? 'day-first' : order;
  if (known === null) return null;
  const [year, month, day] =
    known === 'year-first'
      ? [one, two, three]
      : known === 'day-first'
        ? [three, two, one]
        : [three, one, two];
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDate =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate ? date.getTime() + seconds * 1000 : null;
}

/** Converts to microseconds since 1970; null if it is no date. */
export function instantOf(written: WrittenTime, { order, zone }: TimeReading): number | null {
  const ms = localMs(written, order);
  return ms === null ? null : zone === undefined ? ms * 1000 : instantOfLocal(ms, zone);
}

const DATABASE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,6})\d{0,3})?)?$/;

/**
 * Converts `1.11.2026 9:30`, `11/1/2026 9:30 PM` or `2026-11-01 09:30:00.123`, without an offset, to an instant;
 * returns other values unchanged.
 */
export function writtenTime(value: unknown, reading: TimeReading): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const [, date, clock = '00:00', fraction = ''] = DATABASE.exec(text) ?? [];
  const written = readWritten(date === undefined ? text : `${date} ${clock}`);
  const at = written === null ? null : instantOf(written, reading);
  if (at === null) return value;
  // Without zero milliseconds: digests of turns depend on this form.
  return formatInstant(at + Number(fraction.padEnd(6, '0'))).replace('.000Z', 'Z');
}

/** Explains to people why a date is invalid: the calendar lacks it, or it contradicts the order of the others. */
export function noDate(written: WrittenTime, order: DateOrder | null): string {
  const text = `"${written.text.slice(0, 40)}"`;
  if (DATE_ORDERS.every((either) => localMs(written, either) === null))
    return `${text}: the calendar has no such day`;
  return `${text} is no date, where the ${order === 'month-first' ? 'month' : 'day'} stands first`;
}

/** Order of day and month in the dates of a column or chat. */
export interface OrderFound {
  /** Null if no date shows it. */
  readonly order: DateOrder | null;
  /** The first date that needs an order; null if none does. */
  readonly example: string | null;
}

/**
 * Finds out which number is the day. A number above 12 is no month. If all are 12 or less, dates that ascend in the
 * file decide: in the wrong order they would go back.
 */
export class OrderSearch {
  readonly #isSorted: boolean;
  #found: DateOrder | null = null;
  #example: string | null = null;
  readonly #last = { 'day-first': -Infinity, 'month-first': -Infinity };
  readonly #steps = { 'day-first': 0, 'month-first': 0 };

  /** `isSorted`: the dates ascend, apart from steps back of up to a day. */
  constructor(isSorted: boolean) {
    this.#isSorted = isSorted;
  }

  /** Returns true once a date has decided. */
  add(written: WrittenTime): boolean {
    const [one, two] = written.numbers;
    if (written.kind !== 'open' || this.#found !== null) return this.#found !== null;
    if (one > 12 && two <= 12) this.#found = 'day-first';
    if (two > 12 && one <= 12) this.#found = 'month-first';
    if (one !== two) this.#example ??= written.text;
    for (const order of DATE_ORDERS) {
      const at = localMs(written, order) ?? 0;
      if (at < this.#last[order] - DAY_MS) this.#steps[order] += 1;
      this.#last[order] = at;
    }
    return this.#found !== null;
  }

  get found(): OrderFound {
    const example = this.#example;
    if (this.#found !== null || example === null) return { order: this.#found, example };
    const [days, months] = [this.#steps['day-first'], this.#steps['month-first']];
    if (!this.#isSorted || (days === 0) === (months === 0)) return { order: null, example };
    return { order: days === 0 ? 'day-first' : 'month-first', example };
  }
}

const DAY_MS = 24 * 3600 * 1000;

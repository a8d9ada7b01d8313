/**
 * Dates as people and programs write them for people: `29.11.25, 09:15`, `11/29/2026 9:15 PM`, `2026/11/29`. Whether
 * the day or the month comes first is told from all dates of a column or chat, never from one. Covered by
 * test/doors/import/written-dates.test.ts.
 */
import { instantOfLocal } from '../../domain/local-time.ts';
import { formatInstant } from '../../domain/time.ts';

export const DATE_ORDERS = ['day-first', 'month-first'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** How times without an offset are read. */
export interface TimeReading {
  /** Of dates such as `11/1/2026`; null: such a date is none. */
  readonly order: DateOrder | null;
  /** A name of the IANA database; undefined: UTC. */
  readonly zone?: string | undefined;
}

/** A date and a time of day as they are written. */
export interface WrittenTime {
  readonly text: string;
  /** Numbers of the date, in the order of the text. */
  readonly numbers: readonly [number, number, number];
  readonly kind: 'year-first' | 'day-first' | 'open';
  /** Since midnight. */
  readonly seconds: number;
}

/** 12-hour clocks: `PM`, `p. m.`, and before the time in Chinese, Japanese and Korean. */
const FORENOON = 'a\\.?\\s?m\\.?|上午|午前|오전';
const AFTERNOON = 'p\\.?\\s?m\\.?|下午|午後|오후';
const HALF = `${FORENOON}|${AFTERNOON}`;
const IS_AFTERNOON = new RegExp(`^(?:${AFTERNOON})$`, 'i');
/** Every repetition in it is bounded, so it takes the same time for any text. */
const DATE = String.raw`(\d{1,4})(?:([./-])|\. )(\d{1,2})(?:[./-]|\. )(\d{1,4})\.?`;
const CLOCK = String.raw`(?:(${HALF})\s?)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s?(${HALF}))?`;
/** What stands between date and time: `, `, ` um `, ` à `, ` klo `. */
const BETWEEN = String.raw`,?\s(?:(?:um|à|at|às|alle|klo|kl\.)\s)?`;
/** The groups of a date and time in a larger pattern. */
export const DATE_TIME = `${DATE}${BETWEEN}${CLOCK}`;
const WHOLE = new RegExp(`^${DATE}(?:${BETWEEN}${CLOCK})?$`, 'i');
/** Nothing longer is a date. */
const MOST_CHARACTERS = 50;

/** Reads a date, with or without a time of day; null for any other text. Its numbers may still be no date. */
export function readWritten(text: string): WrittenTime | null {
  if (text.length > MOST_CHARACTERS) return null;
  const found = WHOLE.exec(text.trim());
  return found === null ? null : writtenOf(found);
}

/** The date and time that a match of a pattern with `DATE_TIME` at `first` holds; null where it is none. */
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

/** They write 0 for 12. */
const IS_EAST_ASIAN = /^[^a-z]/i;

/** Milliseconds since 1970, as if the time were UTC; null where it is no date of the calendar in this order. */
export function localMs({ numbers, kind, seconds }: WrittenTime, order: DateOrder | null): number | null {
  const [one, two, three] = numbers;
  // Both orders are the same date.
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

/** The instant in microseconds; null where it is none. */
export function instantOf(written: WrittenTime, { order, zone }: TimeReading): number | null {
  const ms = localMs(written, order);
  return ms === null ? null : zone === undefined ? ms * 1000 : instantOfLocal(ms, zone);
}

const DATABASE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,6})\d{0,3})?)?$/;

/**
 * `1.11.2026 9:30`, `11/1/2026 9:30 PM` or `2026-11-01 09:30:00.123`, without an offset, as an instant; any other value
 * as it is.
 */
export function writtenTime(value: unknown, reading: TimeReading): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const [, date, clock = '00:00', fraction = ''] = DATABASE.exec(text) ?? [];
  const written = readWritten(date === undefined ? text : `${date} ${clock}`);
  const at = written === null ? null : instantOf(written, reading);
  if (at === null) return value;
  // Digests of what was said have this form.
  return formatInstant(at + Number(fraction.padEnd(6, '0'))).replace('.000Z', 'Z');
}

/** Why a date is none, for people: the calendar lacks it, or it has another order than the others. */
export function noDate(written: WrittenTime, order: DateOrder | null): string {
  const text = `"${written.text.slice(0, 40)}"`;
  if (DATE_ORDERS.every((either) => localMs(written, either) === null))
    return `${text}: the calendar has no such day`;
  return `${text} is no date, where the ${order === 'month-first' ? 'month' : 'day'} stands first`;
}

/** What the dates of a column or chat say about their order. */
export interface OrderFound {
  /** Null: nothing says it. */
  readonly order: DateOrder | null;
  /** A date that needs an order; null: none does. */
  readonly example: string | null;
}

/**
 * Finds out which number is the day. A number above 12 is no month. Where all are 12 or less, times that are in order
 * in the file tell: in the other order they go back.
 */
export class OrderSearch {
  readonly #isSorted: boolean;
  #found: DateOrder | null = null;
  #example: string | null = null;
  readonly #last = { 'day-first': -Infinity, 'month-first': -Infinity };
  readonly #steps = { 'day-first': 0, 'month-first': 0 };

  /** `isSorted`: the dates stand in the order of time, but for a day. */
  constructor(isSorted: boolean) {
    this.#isSorted = isSorted;
  }

  /** True once a date has decided it. */
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

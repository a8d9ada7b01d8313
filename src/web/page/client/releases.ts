/**
 * Finds the values of attributes that came up for the first time within a period: a new release, prompt or model. Keeps
 * the invariant that they follow from `GET /v1/attributes` and the shown buckets alone.
 *
 * Test: test/web/page/releases.test.ts.
 */
import type { AttributesResponse } from './api.ts';
import { clockAt } from './zone.ts';

type Attribute = AttributesResponse['attributes'][number];

/** A value that is new within the shown period. */
export interface Release {
  /** The attribute, such as `version`. */
  readonly name: string;
  readonly value: string;
  /** Local time of the first message of a conversation that has it, such as `2026-11-21T09:30:00Z`. */
  readonly at: string;
  /** Place of the bucket that contains it. */
  readonly index: number;
}

const MOST_RELEASES = 5;
/** An attribute with more values describes conversations, and is not what changes from time to time. */
const MOST_VALUES = 50;
const DAY_MS = 86_400_000;

/** A value and its first message, milliseconds since 1970. */
interface Begun {
  readonly name: string;
  readonly value: string;
  readonly at: number;
}

/**
 * Returns the values of an attribute that follow its first one, if its values follow one another like releases: there are
 * at most 50, they are no booleans, and at least half of those after the first came up a day or more after it.
 */
function followersIn({ name, values }: Attribute): Begun[] {
  if (values.length > MOST_VALUES || values.every(({ value }) => value === 'true' || value === 'false'))
    return [];
  const begun = values.flatMap(({ value, firstAt }) =>
    firstAt === null ? [] : [{ name, value, at: Date.parse(firstAt) }],
  );
  const first = Math.min(...begun.map(({ at }) => at));
  const followers = begun.filter(({ at }) => at >= first + DAY_MS);
  return 2 * followers.length < begun.length - 1 ? [] : followers;
}

/**
 * Returns the newest five values that are new in the period, oldest first. `dates`: starts of its buckets, local time;
 * `clock`: the period in local time, null for the whole history.
 */
export function releasesIn(
  attributes: readonly Attribute[],
  dates: readonly string[],
  clock: { readonly start: string; readonly end: string } | null,
): Release[] {
  const starts = dates.map((date) => Date.parse(date));
  const [from, to] =
    clock === null ? [-Infinity, Infinity] : [Date.parse(clock.start), Date.parse(clock.end)];
  return attributes
    .flatMap(followersIn)
    .toSorted((a, b) => a.at - b.at || compare(a.name, b.name) || compare(a.value, b.value))
    .flatMap(({ name, value, at }) => {
      const local = clockAt(at);
      const index = starts.findLastIndex((start) => start <= Date.parse(local));
      const isShown = index >= 0 && Date.parse(local) >= from && Date.parse(local) < to;
      return isShown ? [{ name, value, at: local, index }] : [];
    })
    .slice(-MOST_RELEASES);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A label beside the line of a release. */
export interface ReleaseLabel {
  readonly text: string;
  /** Place of the line, pixels from the left of the chart. */
  readonly line: number;
  /** Place of the beginning or the end of the text, pixels from the left. */
  readonly x: number;
  readonly anchor: 'start' | 'end';
  /** Row of the label, 0 at the top; labels of one row do not overlap. */
  readonly row: number;
}

/** Longest label, characters; the title of the line says all. */
const LONGEST = 16;
/** Width of a character of a label, pixels, at most on average. */
const CHARACTER = 7;
/** Pixels between a line and its label. */
const BESIDE = 4;

/** Places the labels of lines at `xs` in a chart of `width` pixels: each in the first row with room. */
export function placeLabels(texts: readonly string[], xs: readonly number[], width: number): ReleaseLabel[] {
  const taken: { readonly row: number; readonly from: number; readonly to: number }[] = [];
  return texts.map((full, index) => {
    const text = full.length > LONGEST ? `${[...full].slice(0, LONGEST - 1).join('')}…` : full;
    const [line, long] = [xs[index] ?? 0, text.length * CHARACTER + BESIDE];
    const anchor = line + long <= width ? 'start' : 'end';
    const [from, to] = anchor === 'start' ? [line, line + long] : [line - long, line];
    const isTaken = (at: number): boolean =>
      taken.some((other) => other.row === at && from < other.to && other.from < to);
    let row = 0;
    while (isTaken(row)) row += 1;
    taken.push({ row, from, to });
    return { text, line, x: anchor === 'start' ? line + BESIDE : line - BESIDE, anchor, row };
  });
}

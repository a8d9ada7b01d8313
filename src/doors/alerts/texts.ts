/**
 * Writes the text of a firing: one or two sentences in English.
 *
 * Test: test/doors/alerts/texts.test.ts.
 */
import type { Firing } from './evaluation.ts';
import type { FixedFigures, Listed, Precision } from './figures.ts';
import { choiceWords, type SegmentChoice } from '../../domain/attributes.ts';
import { segmentChoices } from './segment.ts';
import type { Window } from './rule.ts';
import type { Span } from './windows.ts';
import { wallClock } from '../../domain/local-time.ts';
import { DAY_MICROS, HOUR_MICROS } from '../../domain/time.ts';

/** Writes the firing and its window: “… Period: Sunday, 22 November 2026, UTC.” */
export function textOf(firing: Firing): string {
  const { window, span, rule } = firing;
  const { timeZone } = rule;
  const period = window === null ? '' : ` Period: ${periodOf(window, span, timeZone)}, ${timeZone}.`;
  const segment = segmentSentence(segmentChoices(rule.condition.segment));
  return `${sentenceOf(firing)}${segment === null ? '' : ` ${segment}`}${period}`;
}

/** Example: “Only conversations with plan ‘pro’ or ‘team’ count.”; null if all count. */
export function segmentSentence(segment: readonly SegmentChoice[]): string | null {
  return segment.length === 0 ? null : `Only conversations ${choiceWords(segment, oneLine)} count.`;
}

function sentenceOf(firing: Firing): string {
  const { condition } = firing.rule;
  if (firing.heldBack !== undefined) return heldBackSentence(firing);
  switch (condition.kind) {
    case 'count':
      return countSentence(firing);
    case 'rising':
      return risingSentence(firing);
    case 'new_topic':
      return newTopicSentence(firing);
    case 'new_value':
      return newValueSentence(firing);
    case 'came_back':
      return cameBackSentence(firing);
    case 'dsat_share':
      return shareSentence(firing);
    case 'digest':
      throw new Error('a digest has a text of its own');
    default:
      return condition satisfies never;
  }
}

/** Example: “‘Cancel order’ came up in 42 conversations today; the alert is set to 40.” */
function countSentence(firing: Firing): string {
  const bound = number(firing.bound);
  return `${nameOf(firing)} came up in ${conversations(firing.value)} ${when(firing)}; the alert is set to ${bound}.`;
}

/**
 * Example: “‘Cancel order’ came up in 42 conversations today, 3.1 times as many as on an average day of the last week.”
 */
function risingSentence(firing: Firing): string {
  const { value, before, window } = firing;
  if (before === undefined || window === null) throw new Error('what rises is compared with a time before');
  const average = before.sessions / before.windows;
  return (
    `${nameOf(firing)} came up in ${conversations(value)} ${when(firing)}, ${times(value / average)} as many as ` +
    `${usually(window, before.windows)}.`
  );
}

/** Example: “People ask about something new: ‘Cancel order’ has come up in 3 conversations, and in none before …” */
function newTopicSentence(firing: Firing): string {
  const { timeZone } = firing.rule;
  const before = `${dayName(firing.span.start, timeZone)} (${timeZone})`;
  const count = conversations(firing.value);
  return `People ask about something new: ${nameOf(firing)} has come up in ${count}, and in none before ${before}.`;
}

const MOST_DIFFERENCES = 3;
const DIRECTIONS = {
  only: 'more often',
  more: 'more often',
  less: 'less often',
  never: 'less often',
} as const;

/**
 * Example: “version ‘3.2’ is new and differs from ‘3.1’: on the same days, the gap ‘Cancel order’ comes up more often
 * (40 % of conversations against 2 %). It has 120 conversations there, and ‘3.1’ has 130.”
 */
function newValueSentence({ compared }: Firing): string {
  if (compared === undefined) throw new Error('a new value is compared with another one');
  const { segmentKey, value, against, sessions, sessionsAgainst, found } = compared;
  const told = found.slice(0, MOST_DIFFERENCES).map(({ groupBy, name, difference, share, shareAgainst }) => {
    const shares = `${percent(share)} of conversations against ${percent(shareAgainst)}`;
    const thing = `the ${ONE_OF[groupBy]} ‘${oneLine(name)}’`;
    return `${thing} comes up ${DIRECTIONS[difference]} (${shares})`;
  });
  const others = found.length - told.length;
  if (others > 0) told.push(`${counted(others, 'other')} differ${others === 1 ? 's' : ''}, too`);
  const [own, other] = [value, against].map((one) => `‘${oneLine(one)}’`);
  return (
    `${oneLine(segmentKey)} ${own} is new and differs from ${other}: on the same days, ${listed(told)}. ` +
    `It has ${conversations(sessions)} there, and ${other} has ${number(sessionsAgainst)}.`
  );
}

/**
 * Example: “The gap ‘Cancel orders’ came back: it is fixed since 20 May and came up in 0.6 % of conversations in the weeks
 * after, against 6.1 % before. From 1 to 28 July it came up in 5.8 %: 64 of 1,104 conversations.”
 */
function cameBackSentence({ rule: { timeZone }, span, fixed }: Firing): string {
  if (fixed?.again == null) throw new Error('what came back was fixed');
  const { before, after, again } = fixed;
  const [first, last] = [span.start, span.end - 1].map((at) => shortDay(at, timeZone));
  return (
    `${namedAs(fixed)} came back: it is ${fixedWords(fixed, timeZone)} and came up in ${percent(after?.share ?? 0)} of ` +
    `conversations in the weeks after, against ${percent(before?.share ?? 0)} before. From ${first} to ${last} it came ` +
    `up in ${percent(again.share)}: ${number(again.sessions)} of ${conversations(again.of)}.`
  );
}

/** Examples: “fixed since 20 May”, “fixed in version ‘3.2’” */
export function fixedWords({ release, fixedAt }: FixedFigures, timeZone: string): string {
  if (release !== null) return `fixed in ${oneLine(release.name)} ‘${oneLine(release.value)}’`;
  return `fixed since ${shortDay(Date.parse(fixedAt ?? '') * 1000, timeZone)}`;
}

/**
 * Example: “21.4 % of 1,200 conversations today had a signal of dissatisfaction; the alert is set to more than 20 %.”
 */
function shareSentence(firing: Firing): string {
  const { value, bound, sessions = 0 } = firing;
  const whole = sessions === 1 ? 'The only conversation' : `All ${conversations(sessions)}`;
  const who = value === 1 ? whole : `${percent(value)} of ${conversations(sessions)}`;
  return (
    `${who} ${when(firing)} had a signal of dissatisfaction; the alert is ` +
    `set to more than ${percent(bound)}.`
  );
}

/** Example: “People have checked 40 conversations that count for it: 84 % to 97 % of all that count are right.” */
export function precisionSentence({ low, high, checked }: Precision): string {
  const range = `${percent(low)} to ${percent(high)}`;
  return `People have checked ${conversations(checked)} that count for it: ${range} of all that count are right.`;
}

/** Example: “ (84 % to 97 % of all that count are right)”; '' if nobody checked. */
export function sureness(precision: Precision | undefined): string {
  if (precision === undefined) return '';
  const [low, high] = [percent(precision.low), percent(precision.high)];
  return low === high
    ? ` (${low} of all that count are right)`
    : ` (${low} to ${high} of all that count are right)`;
}

const MOST_NAMES = 5;
const UNITS: Readonly<Record<Window, string>> = { HOUR: 'hour', DAY: 'day', WEEK: 'week' };
const ONE_OF = {
  TOPIC: 'topic',
  GAP: 'gap',
  CSAT_DSAT: 'signal',
  REPEATED_REQUEST: 'repeated request',
} as const;

/**
 * Example: “12 more topics met the condition of this alert today: ‘a’, ‘b’ and 10 others. It says no more about this
 * day.”
 */
function heldBackSentence(firing: Firing): string {
  const { heldBack = [], window } = firing;
  const names = heldBack.slice(0, MOST_NAMES).map(({ name }) => `‘${oneLine(name)}’`);
  const others = heldBack.length - names.length;
  if (others > 0) names.push(others === 1 ? 'another one' : `${number(others)} others`);
  const ending = heldBack.length === 1 ? '' : 's';
  const unit = ONE_OF[heldBack[0]?.groupBy ?? 'TOPIC'];
  const time = window === null ? '' : ` ${when(firing)}`;
  return (
    `${number(heldBack.length)} more ${unit}${ending} met the condition of this alert${time}: ${listed(names)}. ` +
    `It says no more about this ${UNITS[window ?? 'DAY']}.`
  );
}

function periodOf(window: Window, { start, end }: Span, zone: string): string {
  switch (window) {
    case 'HOUR':
      return `${dayName(start, zone)}, ${clock(start, zone)} to ${clock(end, zone)}`;
    case 'WEEK':
      return `${dayName(start, zone)} to ${dayName(end - 1, zone)}`;
    case 'DAY':
      return dayName(start, zone);
    default:
      return window satisfies never;
  }
}

/** Names the window: relative to now while it is open, by date once it is over. */
function when({ window, span, isOpen, rule: { timeZone: zone } }: Firing): string {
  const { start, end } = span;
  switch (window) {
    case 'HOUR':
      return isOpen ? 'this hour' : `between ${clock(start, zone)} and ${clock(end, zone)}`;
    case 'DAY':
      return isOpen ? 'today' : `on ${shortDay(start, zone)}`;
    case 'WEEK':
      return isOpen ? 'this week' : `in the week from ${shortDay(start, zone)} to ${shortDay(end - 1, zone)}`;
    case null:
      return '';
    default:
      return window satisfies never;
  }
}

/** Example: “on an average day of the last four weeks” */
export function usually(window: Window, windows: number): string {
  if (window === 'HOUR')
    return `in an average hour of the last ${inWords(Math.round((windows * HOUR_MICROS) / DAY_MICROS), 'day')}`;
  if (window === 'WEEK') return `in an average week of the last ${inWords(windows, 'week')}`;
  const weeks = windows % 7 === 0 ? inWords(windows / 7, 'week') : inWords(windows, 'day');
  return `on an average day of the last ${weeks}`;
}

const SMALL = 'no one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** Examples: “four weeks”, “13 days”; for one only “week”. */
function inWords(count: number, unit: string): string {
  if (count === 1) return unit;
  return `${SMALL[count] ?? number(count)} ${unit}s`;
}

function nameOf({ entity }: Firing): string {
  if (entity === null) throw new Error('what is about no entity has no name');
  return namedAs(entity);
}

/** Examples: “‘Cancel order’”, “The gap ‘Cancel orders’”; a topic needs no noun. */
export function namedAs({ groupBy, name }: { groupBy: Listed; name: string }): string {
  const quoted = `‘${oneLine(name)}’`;
  return groupBy === 'TOPIC' ? quoted : `The ${ONE_OF[groupBy]} ${quoted}`;
}

/** Collapses white space: names contain text of users. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

/** Examples: “1 conversation”, “1,200 conversations” */
export function conversations(count: number): string {
  return counted(count, 'conversation');
}

/** Examples: “1 user”, “2 users” */
export function counted(count: number, unit: string): string {
  return `${number(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** Example: “a, b and c” */
function listed(parts: readonly string[]): string {
  return formats().list.format(parts);
}

const makeFormats = () => ({
  list: new Intl.ListFormat('en-GB'),
  grouped: new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 }),
  tenths: new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 }),
  date: new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  }),
  short: new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long' }),
});
let made: ReturnType<typeof makeFormats> | null = null;
/** Created on first use: they take 15 ms, and most processes write no text. */
const formats = (): ReturnType<typeof makeFormats> => (made ??= makeFormats());

/** Example: “1,204” */
export function number(value: number): string {
  return formats().grouped.format(value);
}

/** Example: “9.5” */
export function tenths(value: number): string {
  return formats().tenths.format(value);
}

/** Example: “21.4 %” */
export function percent(share: number): string {
  return `${tenths(share * 100)}\u00a0%`;
}

/** Examples: “3.1 times”, “twice”; “as many” follows. */
export function times(factor: number): string {
  const rounded = tenths(factor);
  return rounded === '2' ? 'twice' : `${rounded} times`;
}

/** Example: “Sunday, 22 November 2026” */
export function dayName(at: number, zone: string): string {
  const parts = new Map(
    formats()
      .date.formatToParts(wallClock(at, zone))
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}`;
}

/** Example: “22 November” */
export function shortDay(at: number, zone: string): string {
  return formats().short.format(wallClock(at, zone));
}

/** Example: “14:00” */
export function clock(at: number, zone: string): string {
  return wallClock(at, zone).toISOString().slice(11, 16);
}

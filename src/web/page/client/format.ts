/**
 * Formats numbers and times for the page.
 *
 * Test: test/web/page/format.test.ts.
 */
import { OUTCOME_WORDS, SESSION_OUTCOMES, type SessionOutcome } from '../../../domain/session-outcomes.ts';
import { clockAt } from './zone.ts';

const DAY_MS = 86_400_000;
const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : WHOLE.format(value);
}

/** Explains the bounds of how many conversations were resolved. */
export const RESOLVED_MEANING =
  'At least those that ended solved, at most also those that ended with thanks or open.';

/** Formats what a count is at the least and at the most: `12 to 40`. */
export function formatBounds(least: number | undefined, most: number | undefined): string {
  return least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`;
}

/** Returns `1 message` or `2 messages`. */
export function counted(value: number | null | undefined, noun: string): string {
  return `${formatCount(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Formats a wait: `0.4 s`, `12 s`, `3 min`, `2 h`, `5 days`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${ONE_DIGIT.format(Math.max(seconds, 0.1))} s`;
  if (seconds < 99.5) return `${WHOLE.format(seconds)} s`;
  if (seconds < 5970) return `${WHOLE.format(seconds / 60)} min`;
  return seconds < 99.5 * 3600
    ? `${WHOLE.format(seconds / 3600)} h`
    : `${WHOLE.format(seconds / 86_400)} days`;
}

/** Formats a share, 0 to 1, in percent. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent < 10 ? ONE_DIGIT.format(percent) : WHOLE.format(percent)} %`;
}

/** Formats US dollars, to the cent where that says something: `$12.30`, `$0.0042`. */
export function formatUsd(value: number): string {
  if (value !== 0 && value < 0.0001) return '< $0.0001';
  return value !== 0 && value < 0.995 ? `$${value.toPrecision(2)}` : `$${USD.format(value)}`;
}
const USD = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Formats net satisfaction, percent of messages, with its sign. */
export function formatNet(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value);
  return rounded === 0 ? '0' : `${rounded > 0 ? '+' : '−'}${ONE_DIGIT.format(Math.abs(rounded))}`;
}

/** Formats a difference in percentage points with its sign. */
export function formatPoints(value: number): string {
  const text = formatNet(value);
  return `${text} ${text === '+1' || text === '−1' ? 'point' : 'points'}`;
}

/** Of fewer, a rate or a change in percent says nothing. */
const FEWEST_TO_TELL = 20;
/** Rates of fewer conversations vary much by chance. */
const FEWEST_FOR_RATE = 100;

/** Says how much a rate of so many conversations tells: `none` is not worth showing, `little` no finding. */
export function tellingOf(sessions: number | undefined): 'none' | 'little' | 'enough' {
  if ((sessions ?? 0) < FEWEST_TO_TELL) return 'none';
  return (sessions ?? 0) < FEWEST_FOR_RATE ? 'little' : 'enough';
}

/** Explains why rates in a table with rows of so many conversations are left out or pale; '' if none is. */
export function tellingWords(sessions: readonly (number | undefined)[]): string {
  const tellings = new Set(sessions.map(tellingOf));
  return [
    ...(tellings.has('none')
      ? [`Rates of fewer than ${FEWEST_TO_TELL} conversations are left out: too few to tell.`]
      : []),
    ...(tellings.has('little')
      ? [`Pale rates are of fewer than ${FEWEST_FOR_RATE} conversations, and may differ by chance.`]
      : []),
  ].join(' ');
}

/** From so many times on, a change in percent would mislead. */
const MANIFOLD = 10;

/** Words the change of a count, in percent or as a difference; null if both are 0. */
export function changeOf(
  now: number,
  before: number,
): { readonly text: string; readonly direction: -1 | 0 | 1 } | null {
  if (now === 0 && before === 0) return null;
  if (before === 0) return { text: 'new', direction: 1 };
  const change = (now - before) / before;
  if ((Math.min(now, before) < FEWEST_TO_TELL || now >= MANIFOLD * before) && now !== before)
    return {
      text: `${now > before ? '+' : '−'}${formatCount(Math.abs(now - before))}`,
      direction: now > before ? 1 : -1,
    };
  if (Math.abs(change) < 0.005) return { text: '0 %', direction: 0 };
  const percent = Math.abs(change * 100);
  const text = `${change > 0 ? '+' : '−'}${percent < 10 ? ONE_DIGIT.format(percent) : WHOLE.format(percent)} %`;
  return { text, direction: change > 0 ? 1 : -1 };
}

/** Says that a change rests on too few conversations, by the smaller side: `2 conversations: too few to tell`; '' if not. */
export function tooFew({ now, before }: { readonly now: number; readonly before: number }): string {
  const fewest = Math.min(now, before);
  if (tellingOf(fewest) !== 'none') return '';
  return `${counted(fewest, 'conversation')}${before < now ? ' before' : ''}: too few to tell`;
}

/** Of fewer conversations, a multiple of the average says nothing. */
const FEWEST_FOR_LIFT = 3;

/** Formats how many times the average a share is: `2.4 ×`; `sessions`: the conversations behind it. */
export function formatLift(lift: number | null, sessions: number): string {
  return lift === null || sessions < FEWEST_FOR_LIFT ? '–' : `${lift.toFixed(1)} ×`;
}

/** Of fewer conversations, and below LEAST_EXCESS, more dissatisfaction than on average says nothing. */
const [FEWEST_FOR_EXCESS, LEAST_EXCESS] = [5, 2];

/** Returns how many more of `sessions` are dissatisfied than of as many average ones; 0 where that says nothing. */
export function excessOf({
  sessions,
  excessDissatisfied: more,
}: {
  readonly sessions?: number | undefined;
  readonly excessDissatisfied?: number | undefined;
}): number {
  const count = Math.round(more ?? 0);
  return (sessions ?? 0) < FEWEST_FOR_EXCESS || Math.abs(count) < LEAST_EXCESS ? 0 : count;
}

/** Formats an instant in the page's time zone: `21 Nov 2026, 09:30`. */
export function formatInstant(text: string): string {
  return formatClock(clockAt(text));
}

/** Formats the day of an instant in the page's time zone: `21 Nov 2026`. */
export function formatDay(text: string): string {
  return formatClockDay(clockAt(text));
}

/** Formats the first and last day of a span with an exclusive end: `16 Nov 2026 to 22 Nov 2026`. */
export function formatSpan({ start, end }: { readonly start: string; readonly end: string }): string {
  const [first, last] = [start, new Date(Date.parse(end) - 1).toISOString()].map(formatDay);
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** As `formatInstant`, for text that is local time already, such as a bucket. */
export function formatClock(text: string): string {
  return Number.isNaN(Date.parse(text)) ? text : `${formatClockDay(text)}, ${text.slice(11, 16)}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** As `formatDay`, for text that is local time already. */
export function formatClockDay(text: string): string {
  const at = new Date(text);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;
}

/** Labels points on the axis of a chart, local time: by hour if all are within a day, else by day. */
export function formatTicks(dates: readonly string[]): string[] {
  const [first = '', last = ''] = [dates[0], dates.at(-1)];
  const isWithinDay = dates.length > 1 && Date.parse(last) - Date.parse(first) < DAY_MS;
  return dates.map((date) => (isWithinDay ? date.slice(11, 16) : formatClockDay(date)));
}

/** Words the type of a gap or signal. */
export const TYPE_WORDS = {
  TOOL: 'ability',
  KNOWLEDGE: 'knowledge',
  SAT: 'satisfied',
  DSAT: 'dissatisfied',
} as const;

/** Returns the English name of a language, or its code if it has none. */
export function languageName(code: string | null): string {
  if (code === null) return 'Unknown';
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

export function outcomeWords(outcome: string | null): { readonly label: string; readonly meaning: string } {
  return isOutcome(outcome)
    ? OUTCOME_WORDS[outcome]
    : { label: 'Nothing asked', meaning: 'The user has asked for nothing yet.' };
}

function isOutcome(text: string | null): text is SessionOutcome {
  return SESSION_OUTCOMES.some((outcome) => outcome === text);
}

/** Length of a proposed name, UTF-16 units. */
const LONGEST = 60;

/** Proposes a topic name: the beginning of a request, cut at a word, without long numbers such as order numbers. */
export function nameFrom(text: string): string {
  const line = text
    .replaceAll(/\p{N}{4,}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const space = line.lastIndexOf(' ', LONGEST);
  const end = line.length <= LONGEST ? line.length : space > 0 ? space : LONGEST;
  return withoutEnd(line.slice(0, end));
}

/** Removes punctuation and spaces from the end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s.,;:!?。？！]/u.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** A longer share of a period without messages, if more than a day, means missing data and not a quiet night. */
const LATE = 1 / 7;

/**
 * Returns the first day with messages if the period begins with a long time without any, else null. `first`: its first
 * bucket.
 */
export function beganLate(
  { start, end }: { readonly start: string; readonly end: string },
  first: string | undefined,
): string | null {
  if (first === undefined) return null;
  const [from, to, began] = [clockAt(start), clockAt(end), first].map((text) => Date.parse(text)) as [
    number,
    number,
    number,
  ];
  return began - from > Math.max(DAY_MS, LATE * (to - from)) ? first : null;
}

/** A degradation that `/readyz` reports. */
export interface Reason {
  readonly reason: string;
}

const STANDSTILLS: readonly { readonly reasons: readonly string[]; readonly text: string }[] = [
  {
    reasons: ['rebuild_needed'],
    text:
      'This version of Undertone counts anew, so the numbers stand still until somebody runs “npm run rebuild”. New ' +
      'messages are stored and will be counted.',
  },
  {
    reasons: ['worker_absent', 'worker_silent', 'worker_stuck'],
    text:
      'New messages are stored but not counted at the moment: the worker does not run. The numbers go on by ' +
      'themselves when it does.',
  },
  {
    reasons: ['worker_behind'],
    text: 'New messages are still being counted: the numbers are a little behind.',
  },
];

/** Explains to a reader why the numbers do not move; '' if they do. */
export function standstillOf(reasons: readonly Reason[]): string {
  const given = new Set(reasons.map(({ reason }) => reason));
  return STANDSTILLS.find(({ reasons: own }) => own.some((reason) => given.has(reason)))?.text ?? '';
}

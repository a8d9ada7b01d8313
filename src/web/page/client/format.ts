/** Numbers and times as the page shows them. Covered by test/web/page/format.test.ts. */
import { OUTCOME_WORDS, SESSION_OUTCOMES, type SessionOutcome } from '../../../domain/session-outcomes.ts';
import { clockAt } from './zone.ts';

const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

export function shownCount(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : WHOLE.format(value);
}

/** `1 message`, `2 messages`. */
export function counted(value: number | null | undefined, noun: string): string {
  return `${shownCount(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** A time that somebody waits: `0.4 s`, `12 s`, `3 min`, `2 h`, `5 days`. */
export function shownSeconds(seconds: number): string {
  if (seconds < 9.95) return `${ONE_DIGIT.format(Math.max(seconds, 0.1))} s`;
  if (seconds < 99.5) return `${WHOLE.format(seconds)} s`;
  if (seconds < 5970) return `${WHOLE.format(seconds / 60)} min`;
  return seconds < 99.5 * 3600
    ? `${WHOLE.format(seconds / 3600)} h`
    : `${WHOLE.format(seconds / 86_400)} days`;
}

/** A share from 0 to 1, in percent. */
export function shownShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent < 10 ? ONE_DIGIT.format(percent) : WHOLE.format(percent)} %`;
}

/** Net satisfaction, in percent of messages, with its sign. */
export function shownNet(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const rounded = Math.abs(value) < 10 ? Math.round(value * 10) / 10 : Math.round(value);
  return rounded === 0 ? '0' : `${rounded > 0 ? '+' : '−'}${ONE_DIGIT.format(Math.abs(rounded))}`;
}

/** A difference in percentage points, with its sign. */
export function shownPoints(value: number): string {
  const text = shownNet(value);
  return `${text} ${text === '+1' || text === '−1' ? 'point' : 'points'}`;
}

/** Of fewer, and from as many times as much on, a change in per cent says more than there is. */
const [ENOUGH, MANIFOLD] = [5, 10];

/** How much a count has changed against the one before, in per cent or by how many; null when nothing can be said. */
export function changeOf(
  now: number,
  before: number,
): { readonly text: string; readonly direction: -1 | 0 | 1 } | null {
  if (now === 0 && before === 0) return null;
  if (before === 0) return { text: 'new', direction: 1 };
  const change = (now - before) / before;
  if ((Math.min(now, before) < ENOUGH || now >= MANIFOLD * before) && now !== before)
    return {
      text: `${now > before ? '+' : '−'}${shownCount(Math.abs(now - before))}`,
      direction: now > before ? 1 : -1,
    };
  if (Math.abs(change) < 0.005) return { text: '0 %', direction: 0 };
  const percent = Math.abs(change * 100);
  const text = `${change > 0 ? '+' : '−'}${percent < 10 ? ONE_DIGIT.format(percent) : WHOLE.format(percent)} %`;
  return { text, direction: change > 0 ? 1 : -1 };
}

/** `21 Nov 2026, 09:30`, by the clock of the time zone. */
export function shownInstant(text: string): string {
  return shownClock(clockAt(text));
}

/** `21 Nov 2026`, in the time zone. */
export function shownDay(text: string): string {
  return shownClockDay(clockAt(text));
}

/** `16 Nov 2026 to 22 Nov 2026`: the first and the last day of a span whose end is not in it. */
export function shownSpan({ start, end }: { readonly start: string; readonly end: string }): string {
  const [first, last] = [start, new Date(Date.parse(end) - 1).toISOString()].map(shownDay);
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** The same of what is a clock already, as buckets are. */
export function shownClock(text: string): string {
  return Number.isNaN(Date.parse(text)) ? text : `${shownClockDay(text)}, ${text.slice(11, 16)}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day of a clock. */
export function shownClockDay(text: string): string {
  const at = new Date(text);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;
}

/** The name of a language in English; the code where it has none. */
export function languageName(code: string | null): string {
  if (code === null) return 'Unknown';
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** How a session ended, in words. */
export function outcomeWords(outcome: string | null): { readonly label: string; readonly meaning: string } {
  return isOutcome(outcome)
    ? OUTCOME_WORDS[outcome]
    : { label: 'Nothing asked', meaning: 'The user has asked for nothing yet.' };
}

function isOutcome(text: string | null): text is SessionOutcome {
  return SESSION_OUTCOMES.some((outcome) => outcome === text);
}

/** Of a name that is proposed, UTF-16 units. */
const LONGEST = 60;

/** A name for a topic, from a request: its beginning, to the end of a word, without numbers of orders and the like. */
export function nameFrom(text: string): string {
  const line = text
    .replaceAll(/\p{N}{4,}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const space = line.lastIndexOf(' ', LONGEST);
  const end = line.length <= LONGEST ? line.length : space > 0 ? space : LONGEST;
  return withoutEnd(line.slice(0, end));
}

/** Without the marks and spaces at its end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s.,;:!?。？！]/u.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** From this share of a period on, and more than a day, its beginning is missing: nights are quiet. */
const LATE = 1 / 7;
const DAY_MS = 86_400_000;

/** The first day with messages of a period that begins without any for long; else null. `first`: its first bucket. */
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

/** What `/readyz` says is wrong. */
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

/** Why the numbers stand still, for a reader who runs nothing; '' when they do not. */
export function standstillOf(reasons: readonly Reason[]): string {
  const given = new Set(reasons.map(({ reason }) => reason));
  return STANDSTILLS.find(({ reasons: own }) => own.some((reason) => given.has(reason)))?.text ?? '';
}

/**
 * Title and summary of a session, out of its requests, their answers and how it ended.
 * Covered by test/conversations/session-text.test.ts.
 */
import { capitalOf } from '../text/capital.ts';
import { QUESTION_ENDS } from '../text/question-marks.ts';
import { TEXT_LANGUAGES, type Ending } from '../text/shown/lexicon.ts';
import { ended, isContrasted, shortened, shortenedAtClause, wishIn } from '../text/shown/shortening.ts';
import { withoutOpenings } from '../text/shown/trimming.ts';
import type { SessionRequest } from './session-request.ts';
import type { SessionRequests } from './session-requests.ts';

/** UTF-16 units. */
const TITLE_LENGTH = 60;
/** Of each request and of the answers together, where a summary tells several. */
const TOLD_LENGTH = 110;
const ANSWERS_LENGTH = 300;
/** Between what was asked, what was answered and how it ended. */
const PART = ' – ';
/** Between one request with its answer and the next. */
const PAIR = ' · ';

/** A request in at most 60 characters. */
export function titleOf({ text }: SessionRequest): string {
  // "I wanted to pay, but it failed" is not "Pay, but it failed".
  const short = withoutMarks(isContrasted(text) ? text : withoutOpenings(wishIn(text)));
  if (short.length <= TITLE_LENGTH) return capitalised(short);
  const clause = shortenedAtClause(short, TITLE_LENGTH, short.length < text.length - 2);
  if (clause !== null) return capitalised(withoutMarks(withoutOpenings(clause)));
  const shorter = isContrasted(text) ? short : withoutMarks(withoutOpenings(wishIn(text), true));
  return capitalised(withoutMarks(shortened(shorter, TITLE_LENGTH)));
}

/**
 * What was asked, what was answered to it, how many requests are not told, and how the session ended; at most 640
 * characters. `language`: ISO 639-1, of what is said beside the quotations; null: that is left out.
 */
export function summaryOf(requests: SessionRequests, ending: Ending | null, language: string | null): string {
  // How it ended is how the latest request did.
  const told = requests.told(ending !== null && ending !== 'solved');
  const words = language === null ? undefined : TEXT_LANGUAGES.get(language);
  const untold = requests.untold(told);
  const further = words !== undefined && untold > 0 ? [words.further.replace('{count}', String(untold))] : [];
  // What is open is what was asked last.
  const isTold = ending !== 'open' || told.at(-1)?.some(({ answer }) => answer === '') === true;
  const closing = ending === null || !isTold ? undefined : words?.endings[ending];
  return [[...pairsOf(told), ...further].join(PAIR), ...(closing === undefined ? [] : [closing])].join(PART);
}

/** What was answered, each once; what one says after another is not said twice. */
function answersOf(told: readonly SessionRequest[]): string[] {
  const answers = [...new Set(told.map(({ answer }) => answer))].filter((answer) => answer !== '');
  return answers.filter((answer) => !answers.some((other) => other !== answer && other.includes(answer)));
}

/** The answers that are told, by what is kept: short ones whole, the others in equal parts of the room. */
function shortAnswers(told: readonly SessionRequest[]): ReadonlyMap<string, string> {
  const short = new Map<string, string>();
  const answers = answersOf(told);
  let room = ANSWERS_LENGTH;
  answers
    .toSorted((one, other) => one.length - other.length)
    .forEach((answer, place) => {
      const text = shortened(answer, Math.floor(room / (answers.length - place)));
      short.set(answer, sentenceOf(text));
      room -= text.length;
    });
  return short;
}

/** Requests with the answers that follow them; those that are told together stand together. */
function pairsOf(told: readonly (readonly SessionRequest[])[]): string[] {
  const all = told.flat();
  const most = all.length > 1 ? TOLD_LENGTH : Number.POSITIVE_INFINITY;
  const short = shortAnswers(all);
  const pairs: { asked: string; said: string }[] = [];
  for (const group of told) {
    const asked = group
      .flatMap(({ text, detail }) => [text, detail].filter((part) => part !== ''))
      .map((part) => sentenceOf(shortened(part, most)));
    const said = answersOf(group)
      .flatMap((answer) => short.get(answer) ?? [])
      .join(' ');
    const last = pairs.at(-1);
    // One answer to both.
    if (said !== '' && last?.said === said) last.asked += ` ${asked.join(' ')}`;
    else pairs.push({ asked: asked.join(' '), said });
  }
  return pairs.map(({ asked, said }) => [asked, said].filter((part) => part !== '').join(PART));
}

const LAST_MARK = new RegExp(`[\\s.!。！;,:，、；：।${QUESTION_ENDS}]`, 'u');

function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && LAST_MARK.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function sentenceOf(text: string): string {
  return ended(capitalised(text.trim()));
}

/** With a capital, unless the first word has one somewhere: "iPhone". */
function capitalised(text: string): string {
  const first = /^\S*/u.exec(text)?.[0] ?? '';
  if (first !== first.toLowerCase()) return text;
  const [letter = '', ...rest] = Array.from(text);
  return capitalOf(letter) + rest.join('');
}

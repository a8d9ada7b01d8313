/**
 * Composes title and summary of a session from its requests, their answers and the outcome.
 *
 * Test: test/reader/conversations/session-text.test.ts.
 */
import { capitalOf } from '../document/capital.ts';
import { QUESTION_ENDS } from '../document/question-marks.ts';
import type { SessionOutcome } from '../../domain/session-outcomes.ts';
import { TEXT_LANGUAGES } from '../document/text-lexicon.ts';
import { ended, isContrasted, shortened, shortenedAtClause, wishIn } from '../shortening/shortening.ts';
import { withoutOpenings } from '../shortening/trimming.ts';
import { isUnspaced } from '../document/words.ts';
import type { SessionRequest } from './session-request.ts';

/** Longest title, UTF-16 units. */
const TITLE_LENGTH = 60;
/** Longest sentence of a request, if a summary tells several; and length of all answers together, UTF-16 units. */
const REQUEST_LENGTH = 110;
const ANSWERS_LENGTH = 360;
/** Factor on lengths for scripts without spaces: a character says as much as two of others, and takes three bytes. */
const DENSE = 0.6;
/** Separates request, answer and outcome. */
const PART = ' – ';
/** Separates a request with its answer from the next. */
const PAIR = ' · ';

/** A sentence as it is kept and shown: at most `length` UTF-16 units, fewer in scripts without spaces. */
export function kept(sentence: string, length: number): string {
  const line = sentence.replace(/\s+/gu, ' ');
  return shortened(line, isUnspaced(line) ? Math.floor(length * DENSE) : length);
}

/** A request as a title of at most 60 characters. */
export function titleOf(text: string): string {
  // A contrast needs its opening: "I wanted to pay, but it failed", not "Pay, but it failed".
  const short = withoutMarks(isContrasted(text) ? text : withoutOpenings(wishIn(text)));
  if (short.length <= TITLE_LENGTH) return capitalised(short);
  const clause = shortenedAtClause(short, TITLE_LENGTH, short.length < text.length - 2);
  return capitalised(
    withoutMarks(
      clause === null
        ? shortened(isContrasted(text) ? short : withoutOpenings(short, true), TITLE_LENGTH)
        : withoutOpenings(clause),
    ),
  );
}

const LONE_I = /(?<![\p{L}\p{N}'’.-])i(?=[\s'’,?!]|$)/gu;

/** Writes "I" as English does. `language`: ISO 639-1, of the session. */
export function spelled(text: string, language: string | null): string {
  return language === 'en' ? text.replace(LONE_I, 'I') : text;
}

/** The input of a summary. */
interface SummaryInput {
  readonly requests: readonly SessionRequest[];
  /** Number of requests that are not told. */
  readonly further: number;
  readonly outcome: SessionOutcome;
}

/**
 * The requests with their answers, the number of further requests, and the outcome. `language`: ISO 639-1, of the words
 * beside the quotations; null omits them.
 */
export function summaryOf({ requests, further, outcome }: SummaryInput, language: string | null): string {
  const words = language === null ? undefined : TEXT_LANGUAGES.get(language);
  const most = requests.length > 1 ? REQUEST_LENGTH : Number.POSITIVE_INFINITY;
  const pairs = requests.map(({ asked, answer }) => {
    const wanted = asked.map((text) => sentenceOf(shortened(text, most))).join(' ');
    return answer === ''
      ? wanted
      : `${wanted}${PART}${sentenceOf(shortened(answer, Math.floor(ANSWERS_LENGTH / requests.length)))}`;
  });
  if (words !== undefined && further > 0) pairs.push(words.further.replace('{count}', String(further)));
  const closing = fits(outcome, requests) ? words?.endings[outcome] : undefined;
  return spelled(pairs.join(PAIR), language) + (closing === undefined ? '' : `${PART}${closing}`);
}

/** True if the outcome may stand behind these requests: beside an answer, what was refused later would contradict it. */
function fits(ending: SessionOutcome, requests: readonly SessionRequest[]): boolean {
  if (ending === 'open') return requests.at(-1)?.outcome === 'open';
  if (ending !== 'not_possible') return true;
  return requests.some(({ answer, outcome }) => answer === '' || outcome === 'refused');
}

const LAST_MARK = new RegExp(`[\\s.!。！;,:，、；：।${QUESTION_ENDS}]`, 'u');

/** The text without spaces and marks at its end. */
export function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && LAST_MARK.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function sentenceOf(text: string): string {
  return ended(capitalised(text.trim()));
}

/** The text with a capital first letter, unless its first word already has a capital: "iPhone". */
export function capitalised(text: string): string {
  const first = /^\S*/u.exec(text)?.[0] ?? '';
  if (first !== first.toLowerCase()) return text;
  const [letter = '', ...rest] = Array.from(text);
  return capitalOf(letter) + rest.join('');
}

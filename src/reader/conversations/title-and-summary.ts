/**
 * Title and summary of a session, out of its requests, their answers and how it ended.
 * Covered by test/reader/conversations/session-text.test.ts.
 */
import { capitalOf } from '../document/capital.ts';
import { QUESTION_ENDS } from '../document/question-marks.ts';
import type { SessionOutcome } from '../../domain/session-outcomes.ts';
import { TEXT_LANGUAGES } from '../document/text-lexicon.ts';
import { ended, isContrasted, shortened, shortenedAtClause, wishIn } from '../shortening/shortening.ts';
import { withoutOpenings } from '../shortening/trimming.ts';
import { isUnspaced } from '../document/words.ts';
import type { SessionRequest } from './session-request.ts';

/** UTF-16 units. */
const TITLE_LENGTH = 60;
/** Of each sentence, where a summary tells several. */
const TOLD_LENGTH = 110;
const ANSWERS_LENGTH = 360;
/** Scripts without spaces say in a character what others say in two, and take three bytes for it. */
const DENSE = 0.6;
/** Between what was asked, what was answered and how it ended. */
const PART = ' – ';
/** Between one request with its answer and the next. */
const PAIR = ' · ';

/** A sentence as it is kept and shown: at most `length` UTF-16 units, fewer of scripts without spaces. */
export function kept(sentence: string, length: number): string {
  const line = sentence.replace(/\s+/gu, ' ');
  return shortened(line, isUnspaced(line) ? Math.floor(length * DENSE) : length);
}

/** A request in at most 60 characters. */
export function titleOf(text: string): string {
  // "I wanted to pay, but it failed" is not "Pay, but it failed".
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

/** What a summary tells. */
interface Told {
  readonly requests: readonly SessionRequest[];
  /** Requests besides those. */
  readonly further: number;
  readonly outcome: SessionOutcome;
}

/**
 * What was asked with what was answered to it, how many requests are not told, and how the session ended. `language`:
 * ISO 639-1, of what is said beside the quotations; null: that is left out.
 */
export function summaryOf({ requests, further, outcome }: Told, language: string | null): string {
  const words = language === null ? undefined : TEXT_LANGUAGES.get(language);
  const most = requests.length > 1 ? TOLD_LENGTH : Number.POSITIVE_INFINITY;
  const pairs = requests.map(({ asked, answer }) => {
    const wanted = asked.map((text) => sentenceOf(shortened(text, most))).join(' ');
    return answer === ''
      ? wanted
      : `${wanted}${PART}${sentenceOf(shortened(answer, Math.floor(ANSWERS_LENGTH / requests.length)))}`;
  });
  if (words !== undefined && further > 0) pairs.push(words.further.replace('{count}', String(further)));
  // What is open is what was asked last.
  const isTold = outcome !== 'open' || requests.at(-1)?.outcome === 'open';
  const closing = isTold ? words?.endings[outcome] : undefined;
  return pairs.join(PAIR) + (closing === undefined ? '' : `${PART}${closing}`);
}

const LAST_MARK = new RegExp(`[\\s.!。！;,:，、；：।${QUESTION_ENDS}]`, 'u');

/** Without spaces and marks at its end. */
export function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && LAST_MARK.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function sentenceOf(text: string): string {
  return ended(capitalised(text.trim()));
}

/** With a capital, unless the first word has one somewhere: "iPhone". */
export function capitalised(text: string): string {
  const first = /^\S*/u.exec(text)?.[0] ?? '';
  if (first !== first.toLowerCase()) return text;
  const [letter = '', ...rest] = Array.from(text);
  return capitalOf(letter) + rest.join('');
}

/**
 * Decides which answers of a model are accepted: one line of the right length in the language of the texts, without
 * personal data; a summary contains only words of the conversation.
 *
 * Test: test/doors/writer/answers.test.ts.
 */
import { isPlainName } from '../../domain/printable.ts';
import { detectLanguage } from '../../reader/document/detect.ts';
import { QUESTION_ENDS } from '../../reader/document/question-marks.ts';
import { HIDDEN, redact } from '../../reader/personal/redact.ts';
import { isUnspaced, wordsOf } from '../../reader/document/words.ts';
import type { Ask } from './asks.ts';

/** Limits on names (characters and words) and on summaries (characters). */
export const MOST_NAME_LENGTH = 60;
export const MOST_NAME_WORDS = 7;
export const MOST_SUMMARY_LENGTH = 400;
/** Shortest text, characters. */
const LEAST_LENGTH = 3;
/** Maximum foreign words named to the model. */
const NAMED_WORDS = 8;

/** An accepted text, or a fault. The fault may quote users, so it goes to the model only. */
export type Verdict = { readonly text: string } | { readonly fault: string };

/** Accepts or rejects a model's answer to an ask. */
export function judge({ target, lines }: Pick<Ask, 'target' | 'lines'>, answer: string): Verdict {
  const text = plain(answer);
  const source = lines.map((line) => line.text).join('\n');
  const fault =
    formFault(text, target === 'session' ? MOST_SUMMARY_LENGTH : MOST_NAME_LENGTH) ??
    (target === 'session' ? summaryFault(text, source) : nameFault(text, source)) ??
    languageFault(text, source) ??
    (redact(text) === text ? null : 'it holds personal data');
  return fault === null ? { text } : { fault };
}

/** Removes what models add around a text: thoughts and quotes. */
export function plain(answer: string): string {
  const thought = answer.lastIndexOf('</think>');
  const text = (thought < 0 ? answer : answer.slice(thought + '</think>'.length)).trim();
  const [first = '', last = ''] = [text.at(0), text.at(-1)];
  const quoted = text.length > 2 && ['""', '“”', '„“', '«»', "''", '「」'].includes(first + last);
  return quoted ? text.slice(1, -1).trim() : text;
}

/**
 * Invisible or deceptive characters: controls, direction marks, tags, lone surrogates, blank letters and stacked
 * accents. The two joiners stay, for Persian and Hindi.
 */
export const UNPLAIN =
  /[\p{Cc}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800\u3164]|[\u{e0100}-\u{e01ef}]|(?!\u200c|\u200d)\p{Cf}|\p{Mn}{5}/u;

function formFault(text: string, most: number): string | null {
  if (text.length < LEAST_LENGTH || !/\p{L}/u.test(text)) return 'it says nothing';
  if (text.length > most) return `it has more than ${most} characters`;
  if (!isPlainName(text) || UNPLAIN.test(text)) return 'it is more than one plain line';
  if (/[<>{}[\]|\\^`*_#~=@]|https?:/u.test(text)) return 'it holds marks that are no plain text';
  return text.includes(HIDDEN) ? 'it names what is hidden' : null;
}

const LIKE_SENTENCE = new RegExp(`[.!。！:;${QUESTION_ENDS}]$`, 'u');

function nameFault(name: string, source: string): string | null {
  const words = wordsOf(name);
  if (!isUnspaced(name) && words.length > MOST_NAME_WORDS) return `it has more than ${MOST_NAME_WORDS} words`;
  if (/\p{N}{3}/u.test(name)) return 'it holds a number';
  if (LIKE_SENTENCE.test(name)) return 'it ends like a sentence';
  const content = words.filter((word) => word.content).map((word) => word.text);
  if (content.length === 0) return 'it says nothing';
  const foreign = newWords(name, source);
  return foreign.length < content.length ? null : 'it shares no word with the texts';
}

function summaryFault(summary: string, source: string): string | null {
  const foreign = newWords(summary, source);
  if (foreign.length === 0) return null;
  return `these words are not in the conversation: ${foreign.slice(0, NAMED_WORDS).join(', ')}`;
}

/** Returns content words, and words with a digit, whose stem is not in the source. */
function newWords(text: string, source: string): string[] {
  const held = new Set(wordsOf(source).map(({ stem }) => stem));
  const lower = source.toLowerCase();
  return wordsOf(text)
    .filter(({ content, text: word, stem }) => {
      if (!content && !/\p{N}/u.test(word)) return false;
      return !held.has(stem) && !(isUnspaced(word) && lower.includes(word.toLowerCase()));
    })
    .map((word) => word.text);
}

/**
 * Rejects a text whose detected language differs from the source's, or that uses a script which the source does not.
 */
export function languageFault(text: string, source: string): string | null {
  const [own, theirs] = [detectLanguage(text), detectLanguage(source)];
  const isOther = own !== null && theirs !== null && own !== theirs && text.length >= SURE_LENGTH;
  const foreign = SCRIPTS.some((script) => script.test(text) && !script.test(source));
  return isOther || foreign ? 'it is not in the language of the texts' : null;
}

/** Fewest characters for a reliable detection. */
const SURE_LENGTH = 24;

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Arabic',
  'Hebrew',
  'Devanagari',
  'Bengali',
  'Thai',
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));

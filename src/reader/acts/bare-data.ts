/**
 * Recognises a sentence that only gives data: a name, an address, a number and what it belongs to. Such a turn answers
 * a question and asks for nothing.
 *
 * Test: test/reader/acts/bare-data.test.ts.
 */
import { isLexiconWord, mayBeLexiconWord } from '../document/lexicon-words.ts';
import { fold } from '../document/normalise.ts';
import { holdsQuestionMark } from '../document/question-marks.ts';
import { everyPhrase } from '../personal/personal-lexicon.ts';
import { personalSpans } from '../personal/redact.ts';
import { foldedWordsOf, isFoldedStopWord } from '../document/words.ts';
import { MOST_OF_NAME } from '../shortening/trimming.ts';
import { ofKind, readSentence, substanceOf, type ReadSentence } from './read-sentence.ts';

/** Bounds of such a sentence: longer ones say more than data. */
const MOST_TOKENS = 10;
const MOST_WORDS = 5;
/** Most words beside a number: first and last name, or a town of two words and its state. */
const MOST_BESIDE_NUMBER = 3;
const MOST_SMALL_WORDS = 4;
const MOST_BEHIND_FIELD = 2;
/** Least digits of a number; a shorter one is an amount or a quantity. */
const SHORTEST_NUMBER = 4;
const YEAR = /^(?:19|20)\d{2}$/;
const DIGITS = /^\p{N}+$/u;
const HOLDS_DIGIT = /\p{N}/u;
const CAPITALS = /\p{Lu}/gu;

let names: ReadonlySet<string> | null = null;

/** Given names of all languages that are no words of another meaning in any of them. */
function givenNames(): ReadonlySet<string> {
  if (names !== null) return names;
  const words = new Set(everyPhrase('wordNames').map(fold));
  names = new Set(
    everyPhrase('givenNames')
      .map(fold)
      .filter((name) => !words.has(name) && !isLexiconWord(name)),
  );
  return names;
}

/** True if a sentence only gives data. The sentence must neither wish nor complain. */
export function isBareData(sentence: ReadSentence): boolean {
  const { tokens } = sentence.matched;
  if (tokens.length === 0 || tokens.length > MOST_TOKENS) return false;
  const rest = wordsOf(substanceOf(sentence, { answers: true, also: ['bare-field'] }));
  const own = rest.filter((word) => !HOLDS_DIGIT.test(word));
  if (own.length > MOST_WORDS) return false;
  const isUnknown = !own.some(mayBeLexiconWord);
  if (isUnknown && (givesNumber(sentence, own.length) || givesField(sentence, own.length))) return true;
  return isName(rest, sentence) || (mayBePersonal(sentence, own.length) && isPersonal(sentence));
}

function wordsOf(folded: string): string[] {
  return foldedWordsOf(folded).filter((word) => !isFoldedStopWord(word));
}

/** True for "Harini 4589", "account number 85". `beside`: number of words beside the number and its field. */
function givesNumber({ matched }: ReadSentence, beside: number): boolean {
  const numbers = matched.tokens.filter(({ key }) => DIGITS.test(key) && !YEAR.test(key));
  const longest = Math.max(0, ...numbers.map(({ key }) => key.length));
  // More small words make a statement or question: "is hal 9000 your friend".
  const small = matched.tokens.length - numbers.length - beside;
  if (longest >= SHORTEST_NUMBER) return beside <= MOST_BESIDE_NUMBER && small <= MOST_SMALL_WORDS;
  if (longest < 2 || beside > MOST_BEHIND_FIELD) return false;
  // The words after a small number may be the wish: "Room number 12 towels".
  return ofKind(matched, 'bare-field').length > 0 && DIGITS.test(matched.tokens.at(-1)!.key);
}

/** True for "Company name Neyamo": a field of two or more words, then its value. */
function givesField({ matched, text }: ReadSentence, beside: number): boolean {
  const field = ofKind(matched, 'bare-field').find(({ start }) => start === 0);
  if (field === undefined) return false;
  const ends = ofKind(matched, 'bare-field').map(({ end }) => end);
  const behind = matched.tokens.length - Math.max(...ends);
  return (
    Math.max(...ends) > 1 &&
    behind > 0 &&
    behind === beside &&
    behind <= MOST_BEHIND_FIELD &&
    !holdsQuestionMark(text)
  );
}

/** True for "john smith" and "Taylor" without other words. */
function isName(words: readonly string[], { matched, held }: ReadSentence): boolean {
  if (words.length === 0 || words.length > MOST_OF_NAME || !givenNames().has(words[0]!)) return false;
  const introduction = ofKind(matched, 'introduction').at(-1)?.end ?? 0;
  const others = matched.tokens.filter((_, at) => at >= introduction && held[at] === 0).length - words.length;
  if (others > 0) return false;
  const isFamilyName = words.length === 2 && !mayBeLexiconWord(words[1]!);
  return isFamilyName || words.every((word) => givenNames().has(word));
}

/** True if it holds a number, or as many capitals as words. */
function mayBePersonal({ text }: ReadSentence, words: number): boolean {
  return HOLDS_DIGIT.test(text) || (text.match(CAPITALS)?.length ?? 0) >= Math.max(1, words);
}

/** True if nothing is left without the personal data. */
function isPersonal({ text }: ReadSentence): boolean {
  const spans = personalSpans(text);
  if (spans.length === 0) return false;
  let rest = '';
  let end = 0;
  for (const span of spans) {
    rest += `${text.slice(end, span.start)} `;
    end = span.end;
  }
  const left = substanceOf(readSentence(rest + text.slice(end)), { answers: true, also: ['bare-field'] });
  return wordsOf(left).every((word) => HOLDS_DIGIT.test(word));
}

/**
 * Cuts text into words, and tells stop words from content words.
 *
 * Test: test/reader/document/words.test.ts.
 */
import { fold } from './normalise.ts';
import { LEXICON } from './lexicon.ts';
import { once } from './once.ts';
import { stemOf } from './stem.ts';
import { UNSPACED_SCRIPTS } from './unspaced-scripts.ts';
import { memoise } from './word-cache.ts';
import { WordScan } from './word-scan.ts';

const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');

/** True if the text is in a script without spaces, so that its words are joined without them too. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

const FOLDED_WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

/** Words of a folded text, for rules and heads; in scripts without spaces, whole runs. */
export function foldedWordsOf(folded: string): string[] {
  return folded.match(FOLDED_WORD) ?? [];
}

/** Number of words in a folded text; in scripts without spaces, two letters count as one. */
export function wordCount(folded: string): number {
  let count = 0;
  for (const word of foldedWordsOf(folded)) count += isUnspaced(word) ? Math.ceil(word.length / 2) : 1;
  return count;
}

const { determiners, connectors, stopWords, stopWordsInNames, stopWordsInTurns } = LEXICON;
const DETERMINERS: ReadonlySet<string> = new Set(determiners.all);
const CONNECTORS: ReadonlySet<string> = new Set(connectors.all);
const STOP_WORDS: ReadonlySet<string> = new Set([
  ...determiners.all,
  ...stopWords.all,
  ...stopWordsInNames.all,
]);
const FOLDED_STOP_WORDS: ReadonlySet<string> = new Set([...stopWords.all, ...stopWordsInTurns.all].map(fold));

/** True if a folded word says nothing about what a turn wants. */
export function isFoldedStopWord(word: string): boolean {
  return FOLDED_STOP_WORDS.has(word);
}

/** A word, with the facts that naming needs. */
export interface Word {
  /** Its text, as written. */
  readonly text: string;
  /** Index at which it begins, UTF-16 units. */
  readonly start: number;
  /** Its lower-case stem, equal for forms of one word. */
  readonly stem: string;
  /** True if it has meaning of its own (no article, pronoun, auxiliary, preposition, filler). */
  readonly content: boolean;
  /** True if it may stand between two content words of a name: "proof of insurance", "order not delivered". */
  readonly connector: boolean;
  /** True for an article or possessive, which names omit. */
  readonly determiner: boolean;
  /** True if punctuation stands between it and the word before; quotes and # do not count. */
  readonly afterBreak: boolean;
}

const SCAN = new WordScan({ signs: true, joiner: false });
const unspacedWords = once(() => new Intl.Segmenter('zh', { granularity: 'word' }));

/** The words of a text as written; names, addresses and hyphenated words stay whole. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let end = -1;
  const add = (word: string, start: number): void => {
    const { stem, content, connector, determiner } = factsOf(word);
    const afterBreak = end >= 0 && parts(text, end, start);
    words.push({ text: word, start, stem, content, connector, determiner, afterBreak });
    end = start + word.length;
  };
  if (isUnspaced(text)) {
    for (const piece of unspacedWords().segment(text))
      if (piece.isWordLike === true) add(piece.segment, piece.index);
    return words;
  }
  SCAN.begin(text);
  while (SCAN.next()) add(text.slice(SCAN.start, SCAN.end), SCAN.start);
  return words;
}

/** True if punctuation stands between two indices. */
function parts(text: string, from: number, to: number): boolean {
  const isSpace = to === from + 1 && text.charCodeAt(from) === SPACE;
  return !isSpace && /[^\s#"“”„«»]/u.test(text.slice(from, to));
}

const SPACE = 32;
/** The facts about a word that do not depend on its place. */
const factsOf = memoise((word: string): Pick<Word, 'stem' | 'content' | 'connector' | 'determiner'> => {
  const lower = word.toLowerCase().replaceAll('’', "'");
  return {
    stem: stemOf(lower),
    content: isContent(lower),
    connector: CONNECTORS.has(lower),
    determiner: DETERMINERS.has(lower),
  };
});

/** False for numbers, dates, times and words in hiragana alone (particles, endings): they say nothing on their own. */
function isContent(lower: string): boolean {
  return !STOP_WORDS.has(lower) && !/^(?:\p{N}.*|\p{Script=Hiragana}+)$/u.test(lower);
}

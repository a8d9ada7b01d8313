/**
 * Tells a sentence of a user turn that asks for or states something from one that only answers, thanks, greets,
 * complains about the answer or makes small talk, by what is left of it without its phrases of talk. A sentence with
 * content in a language without phrases asks for something. Covered by test/reader/acts/turn-kinds.test.ts.
 */
import { FoldedPhrases } from '../document/folded-phrases.ts';
import { LEXICON } from '../document/lexicon.ts';
import { fold } from '../document/normalise.ts';
import { alternatives } from '../document/patterns.ts';
import { foldedWordsOf, isFoldedStopWord, wordCount } from '../document/words.ts';
import { ofKind, readSentence, substanceOf, type ReadSentence } from './read-sentence.ts';
import { nameOfAboutAssistant } from './turn-phrases.ts';

const NUMERIC = /^[.,:/\-+#]*\d[\p{L}\d.,:/\-+#]*$/u;
const SIGN_OFFS = new FoldedPhrases(LEXICON.signOffs);
/** The line that a program for mail adds. */
const SENT_FROM = new RegExp(`^\\P{L}*(?:${alternatives(LEXICON.sentFrom.all.map(fold))})`, 'u');
const SENT_FROM_WORDS = 10;
/** UTF-16 units: what is longer is neither an id nor the end of a letter. */
const MOST_OF_LINE = 60;
const MOST_OF_NAME = 4;

/** Whether a folded sentence is an id. */
export function isId(folded: string): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const words = foldedWordsOf(folded);
  // "ORD-5512-X" is one word to whoever writes it.
  const longest = folded.includes(' ') ? 2 : 3;
  const digits = words.join('').replace(/\P{N}+/gu, '').length;
  return digits > 2 && words.every((word) => /\p{N}/u.test(word) || word.length <= longest);
}

/** Whether a folded sentence is the line that a program for mail adds. */
export function isSentFrom(folded: string): boolean {
  return SENT_FROM.test(folded) && wordCount(folded) <= SENT_FROM_WORDS;
}

const REACTIONS = new FoldedPhrases(LEXICON.reactions, '(?! to )');
const FILLERS: ReadonlySet<string> = new Set(LEXICON.reactionFillers.all.map(fold));
const UNSPACED_FILLERS = new RegExp(alternatives(LEXICON.reactionFillers.unspaced.map(fold)), 'gu');

/**
 * Whether a folded sentence only says how something went or how one feels about it, and names nothing: "I already
 * tried that, still not working". "My router is still not working" names something.
 */
export function isReaction(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  const rest = REACTIONS.without(folded, words);
  if (rest === folded) return false;
  const named = substanceOf(readSentence(rest), { answers: true }).replace(UNSPACED_FILLERS, ' ');
  return foldedWordsOf(named).every(
    (word) => isFoldedStopWord(word) || FILLERS.has(word) || NUMERIC.test(word),
  );
}

/** What requests to the assistant about itself are called, of a sentence that is nothing else; or null. */
export function aboutAssistantTopic(sentence: ReadSentence): string | null {
  const [asked] = ofKind(sentence.matched, 'about-assistant');
  if (asked === undefined) return null;
  const rest = substanceOf(sentence, { answers: true, also: ['about-assistant'] });
  return countIn(rest) === 0 ? nameOfAboutAssistant(asked.language) : null;
}

/** Whether a folded sentence closes a letter, with or without a name. */
export function isSignOff(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const rest = SIGN_OFFS.without(folded, words);
  return rest !== folded && wordCount(rest) <= MOST_OF_NAME;
}

const NAME = /^\p{Lu}\p{Ll}+(?: (?:de |van |von |el |la )?\p{Lu}[\p{L}'’-]+){0,3}[.! ]*$/u;

/** Whether a sentence only says who speaks: "I'm Priya". */
export function isIntroduction({ matched }: ReadSentence): boolean {
  const { text, tokens } = matched;
  return ofKind(matched, 'introduction').some(
    ({ end }) => end < tokens.length && NAME.test(text.slice(tokens[end]!.start)),
  );
}

/**
 * How much a sentence says: the number of its words that are neither stop words, numbers, dates nor courtesies. Zero:
 * nothing that could have a topic. `from`: the token from which it is read.
 */
export function contentOf(sentence: ReadSentence, from = 0): number {
  return countIn(substanceOf(sentence, { answers: true, from }));
}

function countIn(folded: string): number {
  let count = 0;
  for (const word of foldedWordsOf(folded)) {
    if (isFoldedStopWord(word) || NUMERIC.test(word)) continue;
    count += wordCount(word) > 1 ? wordCount(word) : word.length > 1 || word > '\u02ff' ? 1 : 0;
  }
  return count;
}

/**
 * Predicates that tell what kind of sentence a user says: one that asks for or states something, or one that only
 * answers, thanks, greets, complains about the answer or makes small talk. They look at what is left without phrases of
 * talk. In a language without phrases, a sentence with content counts as a request.
 *
 * Test: test/reader/acts/turn-kinds.test.ts.
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
/** The line that mail programs add. */
const SENT_FROM = new RegExp(`^\\P{L}*(?:${alternatives(LEXICON.sentFrom.all.map(fold))})`, 'u');
const SENT_FROM_WORDS = 10;
/** Longest id or sign-off line, UTF-16 units, and most words of a name after a sign-off. */
const MOST_OF_LINE = 60;
const MOST_OF_NAME = 4;

/** True if a folded sentence is an id. */
export function isId(folded: string): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const words = foldedWordsOf(folded);
  // "ORD-5512-X" counts as three words but is one to its author.
  const longest = folded.includes(' ') ? 2 : 3;
  const digits = words.join('').replace(/\P{N}+/gu, '').length;
  return digits > 2 && words.every((word) => /\p{N}/u.test(word) || word.length <= longest);
}

/** True if a folded sentence is the line that mail programs add. */
export function isSentFrom(folded: string): boolean {
  return SENT_FROM.test(folded) && wordCount(folded) <= SENT_FROM_WORDS;
}

const REACTIONS = new FoldedPhrases(LEXICON.reactions, '(?! to )');
const FILLERS: ReadonlySet<string> = new Set(LEXICON.reactionFillers.all.map(fold));
const UNSPACED_FILLERS = new RegExp(alternatives(LEXICON.reactionFillers.unspaced.map(fold)), 'gu');

/**
 * True if a folded sentence only says how something went or how the user feels about it, and names nothing: "I already
 * tried that, still not working". False for "My router is still not working", which names something.
 */
export function isReaction(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  const rest = REACTIONS.without(folded, words);
  if (rest === folded) return false;
  const named = substanceOf(readSentence(rest), { answers: true }).replace(UNSPACED_FILLERS, ' ');
  return foldedWordsOf(named).every(
    (word) => isFoldedStopWord(word) || FILLERS.has(word) || NUMERIC.test(word),
  );
}

/** The topic name of a sentence that only asks the assistant about itself; else null. */
export function aboutAssistantTopic(sentence: ReadSentence): string | null {
  const [asked] = ofKind(sentence.matched, 'about-assistant');
  if (asked === undefined) return null;
  const rest = substanceOf(sentence, { answers: true, also: ['about-assistant'] });
  return countIn(rest) === 0 ? nameOfAboutAssistant(asked.language) : null;
}

/** True if a folded sentence closes a letter, with or without a name. */
export function isSignOff(folded: string, words: readonly string[] = foldedWordsOf(folded)): boolean {
  if (folded.length > MOST_OF_LINE) return false;
  const rest = SIGN_OFFS.without(folded, words);
  return rest !== folded && wordCount(rest) <= MOST_OF_NAME;
}

const NAME = /^\p{Lu}\p{Ll}+(?: (?:de |van |von |el |la )?\p{Lu}[\p{L}'’-]+){0,3}[.! ]*$/u;

/** True if a sentence only introduces the speaker: "I'm Priya". */
export function isIntroduction({ matched }: ReadSentence): boolean {
  const { text, tokens } = matched;
  return ofKind(matched, 'introduction').some(
    ({ end }) => end < tokens.length && NAME.test(text.slice(tokens[end]!.start)),
  );
}

/**
 * Number of content words in a sentence: neither stop words, numbers, dates nor courtesies. A sentence with 0 cannot
 * have a topic. `from`: index of the first token that is read.
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

/**
 * Finds what a user turn asks for, in the user's own sentences, and scores how well each sentence tells it. A turn that
 * asks nothing yields its first sentence that says enough.
 *
 * Test: test/reader/acts/asked-sentences.test.ts.
 */
import type { Enrichment } from '../../domain/facts.ts';
import { truncate } from '../../domain/truncate.ts';
import { LEXICON } from '../document/lexicon.ts';
import { endsInQuestionMark, holdsQuestionMark, isMarkedQuestion } from '../document/question-marks.ts';
import { HIDDEN } from '../personal/redact.ts';
import { clausesOf, sentencesOf } from '../document/sentences.ts';
import {
  contentCount,
  PhraseSet,
  saysSomething,
  TEXT_PHRASES,
  phraseWordsOf,
  stemsOf,
  type PhraseWord,
} from '../shortening/phrase-set.ts';
import { isCode } from '../shortening/program-text.ts';
import { withoutCourtesies, withoutData, withoutHesitations } from '../shortening/trimming.ts';
import { wordKey } from '../document/spaced-phrases.ts';
import { LONG_SENTENCE } from './scored-sentence.ts';
import { isUnspaced } from '../document/words.ts';

const CODE = /```[^`]*(?:```|$)/gu;
const SIGN_OFFS = new PhraseSet(LEXICON.signOffs.spaced, LEXICON.signOffs.unspaced);
const CONJUNCTIONS: ReadonlySet<string> = new Set(
  [...LEXICON.and.all, ...LEXICON.conjunctions.all].map(wordKey),
);
/** A turn that begins with one of these words asks for something. */
const WISHES: ReadonlySet<string> = new Set(LEXICON.please.spaced.map(wordKey));
/** Words that announce a request without saying it, and their English plurals. */
const VAGUE: ReadonlySet<string> = new Set(
  LEXICON.announcements.all.flatMap((word) => [wordKey(word), `${wordKey(word)}s`]),
);
/** The part of a turn that is read: its first UTF-16 units, and at most this many sentences of them. */
const READ_LENGTH = 4000;
const MOST_SENTENCES = 40;
/** A sentence with this many content words says what it is about. */
const ENOUGH = 2;
/** A question with this many content words is the point of its turn. */
const MATTER = 4;
const DIGITS_OF_DATA = 7;
const CONTENT_OF_DATA = 3;
/**
 * Weights of `telling`. People say first what they want most; a question tells more, a sentence that refers back tells
 * less.
 */
const TELLING = { most: 15, first: 2, question: 3, reference: 4, richest: 5 } as const;

export interface AskedSentence {
  readonly text: string;
  /** Score of how well the sentence alone tells the wish, 0 to 15. */
  readonly telling: number;
  /** Number of its content words. */
  readonly content: number;
  /** 'question' for a question or wish, 'complaint' for something that is wrong. */
  readonly asks: 'question' | 'complaint' | 'nothing';
  /** True for a question that only wants information: nobody is asked to act. */
  readonly isInformation: boolean;
  /** True if it adds a further matter: "also". */
  readonly adds: boolean;
  /** True if it refers to something said before: "it", "that hotel". */
  readonly refers: boolean;
  /** True if it asks for an alternative to what was proposed: "any others?". */
  readonly isAnother: boolean;
}

interface GivenSentence {
  readonly text: string;
  readonly asks: boolean;
}

/** Returns the sentences of a turn that ask. If none asks: the first statement that says enough. */
export function askedSentences(
  content: string,
  { sentences, request }: Pick<Enrichment, 'sentences' | 'request'>,
): AskedSentence[] {
  const given: readonly GivenSentence[] = sentences.length > 0 ? sentences : [{ text: request, asks: true }];
  const own = ownSentences(content);
  const holding = own.flatMap((sentence) =>
    given.flatMap(({ text, asks }) =>
      text !== '' && sentence.includes(text) ? [{ text: around(sentence, text), asks }] : [],
    ),
  );
  const wanted = holding.filter(({ text }) => !givesData(text));
  for (const found of [wanted, holding, own.map((text) => ({ text, asks: false }))]) {
    const candidates = found.flatMap(({ text, asks }) =>
      // A number or an address alone is never what is asked.
      asks || digitsIn(text) < DIGITS_OF_DATA ? (askedSentenceOf(text, asks) ?? []) : [],
    );
    if (candidates.length > 0) return chosen([...new Map(candidates.map((one) => [one.text, one])).values()]);
  }
  return [];
}

/** Returns the first statement of a turn that says enough, for a turn that asks nothing; null if there is none. */
export function statedSentence(content: string): AskedSentence | null {
  for (const sentence of ownSentences(content)) {
    const stated = askedSentenceOf(sentence, false);
    if (stated !== null && stated.content >= (isUnspaced(stated.text) ? 2 : 3))
      return { ...stated, telling: 0 };
  }
  return null;
}

/** The sentences of a turn up to the sign-off of a letter ("Kind regards, …"), without code. */
function ownSentences(content: string): string[] {
  const sentences = sentencesOf(truncate(content, READ_LENGTH).replace(CODE, '\n')).slice(0, MOST_SENTENCES);
  const end = sentences.findIndex((sentence) => SIGN_OFFS.endAt(phraseWordsOf(sentence, 6), 0) > 0);
  return sentences.slice(0, end < 0 ? undefined : end).filter((sentence) => !isCode(sentence));
}

/** The sentence that holds a part; for a long sentence, the clause that holds it. */
function around(sentence: string, part: string): string {
  if (sentence.length <= LONG_SENTENCE) return sentence;
  return clausesOf(sentence).find((clause) => clause.includes(part)) ?? part;
}

/** True for contact data and reference numbers: a request needs them, but they are not the request. */
function givesData(sentence: string): boolean {
  if (holdsQuestionMark(sentence) || contentCount(sentence) > CONTENT_OF_DATA) return false;
  return sentence.includes('@') || sentence.includes(HIDDEN) || digitsIn(sentence) >= DIGITS_OF_DATA;
}

function digitsIn(sentence: string): number {
  return sentence.replace(/\P{N}+/gu, '').length;
}

/** Chooses the sentences that ask. A complaint after a question or wish only explains it. */
function chosen(candidates: readonly AskedSentence[]): AskedSentence[] {
  const wish = candidates.findIndex(({ asks, content }) => asks === 'question' && content >= ENOUGH);
  const asking = candidates.filter(
    ({ asks }, place) => asks === 'question' || (asks === 'complaint' && (wish < 0 || place < wish)),
  );
  const stated = candidates.find(({ content }) => content >= ENOUGH);
  const isClear = asking.some(({ content, refers }) => content >= ENOUGH && !refers);
  // The statement before an unclear question tells what it is about: "No invoice came. Could you send it?"
  if (
    !isClear &&
    stated !== undefined &&
    candidates.indexOf(stated) < candidates.indexOf(asking[0] ?? stated)
  )
    asking.unshift(stated);
  const first = asking[0] ?? stated ?? candidates[0]!;
  return (asking.length > 0 ? asking : [first]).map((asked) => {
    // A question with enough content is the point of its turn: "I want to run it at home. Which computer is the best
    // for that?"
    const isMatter = asked.isInformation && asked.content >= MATTER;
    if (asked !== first && isMatter && !first.isInformation) return { ...asked, telling: TELLING.most };
    const more = asked === first ? (isMatter ? 0 : TELLING.first) : asked.refers ? -TELLING.reference : 0;
    return { ...asked, telling: Math.max(0, Math.min(TELLING.most, asked.telling + more)) };
  });
}

/** The sentence as it is shown; null if it says nothing. */
function askedSentenceOf(sentence: string, isComplaint: boolean): AskedSentence | null {
  const line = withoutHesitations(sentence.replace(/\s+/gu, ' '));
  const text = withoutData(withoutCourtesies(line));
  if (!saysSomething(text)) return null;
  const content = contentCount(text, VAGUE);
  const isVague = content < ENOUGH && contentCount(text) > content;
  const words = phraseWordsOf(text, 40);
  const lineWords = phraseWordsOf(line, 8);
  const opening = isUnspaced(text) ? -1 : openingIn(text, words);
  // Words before the wish do not belong to it: "This sounds good, could you find …".
  const wish = words.slice(Math.max(0, opening));
  const isOpened = opening >= 0 || wishes(text, words) || wishes(line, lineWords);
  const isQuestion = isOpened || isMarkedQuestion(text);
  const other = TEXT_PHRASES.alternatives.firstIn(text, words);
  return {
    text,
    content,
    asks: isQuestion ? 'question' : isComplaint ? 'complaint' : 'nothing',
    isInformation: isQuestion && asksForInformation(text, words, opening),
    adds: addsMore(text, words) || addsMore(line, lineWords) || addsMore('', wish),
    refers: TEXT_PHRASES.references.firstIn(text, wish) >= 0,
    isAnother: other >= 0 && !words.slice(0, other).some(({ key }) => TEXT_PHRASES.negations.hasWord(key)),
    telling: isVague
      ? content
      : Math.min(content, TELLING.richest) * 2 +
        (isQuestion && stemsOf(text).size >= ENOUGH ? TELLING.question : 0),
  };
}

/** True if a sentence begins with "please", "I would like to", "how" and the like, or adds a further matter. */
function wishes(text: string, words: readonly PhraseWord[]): boolean {
  const { openings, directives, questionWords, leads, asides } = TEXT_PHRASES;
  if (WISHES.has(words[0]?.key ?? '') || addsMore(text, words)) return true;
  if (isUnspaced(text))
    return (
      [directives, questionWords].some((set) => set.firstIn(text, words) >= 0) ||
      openings.unspacedAt(text, 0) > 0
    );
  // A lead may come first: "Now find me …".
  const start = Math.max(leads.endAt(words, 0), asides.endAt(words, 0));
  return (
    questionWords.endAt(words, 0) > 0 ||
    [0, start].some((place) => openings.endAt(words, place) > place || directives.endAt(words, place) > place)
  );
}

/** Index of the word at which a clause begins with "I would like to", "can you" and the like; -1 if none does. */
function openingIn(text: string, words: readonly PhraseWord[]): number {
  return words.findIndex((word, at) => {
    const end = TEXT_PHRASES.openings.endAt(words, at);
    if (end === at && TEXT_PHRASES.directives.endAt(words, at) === at) return false;
    const before = words[at - 1];
    if (before === undefined || (end > at + 1 && CONJUNCTIONS.has(before.key))) return true;
    return /[,;–—-]\s?$/u.test(text.slice(before.end, word.start));
  });
}

/** True for "Is there a pool?"; false for "Could you book it?" and "I need a pool?". */
function asksForInformation(text: string, words: readonly PhraseWord[], opening: number): boolean {
  const { inquiries, directives, questionWords, openings } = TEXT_PHRASES;
  if (isUnspaced(text)) {
    const isQuestion = endsInQuestionMark(text) || questionWords.firstIn(text, words) >= 0;
    return inquiries.firstIn(text, words) >= 0 || (isQuestion && directives.firstIn(text, words) < 0);
  }
  if (opening < 0) return isMarkedQuestion(text) || questionWords.endAt(words, 0) > 0;
  // True for "Could you tell me", false for "could you book".
  const end = Math.max(openings.endAt(words, opening), directives.endAt(words, opening));
  return words.slice(opening, end + 1).some(({ key }) => inquiries.hasWord(key));
}

/** True if one of the first words adds a further matter: "could you also find". */
function addsMore(text: string, words: readonly PhraseWord[]): boolean {
  const { additions } = TEXT_PHRASES;
  return (
    additions.unspacedAt(text, 0) > 0 || [0, 1, 2, 3].some((place) => additions.endAt(words, place) > place)
  );
}

/** True if a turn begins with yes or no, as answers do. `isDenial`: counts only no. */
export function beginsWithReply(content: string, isDenial = false): boolean {
  const { courtesies, contrasts, negations, replies } = TEXT_PHRASES;
  const start = content.slice(0, 80).trimStart();
  const words = phraseWordsOf(start, 6);
  // "No problem" denies nothing, and "no, but …" brings up more.
  if (courtesies.endAt(words, 0) > 1 || [1, 2].some((place) => contrasts.endAt(words, place) > place))
    return false;
  if (isDenial && !negations.hasWord(words[0]?.key ?? '') && negations.unspacedAt(start, 0) === 0)
    return false;
  return replies.endAt(words, 0) > 0 || replies.unspacedAt(start, 0) > 0;
}

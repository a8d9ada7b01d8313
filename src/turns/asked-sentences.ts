/** What a user turn asks for, in the user's own sentences. */
import type { Enrichment } from '../domain/facts.ts';
import { truncate } from '../domain/truncate.ts';
import { HIDDEN } from '../text/redact/redact.ts';
import { endsInQuestionMark, holdsQuestionMark, isMarkedQuestion } from '../text/question-marks.ts';
import { namesData } from './answering-turns.ts';
import { clausesOf, sentencesOf } from '../text/sentences.ts';
import {
  contentCount,
  contentStems,
  PhraseSet,
  shownWordsOf,
  type ShownWord,
} from '../text/shown/phrase-set.ts';
import {
  isIntroductionAlone,
  saysSomething,
  withoutCourtesies,
  withoutData,
  withoutHesitations,
} from '../text/shown/trimming.ts';
import { isCode } from '../text/shown/program-text.ts';
import { wordKey } from '../text/spaced-phrases.ts';
import { LEXICON } from '../text/lexicon.ts';
import { isUnspaced } from '../text/words.ts';

const CODE = /```[^`]*(?:```|$)/gu;
const OPENINGS = PhraseSet.of('openings');
const DIRECTIVES = PhraseSet.of('directives');
const DEMANDS = PhraseSet.of('demands');
const ALTERNATIVES = PhraseSet.of('alternatives');
const INQUIRIES = PhraseSet.of('inquiries');
const QUESTION_WORDS = PhraseSet.of('questionWords');
const REFERENCES = PhraseSet.of('references');
const ADDITIONS = PhraseSet.of('additions');
const TURNINGS = PhraseSet.of('turnings');
const CONTRASTS = PhraseSet.of('contrasts');
const COURTESIES = [PhraseSet.of('courtesies'), PhraseSet.of('asides')];
const LEADING = [PhraseSet.of('leads'), PhraseSet.of('asides')];
const NEGATIONS = PhraseSet.of('negations');
const REPLIES = PhraseSet.of('replies');
const SIGN_OFFS = new PhraseSet(LEXICON.signOffs.spaced, LEXICON.signOffs.unspaced);
const CONJUNCTIONS: ReadonlySet<string> = new Set(
  [...LEXICON.and.all, ...LEXICON.conjunctions.all].map(wordKey),
);
/** A turn begins with them that asks. */
const WISHES: ReadonlySet<string> = new Set(LEXICON.please.spaced.map(wordKey));
/** A sentence with so many content words says what it is about. */
const ENOUGH = 2;
const DIGITS_OF_DATA = 7;
const WORDS_OF_DEMAND = 12;
/** UTF-16 units. */
const MOST_OF_REACTION = 40;
const CONTENT_OF_DATA = 3;
/** People say first what they want most. */
const FIRST = 2;
const QUESTION = 3;
/** How much less a sentence tells that speaks of one before it. */
const REFERENCE = 4;
/** More words say no more. */
const RICH = 5;
/** A question that names so much is what a turn comes to. */
const MATTER = 4;
const MOST_TELLING = 15;
/** Words that announce a request without saying it, and their English plurals. */
const VAGUE: ReadonlySet<string> = new Set(
  LEXICON.announcements.all.flatMap((word) => [wordKey(word), `${wordKey(word)}s`]),
);

/** Of a longer turn only the beginning is read, UTF-16 units, and only so many sentences of it. */
const READ_LENGTH = 4000;
const MOST_SENTENCES = 40;
/** A sentence that was weighed by its clauses is shown by them. */
const LONG_SENTENCE = 200;

export interface AskedSentence {
  readonly text: string;
  /** 0 to 15: how well it says by itself what is wanted. */
  readonly telling: number;
  /** Words that name something. */
  readonly content: number;
  /** A question or wish, that something is wrong, or neither. */
  readonly asks: 'question' | 'complaint' | 'nothing';
  /** A question that only wants to be told something: nobody is asked to act. */
  readonly isInformation: boolean;
  /** Nothing but its mark makes it a question. */
  readonly isMarked: boolean;
  /** It says that it brings up something else: "also". */
  readonly adds: boolean;
  /** It speaks of what was said before: "it", "that hotel". */
  readonly refers: boolean;
  /** It asks for another one than what was proposed ("any others?"), or says that none is needed. */
  readonly other: 'asks' | 'denies' | 'none';
}

interface Told {
  readonly text: string;
  readonly asks: boolean;
}

/** The sentences of a turn that ask; of a turn that only states something, the first that says enough. */
export function askedSentences(
  content: string,
  { sentences, request }: Pick<Enrichment, 'sentences' | 'request'>,
): AskedSentence[] {
  const told: readonly Told[] = sentences.length > 0 ? sentences : [{ text: request, asks: true }];
  const own = ownSentences(content);
  const holding = own.flatMap((sentence) =>
    told.flatMap(({ text, asks }) => {
      const holds = text !== '' && sentence.includes(text);
      return holds ? [{ text: around(sentence, text), asks }] : [];
    }),
  );
  const all = own.map((text) => ({ text, asks: false }));
  // A number alone, or an address, is never what is asked.
  const isAsked = ({ text, asks }: Told): boolean => asks || digitsIn(text) < DIGITS_OF_DATA;
  const tiers = [holding.filter(({ text }) => !givesData(text)), holding, all];
  for (const found of tiers.map((tier) => tier.filter(isAsked))) {
    const shown = shownSentences(found);
    if (shown.length > 0) return chosen(shown);
  }
  return [];
}

/** The sentences of a turn up to the end of a letter. */
function ownSentences(content: string): string[] {
  const sentences = sentencesOf(truncate(content, READ_LENGTH).replace(CODE, '\n')).slice(0, MOST_SENTENCES);
  const end = sentences.findIndex((sentence) => closesLetter(sentence));
  const matter = sentences.findLastIndex((sentence) => turnsToMatter(sentence));
  return sentences
    .slice(Math.max(0, matter), end < 0 ? undefined : Math.max(end, matter + 1))
    .filter((sentence) => !isIntroductionAlone(sentence) && !isCode(sentence));
}

/** "Joking aside, …": what comes before is not what the user wants. */
function turnsToMatter(sentence: string): boolean {
  const words = shownWordsOf(sentence, 8);
  const places = words.length > 3 ? [0, 1, 2] : [0];
  return (
    TURNINGS.unspacedAt(sentence, 0) > 0 ||
    places.some((place) => {
      const end = TURNINGS.endAt(words, place);
      return end > place && /^\s?[,:;.!–—-]/u.test(sentence.slice(words[end - 1]!.end));
    })
  );
}

/** As they are shown, each once. */
function shownSentences(found: readonly Told[]): AskedSentence[] {
  const shown = new Map<string, AskedSentence>();
  for (const { text, asks } of found) {
    const asked = shownSentence(text, asks);
    if (asked !== null && !shown.has(asked.text)) shown.set(asked.text, asked);
  }
  return [...shown.values()];
}

/** What complains after a question or wish explains it. */
function chosen(shown: readonly AskedSentence[]): AskedSentence[] {
  const wish = shown.findIndex(({ asks, content }) => asks === 'question' && content >= ENOUGH);
  const asking = shown.filter(
    ({ asks }, place) => asks === 'question' || (asks === 'complaint' && (wish < 0 || place < wish)),
  );
  const stated = shown.find(({ content }) => content >= ENOUGH);
  const isClear = asking.some(({ content, refers }) => content >= ENOUGH && !refers);
  // "No invoice came. Could you send it?"
  if (
    asking.length > 0 &&
    !isClear &&
    stated !== undefined &&
    shown.indexOf(stated) < shown.indexOf(asking[0]!)
  )
    asking.unshift(stated);
  const first = asking[0] ?? stated ?? shown[0]!;
  return (asking.length > 0 ? asking : [first]).map((asked) => {
    // "I want to run it at home. Which computer is the best for that?"
    const isMatter = asked.isInformation && asked.content >= MATTER;
    if (asked === first)
      return { ...asked, telling: Math.min(MOST_TELLING, asked.telling + (isMatter ? 0 : FIRST)) };
    if (isMatter && !first.isInformation) return { ...asked, telling: MOST_TELLING };
    return asked.refers ? { ...asked, telling: Math.max(0, asked.telling - REFERENCE) } : asked;
  });
}

/** How the user can be reached, and under which number: what a request needs, not what it is. */
function givesData(sentence: string): boolean {
  if (holdsQuestionMark(sentence) || contentCount(sentence) > CONTENT_OF_DATA) return false;
  return sentence.includes('@') || sentence.includes(HIDDEN) || digitsIn(sentence) >= DIGITS_OF_DATA;
}

function digitsIn(sentence: string): number {
  return sentence.replace(/\P{N}+/gu, '').length;
}

/** "Kind regards, …": names and addresses follow. */
function closesLetter(sentence: string): boolean {
  return SIGN_OFFS.endAt(shownWordsOf(sentence, 6), 0) > 0;
}

/** The sentence that holds a part of it; of a long one the clause. */
function around(sentence: string, part: string): string {
  if (sentence.length <= LONG_SENTENCE) return sentence;
  return clausesOf(sentence).find((clause) => clause.includes(part)) ?? part;
}

function shownSentence(sentence: string, asks: boolean): AskedSentence | null {
  const line = withoutHesitations(sentence.replace(/\s+/gu, ' '));
  const text = withoutReaction(withoutData(withoutCourtesies(line)));
  if (!saysSomething(text)) return null;
  const content = contentCount(text, VAGUE);
  const isVague = content < ENOUGH && contentCount(text) > content;
  const begins = wishes(text) || wishes(line);
  const words = shownWordsOf(text, 40);
  const opening = isUnspaced(text) ? undefined : openingIn(text, words);
  const isOpened = begins || opening !== undefined;
  const isQuestion = isOpened || isMarkedQuestion(text);
  // "This sounds good, could you find …": what is said before the wish is no matter of it.
  const wish = opening === undefined ? words : words.slice(opening);
  const refers = REFERENCES.firstIn(text, wish) >= 0;
  const adds =
    addsMore(text, words) ||
    (opening !== undefined && addsSoon(wish)) ||
    addsMore(line, shownWordsOf(line, 8));
  const kind = isQuestion ? 'question' : asks ? 'complaint' : 'nothing';
  return {
    text,
    content,
    asks: kind,
    isInformation: isQuestion && asksToBeTold(text, words, opening),
    isMarked: isQuestion && !isOpened && !isUnspaced(text),
    adds,
    refers,
    other: otherOf(text, words),
    telling: isVague
      ? content
      : Math.min(content, RICH) * 2 +
        (isQuestion && contentStems(words, true).length >= ENOUGH ? QUESTION : 0),
  };
}

/** Whether a sentence begins with "please", "I would like to", "how" and the like, or says that it brings up more. */
function wishes(text: string): boolean {
  const words = shownWordsOf(text, 8);
  if (WISHES.has(words[0]?.key ?? '')) return true;
  // "Now find me …".
  const start = Math.max(...LEADING.map((phrases) => phrases.endAt(words, 0)));
  for (const place of start > 0 ? [0, start] : [0])
    if (OPENINGS.endAt(words, place) > place || DIRECTIVES.endAt(words, place) > place) return true;
  if (isUnspaced(text) && (DIRECTIVES.firstIn(text, words) >= 0 || QUESTION_WORDS.firstIn(text, words) >= 0))
    return true;
  return QUESTION_WORDS.endAt(words, 0) > 0 || OPENINGS.unspacedAt(text, 0) > 0 || addsMore(text, words);
}

/** "Is there a pool?", and not "Could you book it?" or "I need a pool?". */
function asksToBeTold(text: string, words: readonly ShownWord[], opening: number | undefined): boolean {
  if (isUnspaced(text)) {
    const isQuestion = endsInQuestionMark(text) || QUESTION_WORDS.firstIn(text, words) >= 0;
    return INQUIRIES.firstIn(text, words) >= 0 || (isQuestion && DIRECTIVES.firstIn(text, words) < 0);
  }
  if (demandsData(text, words)) return true;
  if (opening === undefined) return isMarkedQuestion(text) || QUESTION_WORDS.endAt(words, 0) > 0;
  // "Could you tell me", not "could you book".
  const end = Math.max(OPENINGS.endAt(words, opening), DIRECTIVES.endAt(words, opening));
  return words.slice(opening, end + 1).some(({ key }) => INQUIRIES.hasWord(key));
}

/** "This sounds good, could you find …" without what only speaks of what was said before. */
function withoutReaction(text: string): string {
  const comma = text.indexOf(', ');
  if (comma < 0 || comma > MOST_OF_REACTION || isUnspaced(text)) return text;
  const before = text.slice(0, comma);
  const words = shownWordsOf(before);
  if (REFERENCES.firstIn(before, words) < 0 || contentCount(before) > ENOUGH) return text;
  if (words.some(({ key }) => NEGATIONS.hasWord(key))) return text;
  const rest = text.slice(comma + 2);
  return openingIn(rest, shownWordsOf(rest, 8)) === 0 ? rest : text;
}

/** "Can I get their number?". */
function demandsData(text: string, words: readonly ShownWord[]): boolean {
  const demands = isUnspaced(text) ? DEMANDS.firstIn(text, words) >= 0 : DEMANDS.endAt(words, 0) > 0;
  return demands && words.length <= WORDS_OF_DEMAND && namesData(text);
}

/** The word at which a clause begins with "I would like to", "can you" and the like. */
function openingIn(text: string, words: readonly ShownWord[]): number | undefined {
  const place = words.findIndex((word, at) => {
    if (!OPENINGS.mayBegin(word) && !DIRECTIVES.mayBegin(word)) return false;
    const end = OPENINGS.endAt(words, at);
    if (end === at && DIRECTIVES.endAt(words, at) === at) return false;
    const before = words[at - 1];
    if (before === undefined || (end > at + 1 && CONJUNCTIONS.has(before.key))) return true;
    return /[,;–—-]\s?$/u.test(text.slice(before.end, word.start));
  });
  return place < 0 ? undefined : place;
}

/** "Any others?", and not "I have no other number". */
function otherOf(text: string, words: readonly ShownWord[]): AskedSentence['other'] {
  const place = ALTERNATIVES.firstIn(text, words);
  if (place < 0) return 'none';
  return words.slice(0, place).some(({ key }) => NEGATIONS.hasWord(key)) ? 'denies' : 'asks';
}

/** "Could you also find". */
function addsSoon(words: readonly ShownWord[]): boolean {
  return [0, 1, 2, 3].some((place) => ADDITIONS.endAt(words, place) > place);
}

/** Whether "also" or the like stands among its first words. */
function addsMore(text: string, words: readonly ShownWord[]): boolean {
  if (ADDITIONS.unspacedAt(text, 0) > 0) return true;
  if ([0, 1, 2].some((place) => ADDITIONS.endAt(words, place) > place)) return true;
  // "…, but now I want to"
  const contrast = words.findIndex((_, place) => CONTRASTS.endAt(words, place) > place);
  return contrast >= 0 && [1, 2].some((after) => OPENINGS.endAt(words, contrast + after) > contrast + after);
}

/** Whether a turn begins with yes or no, as answers do; `isDenial`: with no alone. */
export function beginsWithReply(content: string, isDenial = false): boolean {
  const start = content.slice(0, 80).trimStart();
  const words = shownWordsOf(start, 6);
  // "No problem", and "no, but …" brings up more.
  if (COURTESIES.some((phrases) => phrases.endAt(words, 0) > 1)) return false;
  if (words.slice(1, 3).some((_, place) => CONTRASTS.endAt(words, place + 1) > place + 1)) return false;
  if (isDenial && !NEGATIONS.hasWord(words[0]?.key ?? '') && NEGATIONS.unspacedAt(start, 0) === 0)
    return false;
  return REPLIES.endAt(words, 0) > 0 || REPLIES.unspacedAt(start, 0) > 0;
}

/** What a user said that asks for nothing, when it says anything. */
export function statedSentence(content: string): AskedSentence | null {
  for (const sentence of sentencesOf(truncate(content, READ_LENGTH)).slice(0, MOST_SENTENCES)) {
    if (closesLetter(sentence) || isIntroductionAlone(sentence)) continue;
    const stated = shownSentence(sentence, false);
    if (stated !== null && stated.content >= (isUnspaced(stated.text) ? 2 : 3))
      return { ...stated, telling: 0 };
  }
  return null;
}

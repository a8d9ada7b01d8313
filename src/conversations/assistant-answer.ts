/** What an assistant turn says of a request: the sentence that carries the answer, and whether it refuses or hands over. */
import { truncate } from '../domain/truncate.ts';
import { sentencesOf } from '../language/sentences.ts';
import { contentStems, PhraseSet, shownWordsOf, type ShownWord } from '../language/shown/phrase-set.ts';
import { withoutGreeting } from '../language/shown/trimming.ts';
import { isUnspaced } from '../language/words.ts';

const PLEASANTRIES = PhraseSet.of('pleasantries');
const REFUSALS = PhraseSet.of('refusals');
const HANDOVERS = PhraseSet.of('handovers');
const ASKS_BACK = PhraseSet.of('asksBack');
const COMPLETIONS = PhraseSet.of('completions');
const OFFERS = PhraseSet.of('offers');
const NEGATIONS = PhraseSet.of('negations');
const SUBORDINATES = PhraseSet.of('subordinates');

/** Of a longer turn only the beginning is read, UTF-16 units, and only so many sentences of it. */
const READ_LENGTH = 2400;
const MOST_SENTENCES = 12;
/** A longer sentence is less of an answer. */
const LONG_SENTENCE = 200;
/** So many words before a handover or a report may deny it: "I am not able to transfer you". */
const DENIAL = 6;
/** What is done is said among so many sentences at the beginning. */
const REPORTING = 3;
/** Words of a report that speaks of nothing but the request before it. */
const CONFIRMING = 3;
const CODE = /```[^`]*(?:```|$)/gu;
const MARKUP = /\*\*|__|`|^#{1,6}\s|^>\s/gmu;

/** A sentence that may be the answer. */
export interface AnswerSentence {
  readonly text: string;
  /** How much it says, whatever was asked: 1 for a plain statement, below 0.5 for what is none, below 0 for a question. */
  readonly score: number;
  /** Reports that something is done. */
  readonly completes: boolean;
  /** Begins with "no". */
  readonly denies: boolean;
  readonly stems: ReadonlySet<string>;
}

export interface AssistantAnswer {
  readonly sentences: readonly AnswerSentence[];
  /** Says that people take over. */
  readonly handsOver: boolean;
  /** Says first that what is wanted is not possible. */
  readonly refuses: boolean;
  /** Ends with the question whether there is anything else. */
  readonly offersMore: boolean;
  /** Asks for what it needs, as a question or not. */
  readonly asksBack: boolean;
  /** States something; false of questions and courtesies alone. */
  readonly states: boolean;
  /** What it states first is a "no". */
  readonly denies: boolean;
  /** Reports that something is done, and asks for nothing more that it needs. */
  readonly reports: boolean;
  /** The report is "Done." or as short. */
  readonly confirms: boolean;
}

/** A sentence scores this much when it states something. */
export const STATEMENT = 0.6;

/** What may be the answer in an assistant turn. */
export function readAnswer(content: string): AssistantAnswer {
  const text = truncate(content, READ_LENGTH).replace(CODE, '\n').replace(MARKUP, '');
  const said = sentencesOf(text).slice(0, MOST_SENTENCES).map(readSentence);
  const sentences = said.map((sentence, place) => answerOf(sentence, place, said[place + 1]));
  const first = sentences.findIndex(({ score }) => score >= STATEMENT);
  const refusal = said.findIndex(({ refuses }) => refuses);
  const handsOver = said.some((sentence) => sentence.handsOver);
  const last = said.at(-1);
  const offersMore = last !== undefined && last.isQuestion && last.pleasantry !== 'none';
  const asksBack = said.some((sentence) => sentence.isQuestion || sentence.asksBack);
  const reports =
    (!asksBack || offersMore) && sentences.slice(0, REPORTING).some(({ completes }) => completes);
  return {
    sentences,
    handsOver,
    refuses: !handsOver && refusal >= 0 && (first < 0 || refusal <= first),
    offersMore,
    asksBack,
    states: first >= 0,
    denies: sentences[first]?.denies === true,
    reports,
    confirms:
      reports && said.some(({ words }, place) => sentences[place]!.completes && words.length <= CONFIRMING),
  };
}

/** What a sentence of an assistant is. */
interface SaidSentence {
  readonly text: string;
  readonly words: readonly ShownWord[];
  readonly isQuestion: boolean;
  readonly isListed: boolean;
  readonly handsOver: boolean;
  /** It only offers that: "I can transfer you". */
  readonly offers: boolean;
  readonly refuses: boolean;
  readonly asksBack: boolean;
  readonly pleasantry: Pleasantry;
}

function readSentence(sentence: string): SaidSentence {
  const text = withoutGreeting(sentence);
  const words = shownWordsOf(text);
  const isQuestion = /[?？؟]["'”»)\].]*$/u.test(text);
  const handsOver = !isQuestion && isHandover(text, words);
  return {
    text,
    words,
    isQuestion,
    isListed: /^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence),
    handsOver,
    offers: handsOver && isOffer(text, words),
    refuses: !isQuestion && !handsOver && REFUSALS.firstIn(text, words) >= 0,
    asksBack: !isQuestion && ASKS_BACK.firstIn(text, words) >= 0,
    pleasantry: pleasantryIn(text, words),
  };
}

function isHandover(text: string, words: readonly ShownWord[]): boolean {
  const place = HANDOVERS.firstIn(text, words);
  return place >= 0 && !isPreceded(text, words, place, [NEGATIONS]);
}

/** Says that something is done, and not "once it is done" or "it could not be done". */
function isCompletion(text: string, words: readonly ShownWord[]): boolean {
  const place = COMPLETIONS.firstIn(text, words);
  if (place < 0 || (isUnspaced(text) && NEGATIONS.firstIn(text, words) >= 0)) return false;
  return !isPreceded(text, words, place, [NEGATIONS, SUBORDINATES, OFFERS]);
}

/** Whether one of these words stands shortly before a place, in its clause. */
function isPreceded(
  text: string,
  words: readonly ShownWord[],
  place: number,
  sets: readonly PhraseSet[],
): boolean {
  const before = words.slice(Math.max(0, place - DENIAL), place);
  const word = before.findLast(({ key }) => sets.some((set) => set.hasWord(key)));
  return word !== undefined && !/[,;:–—]/u.test(text.slice(word.end, words[place]!.start));
}

function isOffer(text: string, words: readonly ShownWord[]): boolean {
  const before = words[HANDOVERS.firstIn(text, words) - 1];
  return before !== undefined && OFFERS.hasWord(before.key);
}

function answerOf(sentence: SaidSentence, place: number, next?: SaidSentence): AnswerSentence {
  const { text, words, isQuestion, isListed } = sentence;
  const length = isUnspaced(text) ? Math.ceil(text.length / 3) : words.length;
  let score = isQuestion ? -1 : 1;
  if (length < 2) score -= 0.95;
  else if (length < 4) score -= 0.15;
  if (sentence.asksBack) score -= 0.75;
  if (isListed) score -= 0.35;
  if (/\|.*\|/u.test(text)) score -= 0.6;
  if (text.length > LONG_SENTENCE) score -= 0.3;
  if (/\p{N}/u.test(text)) score += 0.1;
  if (sentence.handsOver && !sentence.offers) score += 0.8;
  if (sentence.refuses) score += 0.2;
  score -= PLEASANTRY[sentence.pleasantry] + Math.min(place, 8) * 0.06;
  const completes = !isQuestion && !sentence.refuses && isCompletion(text, words);
  const isLeadIn = /[:：]$/u.test(text) || (next?.isListed === true && !isListed && !/[.!。！]$/u.test(text));
  if (isLeadIn && !completes) score -= 0.8;
  // "It is changed to:" and what it is now, below.
  const whole = completes && /[:：]$/u.test(text) && next?.isListed === true ? `${text} ${next.text}` : text;
  const denies = NEGATIONS.hasWord(words[0]?.key ?? '') && /^\s?[,.;!–—-]/u.test(text.slice(words[0]!.end));
  return {
    text: oneLine(whole),
    score,
    completes,
    denies,
    stems: new Set(contentStems(words, true)),
  };
}

type Pleasantry = 'none' | 'opening' | 'all';
const PLEASANTRY: Readonly<Record<Pleasantry, number>> = { none: 0, opening: 0.15, all: 0.95 };
/** A sentence goes on to say something when so many words follow what says nothing; fewer after a comma. */
const WORDS_AFTER = 7;
const WORDS_AFTER_COMMA = 4;

/** Whether a sentence begins with what says nothing, or is no more than that. */
function pleasantryIn(sentence: string, words: readonly ShownWord[]): Pleasantry {
  const place = PLEASANTRIES.firstIn(sentence, words);
  if (place < 0 || (place > 2 && words.length > 9)) return 'none';
  const last = PLEASANTRIES.endAt(words, place) - 1;
  if (last < place) return isUnspaced(sentence) && sentence.length > 24 ? 'opening' : 'all';
  const after = words.length - 1 - last;
  const isParted = /^\s?[,;–—-]/u.test(sentence.slice(words[last]!.end));
  return after >= (isParted ? WORDS_AFTER_COMMA : WORDS_AFTER) ? 'opening' : 'all';
}

/** What the words of a text are compared by. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(contentStems(shownWordsOf(text), true));
}

/** What each shared word adds, and at most how many. */
const SHARED = 0.22;
const MOST_SHARED = 4;
/** What it adds that a sentence reports something of the request done. */
const COMPLETED = 0.25;
/** A report that shares so many words with an earlier request settles that one, too. */
const SETTLED = 2;
/** What scores less is no answer, not even for want of another. */
const LEAST_SCORE = 0.15;

/** A sentence with what it scores as the answer to a request. */
export interface ScoredAnswer {
  readonly text: string;
  readonly score: number;
  /** It reports that something is done, and names it as the request does. */
  readonly settles: boolean;
  /** It reports that what is asked is done, by its words or since the user has just confirmed it. */
  readonly isReport: boolean;
}

/**
 * The sentence of a turn that answers best; null when the turn says nothing. `isConfirmed`: the user has just answered
 * or confirmed, so that a report needs no word of the request.
 */
export function bestAnswer(
  { sentences, reports, confirms }: AssistantAnswer,
  asked: ReadonlySet<string>,
  isConfirmed: boolean,
): ScoredAnswer | null {
  let best: ScoredAnswer | null = null;
  for (const { text, score, completes, stems } of sentences) {
    let shared = 0;
    for (const stem of stems) if (asked.has(stem)) shared += 1;
    const isReport = completes && (shared > 0 || confirms || (isConfirmed && reports));
    const total = score + Math.min(shared, MOST_SHARED) * SHARED + (isReport ? COMPLETED : 0);
    if (text === '' || total < LEAST_SCORE || (best !== null && total <= best.score)) continue;
    best = { text, score: total, settles: completes && shared >= SETTLED, isReport };
  }
  return best;
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

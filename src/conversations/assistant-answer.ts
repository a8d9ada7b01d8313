/** What an assistant turn says of a request: the sentence that carries the answer, and whether it refuses or hands over. */
import { truncate } from '../domain/truncate.ts';
import { sentencesOf } from '../language/sentences.ts';
import { PhraseSet, shownWordsOf, type ShownWord } from '../language/shown/phrase-set.ts';
import { withoutGreeting } from '../language/shown/trimming.ts';
import { isUnspaced, wordsOf } from '../language/words.ts';

const PLEASANTRIES = PhraseSet.of('pleasantries');
const REFUSALS = PhraseSet.of('refusals');
const HANDOVERS = PhraseSet.of('handovers');
const ASKS_BACK = PhraseSet.of('asksBack');
const NEGATIONS = PhraseSet.of('negations');

/** Of a longer turn only the beginning is read, UTF-16 units, and only so many sentences of it. */
const READ_LENGTH = 3000;
const MOST_SENTENCES = 20;
/** A longer sentence is less of an answer. */
const LONG_SENTENCE = 200;
/** So many words before a handover may deny it: "I am not able to transfer you". */
const DENIAL = 6;
/** What stands for a word in languages that inflect. */
const STEM_LENGTH = 5;
const CODE = /```[^`]*(?:```|$)/gu;
const MARKUP = /\*\*|__|`|^#{1,6}\s|^>\s/gmu;

/** A sentence that may be the answer. */
export interface AnswerSentence {
  readonly text: string;
  /** How much it says, whatever was asked: 1 for a plain statement, below 0.5 for what is none. */
  readonly score: number;
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
}

/** A sentence scores this much when it states something. */
export const STATEMENT = 0.6;

/** What may be the answer in an assistant turn. */
export function readAnswer(content: string): AssistantAnswer {
  const text = truncate(content, READ_LENGTH).replace(CODE, '\n').replace(MARKUP, '');
  const sentences: AnswerSentence[] = [];
  let handsOver = false;
  let refuses = false;
  let states = false;
  let offersMore = false;
  let asksBack = false;
  for (const sentence of sentencesOf(text).slice(0, MOST_SENTENCES)) {
    const isQuestion = /[?？؟]["'”»)\]]*$/u.test(sentence);
    const shown = withoutGreeting(sentence);
    const words = shownWordsOf(shown);
    const hands = !isQuestion && says(HANDOVERS, shown, words);
    const refusal = !isQuestion && !hands && says(REFUSALS, sentence, shownWordsOf(sentence));
    const score =
      scoreOf(sentence, shown, words, isQuestion, sentences.length) + (hands ? 0.8 : refusal ? 0.4 : 0);
    asksBack ||= isQuestion || ASKS_BACK.firstIn(shown, words) >= 0;
    offersMore = isQuestion && pleasantryIn(sentence) !== 'none';
    handsOver ||= hands;
    refuses ||= refusal && !states;
    states ||= score >= STATEMENT;
    sentences.push({ text: oneLine(shown), score, stems: stemsOf(shown) });
  }
  return { sentences, handsOver, refuses: refuses && !handsOver, offersMore, asksBack, states };
}

function says(phrases: PhraseSet, text: string, words: readonly ShownWord[]): boolean {
  const place = phrases.firstIn(text, words);
  if (place < 0) return false;
  if (phrases === REFUSALS) return true;
  const before = words.slice(Math.max(0, place - DENIAL), place);
  const denial = before.findLast(({ key }) => NEGATIONS.hasWord(key));
  return denial === undefined || /[,;:–—]/u.test(text.slice(denial.end, words[place]!.start));
}

function scoreOf(
  sentence: string,
  shown: string,
  words: readonly ShownWord[],
  isQuestion: boolean,
  place: number,
): number {
  const length = isUnspaced(shown) ? Math.ceil(shown.length / 3) : words.length;
  let score = isQuestion ? 0.35 : 1;
  if (length < 2) score -= 0.95;
  else if (length < 4) score -= isQuestion ? 0 : 0.15;
  if (!isQuestion && ASKS_BACK.firstIn(shown, words) >= 0) score -= 0.55;
  if (/[:：]$/u.test(shown)) score -= 0.8;
  if (/^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence)) score -= 0.2;
  if (shown.length > LONG_SENTENCE) score -= 0.3;
  if (/\p{N}/u.test(shown)) score += 0.1;
  return score - PLEASANTRY[pleasantryIn(sentence)] - Math.min(place, 8) * 0.06;
}

type Pleasantry = 'none' | 'opening' | 'all';
const PLEASANTRY: Readonly<Record<Pleasantry, number>> = { none: 0, opening: 0.15, all: 0.95 };
/** A sentence goes on to say something when so many words follow what says nothing; fewer after a comma. */
const WORDS_AFTER = 7;
const WORDS_AFTER_COMMA = 4;

/** Whether a sentence begins with what says nothing, or is no more than that. */
function pleasantryIn(sentence: string): Pleasantry {
  const words = shownWordsOf(sentence);
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
  const stems = new Set<string>();
  for (const { text: word, stem, content } of wordsOf(text)) {
    if (/\p{N}/u.test(word)) stems.add(word);
    else if (content) stems.add(stem.slice(0, STEM_LENGTH));
  }
  return stems;
}

/** What each shared word adds, and at most how many. */
const SHARED = 0.22;
const MOST_SHARED = 4;
/** What scores less is no answer, not even for want of another. */
const LEAST_SCORE = 0.15;

/** The sentence of a turn that answers best, with its score; null when the turn says nothing. */
export function bestAnswer(
  { sentences }: AssistantAnswer,
  asked: ReadonlySet<string>,
): { readonly text: string; readonly score: number } | null {
  let best: { text: string; score: number } | null = null;
  for (const { text, score, stems } of sentences) {
    let shared = 0;
    for (const stem of stems) if (asked.has(stem)) shared += 1;
    const total = score + Math.min(shared, MOST_SHARED) * SHARED;
    if (text !== '' && total >= LEAST_SCORE && (best === null || total > best.score))
      best = { text, score: total };
  }
  return best;
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/**
 * A sentence of an assistant, read by its phrases: its acts, and its score as an answer.
 *
 * Test: test/reader/acts/scored-sentence.test.ts.
 */
import { endsInQuestionMark, QUESTION_MARK } from '../document/question-marks.ts';
import { HIDDEN } from '../personal/redact.ts';
import {
  contentCount,
  TEXT_PHRASES,
  phraseWordsOf,
  stemsOf,
  type PhraseWord,
} from '../shortening/phrase-set.ts';
import { isCode } from '../shortening/program-text.ts';
import { withoutGreeting } from '../shortening/trimming.ts';
import { isUnspaced } from '../document/words.ts';
import {
  isUnmarkedQuestion,
  LEAST_UNSPACED,
  mannersActOf,
  assistantSentenceOf,
  taskActOf,
  type MannersAct,
  type TaskAct,
} from './tables/assistant-sentence.ts';

/** A request for data stands within the first words: "To help you, I need …". */
const FIRST_WORDS = 4;
/** Most content words of a sentence that says nothing beside its redaction. */
const LITTLE = 3;
/** Least words of a statement before a closing question. */
const LEAST_WORDS = 4;
/** Least words after the colon of a lead to confirm. */
const LEAST_BEHIND_LEAD = 7;
/** Most UTF-16 units before the colon of a lead to confirm. */
const MOST_OF_LEAD = 60;
/** Longest sentence that is shown whole, UTF-16 units. */
export const LONG_SENTENCE = 200;
/** Stands for omitted code. */
export const LEFT_OUT = '\u{fffc}';

/** Deduction from the score for each kind of manners. */
const MANNERS: Readonly<Record<MannersAct, number>> = { none: 0, opening: 0.15, all: 0.95, wait: 1.2 };

/** The acts and the score of an assistant's sentence. */
export interface ScoredSentence {
  readonly text: string;
  readonly act: TaskAct;
  readonly isListed: boolean;
  /** True if it asks for something that the assistant needs, as a question or not. */
  readonly asksBack: boolean;
  /** True if it asks to confirm what was said or follows: "is that correct?", "please confirm: …". */
  readonly asksToConfirm: boolean;
  readonly manners: MannersAct;
  /** True if it begins with "no". */
  readonly denies: boolean;
  /** 1 for a plain statement, below 0.6 for a weak one, below 0 for a question that proposes nothing. */
  readonly score: number;
  readonly stems: ReadonlySet<string>;
}

const ASKED_BEFORE = new RegExp(`^[^.!]*${QUESTION_MARK}`, 'u');

/** Reads one sentence of an assistant. */
export function readSentence(sentence: string): ScoredSentence {
  const read = assistantSentenceOf(withoutGreeting(sentence));
  const { text, words } = read;
  const isListed = /^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence);
  const act = taskActOf(read);
  const asks = act === 'ask' || act === 'suggest';
  const needs = asks ? -1 : read.firstOf(TEXT_PHRASES.asksBack);
  const manners = mannersActOf(read);
  const first = words[0];
  return {
    text,
    act,
    isListed,
    asksBack: needs >= 0 || asks,
    asksToConfirm: asksToConfirm(text, words, needs),
    manners,
    denies:
      first !== undefined &&
      TEXT_PHRASES.negations.hasWord(first.key) &&
      /^\s?[,.;!–—-]/u.test(text.slice(first.end)),
    score: scoreOf(text, words, { act, isListed, needs, manners }),
    stems: stemsOf(text),
  };
}

/** True for "Is that correct?", and for a lead with the text to be confirmed after its colon. */
function asksToConfirm(text: string, words: readonly PhraseWord[], needs: number): boolean {
  // "… to confirm it" at the end of a statement does not count.
  const isQuestion = endsInQuestionMark(text);
  if (TEXT_PHRASES.recaps.firstIn(text, isQuestion ? words : words.slice(0, FIRST_WORDS)) >= 0) return true;
  const colon = text.search(/[:：]\s*\S/u);
  if (isQuestion || needs < 0 || colon < 0 || colon > MOST_OF_LEAD) return false;
  const isLead = isUnspaced(text) || words[needs]!.start < colon;
  return isLead && phraseWordsOf(text.slice(colon)).length >= LEAST_BEHIND_LEAD;
}

/** Scores how much a sentence says on its own. */
function scoreOf(
  text: string,
  words: readonly PhraseWord[],
  { act, isListed, needs, manners }: Pick<ScoredSentence, 'act' | 'isListed' | 'manners'> & { needs: number },
): number {
  const length = isUnspaced(text) ? Math.ceil(text.length / 3) : words.length;
  let score = 1 - MANNERS[manners];
  if (act === 'ask') score = -2;
  if (act === 'suggest') score -= 0.3;
  if (act === 'hand-over') score += 0.8;
  if (act === 'refuse') score += 0.2;
  // "To help you, I need your name" states nothing before it asks.
  const isOnlyAsking =
    needs >= 0 && (needs < FIRST_WORDS || TEXT_PHRASES.purposes.hasWord(words[0]!.key)) && !isUnspaced(text);
  if (needs >= 0) score -= 0.75;
  if (isOnlyAsking && act !== 'done') score = -2;
  if (length < 2) score -= 0.95;
  else if (length < 4) score -= 0.15;
  if (TEXT_PHRASES.references.endAt(words, 0) > 0) score -= 0.2;
  if (text === LEFT_OUT || isCode(text)) score -= 3;
  if (isListed) score -= /[:：]$/u.test(text) ? 1.35 : 0.35;
  if (/\|.*\|/u.test(text)) score -= 0.6;
  if (text.length > LONG_SENTENCE) score -= 0.3;
  return /\p{N}/u.test(text) ? score + 0.1 : score;
}

/** Splits "It has a pool, would you like it?" into the statement and the question after it. */
export function withoutTag(sentence: string): string[] {
  if (!endsInQuestionMark(sentence)) return [sentence];
  const comma = Math.max(sentence.lastIndexOf('，'), sentence.lastIndexOf(', '), sentence.lastIndexOf('、'));
  const front = sentence.slice(0, comma);
  const tag = sentence.slice(comma + 1).trim();
  if (comma < 0 || ASKED_BEFORE.test(front)) return [sentence];
  if (isUnspaced(front)) return front.length >= LEAST_UNSPACED ? [`${front}。`, tag] : [sentence];
  const words = phraseWordsOf(tag, 6);
  const isTag = TEXT_PHRASES.questionWords.endAt(words, 0) > 0 || TEXT_PHRASES.directives.endAt(words, 0) > 0;
  const start = phraseWordsOf(front, LEAST_WORDS);
  const isStated =
    start.length === LEAST_WORDS && !isUnmarkedQuestion(start) && TEXT_PHRASES.purposes.endAt(start, 0) === 0;
  return isTag && isStated ? [`${front}.`, tag] : [sentence];
}

/** True if a text denies or refuses something. */
export function denies(text: string): boolean {
  const words = phraseWordsOf(text);
  return (
    words.some(({ key }) => TEXT_PHRASES.negations.hasWord(key)) ||
    TEXT_PHRASES.refusals.firstIn(text, words) >= 0
  );
}

/** True if a text says little beside its redaction: "Reference number is •••". */
export function isHidden(text: string): boolean {
  return text.includes(HIDDEN) && contentCount(text) <= LITTLE;
}

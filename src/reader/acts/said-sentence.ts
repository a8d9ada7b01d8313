/**
 * A sentence of an assistant by its phrases: what it does, and how much it says as an answer. Covered by
 * test/reader/acts/said-sentence.test.ts.
 */
import { endsInQuestionMark, QUESTION_MARK } from '../document/question-marks.ts';
import { HIDDEN } from '../personal/redact.ts';
import { contentCount, SHOWN, shownWordsOf, stemsOf, type ShownWord } from '../shortening/phrase-set.ts';
import { isCode } from '../shortening/program-text.ts';
import { withoutGreeting } from '../shortening/trimming.ts';
import { isUnspaced } from '../document/words.ts';
import {
  isUnmarkedQuestion,
  mannersActOf,
  saidWordsOf,
  taskActOf,
  type MannersAct,
  type TaskAct,
} from './tables/assistant-sentence.ts';

/** "To help you, I need …": it asks within so many words. */
const FIRST_WORDS = 4;
/** So few words beside something hidden say nothing. */
const LITTLE = 3;
/** What is stated before a question at the end has so many words, or UTF-16 units. */
const LEAST_WORDS = 4;
const LEAST_FRONT = 7;
/** What is to be confirmed behind a colon has so many words. */
const LEAST_BEHIND_LEAD = 7;
/** UTF-16 units before the colon of what is to be confirmed. */
const MOST_OF_LEAD = 60;
const LONG_SENTENCE = 200;
/** Stands for code that was left out. */
export const LEFT_OUT = '\u{fffc}';

/** What is taken from the score of what manners say. */
const MANNERS: Readonly<Record<MannersAct, number>> = { none: 0, opening: 0.15, all: 0.95, wait: 1.2 };

/** What a sentence of an assistant is. */
export interface SaidSentence {
  readonly text: string;
  readonly act: TaskAct;
  readonly isListed: boolean;
  /** It asks for what the assistant needs, as a question or not. */
  readonly asksBack: boolean;
  /** It asks to confirm what was said or follows: "is that correct?", "please confirm: …". */
  readonly asksToConfirm: boolean;
  readonly manners: MannersAct;
  /** It begins with "no". */
  readonly denies: boolean;
  /** 1 for a plain statement, below 0.6 for what is none, below 0 for a question that proposes nothing. */
  readonly score: number;
  readonly stems: ReadonlySet<string>;
}

const ASKED_BEFORE = new RegExp(`^[^.!]*${QUESTION_MARK}`, 'u');

export function readSentence(sentence: string): SaidSentence {
  const said = saidWordsOf(withoutGreeting(sentence));
  const { text, words } = said;
  const isListed = /^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence);
  const act = taskActOf(said);
  const asks = act === 'ask' || act === 'suggest';
  const needs = asks ? -1 : said.firstOf(SHOWN.asksBack);
  const manners = mannersActOf(said);
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
      SHOWN.negations.hasWord(first.key) &&
      /^\s?[,.;!–—-]/u.test(text.slice(first.end)),
    score: scoreOf(text, words, { act, isListed, needs, manners }),
    stems: stemsOf(text),
  };
}

/** "Is that correct?", or a lead with what is to be confirmed behind its colon. */
function asksToConfirm(text: string, words: readonly ShownWord[], needs: number): boolean {
  // No "… to confirm it" at the end of a statement.
  const isQuestion = endsInQuestionMark(text);
  if (SHOWN.recaps.firstIn(text, isQuestion ? words : words.slice(0, FIRST_WORDS)) >= 0) return true;
  const colon = text.search(/[:：]\s*\S/u);
  if (isQuestion || needs < 0 || colon < 0 || colon > MOST_OF_LEAD) return false;
  const isLead = isUnspaced(text) || words[needs]!.start < colon;
  return isLead && shownWordsOf(text.slice(colon)).length >= LEAST_BEHIND_LEAD;
}

/** How much a sentence says by itself. */
function scoreOf(
  text: string,
  words: readonly ShownWord[],
  { act, isListed, needs, manners }: Pick<SaidSentence, 'act' | 'isListed' | 'manners'> & { needs: number },
): number {
  const length = isUnspaced(text) ? Math.ceil(text.length / 3) : words.length;
  let score = 1 - MANNERS[manners];
  if (act === 'ask') score = -2;
  if (act === 'suggest') score -= 0.3;
  if (act === 'hand-over') score += 0.8;
  if (act === 'refuse') score += 0.2;
  // "To help you, I need your name": nothing is stated before.
  const isOnlyAsking =
    needs >= 0 && (needs < FIRST_WORDS || SHOWN.purposes.hasWord(words[0]!.key)) && !isUnspaced(text);
  if (needs >= 0) score -= 0.75;
  if (isOnlyAsking && act !== 'done') score = -2;
  if (length < 2) score -= 0.95;
  else if (length < 4) score -= 0.15;
  if (SHOWN.references.endAt(words, 0) > 0) score -= 0.2;
  if (text === LEFT_OUT || isCode(text)) score -= 3;
  if (isListed) score -= /[:：]$/u.test(text) ? 1.35 : 0.35;
  if (/\|.*\|/u.test(text)) score -= 0.6;
  if (text.length > LONG_SENTENCE) score -= 0.3;
  return /\p{N}/u.test(text) ? score + 0.1 : score;
}

/** "It has a pool, would you like it?": what is stated, and the question behind it. */
export function withoutTag(sentence: string): string[] {
  if (!endsInQuestionMark(sentence)) return [sentence];
  const comma = Math.max(sentence.lastIndexOf('，'), sentence.lastIndexOf(', '), sentence.lastIndexOf('、'));
  const front = sentence.slice(0, comma);
  const tag = sentence.slice(comma + 1).trim();
  if (comma < 0 || ASKED_BEFORE.test(front)) return [sentence];
  if (isUnspaced(front)) return front.length >= LEAST_FRONT ? [`${front}。`, tag] : [sentence];
  const words = shownWordsOf(tag, 6);
  const isTag = SHOWN.questionWords.endAt(words, 0) > 0 || SHOWN.directives.endAt(words, 0) > 0;
  const start = shownWordsOf(front, LEAST_WORDS);
  const isStated =
    start.length === LEAST_WORDS && !isUnmarkedQuestion(start) && SHOWN.purposes.endAt(start, 0) === 0;
  return isTag && isStated ? [`${front}.`, tag] : [sentence];
}

/** Whether a text denies or refuses something. */
export function denies(text: string): boolean {
  const words = shownWordsOf(text);
  return words.some(({ key }) => SHOWN.negations.hasWord(key)) || SHOWN.refusals.firstIn(text, words) >= 0;
}

/** Says little beside what is hidden: "Reference number is •••". */
export function isHidden(text: string): boolean {
  return text.includes(HIDDEN) && contentCount(text) <= LITTLE;
}

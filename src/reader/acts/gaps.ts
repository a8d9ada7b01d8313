/**
 * Finds assistant turns that admit inability: TOOL, an action that the assistant cannot take, or KNOWLEDGE, information
 * that it lacks. Refusals on principle, questions back and plain negative facts are no gaps.
 *
 * Test: test/reader/acts/gaps.test.ts.
 */
import type { MissingAbility } from '../../domain/facts.ts';
import { QUESTION_ENDS } from '../document/question-marks.ts';
import { sentencesOf } from '../document/sentences.ts';
import { claimsIn, findGap, type GapFinding } from './gap-claims.ts';
import { MAY_CLAIM } from './gap-triggers.ts';
import { featuresOf, type Head } from './heads.ts';

/**
 * Weights: a letter weighs 1, a Chinese, Japanese or Korean one 4. Admissions open a message, so in a message heavier
 * than `LONG_ANSWER` only sentences that start within `OPENING` are judged: the rest is an answer.
 */
const LONG_ANSWER = 700;
const OPENING = 220;

/** Log-odds from which the head alone finds an inability that no phrase names; tuned on the tune halves. */
const SURE = 0.5;
/** Log-odds that a phrase adds. */
const PHRASE_LOGIT = 4;
/** Log-odds that an excuse subtracts. Less than a phrase adds: who asks back or declines may still lack something. */
const EXCUSED_LOGIT = 2;

/**
 * Returns what an assistant's message cannot do or does not know, by its phrases, or by the head if there is no phrase
 * and the head is sure; null if nothing is missing. `content` may be of any language and length.
 */
export function detectGap(content: string, head: Head): MissingAbility | null {
  const opening = openingOf(content);
  const { missing, isExcused } = holdsClaim(opening) ? findGap(opening) : NOTHING;
  if (missing !== null || isExcused) return missing;
  if (head.logit(featuresOf(opening)) < SURE) return null;
  return { type: 'KNOWLEDGE', words: '', isUnseen: false, language: null };
}

/** Returns the findings of the phrases alone. */
export function findGapInOpening(content: string): GapFinding {
  return findGap(openingOf(content));
}

/** Log-odds that a message admits inability, phrases included: a measure for evaluation. */
export function gradeGap(content: string, head: Head): number {
  const opening = openingOf(content);
  const { missing, isExcused } = findGap(opening);
  const sum = head.logit(featuresOf(opening)) + (missing === null ? 0 : PHRASE_LOGIT);
  return isExcused ? sum - EXCUSED_LOGIT : sum;
}

const NOTHING: GapFinding = { missing: null, isExcused: false };
const SENTENCE_END = new RegExp(`[.!。！\\n${QUESTION_ENDS}]`, 'u');

/** True if a sentence holds a gap phrase. Searches only sentences with a trigger: in most messages they are few. */
function holdsClaim(opening: string): boolean {
  if (!MAY_CLAIM.test(opening)) return false;
  const sentences = opening.split(SENTENCE_END).filter((sentence) => MAY_CLAIM.test(sentence));
  return claimsIn(sentences.join('\n'));
}

const HEAVY = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * The part of a message that is judged: all of a short one; of a long one, the sentences that start within the opening.
 */
export function openingOf(content: string): string {
  if (content.length <= LONG_ANSWER && weightOf(content) <= LONG_ANSWER) return content;
  let start = 0;
  const opening: string[] = [];
  for (const sentence of sentencesOf(content)) {
    if (start >= OPENING) break;
    opening.push(sentence);
    start += weightOf(sentence);
  }
  return opening.join('\n');
}

function weightOf(text: string): number {
  return text.length + 3 * (text.match(HEAVY)?.length ?? 0);
}

/**
 * Assistant turns that admit inability: TOOL, an action it cannot take, or KNOWLEDGE, information it
 * lacks. Refusals on principle, questions back and plain negative facts are neither.
 */
import type { MissingAbility } from '../../domain/facts.ts';
import { QUESTION_ENDS } from '../document/question-marks.ts';
import { sentencesOf } from '../document/sentences.ts';
import { claimsIn, findGap, type GapFinding } from './gap-claims.ts';
import { MAY_CLAIM } from './gap-triggers.ts';
import { featuresOf, type Head } from './heads.ts';

/**
 * Admissions open a message. In one heavier than this (a letter weighs 1, one of Chinese, Japanese or
 * Korean 4) only sentences that start within the opening are judged: the rest is an answer.
 */
const LONG_ANSWER = 700;
const OPENING = 220;

/** Log-odds from which the head alone sees an inability that no phrase names; tuned on the tune halves. */
const SURE = 0.5;
/** What a phrase and an excuse add to the log-odds of a message. */
const PHRASE_LOGIT = 4;
/** Less than a phrase weighs: who asks back or declines may still lack something. */
const EXCUSED_LOGIT = 2;

/**
 * What an assistant's message says that it cannot do or does not know, by its phrases or, where they are silent, by a
 * head that is sure; null when nothing. `content` may be of any language and length.
 */
export function detectGap(content: string, head: Head): MissingAbility | null {
  const opening = openingOf(content);
  const { missing, isExcused } = holdsClaim(opening) ? findGap(opening) : NOTHING;
  if (missing !== null || isExcused) return missing;
  if (head.logit(featuresOf(opening)) < SURE) return null;
  return { type: 'KNOWLEDGE', words: '', isUnseen: false, language: null };
}

/** What the phrases alone find in an assistant's message. */
export function findGapInOpening(content: string): GapFinding {
  return findGap(openingOf(content));
}

/** Log-odds that a message admits inability, phrases included: a measure for comparing. */
export function gradeGap(content: string, head: Head): number {
  const opening = openingOf(content);
  const { missing, isExcused } = findGap(opening);
  const sum = head.logit(featuresOf(opening)) + (missing === null ? 0 : PHRASE_LOGIT);
  return isExcused ? sum - EXCUSED_LOGIT : sum;
}

const NOTHING: GapFinding = { missing: null, isExcused: false };
const SENTENCE_END = new RegExp(`[.!。！\\n${QUESTION_ENDS}]`, 'u');

/** Whether a sentence holds a phrase of a gap. Of most messages, few sentences need to be searched. */
function holdsClaim(opening: string): boolean {
  if (!MAY_CLAIM.test(opening)) return false;
  const sentences = opening.split(SENTENCE_END).filter((sentence) => MAY_CLAIM.test(sentence));
  return claimsIn(sentences.join('\n'));
}

const HEAVY = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** What is judged: all of a short message, of a long one the sentences that start within the opening. */
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

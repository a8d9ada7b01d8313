/**
 * Assistant turns that admit inability: TOOL, an action it cannot take, or KNOWLEDGE, information it
 * lacks. Refusals on principle, questions back and plain negative facts are neither.
 */
import type { GapType } from '../domain/facts.ts';
import { fold } from '../language/normalise.ts';
import { sentencesOf } from '../language/sentences.ts';
import { ACTION, BARE_REFUSAL, CLARIFYING, KNOWLEDGE, POLICY, REGRET, TOOL } from './gap-rules.ts';
import { featuresOf, type Head } from './heads.ts';

/**
 * Admissions open a message. In one heavier than this (a letter weighs 1, one of Chinese, Japanese or
 * Korean 4) only sentences that start within the opening are judged: the rest is an answer.
 */
const LONG_ANSWER = 700;
const OPENING = 220;

/** Log-odds from which the head alone sees an inability that no rule names; tuned on the tune halves. */
const SURE = 0;
/** What words of regret, a rule and an excuse add to the log-odds of a message. */
const REGRET_LOGIT = 2;
const RULE_LOGIT = 4;
/** Less than a rule weighs: who asks back or declines may still lack something. */
const EXCUSED_LOGIT = 2;

/**
 * What kind of inability an assistant's message admits, by the rules or, where they are silent, by a
 * head that is sure; null when none. `content` may be of any language and length.
 */
export function detectGap(content: string, head: Head): GapType | null {
  const sentences = openingOf(sentencesOf(content));
  const { gap, excused } = judge(sentences);
  if (gap !== null || excused) return gap;
  const opening = sentences.join(' ');
  if (head.logit(featuresOf(opening)) < SURE || POLICY.test(fold(opening))) return null;
  return ACTION.test(fold(opening)) ? 'TOOL' : 'KNOWLEDGE';
}

/** What kind of inability the rules see admitted in an assistant's message; null when none. */
export function detectGapByRule(content: string): GapType | null {
  return judge(openingOf(sentencesOf(content))).gap;
}

/** Log-odds that a message admits inability, rules included: a measure for comparing. */
export function gradeGap(content: string, head: Head): number {
  const sentences = openingOf(sentencesOf(content));
  const { gap, excused } = judge(sentences);
  const opening = sentences.join(' ');
  return (
    head.logit(featuresOf(opening)) +
    (REGRET.test(fold(opening)) ? REGRET_LOGIT : 0) +
    (gap !== null ? RULE_LOGIT : 0) -
    (excused ? EXCUSED_LOGIT : 0)
  );
}

/** What the rules see. `excused`: an inability was seen, but it is a refusal on principle or a question back. */
function judge(sentences: readonly string[]): { readonly gap: GapType | null; readonly excused: boolean } {
  let gap: GapType | null = null;
  let excused = false;
  for (const sentence of sentences) {
    const folded = fold(sentence);
    if (CLARIFYING.test(folded) || BARE_REFUSAL.test(folded)) {
      excused = true;
      if (gap === 'KNOWLEDGE') gap = null;
      continue;
    }
    if (gap !== null) continue;
    if (TOOL.test(folded)) gap = 'TOOL';
    else if (KNOWLEDGE.test(folded)) gap = 'KNOWLEDGE';
  }
  if (gap !== null && POLICY.test(fold(sentences.join(' ')))) return { gap: null, excused: true };
  return { gap, excused };
}

const HEAVY = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The sentences that are judged: all of a short message, of a long one those that start within the opening. */
function openingOf(sentences: readonly string[]): readonly string[] {
  const weights = sentences.map((sentence) => sentence.length + 3 * (sentence.match(HEAVY)?.length ?? 0));
  if (weights.reduce((sum, weight) => sum + weight, 0) <= LONG_ANSWER) return sentences;
  let start = 0;
  return sentences.filter((_, i) => {
    const isOpening = start < OPENING;
    start += weights[i] ?? 0;
    return isOpening;
  });
}

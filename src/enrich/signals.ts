/** Satisfaction signals in a user turn: by rule, and by a small head where it is sure. */
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';
import { fold } from '../language/normalise.ts';
import { sentencesOf } from '../language/sentences.ts';
import { wordCount } from '../language/words.ts';
import { featuresOf, type Heads } from './heads.ts';
import { DENIES, GOOD_NEWS, NOT_SO, PUSHBACK, RULES, WISHLESS, type Rule } from './signal-rules.ts';
import { contentOf } from './turn-kind.ts';

/** In a longer turn complaints and thanks are looked for in so many sentences at each end. */
const SENTENCES_AT_EACH_END = 4;
/** What a rule adds to the log-odds of a turn. */
const RULE_LOGIT = 3;
/** What a no, not or sorry adds to the log-odds that a turn is dissatisfied. */
const PUSHBACK_LOGIT = 1.5;
/** Log-odds from which a graded turn counts as satisfied or dissatisfied; tuned on the tune half of USS. */
const LIKELY = { SAT: -0.5, DSAT: 0.5 } as const;
/**
 * Log-odds from which a head alone gives a signal; tuned on the tune half of USS under the bound that few
 * requests of the intent sets get one (`npm run eval -- signals` prints how many).
 */
const SURE = { SAT: 2, DSAT: 0.5 } as const;
/** A head is only trusted alone on turns of at most so many words: longer ones are about something else. */
const MAX_WORDS_ALONE = { SAT: 14, DSAT: 40 } as const;

/** The heads learned from English: of a text in another script they know nothing. */
const NOT_LATIN = /[^\P{L}\p{Script=Latin}]/u;

export type SignalHeads = Pick<Heads, 'sat' | 'dsat'>;

/**
 * The signals that a user turn gives, in the order of SIGNALS: those of the rules, and where the rules
 * are silent and a head is sure, one of its own: praise; a correction when the turn denies or replaces
 * something; else negative feedback, as when other choices than those offered are asked for.
 */
export function detectSignals(text: string, heads: SignalHeads): SignalKey[] {
  const keys = detectByRule(text);
  if (keys.length > 0) return keys;
  const words = wordCount(fold(text.slice(0, 500)));
  if (words > MAX_WORDS_ALONE.DSAT || NOT_LATIN.test(text)) return keys;
  const { sat, dsat } = logits(text, heads);
  if (dsat >= SURE.DSAT && dsat > sat) return [DENIES.test(fold(text)) ? 'correction' : 'negative-feedback'];
  return sat >= SURE.SAT && sat > dsat && words <= MAX_WORDS_ALONE.SAT ? ['praise'] : keys;
}

/**
 * The signals that the rules see in a user turn, in the order of SIGNALS, each at most once. Never
 * `repetition`, which takes two turns. `text` may be of any language and length.
 */
export function detectByRule(text: string): SignalKey[] {
  const all = sentencesOf(text);
  const sentences =
    all.length <= 2 * SENTENCES_AT_EACH_END
      ? all
      : [...all.slice(0, SENTENCES_AT_EACH_END), ...all.slice(-SENTENCES_AT_EACH_END)];
  const found = new Set<SignalKey>();
  let asked = false;
  for (const sentence of sentences) {
    const folded = fold(sentence);
    const isQuestion = /[?？][^\w?？]*$/u.test(folded);
    for (const rule of RULES) {
      if (found.has(rule.key) || (rule.notInQuestions === true && isQuestion)) continue;
      if (!isSaid(rule, folded)) continue;
      if (rule.maxWords !== undefined && wordCount(folded) > rule.maxWords) continue;
      // "I need a taxi. Thanks." is polite, not thankful: thanks come before the next request.
      if (rule.key === 'gratitude' && (asked || thanksLast(folded, rule.says))) continue;
      found.add(rule.key);
    }
    asked ||= contentOf(folded) > 0 && (!GOOD_NEWS.test(folded) || NOT_SO.test(folded));
  }
  return SIGNALS.map(({ key }) => key).filter((key) => found.has(key));
}

function isSaid({ says, unless }: Rule, folded: string): boolean {
  return says.test(folded) && unless?.test(folded) !== true;
}

/** Whether a request precedes the thanks within the sentence. */
function thanksLast(folded: string, thanks: RegExp): boolean {
  const at = folded.search(thanks);
  return at > 0 && contentOf(folded.slice(0, at)) > 1;
}

/** Whether a folded sentence complains about the conversation and says nothing besides. */
export function isOnlyComplaint(folded: string): boolean {
  return RULES.some(
    (rule) =>
      WISHLESS.has(rule.key) && isSaid(rule, folded) && contentOf(folded.replace(rule.says, ' ')) === 0,
  );
}

const TYPE_OF = new Map<SignalKey, 'SAT' | 'DSAT'>(SIGNALS.map(({ key, type }) => [key, type]));

/** What a signal stands for. */
export function typeOf(key: SignalKey): 'SAT' | 'DSAT' {
  return TYPE_OF.get(key) ?? 'DSAT';
}

export interface Grade {
  /** Log-odds, rules included. */
  readonly score: number;
  /** The score is high enough to say so, right or wrong about equally often as not saying so. */
  readonly likely: boolean;
}

/** How satisfied and how dissatisfied a user turn sounds: a measure for comparing, softer than the signals. */
export function gradeTurn(text: string, heads: SignalHeads): { readonly sat: Grade; readonly dsat: Grade } {
  const types = new Set(detectByRule(text).map(typeOf));
  const { sat, dsat } = logits(text, heads);
  const satScore = sat + (types.has('SAT') ? RULE_LOGIT : 0);
  const dsatScore = dsat + (types.has('DSAT') ? RULE_LOGIT : 0);
  return {
    sat: { score: satScore, likely: types.has('SAT') || satScore >= LIKELY.SAT },
    dsat: { score: dsatScore, likely: types.has('DSAT') || dsatScore >= LIKELY.DSAT },
  };
}

/**
 * Displeasure opens a turn ("No good. Try the 8th, for two, with breakfast."), so for dissatisfaction the
 * first sentence and the first two are judged by themselves as well; thanks may stand anywhere.
 */
function logits(text: string, heads: SignalHeads): { sat: number; dsat: number } {
  const features = featuresOf(text);
  let dsat = heads.dsat.logit(features) + pushbackIn(text);
  const sentences = sentencesOf(text);
  for (const count of [1, 2]) {
    if (sentences.length <= count) break;
    const opening = sentences.slice(0, count).join(' ');
    dsat = Math.max(dsat, heads.dsat.logit(featuresOf(opening)) + pushbackIn(opening));
  }
  return { sat: heads.sat.logit(features), dsat };
}

function pushbackIn(text: string): number {
  return PUSHBACK.test(fold(text)) ? PUSHBACK_LOGIT : 0;
}

/**
 * Whether a user asks the same thing again: another try, after an assistant turn, at something that the session asked
 * before. Each piece of evidence adds its log-odds.
 * Covered by test/reader/conversations/repeated-requests.test.ts.
 */
import type { Enrichment } from '../../domain/facts.ts';
import { quantise } from '../numeric/quantised.ts';
import { holdsQuestion } from '../acts/answering-turns.ts';
import {
  evidenceOf,
  type AskedRequest,
  type Evidence,
  type KeptRequest,
  type NewRequest,
  type PairEvidence,
  type TurnEvidence,
} from './repeat-evidence.ts';
import { comparedBy, keptText, type Compared } from '../acts/compared-request.ts';
import { EDGES, type SaidText } from '../acts/repeat-phrases.ts';
import { LIKELY, PRIOR, SURE, WEIGHTS } from './repeat-weights.ts';

/** Requests that a session keeps. */
export const KEPT_REQUESTS = 32;

/**
 * A request that is compared. `shown`: its text as it may be shown; `length`: UTF-16 units of its turn; `said`:
 * `keptText` of `shown`, where it was read.
 */
export function newRequest(
  text: string,
  vector: Float32Array,
  shown = text,
  length = text.length,
  { compared = comparedBy(text), said }: { readonly compared?: Compared; readonly said?: SaidText } = {},
): NewRequest {
  return {
    ...compared,
    ...(said === undefined ? {} : { said }),
    text: keptText(shown),
    vector: quantise(vector),
    length: Math.min(length, EDGES),
    answered: 0,
    standsAlone: true,
  };
}

/** Whether a reply, which says nothing by itself, may ask again: it holds a question. A complaint alone asks nothing. */
export function mayAskAgain({ kind }: Pick<Enrichment, 'kind'>, said: SaidText): boolean {
  return kind === 'reply' && said.text.length <= EDGES && holdsQuestion(said.text);
}

/** A request that is asked again. */
export interface Repeat {
  readonly of: KeptRequest;
  /** Sure enough to be dissatisfaction: at least four of five such are repeats. */
  readonly isSure: boolean;
}

/**
 * Which of some answered requests, oldest first, a request most likely asks again; null when none is likely enough.
 * `threshold`: the cosine of two requests for the same; `scale`: the similarity scale.
 */
export function repeatIn(
  asked: AskedRequest,
  earlier: readonly KeptRequest[],
  threshold: number,
  scale = 1,
): Repeat | null {
  if (earlier.length === 0) return null;
  const { turn, pairs } = evidenceOf(asked, earlier, threshold, scale);
  const odds = PRIOR + logOdds(turn);
  let likeliest: KeptRequest | null = null;
  let greatest = LIKELY;
  pairs.forEach((pair, at) => {
    const sum = odds + logOdds(pair);
    if (sum > greatest) [likeliest, greatest] = [earlier[at]!, sum];
  });
  return likeliest === null ? null : { of: likeliest, isSure: greatest >= SURE };
}

function logOdds(evidence: TurnEvidence | PairEvidence): number {
  let sum = 0;
  for (const kind in evidence)
    sum += WEIGHTS[kind as keyof Evidence] * (evidence as Evidence)[kind as keyof Evidence];
  return sum;
}

/**
 * Detects repeats: after an assistant turn, the user tries again to get what the session asked before. Each piece of
 * evidence adds its log-odds.
 *
 * Test: test/reader/conversations/repeated-requests.test.ts.
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
import { EDGES, type RepeatText } from '../acts/repeat-phrases.ts';
import { LIKELY, PRIOR, SURE, WEIGHTS } from './repeat-weights.ts';

/** Most requests that a session keeps. */
export const KEPT_REQUESTS = 32;

/**
 * Makes a request for comparison. `redacted`: its redacted text. `length`: length of its turn, UTF-16 units. `readText`:
 * `keptText` of `redacted`, if it was read already.
 */
export function newRequest(
  text: string,
  vector: Float32Array,
  redacted = text,
  length = text.length,
  {
    compared = comparedBy(text),
    readText,
  }: { readonly compared?: Compared; readonly readText?: RepeatText } = {},
): NewRequest {
  return {
    ...compared,
    ...(readText === undefined ? {} : { readText }),
    text: keptText(redacted),
    vector: quantise(vector),
    length: Math.min(length, EDGES),
    answered: 0,
    standsAlone: true,
  };
}

/**
 * True if a reply without content of its own may repeat a request: it holds a question. A mere complaint asks nothing.
 */
export function mayAskAgain({ kind }: Pick<Enrichment, 'kind'>, edges: RepeatText): boolean {
  return kind === 'reply' && edges.text.length <= EDGES && holdsQuestion(edges.text);
}

/** A request and how sure it is that it is repeated. */
export interface Repeat {
  readonly of: KeptRequest;
  /** True if it is sure enough to count as dissatisfaction: at least four of five such are repeats. */
  readonly isSure: boolean;
}

/**
 * Returns the answered request that a request most likely repeats, or null if none is likely enough. `earlier`: oldest
 * first. `threshold`: cosine of two equal requests. `scale`: the similarity scale.
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

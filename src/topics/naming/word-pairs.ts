/**
 * Pairs of content words: how many requests of a micro-cluster hold two words near each other, in which order and in
 * which form. They tell what all requests share, where the few samples that are kept tell only of themselves.
 */
import { coreWords } from '../../language/core-words.ts';
import { collectCandidates, surfaceOf, type Candidate } from './candidates.ts';

/** Pairs that are kept of one request. */
const PAIRS_PER_REQUEST = 12;

/** How requests use a pair of content words. */
export interface PairUse {
  /** Requests that hold the two words near each other, in this order. */
  readonly count: number;
  /** Those of them whose first content word is the first of the pair. */
  readonly leading: number;
  /** The form that most of them use, by a running majority vote. */
  readonly surface: string;
  readonly votes: number;
}

/** Adds up two uses of one pair; `first` is the earlier one. */
export function combinedUse(first: PairUse, second: PairUse): PairUse {
  const same = first.surface.toLowerCase() === second.surface.toLowerCase();
  const votes = same ? first.votes + second.votes : first.votes - second.votes;
  return {
    count: first.count + second.count,
    leading: first.leading + second.leading,
    surface: votes < 0 ? second.surface : first.surface,
    votes: Math.abs(votes),
  };
}

/** The pairs of content words of a request, by their two stems joined with a space. */
export function wordPairsOf(text: string): Map<string, PairUse> {
  const candidates = new Map<string, Candidate>();
  collectCandidates(coreWords(text), 1, candidates);
  const pairs = new Map<string, PairUse>();
  for (const [key, candidate] of candidates) {
    if (candidate.stems.length !== 2) continue;
    pairs.set(key, { count: 1, leading: candidate.leading, surface: surfaceOf(candidate), votes: 1 });
    if (pairs.size === PAIRS_PER_REQUEST) break;
  }
  return pairs;
}

/**
 * How many requests of a micro-cluster use a phrase, and in which form. The counts tell what all requests share, where
 * the few samples that are kept tell only of themselves.
 */
import { keyOf, phrasesOf } from './phrases.ts';
import type { Tokens } from './tokens.ts';

/** How requests use a phrase. The last three count the uses that are so. */
export interface PhraseUse {
  readonly count: number;
  /** The form that most of them use, by a running majority vote. */
  readonly surface: string;
  readonly votes: number;
  readonly leading: number;
  readonly closed: number;
  readonly action: number;
}

/** Adds up two uses of one phrase; `first` is the earlier one. */
export function combinedUse(first: PhraseUse, second: PhraseUse): PhraseUse {
  const votes = first.surface === second.surface ? first.votes + second.votes : first.votes - second.votes;
  return {
    count: first.count + second.count,
    surface: votes < 0 ? second.surface : first.surface,
    votes: Math.abs(votes),
    leading: first.leading + second.leading,
    closed: first.closed + second.closed,
    action: first.action + second.action,
  };
}

/** The phrases of a request by their keys. */
export function phraseUsesOf(request: Tokens): Map<string, PhraseUse> {
  return new Map(
    phrasesOf(request).map((phrase) => [
      keyOf(phrase),
      {
        count: 1,
        surface: phrase.surface,
        votes: phrase.tight ? TIGHT_VOTES : 1,
        leading: Number(phrase.leading),
        closed: Number(phrase.closed),
        action: Number(phrase.action),
      },
    ]),
  );
}

/** Votes of a form whose words stand together, beside the one of a form with words left out. */
const TIGHT_VOTES = 4;

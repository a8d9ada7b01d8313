/**
 * Which of the signals in a user turn count, by what the assistant said before. "No" to a question is an answer, "no"
 * to a statement a correction; thanks after "I cannot do that" are polite.
 */
import { STANCES, type SignalCandidate, type Stance } from '../../domain/facts.ts';
import type { SignalKey } from '../../domain/signal-kinds.ts';

/** What a session has said so far. */
export interface SignalContext {
  /** Of the latest assistant turn; null: none yet. */
  stance: Stance | null;
  /** A user turn precedes. */
  hasUserTurn: boolean;
}

/**
 * The signals that count. The turn that opens a session cannot judge an assistant that has not spoken, unless it
 * speaks of an earlier conversation; where only users' turns are kept, later ones can.
 */
export function signalsInContext(
  candidates: readonly SignalCandidate[],
  context: SignalContext,
): SignalKey[] {
  const { stance, hasUserTurn } = context;
  return candidates
    .filter(({ needs, first }) =>
      stance !== null ? needs.includes(stance) : hasUserTurn ? needs.includes('answered') : first,
    )
    .map(({ key }) => key);
}

export function stanceNumber(stance: Stance | null): number {
  return stance === null ? 0 : STANCES.indexOf(stance) + 1;
}

export function stanceOfNumber(number: number): Stance | null {
  return STANCES[number - 1] ?? null;
}

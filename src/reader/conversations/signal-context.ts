/**
 * Decides which signals of a user turn count, by the assistant turn before it. "No" to a question is an answer, "no" to
 * a statement a correction; thanks after "I cannot do that" are mere politeness.
 *
 * Test: test/reader/conversations/signal-context.test.ts.
 */
import { STANCES, type SignalCandidate, type Stance } from '../../domain/facts.ts';
import type { SignalKey } from '../../domain/signal-kinds.ts';

/** The context of a user turn. */
export interface SignalContext {
  /** Stance of the latest assistant turn; null if there is none yet. */
  stance: Stance | null;
  /** True if an earlier turn is a user's. */
  hasUserTurn: boolean;
}

/**
 * Returns the signals that count. A turn that opens a session cannot judge an assistant that has not spoken, unless it
 * speaks of an earlier conversation. In a session of user turns alone, later ones can.
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

/** Number of a stance in stored state; 0 for none. */
export function stanceNumber(stance: Stance | null): number {
  return stance === null ? 0 : STANCES.indexOf(stance) + 1;
}

/** Inverse of `stanceNumber`. */
export function stanceOfNumber(number: number): Stance | null {
  return STANCES[number - 1] ?? null;
}

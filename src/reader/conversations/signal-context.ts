/**
 * Decides which signals of a user turn count, by the assistant turn before it. "No" to a question is an answer, "no" to
 * a statement a correction; thanks after "I cannot do that" are mere politeness.
 *
 * Test: test/reader/conversations/signal-context.test.ts.
 */
import { ASSISTANT_ACTS, type SignalCandidate, type AssistantAct } from '../../domain/facts.ts';
import type { SignalKey } from '../../domain/signal-kinds.ts';

/** The context of a user turn. */
export interface SignalContext {
  /** Act of the latest assistant turn; null if there is none yet. */
  latestAct: AssistantAct | null;
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
  const { latestAct: act, hasUserTurn } = context;
  return candidates
    .filter(({ needs, first }) =>
      act !== null ? needs.includes(act) : hasUserTurn ? needs.includes('answered') : first,
    )
    .map(({ key }) => key);
}

/** Number of an act in stored state; 0 for none. */
export function numberOfAct(act: AssistantAct | null): number {
  return act === null ? 0 : ASSISTANT_ACTS.indexOf(act) + 1;
}

/** Inverse of `numberOfAct`. */
export function actOfNumber(number: number): AssistantAct | null {
  return ASSISTANT_ACTS[number - 1] ?? null;
}

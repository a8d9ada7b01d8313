/**
 * Which of the signals in a user turn count, by what the assistant said before. "No" to a question is an answer, "no"
 * to a statement a correction; thanks after "I cannot do that" are polite.
 */
import { STANCES, type SignalCandidate, type Stance } from '../domain/facts.ts';
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';

/** What a session has said so far. */
export interface SignalContext {
  /** Of the latest assistant turn; null: none yet. */
  stance: Stance | null;
  /** A user turn precedes. */
  hasUserTurn: boolean;
  /** A turn hinted at dissatisfaction. */
  hasDoubt: boolean;
}

const DISSATISFIED: ReadonlySet<SignalKey> = new Set(
  SIGNALS.filter(({ type }) => type === 'DSAT').map(({ key }) => key),
);

/**
 * The signals that count. The turn that opens a session cannot judge an assistant that has not spoken, unless it
 * speaks of an earlier conversation; where only users' turns are kept, later ones can. A weak sign of dissatisfaction
 * counts from the second turn with one: `context` remembers the first.
 */
export function signalsInContext(
  candidates: readonly SignalCandidate[],
  context: SignalContext,
): SignalKey[] {
  const allowed = candidates.filter(({ needs, first }) => {
    if (context.stance !== null) return needs.includes(context.stance);
    return context.hasUserTurn ? needs.includes('answered') : first;
  });
  const doubts = allowed.filter(({ key }) => DISSATISFIED.has(key));
  const isStrong = doubts.some(({ weak }) => !weak) || context.hasDoubt;
  if (doubts.length > 0) context.hasDoubt = true;
  return allowed.filter(({ key }) => isStrong || !DISSATISFIED.has(key)).map(({ key }) => key);
}

export function stanceNumber(stance: Stance | null): number {
  return stance === null ? 0 : STANCES.indexOf(stance) + 1;
}

export function stanceOfNumber(number: number): Stance | null {
  return STANCES[number - 1] ?? null;
}

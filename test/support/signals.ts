import { ASSISTANT_ACTS, type SignalCandidate } from '../../src/domain/facts.ts';
import type { SignalKey } from '../../src/domain/signal-kinds.ts';

/** Signals that count whatever precedes them. */
export function certain(...keys: readonly SignalKey[]): SignalCandidate[] {
  return keys.map((key) => ({ key, needs: ASSISTANT_ACTS, first: true }));
}

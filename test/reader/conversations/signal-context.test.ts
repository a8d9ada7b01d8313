import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  signalsInContext,
  numberOfAct,
  actOfNumber,
  type SignalContext,
} from '../../../src/reader/conversations/signal-context.ts';
import { ASSISTANT_ACTS, type SignalCandidate } from '../../../src/domain/facts.ts';

const complaint: SignalCandidate = { key: 'frustration', needs: ['answered'], first: false };
const thanks: SignalCandidate = { ...complaint, key: 'gratitude', first: true };

function context(change: Partial<SignalContext> = {}): SignalContext {
  return { latestAct: 'answered', hasUserTurn: true, ...change };
}

describe('signals in context', () => {
  it('count after the acts that they need', () => {
    deepEqual(signalsInContext([complaint], context()), ['frustration']);
    deepEqual(signalsInContext([complaint], context({ latestAct: 'asked' })), []);
  });

  it('count in the opening turn only where they may', () => {
    const opening = { latestAct: null, hasUserTurn: false };
    deepEqual(signalsInContext([complaint, thanks], context(opening)), ['gratitude']);
  });

  it('count where only the turns of users are kept, from the second on', () => {
    deepEqual(signalsInContext([complaint], context({ latestAct: null })), ['frustration']);
  });

  it('know acts by number', () => {
    for (const latestAct of [null, ...ASSISTANT_ACTS]) equal(actOfNumber(numberOfAct(latestAct)), latestAct);
  });
});

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  signalsInContext,
  stanceNumber,
  stanceOfNumber,
  type SignalContext,
} from '../../../src/reader/conversations/signal-context.ts';
import { STANCES, type SignalCandidate } from '../../../src/domain/facts.ts';

const complaint: SignalCandidate = { key: 'frustration', needs: ['answered'], first: false };
const thanks: SignalCandidate = { ...complaint, key: 'gratitude', first: true };

function context(change: Partial<SignalContext> = {}): SignalContext {
  return { stance: 'answered', hasUserTurn: true, ...change };
}

describe('signals in context', () => {
  it('count after the stances that they need', () => {
    deepEqual(signalsInContext([complaint], context()), ['frustration']);
    deepEqual(signalsInContext([complaint], context({ stance: 'asked' })), []);
  });

  it('count in the opening turn only where they may', () => {
    const opening = { stance: null, hasUserTurn: false };
    deepEqual(signalsInContext([complaint, thanks], context(opening)), ['gratitude']);
  });

  it('count where only the turns of users are kept, from the second on', () => {
    deepEqual(signalsInContext([complaint], context({ stance: null })), ['frustration']);
  });

  it('know stances by number', () => {
    for (const stance of [null, ...STANCES]) equal(stanceOfNumber(stanceNumber(stance)), stance);
  });
});

import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageAllowance } from '../../../src/doors/traces/message-allowance.ts';
import type { Observation, ObservedMessage } from '../../../src/doors/traces/observation.ts';

/** `question`: letters; capital ones are a person's. The last is the answer. */
function call(traceId: string, question: string, conversationId?: string): Observation {
  const messages = [...question].map((content): ObservedMessage => {
    const isUser = content === content.toUpperCase();
    return { role: isUser ? 'user' : 'assistant', content: content.toLowerCase() };
  });
  return {
    traceId,
    spanId: 'a'.repeat(16),
    kind: 'chat',
    startedAt: 0,
    endedAt: 0,
    ...(conversationId === undefined ? {} : { conversationId }),
    asked: messages.slice(0, -1),
    answered: messages.slice(-1),
    lacksContent: false,
  };
}

function taken(limits: { perExport: number; perTrace: number }, calls: readonly Observation[]): boolean[] {
  const allowance = new MessageAllowance(limits);
  return calls.map((one) => allowance.take(one) !== null);
}

function counted(calls: readonly Observation[]): (number | null)[] {
  const allowance = new MessageAllowance({ perExport: 99, perTrace: 99 });
  return calls.map((one) => allowance.take(one));
}

describe('messages of an export', () => {
  it('count once where calls of a trace repeat the same history', () => {
    const calls = [call('t', 'Qa'), call('t', 'QaRb'), call('t', 'QaRbSc'), call('t', 'QaRd')];
    deepEqual(counted(calls), [2, 2, 2, 2]);
    deepEqual(taken({ perExport: 6, perTrace: 9 }, calls), [true, true, true, false]);
    deepEqual(taken({ perExport: 9, perTrace: 5 }, calls), [true, true, false, false]);
  });

  it('count each time where they are asked or answered, unless a call goes on with what was asked', () => {
    deepEqual(counted([call('t', 'Qa'), call('t', 'Qa'), call('t', 'Qa', 'c')]), [2, 2, 2]);
    deepEqual(counted([call('t', 'Qa'), { ...call('t', 'Qab'), continues: true }]), [2, 1]);
  });

  it('count for each trace, each conversation, each role, and wherever the beginning differs', () => {
    deepEqual(counted([call('t', 'QaRb'), call('u', 'QaRb'), call('t', 'QaRb', 'c')]), [4, 4, 4]);
    deepEqual(counted([call('t', 'QaRb'), call('t', 'qARb'), call('t', 'SaRb')]), [4, 4, 4]);
  });

  it('are not known by what was refused', () => {
    const calls = [call('t', 'QaRbSc'), call('u', 'Q'), call('t', 'QaRb')];
    deepEqual(taken({ perExport: 4, perTrace: 4 }, calls), [false, true, false]);
  });

  it('are none of a trace that is full', () => {
    const limits = { perExport: 9, perTrace: 9, full: new Set(['t']) };
    deepEqual(taken(limits, [call('t', 'Qa'), call('u', 'Qa'), call('t', '')]), [false, true, true]);
  });
});

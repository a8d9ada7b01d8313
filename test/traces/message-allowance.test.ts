import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageAllowance } from '../../src/traces/message-allowance.ts';
import type { Observation, ObservedMessage } from '../../src/traces/observation.ts';

/** `said`: letters; capital ones are a person's. The last is the answer. */
function call(traceId: string, said: string, conversationId?: string): Observation {
  const messages = [...said].map((content): ObservedMessage => {
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
  return calls.map((one) => allowance.take(one));
}

describe('messages of an export', () => {
  it('count once where calls of a trace repeat the same beginning', () => {
    const calls = [call('t', 'Qa'), call('t', 'QaRb'), call('t', 'QaRbSc'), call('t', 'Qa')];
    deepEqual(taken({ perExport: 6, perTrace: 6 }, calls), [true, true, true, true]);
    deepEqual(taken({ perExport: 5, perTrace: 9 }, calls), [true, true, false, true]);
    deepEqual(taken({ perExport: 9, perTrace: 5 }, calls), [true, true, false, true]);
  });

  it('count for each trace, each conversation, each role, and wherever the beginning differs', () => {
    const limits = { perExport: 4, perTrace: 9 };
    deepEqual(taken(limits, [call('t', 'Qa'), call('u', 'Qa'), call('v', 'Q')]), [true, true, false]);
    deepEqual(taken(limits, [call('t', 'Qa', 'c'), call('t', 'Qa', 'd'), call('t', 'Q')]), [
      true,
      true,
      false,
    ]);
    deepEqual(taken(limits, [call('t', 'Qa'), call('t', 'qA'), call('t', 'QaR')]), [true, true, false]);
    deepEqual(taken(limits, [call('t', 'Qa'), call('t', 'Ra'), call('t', 'a')]), [true, true, false]);
    deepEqual(taken(limits, [call('t', 'Qaaa'), call('t', 'Qaa'), call('t', 'Qaaaa')]), [true, true, false]);
  });
});

import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readTraces } from '../../../../src/doors/traces/otlp/read.ts';

const TRACE = '5b8efff798038103d269b633813fc60c';

function exportOf(...spans: unknown[]): Buffer {
  return Buffer.from(
    JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans }] }] }),
  );
}

function span(attributes: Readonly<Record<string, unknown>>, more: object = {}): object {
  return {
    traceId: TRACE,
    spanId: 'eee19b7ec3c1b174',
    name: 'chat small-model',
    startTimeUnixNano: '1772357400123456789',
    endTimeUnixNano: 1772357401000000000,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } })),
    ...more,
  };
}

describe('readTraces', () => {
  it('reads the messages of a call of a model from OTLP/JSON', () => {
    const body = exportOf(
      span({
        'gen_ai.operation.name': 'chat',
        'gen_ai.conversation.id': 'order 17',
        'gen_ai.system_instructions': '[{"type":"text","content":"Be kind."}]',
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', parts: [{ type: 'text', content: 'Where is my parcel?' }] },
        ]),
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }], finish_reason: 'stop' },
        ]),
      }),
    );
    deepEqual(readTraces(body, 'json'), {
      observations: [
        {
          traceId: TRACE,
          spanId: 'eee19b7ec3c1b174',
          kind: 'chat',
          startedAt: 1_772_357_400_123_456,
          endedAt: 1_772_357_401_000_000,
          conversationId: 'order 17',
          asked: [{ role: 'user', content: 'Where is my parcel?' }],
          answered: [{ role: 'assistant', content: 'On its way.' }],
          lacksContent: false,
          mayAdd: 2,
        },
      ],
      spans: 1,
      rejected: [],
      tooMany: 0,
      omitted: { 'system prompt': 1 },
      lacksContent: 0,
    });
  });

  it('reads the newest messages of a call that has too many, and says how many are left out', () => {
    const messages = Array.from({ length: 10_003 }, (_, index) => ({ role: 'user', content: `${index}` }));
    const body = exportOf(
      span({ 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(messages) }),
    );
    const { observations, omitted } = readTraces(body, 'json');
    deepEqual(observations[0]?.asked.length, 10_000);
    deepEqual(observations[0]?.asked[0], { role: 'user', content: '3' });
    deepEqual(omitted, { 'older message': 3 });
  });
});

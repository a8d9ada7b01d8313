import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observationsOfEvents } from '../../../../src/doors/traces/conventions/observe.ts';
import { OmissionCounts } from '../../../../src/doors/traces/omissions.ts';
import type { AttributeValue, EventRecord, SpanEvent } from '../../../../src/doors/traces/span.ts';
import { assistant, observed, user } from '../../../support/observed.ts';

const CHAT = { 'gen_ai.operation.name': 'chat' };

function event(name: string, attributes: Readonly<Record<string, AttributeValue>>): SpanEvent {
  return { name, attributes: new Map(Object.entries(attributes)) };
}

function record(name: string, body: AttributeValue, more: Partial<EventRecord> = {}): EventRecord {
  return {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    at: 1_772_357_400_000_000,
    name,
    body,
    attributes: new Map(),
    resource: new Map(),
    ...more,
  };
}

describe('events of a span', () => {
  // opentelemetry.io, semantic conventions 1.36, docs/gen-ai/gen-ai-events.md
  it('reads an event for each message', () => {
    const events = [
      event('gen_ai.system.message', { content: 'Be kind.' }),
      event('gen_ai.user.message', { content: 'Where is my parcel?' }),
      event('gen_ai.assistant.message', { content: 'Which one?' }),
      event('gen_ai.user.message', { content: 'The lamp.' }),
      event('gen_ai.tool.message', { id: 'call_1', content: 'Friday' }),
      event('gen_ai.choice', { index: 0, finish_reason: 'stop', message: 'It comes on Friday.' }),
      event('exception', { 'exception.message': 'none' }),
    ];
    deepEqual(observed(CHAT, { events }), {
      kind: 'chat',
      asked: [user('Where is my parcel?'), assistant('Which one?'), user('The lamp.')],
      continues: true,
      answered: [assistant('It comes on Friday.')],
      omitted: { 'system prompt': 1, 'tool result': 1 },
    });
  });

  // learn.microsoft.com, Azure AI Inference client library, "Tracing"
  it('reads messages that are JSON in gen_ai.event.content', () => {
    const events = [
      event('gen_ai.user.message', {
        'gen_ai.event.content': '{"role": "user", "content": "Where is my parcel?"}',
      }),
      event('gen_ai.choice', {
        'gen_ai.event.content':
          '{"message": {"content": "On its way."}, "finish_reason": "stop", "index": 0}',
      }),
    ];
    deepEqual(observed(CHAT, { events }), {
      kind: 'chat',
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    });
  });

  // strandsagents.com, user guide, "Traces": content is a list of blocks in JSON
  it('reads messages whose content is a list of blocks in JSON', () => {
    const events = [
      event('gen_ai.user.message', { content: '[{"text": "Where is my parcel?"}]' }),
      event('gen_ai.choice', { message: '[{"text": "On its way."}]', finish_reason: 'end_turn' }),
    ];
    deepEqual(observed(CHAT, { events }), {
      kind: 'chat',
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    });
  });

  it('takes JSON that is no list of blocks for what somebody said', () => {
    const events = [
      event('gen_ai.user.message', { content: '[1, 2]' }),
      event('gen_ai.choice', { message: '{"sum": 3}' }),
    ];
    deepEqual(observed(CHAT, { events }), {
      kind: 'chat',
      asked: [user('[1, 2]')],
      answered: [assistant('{"sum": 3}')],
    });
  });

  // opentelemetry.io, semantic conventions 1.27, docs/gen-ai/gen-ai-spans.md, "Events"
  it('reads all messages of one event', () => {
    const events = [
      event('gen_ai.content.prompt', {
        'gen_ai.prompt': '[{"role": "user", "content": "Where is my parcel?"}]',
      }),
      event('gen_ai.content.completion', {
        'gen_ai.completion': '[{"role": "assistant", "content": "On its way."}]',
      }),
    ];
    deepEqual(observed({ 'gen_ai.system': 'openai', 'gen_ai.request.model': 'small' }, { events }), {
      kind: 'chat',
      attributes: { model: 'small' },
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    });
    // github.com/openlit/openlit, sdk/python/src/openlit/instrumentation/openai
    const lines =
      'system: Be kind.\nuser: Hello?\nassistant: Hello. What can I do?\nNote: ask.\nuser: text: Where is my\nparcel?, image_url: https://example.org/a.png';
    const openlit = [
      event('gen_ai.content.prompt', { 'gen_ai.prompt': lines }),
      event('gen_ai.content.completion', { 'gen_ai.completion': 'user: that is you' }),
    ];
    deepEqual(observed(CHAT, { events: openlit }), {
      kind: 'chat',
      asked: [user('Hello?'), assistant('Hello. What can I do?\nNote: ask.'), user('Where is my\nparcel?')],
      answered: [assistant('user: that is you')],
      omitted: { 'system prompt': 1 },
    });
    const bare = [event('gen_ai.content.prompt', { 'gen_ai.prompt': 'system: is it down?' })];
    deepEqual(observed(CHAT, { events: bare }).asked, [user('system: is it down?')]);
    // Spring AI writes texts without roles.
    const texts = [
      event('gen_ai.content.prompt', { 'gen_ai.prompt': ['Be kind.', 'Where is my parcel?'] }),
      event('gen_ai.content.completion', { 'gen_ai.completion': ['On its way.'] }),
    ];
    deepEqual(observed(CHAT, { events: texts }), {
      kind: 'chat',
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    });
  });
});

describe('log records', () => {
  it('makes one observation of the records of a span, in their order', () => {
    const other = { spanId: '00000000000000aa', at: 1_772_357_405_000_000 };
    const omitted = new OmissionCounts();
    const found = observationsOfEvents(
      [
        record('gen_ai.system.message', { content: 'Be kind.' }),
        record('gen_ai.user.message', { content: 'Hello?' }, other),
        record('gen_ai.user.message', { content: 'Where is my parcel?' }),
        record(
          'gen_ai.choice',
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'On its way.' } },
          {
            at: 1_772_357_402_000_000,
            attributes: new Map([['gen_ai.conversation.id', 'order 17']]),
          },
        ),
        record('gen_ai.choice', { index: 1, message: { content: 'It is coming.' } }),
      ],
      omitted,
    );
    deepEqual(found, [
      {
        traceId: '5b8efff798038103d269b633813fc60c',
        spanId: 'eee19b7ec3c1b174',
        kind: 'event',
        startedAt: 1_772_357_400_000_000,
        endedAt: 1_772_357_402_000_000,
        conversationId: 'order 17',
        asked: [user('Where is my parcel?')],
        answered: [assistant('On its way.')],
        lacksContent: false,
      },
      {
        traceId: '5b8efff798038103d269b633813fc60c',
        spanId: '00000000000000aa',
        kind: 'event',
        startedAt: 1_772_357_405_000_000,
        endedAt: 1_772_357_405_000_000,
        asked: [user('Hello?')],
        answered: [],
        lacksContent: false,
      },
    ]);
    deepEqual(
      omitted.all,
      new Map([
        ['alternative answer', 1],
        ['system prompt', 1],
      ]),
    );
  });

  // opentelemetry.io, semantic conventions 1.37 and later, docs/gen-ai/gen-ai-events.md
  it('reads the event that holds structured messages', () => {
    const attributes = new Map<string, AttributeValue>([
      ['gen_ai.input.messages', [{ role: 'user', parts: [{ type: 'text', content: 'Hello?' }] }]],
      ['gen_ai.output.messages', [{ role: 'assistant', parts: [{ type: 'text', content: 'Hi.' }] }]],
    ]);
    const [found] = observationsOfEvents(
      [record('gen_ai.client.inference.operation.details', null, { attributes })],
      new OmissionCounts(),
    );
    deepEqual([found?.asked, found?.answered], [[user('Hello?')], [assistant('Hi.')]]);
    // As on a span: of several answers the first, and of data the words.
    const answers = ['Hi.', 'Hello.'].map((reply) => JSON.stringify({ reply, score: 1 }));
    const more = new Map<string, AttributeValue>([
      ['gen_ai.output.messages', answers.map((content) => ({ role: 'assistant', content }))],
      ['gen_ai.output.type', 'json'],
      ['gen_ai.request.choice.count', 2],
    ]);
    const [other] = observationsOfEvents(
      [record('gen_ai.client.inference.operation.details', null, { attributes: more })],
      new OmissionCounts(),
    );
    deepEqual(other?.answered, [assistant('Hi.')]);
  });

  // github.com/BerriAI/litellm, litellm/integrations/opentelemetry.py, _emit_semantic_logs
  it('reads an event for each message with its role in the body', () => {
    const attributes = new Map([['gen_ai.prompt', 'Be kind.']]);
    const [found] = observationsOfEvents(
      [
        record('gen_ai.content.prompt', { role: 'system', content: 'Be kind.' }, { attributes }),
        record('gen_ai.content.prompt', { role: 'user', content: 'Hello?' }),
        record('gen_ai.content.completion', { index: 0, message: { role: 'assistant', content: 'Hi.' } }),
      ],
      new OmissionCounts(),
    );
    deepEqual([found?.asked, found?.answered], [[user('Hello?')], [assistant('Hi.')]]);
  });

  // github.com/open-telemetry/opentelemetry-python-contrib: instrumentation of botocore (Bedrock) and of google-genai
  it('reads blocks without a type, and contents that hold their parts', () => {
    const messagesIn = (...bodies: readonly AttributeValue[]): unknown => {
      const names = ['gen_ai.user.message', 'gen_ai.choice'];
      const omitted = new OmissionCounts();
      const [found] = observationsOfEvents(
        bodies.map((body, index) => record(names[index] ?? '', body)),
        omitted,
      );
      return [found?.asked, found?.answered, found?.continues, Object.fromEntries(omitted.all)];
    };
    deepEqual(
      messagesIn(
        { content: [{ toolResult: { toolUseId: '1', content: [{ text: 'Friday' }] } }] },
        { index: 0, message: { role: 'assistant', content: [{ text: 'It comes on Friday.' }] } },
      ),
      [[], [assistant('It comes on Friday.')], true, { 'tool result': 1 }],
    );
    deepEqual(
      messagesIn(
        {
          content: {
            role: 'user',
            parts: [{ text: 'Hello?', function_call: null }, { inline_data: { data: 'aGk=' } }],
          },
        },
        { index: 0, content: { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Hi.' }] } },
      ),
      [[user('Hello?')], [assistant('Hi.')], undefined, { file: 1, reasoning: 1 }],
    );
  });

  it('says that content is lacking where bodies are empty', () => {
    const [found] = observationsOfEvents(
      [record('gen_ai.user.message', {}), record('gen_ai.choice', { index: 0, message: {} })],
      new OmissionCounts(),
    );
    deepEqual([found?.asked, found?.answered, found?.lacksContent], [[], [], true]);
  });
});

import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assistant, observed, user } from '../../../support/observed.ts';

// ai-sdk.dev/docs/ai-sdk-core/telemetry, "Collected Data"; what the SDK really writes is in sdks.test.ts
describe('AI SDK', () => {
  it('tells calls of models and what an application asked for from tools and embeddings', () => {
    const kindOf = (id: string): unknown => observed({ 'ai.operationId': id }).kind;
    deepEqual(['ai.generateText', 'ai.streamText', 'ai.streamObject'].map(kindOf), [
      'agent',
      'agent',
      'agent',
    ]);
    deepEqual(['ai.generateText.doGenerate', 'ai.streamText.doStream'].map(kindOf), ['chat', 'chat']);
    deepEqual(['ai.toolCall', 'ai.embed', 'ai.embedMany.doEmbed', 'ai.rerank'].map(kindOf), [
      'other',
      'other',
      'other',
      'other',
    ]);
  });

  it('reads a prompt with or without messages', () => {
    const asked = (prompt: object): unknown => {
      const found = observed({ 'ai.operationId': 'ai.generateText', 'ai.prompt': JSON.stringify(prompt) });
      return [found.asked, found.omitted];
    };
    deepEqual(asked({ prompt: 'Where is my parcel?' }), [[user('Where is my parcel?')], undefined]);
    deepEqual(asked({ system: 'Be kind.', prompt: 'Where is my parcel?' }), [
      [user('Where is my parcel?')],
      { 'system prompt': 1 },
    ]);
    const messages = [
      { role: 'user', content: 'Where is my parcel?' },
      { role: 'assistant', content: [{ type: 'text', text: 'Which one?' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'This.' },
          { type: 'image', image: 'aGk=' },
        ],
      },
    ];
    deepEqual(asked({ messages }), [
      [user('Where is my parcel?'), assistant('Which one?'), user('This.')],
      { image: 1 },
    ]);
  });

  it('takes an answer as it is, even if it looks like JSON', () => {
    const answered = (name: string, value: string): unknown =>
      observed({ 'ai.operationId': 'ai.generateText', [name]: value }).answered;
    deepEqual(answered('ai.response.text', '{"text": "no"}'), [assistant('{"text": "no"}')]);
    deepEqual(answered('ai.result.text', 'On its way.'), [assistant('On its way.')]);
    deepEqual(answered('ai.response.text', ''), []);
  });

  it('takes of an object the member that says it in words', () => {
    const found = (object: object): unknown => {
      const { answered, omitted } = observed({
        'ai.operationId': 'ai.generateObject',
        'ai.response.object': JSON.stringify(object),
      });
      return [answered, omitted];
    };
    deepEqual(found({ reply: 'On its way.', mood: 'calm' }), [[assistant('On its way.')], undefined]);
    deepEqual(found({ mood: 'calm' }), [[], { 'structured output': 1 }]);
  });

  it('takes the ids of the settings that docs/otlp.md shows', () => {
    const lines = readFileSync(join(import.meta.dirname, '../../../../docs/otlp.md'), 'utf8').split('\n');
    const namesIn = (setting: string): readonly string[] => {
      const line = lines.find((one) => one.startsWith(setting)) ?? '';
      return [...line.matchAll(/(\w+): (?:chat|user)\.id/g)].map(([, name]) => name ?? '');
    };
    const places = {
      'experimental_telemetry:': 'ai.telemetry.metadata',
      // What the SDK writes of the second setting is in ../sdks/ai-sdk.ts.
      'runtimeContext:': 'ai.settings.context',
    };
    for (const [setting, prefix] of Object.entries(places)) {
      const attributes = namesIn(setting).map((name) => [`${prefix}.${name}`, `the ${name}`]);
      const { conversationId, userId } = observed(Object.fromEntries(attributes));
      deepEqual([conversationId, userId], ['the sessionId', 'the userId'], setting);
    }
  });

  it('has no answer where the model only calls tools', () => {
    deepEqual(
      observed({
        'ai.operationId': 'ai.streamText.doStream',
        'ai.prompt.messages': '[{"role":"user","content":[{"type":"text","text":"When?"}]}]',
        'ai.response.toolCalls': '[{"toolCallId":"1","toolName":"look","input":"{}"}]',
      }),
      { kind: 'chat', asked: [user('When?')], answered: [], omitted: { 'tool call': 1 } },
    );
  });
});

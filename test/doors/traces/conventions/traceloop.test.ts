import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assistant, observed, user } from '../../../support/observed.ts';

// traceloop.com/docs/openllmetry/contributing/semantic-conventions
describe('OpenLLMetry', () => {
  it('reads messages that are flattened into attributes', () => {
    deepEqual(
      observed({
        'llm.request.type': 'chat',
        'gen_ai.system': 'OpenAI',
        'gen_ai.request.model': 'small',
        'gen_ai.prompt.0.role': 'system',
        'gen_ai.prompt.0.content': 'Be kind.',
        'gen_ai.prompt.1.role': 'user',
        'gen_ai.prompt.1.content': '[{"type": "text", "text": "Where is my parcel?"}]',
        'gen_ai.prompt.2.role': 'assistant',
        'gen_ai.prompt.2.tool_calls.0.id': 'call_1',
        'gen_ai.prompt.2.tool_calls.0.name': 'look',
        'gen_ai.prompt.3.role': 'tool',
        'gen_ai.prompt.3.content': 'Friday',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': 'It comes on Friday.',
        'gen_ai.completion.0.finish_reason': 'stop',
        'traceloop.association.properties.session_id': 'order 17',
        'traceloop.association.properties.user_id': 'anna',
      }),
      {
        kind: 'chat',
        conversationId: 'order 17',
        userId: 'anna',
        attributes: { model: 'small' },
        asked: [user('Where is my parcel?')],
        continues: true,
        answered: [assistant('It comes on Friday.')],
        omitted: { 'system prompt': 1, 'tool call': 1, 'tool result': 1 },
      },
    );
  });

  it('reads them without a type of request, as gateways write them, and in their older form', () => {
    for (const [prompt, completion] of [
      ['gen_ai.prompt', 'gen_ai.completion'],
      ['llm.prompts', 'llm.completions'],
    ] as const)
      deepEqual(
        observed({
          [`${prompt}.0.role`]: 'user',
          [`${prompt}.0.content`]: 'Where is my parcel?',
          [`${completion}.0.content`]: 'On its way.',
        }),
        { kind: 'chat', asked: [user('Where is my parcel?')], answered: [assistant('On its way.')] },
      );
  });

  it('leaves out what a model thinks', () => {
    deepEqual(
      observed({
        'llm.request.type': 'chat',
        'gen_ai.completion.0.role': 'thinking',
        'gen_ai.completion.0.content': 'A parcel.',
        'gen_ai.completion.1.role': 'assistant',
        'gen_ai.completion.1.content': 'On its way.',
      }),
      { kind: 'chat', asked: [], answered: [assistant('On its way.')], omitted: { reasoning: 1 } },
    );
  });

  it('tells workflows and agents from tasks, tools and other requests', () => {
    const kindOf = (name: string, value: string): unknown => observed({ [name]: value }).kind;
    deepEqual(
      ['workflow', 'agent', 'task', 'tool'].map((kind) => kindOf('traceloop.span.kind', kind)),
      ['agent', 'agent', 'other', 'other'],
    );
    deepEqual(
      ['chat', 'completion', 'embedding', 'rerank'].map((type) => kindOf('llm.request.type', type)),
      ['chat', 'chat', 'other', 'other'],
    );
  });

  it('reads what entities take and give where it says who said it', () => {
    const asked = (input: unknown): unknown =>
      observed({ 'traceloop.span.kind': 'workflow', 'traceloop.entity.input': JSON.stringify(input) }).asked;
    const question = [user('Where is my parcel?')];
    // LangChain
    deepEqual(asked({ inputs: { input: 'Where is my parcel?' }, tags: [], metadata: {} }), question);
    deepEqual(asked({ inputs: { messages: [{ type: 'human', content: 'Where is my parcel?' }] } }), question);
    // A decorated function
    deepEqual(asked({ args: [], kwargs: { question: 'Where is my parcel?' } }), question);
    deepEqual(asked({ args: [[{ role: 'user', content: 'Where is my parcel?' }]], kwargs: {} }), question);
    // It may be anything.
    deepEqual(asked({ args: ['user 7'], kwargs: {} }), []);
  });
});

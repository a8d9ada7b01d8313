import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assistant, observed, user } from '../../../support/observed.ts';

// github.com/Arize-ai/openinference, spec/semantic_conventions.md and spec/llm_spans.md
describe('OpenInference', () => {
  it('tells calls of models, agents and chains from what holds no conversation', () => {
    const kindOf = (kind: string): unknown => observed({ 'openinference.span.kind': kind }).kind;
    deepEqual(['LLM', 'AGENT', 'CHAIN'].map(kindOf), ['chat', 'agent', 'agent']);
    deepEqual(
      ['TOOL', 'RETRIEVER', 'RERANKER', 'EMBEDDING', 'GUARDRAIL', 'EVALUATOR', 'PROMPT'].map(kindOf),
      Array.from({ length: 7 }, () => 'other'),
    );
  });

  it('reads messages that are flattened into attributes, in the order of their numbers', () => {
    const asked = Object.fromEntries(
      Array.from({ length: 11 }, (_, index) => [
        [`llm.input_messages.${index}.message.role`, index % 2 === 0 ? 'user' : 'assistant'],
        [`llm.input_messages.${index}.message.content`, `text ${index}`],
      ]).flat(),
    );
    const reversed = Object.fromEntries(Object.entries(asked).toReversed());
    deepEqual(
      observed({ 'openinference.span.kind': 'LLM', ...reversed }).asked,
      Array.from({ length: 11 }, (_, index) => (index % 2 === 0 ? user : assistant)(`text ${index}`)),
    );
  });

  it('reads contents of several parts, and counts pictures and calls of tools', () => {
    const first = 'llm.input_messages.0.message';
    const answer = 'llm.output_messages.0.message';
    deepEqual(
      observed({
        'openinference.span.kind': 'LLM',
        [`${first}.role`]: 'user',
        [`${first}.contents.0.message_content.type`]: 'text',
        [`${first}.contents.0.message_content.text`]: 'What is this?',
        [`${first}.contents.1.message_content.type`]: 'image',
        [`${first}.contents.1.message_content.image.image.url`]: 'https://example.org/a.png',
        [`${first}.contents.2.message_content.type`]: 'audio',
        [`${first}.contents.2.message_content.audio.audio.transcript`]: 'It hums.',
        [`${answer}.role`]: 'assistant',
        [`${answer}.content`]: 'I look.',
        [`${answer}.tool_calls.0.tool_call.function.name`]: 'look',
        [`${answer}.tool_calls.0.tool_call.function.arguments`]: '{}',
      }),
      {
        kind: 'chat',
        asked: [user('What is this?\nIt hums.')],
        answered: [assistant('I look.')],
        omitted: { image: 1, 'tool call': 1 },
      },
    );
  });

  it('reads what agents and chains take and give, as a text or as JSON', () => {
    const chain = (input: string, output: string, mime?: string): unknown => {
      const mimes = mime === undefined ? {} : { 'input.mime_type': mime, 'output.mime_type': mime };
      const { asked, answered } = observed({
        'openinference.span.kind': 'CHAIN',
        'input.value': input,
        'output.value': output,
        ...mimes,
      });
      return [asked, answered];
    };
    const expected = [[user('Where is my parcel?')], [assistant('On its way.')]];
    deepEqual(chain('Where is my parcel?', 'On its way.'), expected);
    deepEqual(chain('{"input": "Where is my parcel?"}', '{"output": "On its way."}'), expected);
    deepEqual(chain('{"a": 1}', '{"b": 2}', 'text/plain'), [[user('{"a": 1}')], [assistant('{"b": 2}')]]);
    deepEqual(chain('{"a": 1}', '{"b": 2}', 'application/json'), [[], []]);
  });

  // What LangGraph's state looks like: langchain-ai.github.io/langgraph, "Use the graph API"
  it('takes of a whole conversation that a graph gives back only what follows the question', () => {
    deepEqual(
      observed({
        'openinference.span.kind': 'CHAIN',
        'input.value': JSON.stringify({ messages: [{ type: 'human', content: 'And the lamp?' }] }),
        'output.value': JSON.stringify({
          messages: [
            { type: 'human', content: 'Where is my parcel?' },
            { type: 'ai', content: 'On its way.' },
            { type: 'human', content: 'And the lamp?' },
            { type: 'ai', content: '', tool_calls: [{ name: 'look', args: {}, id: '1' }] },
            { type: 'tool', content: 'Friday', tool_call_id: '1' },
            { type: 'ai', content: 'It comes on Friday.' },
          ],
        }),
      }),
      {
        kind: 'agent',
        asked: [user('Where is my parcel?'), assistant('On its way.'), user('And the lamp?')],
        answered: [assistant('It comes on Friday.')],
        omitted: { 'tool call': 1, 'tool result': 1 },
      },
    );
  });

  it('reads calls of models without roles, and those that have the request alone', () => {
    const { asked, answered } = observed({
      'openinference.span.kind': 'LLM',
      'llm.prompts.0.prompt.text': 'Where is my parcel?',
      'llm.choices.0.completion.text': 'On its way.',
    });
    deepEqual([asked, answered], [[user('Where is my parcel?')], [assistant('On its way.')]]);
    const request = { model: 'small', messages: [{ role: 'user', content: 'Where is my parcel?' }] };
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'On its way.' } }] };
    const whole = observed({
      'openinference.span.kind': 'LLM',
      'input.value': JSON.stringify(request),
      'output.value': JSON.stringify(answer),
    });
    deepEqual([whole.asked, whole.answered], [[user('Where is my parcel?')], [assistant('On its way.')]]);
  });

  it('says that content is lacking where it is hidden', () => {
    deepEqual(
      observed({
        'openinference.span.kind': 'LLM',
        'input.value': '__REDACTED__',
        'output.value': '__REDACTED__',
      }),
      { kind: 'chat', asked: [], answered: [], lacksContent: true },
    );
  });

  it('has names of any shape', () => {
    const names = [
      'llm.input_messages.0',
      'llm.input_messages.x.message',
      'llm.input_messages..',
      '__proto__',
    ];
    for (const name of names)
      deepEqual(observed({ 'openinference.span.kind': 'LLM', [name]: 'text' }).asked, []);
  });
});

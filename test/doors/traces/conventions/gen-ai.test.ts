import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assistant, observed, user } from '../../../support/observed.ts';

const asks = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Where is my parcel?' }] }]);
const answers = JSON.stringify([
  { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }], finish_reason: 'stop' },
]);

describe('OpenTelemetry GenAI', () => {
  it('tells calls of models and agents from what holds no conversation', () => {
    const kindOf = (operation: string): unknown => observed({ 'gen_ai.operation.name': operation }).kind;
    deepEqual(['chat', 'generate_content', 'text_completion'].map(kindOf), ['chat', 'chat', 'chat']);
    // learn.microsoft.com/semantic-kernel, concepts/enterprise-readiness/observability
    deepEqual(['chat.completions', 'chat.streaming_completions'].map(kindOf), ['chat', 'chat']);
    deepEqual(['invoke_agent', 'invoke_workflow'].map(kindOf), ['agent', 'agent']);
    deepEqual(
      ['execute_tool', 'embeddings', 'create_agent', 'retrieval', 'of tomorrow'].map(kindOf),
      Array.from({ length: 5 }, () => 'other'),
    );
    deepEqual(observed({}).kind, 'other');
  });

  // github.com/open-telemetry/semantic-conventions-genai, docs/registry/attributes/gen-ai.md; @ai-sdk/otel 1.0
  it('takes no messages of what is named, and is no conversation', () => {
    const messages = { 'gen_ai.input.messages': asks, 'gen_ai.output.messages': answers };
    const kindOf = (operation: string): unknown =>
      observed({ 'gen_ai.operation.name': operation, ...messages }).kind;
    const memory = [
      'create_memory_store',
      'delete_memory',
      'search_memory',
      'update_memory',
      'upsert_memory',
    ];
    const silent = ['embeddings', 'rerank', 'retrieval', 'execute_tool', 'create_agent', 'plan', 'decide'];
    const media = ['ai.generateSpeech', 'ai.transcribe', 'ai.streamTranscribe', 'apply_guardrail'];
    deepEqual(new Set([...memory, ...silent, ...media].map(kindOf)), new Set(['other']));
    deepEqual(['realtime_inference', 'agent_step', 'of tomorrow'].map(kindOf), ['chat', 'chat', 'chat']);
  });

  // The same, docs/gen-ai/gen-ai-input-messages.json
  it('takes what was said in sound, and no summary of what was said before', () => {
    const parts = [
      { type: 'blob', modality: 'audio', content: 'aGk=', transcript: 'Is it open today?' },
      { type: 'file', modality: 'audio', file_id: '7', transcript: null },
      { type: 'compaction', content: 'They talked about a parcel.' },
      { type: 'file', modality: 'document', file_id: '8' },
    ];
    const server = [
      { type: 'server_tool_call', name: 'look', server_tool_call: { type: 'look' } },
      { type: 'server_tool_call_response', server_tool_call_response: { type: 'look' } },
      { type: 'uri', modality: 'audio', uri: 'https://example.org/a.mp3', transcript: 'Until six.' },
    ];
    deepEqual(
      observed({
        'gen_ai.operation.name': 'realtime_inference',
        'gen_ai.realtime_session.id': 'a call',
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts }]),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: server }]),
      }),
      {
        kind: 'chat',
        conversationId: 'a call',
        asked: [user('Is it open today?')],
        answered: [assistant('Until six.')],
        omitted: { file: 2, summary: 1, 'tool call': 1, 'tool result': 1 },
      },
    );
  });

  it('reads messages as JSON and as structured attributes alike', () => {
    const expected = {
      kind: 'chat',
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    };
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': asks,
        'gen_ai.output.messages': answers,
      }),
      expected,
    );
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': JSON.parse(asks),
        'gen_ai.output.messages': JSON.parse(answers),
      }),
      expected,
    );
  });

  it('leaves out what nobody said: system prompts, reasoning, tools, media', () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'Be kind.' }]),
        'gen_ai.input.messages': JSON.stringify([
          { role: 'system', parts: [{ type: 'text', content: 'Be short.' }] },
          {
            role: 'user',
            parts: [
              { type: 'text', content: 'What is broken here?' },
              { type: 'blob', modality: 'image', mime_type: 'image/png', content: 'aGk=' },
              { type: 'uri', modality: 'audio', uri: 'https://example.org/a.mp3' },
            ],
          },
          { role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'look', arguments: {} }] },
          { role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response: 'a lamp' }] },
        ]),
        'gen_ai.output.messages': JSON.stringify([
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', content: 'It looks like a lamp.' },
              { type: 'text', content: 'The lamp.' },
              { type: 'of tomorrow' },
            ],
          },
        ]),
      }),
      {
        kind: 'chat',
        asked: [user('What is broken here?')],
        continues: true,
        answered: [assistant('The lamp.')],
        omitted: {
          'system prompt': 2,
          'tool result': 2,
          audio: 1,
          image: 1,
          'part of type of tomorrow': 1,
          reasoning: 1,
          'tool call': 1,
        },
      },
    );
  });

  it('has no answer where the model only calls a tool', () => {
    const call = { role: 'assistant', parts: [{ type: 'tool_call', name: 'look', arguments: {} }] };
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': asks,
        'gen_ai.output.messages': JSON.stringify([call]),
      }),
      { kind: 'chat', asked: [user('Where is my parcel?')], answered: [], omitted: { 'tool call': 1 } },
    );
  });

  it('takes of data the member that says it in words', () => {
    const output = (content: string): unknown =>
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.output.type': 'json',
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }] }]),
      }).answered;
    deepEqual(output('{"answer":"It comes on Friday.","sure":true}'), [assistant('It comes on Friday.')]);
    deepEqual(output('{"intent":"track","score":0.7}'), []);
    deepEqual(output('{"result":"positive","text":" "}'), []);
    deepEqual(output('[{"text":"a"}]'), []);
    deepEqual(output('It comes on Friday.'), [assistant('It comes on Friday.')]);
  });

  it('keeps one answer where the model was asked for several', () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.choice.count': 2,
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }] },
          { role: 'assistant', parts: [{ type: 'text', content: 'It is coming.' }] },
        ]),
      }),
      {
        kind: 'chat',
        asked: [],
        answered: [assistant('On its way.')],
        omitted: { 'alternative answer': 1 },
      },
    );
  });

  it('never takes JSON that an exporter has cut for what somebody said', () => {
    deepEqual(observed({ 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': asks.slice(0, 40) }), {
      kind: 'chat',
      asked: [],
      answered: [],
      omitted: { 'JSON that was cut': 1 },
    });
  });

  it('says of a call without content that it lacks content', () => {
    const lacking = { asked: [], answered: [], lacksContent: true };
    deepEqual(observed({ 'gen_ai.operation.name': 'chat' }), { kind: 'chat', ...lacking });
    // Its calls may have it.
    deepEqual(observed({ 'gen_ai.operation.name': 'invoke_agent' }), {
      kind: 'agent',
      asked: [],
      answered: [],
    });
    // Before there were operations.
    deepEqual(observed({ 'gen_ai.system': 'openai', 'gen_ai.request.model': 'small' }), {
      kind: 'chat',
      attributes: { model: 'small' },
      ...lacking,
    });
    deepEqual(observed({ 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': 'small' }), {
      kind: 'other',
      asked: [],
      answered: [],
    });
  });
});

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observationsOfEvents } from '../../../../src/doors/traces/conventions/observe.ts';
import { OmissionCounts } from '../../../../src/doors/traces/omissions.ts';
import { observed, spanWith } from '../../../support/observed.ts';

const CHAT = { 'gen_ai.operation.name': 'chat' };

describe('usage of a span', () => {
  it('is read in the words of each convention', () => {
    const said = { inputTokens: 812, outputTokens: 64, costNanos: 1_250_000 };
    for (const attributes of [
      {
        ...CHAT,
        'gen_ai.usage.input_tokens': 812,
        'gen_ai.usage.output_tokens': 64,
        'gen_ai.usage.cost': 0.00125,
      },
      {
        'gen_ai.system': 'openai',
        'gen_ai.request.model': 'small',
        'gen_ai.usage.prompt_tokens': 812,
        'gen_ai.usage.completion_tokens': 64,
        'gen_ai.cost.total_cost': 0.00125,
      },
      {
        'openinference.span.kind': 'LLM',
        'llm.token_count.prompt': 812,
        'llm.token_count.completion': 64,
        'llm.cost.total': 0.00125,
      },
      {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.usage_details': '{"input": 812, "output": 64, "total": 876}',
        'langfuse.observation.cost_details': '{"input": 0.001, "total": 0.00125}',
      },
      {
        'mlflow.spanType': '"CHAT_MODEL"',
        'mlflow.chat.tokenUsage': '{"input_tokens": 812, "output_tokens": 64}',
        'mlflow.llm.cost': { total_cost: 0.00125 },
      },
      {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.usage.promptTokens': 812,
        'ai.usage.completionTokens': 64,
        'gen_ai.usage.total_cost': 0.00125,
      },
      {
        'ai.operationId': 'ai.streamText',
        'ai.usage.inputTokens': 812,
        'ai.usage.outputTokens': 64,
        'operation.cost': 0.00125,
      },
      {
        'llm.request.type': 'chat',
        'llm.usage.prompt_tokens': 812,
        'llm.usage.completion_tokens': 64,
        'litellm.cost.total': 0.00125,
      },
    ])
      deepEqual(observed(attributes).usage, said, JSON.stringify(attributes));
  });

  it('is the first number that says something: others are as if they were not there', () => {
    const values = {
      ...CHAT,
      'gen_ai.usage.input_tokens': -1,
      'gen_ai.usage.prompt_tokens': '812',
      'llm.token_count.prompt': 12,
    };
    deepEqual(observed(values).usage, { inputTokens: 12, outputTokens: null, costNanos: null });
    for (const value of [-1, 1e12, Infinity, NaN, '812', true, null, [812], {}])
      equal(observed({ ...CHAT, 'gen_ai.usage.input_tokens': value }).usage, undefined, String(value));
    for (const value of ['{"input": "812"}', '{"input": 81', '[812]', '[['.repeat(10_000), 812])
      equal(observed({ ...CHAT, 'langfuse.observation.usage_details': value }).usage, undefined);
  });

  it('is that of calls and agents alone', () => {
    const tokens = { 'gen_ai.usage.input_tokens': 5 };
    const said = { inputTokens: 5, outputTokens: null, costNanos: null };
    deepEqual(observed({ 'gen_ai.operation.name': 'invoke_agent', ...tokens }).usage, said);
    for (const operation of ['embeddings', 'execute_tool'])
      equal(observed({ 'gen_ai.operation.name': operation, ...tokens }).usage, undefined);
    equal(observed(tokens).usage, undefined);
  });

  it('is that of its log records, too', () => {
    const { traceId, spanId, attributes, resource } = spanWith({ 'gen_ai.usage.input_tokens': 5 });
    const name = 'gen_ai.client.inference.operation.details';
    const record = { traceId, spanId, name, at: 1e15, body: null, resource };
    const records = [
      { ...record, attributes: new Map() },
      { ...record, attributes },
    ];
    const [event] = observationsOfEvents(records, new OmissionCounts());
    deepEqual(event?.usage, { inputTokens: 5, outputTokens: null, costNanos: null });
  });
});

import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assistant, observed, user } from '../../../support/observed.ts';

const REQUEST = JSON.stringify({
  model: 'small',
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Where is my parcel?' },
  ],
});
const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'On its way.' } }],
});
const expected = { asked: [user('Where is my parcel?')], answered: [assistant('On its way.')] };
const withSystem = { ...expected, omitted: { 'system prompt': 1 } };

describe('gateways', () => {
  // developers.cloudflare.com/ai-gateway/observability/otel-integration
  it('reads gen_ai.prompt_json and gen_ai.completion_json', () => {
    deepEqual(observed({ 'gen_ai.prompt_json': REQUEST, 'gen_ai.completion_json': ANSWER }), {
      kind: 'chat',
      ...withSystem,
    });
  });

  // openrouter.ai/docs/guides/features/broadcast/otel-collector
  it('reads gen_ai.prompt and gen_ai.completion, with ids beside them', () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'session.id': 'order 17',
        'user.id': 'anna',
        'gen_ai.prompt': JSON.stringify({ messages: [{ role: 'user', content: 'Where is my parcel?' }] }),
        'gen_ai.completion': JSON.stringify({ completion: 'On its way.', reasoning: null }),
      }),
      { kind: 'chat', conversationId: 'order 17', userId: 'anna', ...expected },
    );
  });

  // github.com/BerriAI/litellm, litellm/integrations/opentelemetry.py, set_attributes
  it("reads LiteLLM's spans", () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'acompletion',
        'llm.request.type': 'acompletion',
        'gen_ai.system': 'openai',
        'metadata.user_api_key_end_user_id': 'anna',
        'gen_ai.input.messages':
          '[{"role": "user", "parts": [{"type": "text", "content": "Where is my parcel?"}]}]',
        'gen_ai.output.messages':
          '[{"role": "assistant", "parts": [{"type": "text", "content": "On its way."}], "finish_reason": "stop"}]',
      }),
      { kind: 'chat', userId: 'anna', ...expected },
    );
  });

  // github.com/spring-projects/spring-ai, ChatModelObservationContentProcessor
  it('reads texts without roles: the last is the question, the first is the answer', () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'chat',
        'gen_ai.system': 'openai',
        'gen_ai.prompt': ['Be kind.', 'Where is my parcel?', ''],
        'gen_ai.completion': JSON.stringify(['On its way.', 'It is coming.']),
      }),
      { kind: 'chat', ...expected },
    );
  });

  // github.com/pydantic/logfire, logfire/_internal/integrations/llm_providers
  it("reads Logfire's calls, whole and streamed", () => {
    const call = { 'gen_ai.system': 'openai', 'gen_ai.request.model': 'small', request_data: REQUEST };
    const whole = JSON.stringify({ message: { role: 'assistant', content: 'On its way.' }, usage: null });
    const streamed = JSON.stringify({ combined_chunk_content: 'On its way.', chunk_count: 3 });
    for (const response_data of [whole, streamed])
      deepEqual(observed({ ...call, response_data }), {
        kind: 'chat',
        attributes: { model: 'small' },
        ...withSystem,
      });
    deepEqual(observed({ request_data: REQUEST, response_data: whole }), {
      kind: 'other',
      asked: [],
      answered: [],
    });
  });

  it('reads no conversation in embeddings', () => {
    deepEqual(observed({ 'gen_ai.operation.name': 'embeddings', 'gen_ai.prompt': 'lamp' }), {
      kind: 'other',
      asked: [],
      answered: [],
    });
  });
});

describe('platforms', () => {
  // langfuse.com/integrations/native/opentelemetry, "Property mapping"
  it("reads Langfuse's observations", () => {
    const content = { 'langfuse.observation.input': REQUEST, 'langfuse.observation.output': ANSWER };
    const kindOf = (type: string): unknown =>
      observed({ 'langfuse.observation.type': type, ...content }, { parentSpanId: '00000000000000aa' }).kind;
    deepEqual(['generation', 'agent', 'chain', 'tool', 'retriever', 'event', 'span'].map(kindOf), [
      'chat',
      'agent',
      'agent',
      'other',
      'other',
      'other',
      'other',
    ]);
    deepEqual(
      observed({
        'langfuse.observation.type': 'generation',
        'langfuse.session.id': 'order 17',
        'langfuse.user.id': 'anna',
        ...content,
      }),
      { kind: 'chat', conversationId: 'order 17', userId: 'anna', ...withSystem },
    );
  });

  it("takes Langfuse's root for an agent, whose input and output are those of the trace", () => {
    deepEqual(
      observed({
        'langfuse.observation.type': 'span',
        'langfuse.trace.input': '{"question": "Where is my parcel?"}',
        'langfuse.trace.output': '"On its way."',
      }),
      { kind: 'agent', ...expected },
    );
  });

  // docs.langchain.com/langsmith/trace-with-opentelemetry
  it("reads LangSmith's runs", () => {
    deepEqual(
      observed({
        'langsmith.span.kind': 'chain',
        'langsmith.metadata.thread_id': 'order 17',
        'gen_ai.prompt': '{"input": {"messages": [{"type": "human", "content": "Where is my parcel?"}]}}',
        'gen_ai.completion': '{"output": "On its way."}',
      }),
      { kind: 'agent', conversationId: 'order 17', ...expected },
    );
    deepEqual(
      observed({ 'langsmith.span.kind': 'tool', 'gen_ai.prompt': '{"input": "lamp"}' }).kind,
      'other',
    );
  });

  // mlflow.org/docs/latest/genai/concepts/span
  it("reads MLflow's spans, whose attributes are JSON", () => {
    deepEqual(
      observed({
        'mlflow.spanType': '"CHAT_MODEL"',
        'mlflow.trace.session': 'order 17',
        'mlflow.spanInputs': REQUEST,
        'mlflow.spanOutputs': ANSWER,
      }),
      { kind: 'chat', conversationId: 'order 17', ...withSystem },
    );
    deepEqual(observed({ 'mlflow.spanType': '"RETRIEVER"', 'mlflow.spanInputs': '"lamp"' }).kind, 'other');
  });

  // google.github.io/adk-docs/observability/cloud-trace
  it("reads calls of Google's Agent Development Kit", () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'generate_content',
        'gcp.vertex.agent.session_id': 'order 17',
        'gcp.vertex.agent.llm_request': JSON.stringify({
          model: 'small',
          config: { system_instruction: 'Be kind.' },
          contents: [{ role: 'user', parts: [{ text: 'Where is my parcel?' }] }],
        }),
        'gcp.vertex.agent.llm_response': JSON.stringify({
          content: { role: 'model', parts: [{ text: 'On its way.' }] },
        }),
      }),
      { kind: 'chat', conversationId: 'order 17', ...expected },
    );
  });

  // ai.pydantic.dev/logfire, "Data format"
  it("reads the whole conversation of Pydantic AI's agents", () => {
    deepEqual(
      observed({
        'gen_ai.operation.name': 'invoke_agent',
        'pydantic_ai.all_messages': JSON.stringify([
          { role: 'system', parts: [{ type: 'text', content: 'Be kind.' }] },
          { role: 'user', parts: [{ type: 'text', content: 'Where is my parcel?' }] },
          { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }] },
        ]),
      }),
      { kind: 'agent', ...withSystem },
    );
  });
});

/**
 * All conventions, one declaration each. Keeps the invariant that those of a library come before what they have in
 * common: of those that a span follows, the first says what it is, and the first with messages is read.
 * Test: test/doors/traces/conventions.
 */
import type { ObservationKind } from '../observation.ts';
import { ATTRIBUTE_NAMES } from './attributes.ts';
import { flattened, json, namesOf, whole, type Convention } from './convention.ts';
import { EVALUATION_NAMES } from './evaluations.ts';
import { genAiEvents, isMessageEvent } from './gen-ai-events.ts';
import { ID_NAMES, METADATA } from './ids.ts';
import {
  aiSdkAnswer,
  aiSdkPrompt,
  genAiInput,
  genAiOutput,
  INPUT_MESSAGES,
  openInferenceMessage,
  openInferenceTexts,
  openInferenceValue,
  OUTPUT_MESSAGES,
  traceloopEntity,
  traceloopMessage,
} from './sources.ts';
import { USAGE_NAMES } from './usage.ts';

/** The same meaning for each of several values. */
const all = (kind: ObservationKind, ...values: readonly string[]): Record<string, ObservationKind> =>
  Object.fromEntries(values.map((value) => [value, kind]));

/**
 * The AI SDK's own spans: those up to version 6, and of LegacyOpenTelemetry in @ai-sdk/otel. Those that @ai-sdk/otel
 * writes by default follow OpenTelemetry GenAI. https://ai-sdk.dev/docs/ai-sdk-core/telemetry
 */
const AI_SDK_CALLS = ['ai.generatetext', 'ai.streamtext', 'ai.generateobject', 'ai.streamobject'];
const aiSdk: Convention = {
  kinds: [
    {
      attribute: 'ai.operationId',
      kinds: {
        ...all('agent', 'ai.workflowagent.stream', ...AI_SDK_CALLS),
        ...all('chat', ...AI_SDK_CALLS.flatMap((name) => [`${name}.dogenerate`, `${name}.dostream`])),
      },
      others: 'other',
    },
  ],
  asked: [json('ai.prompt.messages'), aiSdkPrompt],
  // `ai.result` up to version 3
  answered: [aiSdkAnswer('ai.response'), aiSdkAnswer('ai.result')],
};

/** OpenInference. https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md */
const openInference: Convention = {
  kinds: [
    {
      attribute: 'openinference.span.kind',
      kinds: { llm: 'chat', agent: 'agent', chain: 'agent' },
      others: 'other',
    },
  ],
  needs: 'openinference.span.kind',
  asked: [
    flattened('llm.input_messages', openInferenceMessage),
    openInferenceTexts('llm.prompts'),
    openInferenceValue('input'),
  ],
  answered: [
    flattened('llm.output_messages', openInferenceMessage),
    openInferenceTexts('llm.choices'),
    openInferenceValue('output'),
  ],
};

/** Langfuse. https://langfuse.com/integrations/native/opentelemetry#property-mapping */
const LANGFUSE_INPUT = ['langfuse.observation.input', 'langfuse.trace.input'];
const LANGFUSE_OUTPUT = ['langfuse.observation.output', 'langfuse.trace.output'];
const langfuse: Convention = {
  kinds: [
    {
      attribute: 'langfuse.observation.type',
      kinds: { generation: 'chat', agent: 'agent', chain: 'agent', span: null },
      others: 'other',
    },
    { has: [...LANGFUSE_INPUT, ...LANGFUSE_OUTPUT], isTop: true, kind: 'agent' },
  ],
  asked: [whole(...LANGFUSE_INPUT)],
  answered: [whole(...LANGFUSE_OUTPUT)],
};

/** LangSmith, which writes messages as gateways do. https://docs.langchain.com/langsmith/trace-with-opentelemetry */
const langSmith: Convention = {
  kinds: [
    {
      attribute: 'langsmith.span.kind',
      kinds: { llm: 'chat', chain: 'agent', span: null },
      others: 'other',
    },
  ],
  asked: [],
  answered: [],
};

/** MLflow. https://mlflow.org/docs/latest/genai/tracing/opentelemetry/ */
const mlflow: Convention = {
  kinds: [
    {
      attribute: 'mlflow.spanType',
      kinds: { llm: 'chat', chat_model: 'chat', agent: 'agent', chain: 'agent', span: null },
      others: 'other',
    },
  ],
  asked: [whole('mlflow.spanInputs')],
  answered: [whole('mlflow.spanOutputs')],
};

/**
 * OpenLLMetry (Traceloop), which gateways write, too; until 0.17 names began with `llm`.
 * https://www.traceloop.com/docs/openllmetry/contributing/semantic-conventions
 */
const traceloop: Convention = {
  kinds: [
    {
      attribute: 'llm.request.type',
      kinds: {
        ...all('chat', 'chat', 'completion', 'text_completion', 'responses'),
        // LiteLLM's calls
        ...all('chat', 'acompletion', 'atext_completion', 'aresponses', 'anthropic_messages'),
      },
      others: 'other',
    },
    { attribute: 'traceloop.span.kind', kinds: { workflow: 'agent', agent: 'agent' }, others: 'other' },
    { has: ['gen_ai.prompt.0.content', 'llm.prompts.0.content'], kind: 'chat' },
  ],
  asked: [
    flattened('gen_ai.prompt', traceloopMessage),
    flattened('llm.prompts', traceloopMessage),
    traceloopEntity('traceloop.entity.input', 'inputs'),
  ],
  answered: [
    flattened('gen_ai.completion', traceloopMessage),
    flattened('llm.completions', traceloopMessage),
    traceloopEntity('traceloop.entity.output', 'outputs'),
  ],
};

/**
 * OpenTelemetry GenAI as it is since 1.37: structured messages in attributes of the span.
 * https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-spans.md)
 */
const OPERATION = 'gen_ai.operation.name';
const genAi: Convention = {
  kinds: [
    {
      attribute: OPERATION,
      kinds: {
        ...all('chat', 'chat', 'generate_content', 'text_completion', 'completion', 'acompletion'),
        ...all('chat', 'responses', 'aresponses', 'realtime_inference'),
        // Semantic Kernel, NeMo Guardrails
        ...all('chat', 'chat.completions', 'chat.streaming_completions'),
        ...all('chat', 'text.completions', 'text.streaming_completions'),
        ...all('agent', 'invoke_agent', 'invoke_workflow'),
        // Some write what they take and give as messages, too.
        ...all(
          'other',
          'embeddings',
          'rerank',
          'retrieval',
          'execute_tool',
          'create_agent',
          'plan',
          'decide',
        ),
        ...all('other', 'apply_guardrail', 'search_memory', 'create_memory', 'create_memory_store'),
        ...all('other', 'delete_memory', 'delete_memory_store', 'update_memory', 'upsert_memory'),
        // The AI SDK: text that is read aloud, sound that is written down
        ...all('other', 'ai.generatespeech', 'ai.transcribe', 'ai.streamtranscribe'),
      },
    },
    { has: [INPUT_MESSAGES, OUTPUT_MESSAGES], kind: 'chat' },
    { attribute: OPERATION, kinds: {}, others: 'other' },
    // Before there were operations, these alone told a call of a model.
    { has: ['gen_ai.request.model'], with: 'gen_ai.system', kind: 'chat' },
  ],
  asked: [genAiInput],
  answered: [genAiOutput],
};

/** OpenTelemetry GenAI up to 1.36: the messages are events of the span. */
const genAiOfEvents: Convention = {
  kinds: [{ event: isMessageEvent, kind: 'chat' }],
  asked: [genAiEvents.asked],
  answered: [genAiEvents.answered],
};

/**
 * Gateways: Cloudflare, https://developers.cloudflare.com/ai-gateway/observability/otel-integration/, and OpenRouter,
 * https://openrouter.ai/docs/guides/features/broadcast/otel-collector; Google ADK,
 * https://google.github.io/adk-docs/observability/; Pydantic AI, https://ai.pydantic.dev/logfire/
 */
const GATEWAY_INPUT = ['gen_ai.prompt_json', 'gen_ai.prompt', 'gcp.vertex.agent.llm_request'];
const GATEWAY_OUTPUT = [
  'gen_ai.completion_json',
  'gen_ai.completion',
  'gcp.vertex.agent.llm_response',
  // The whole conversation, with the question
  'pydantic_ai.all_messages',
  'all_messages_events',
];
const gateways: Convention = {
  kinds: [{ has: [...GATEWAY_INPUT, ...GATEWAY_OUTPUT], kind: 'chat' }],
  asked: [whole(...GATEWAY_INPUT)],
  answered: [whole(...GATEWAY_OUTPUT)],
};

/**
 * Logfire, which says by other attributes that a span is a call of a model.
 * https://logfire.pydantic.dev/docs/integrations/llms/openai/
 */
const logfire: Convention = {
  kinds: [],
  asked: [whole('request_data')],
  answered: [whole('response_data')],
};

export const CONVENTIONS: readonly Convention[] = [
  aiSdk,
  openInference,
  langfuse,
  langSmith,
  mlflow,
  traceloop,
  genAi,
  genAiOfEvents,
  gateways,
  logfire,
];

const PREFIXES: readonly string[] = [...new Set([...CONVENTIONS.flatMap(namesOf), ...METADATA])];

const NAMES = [ID_NAMES, ATTRIBUTE_NAMES, USAGE_NAMES, EVALUATION_NAMES];

/** Tells whether any convention reads the attribute. */
export function isRead(name: string): boolean {
  return NAMES.some((names) => names.has(name)) || PREFIXES.some((prefix) => name.startsWith(prefix));
}

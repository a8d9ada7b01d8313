/**
 * Conventions that write what went in and what came out as one value each, in JSON or as a text:
 * - Langfuse, https://langfuse.com/integrations/native/opentelemetry#property-mapping
 * - LangSmith, https://docs.langchain.com/langsmith/trace-with-opentelemetry
 * - MLflow, https://mlflow.org/docs/latest/genai/tracing/opentelemetry/
 * - Pydantic AI, https://ai.pydantic.dev/logfire/
 * - Logfire, https://logfire.pydantic.dev/docs/integrations/llms/openai/
 * - Google ADK, https://google.github.io/adk-docs/observability/
 * - gateways: Cloudflare, https://developers.cloudflare.com/ai-gateway/observability/otel-integration/, and OpenRouter,
 *   https://openrouter.ai/docs/guides/features/broadcast/otel-collector
 */
import type { Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { AttributeValue, Span } from '../span.ts';
import { isObject } from '../values.ts';
import type { Convention } from './convention.ts';
import { ofTexts, parsed, recorded } from './recorded.ts';

interface WholeValues {
  /** The attribute that says what the span is, in any case. */
  readonly kind?: string;
  readonly kinds: Readonly<Record<string, ObservationKind>>;
  /** What a span is that says nothing of the kind but has content, if it is the root of its trace. */
  readonly root?: ObservationKind;
  /** What any such span is. */
  readonly any?: ObservationKind;
  readonly input: readonly string[];
  readonly output: readonly string[];
}

const PLATFORMS: readonly WholeValues[] = [
  {
    kind: 'langfuse.observation.type',
    kinds: { generation: 'chat', agent: 'agent', chain: 'agent' },
    root: 'agent',
    input: ['langfuse.observation.input', 'langfuse.trace.input'],
    output: ['langfuse.observation.output', 'langfuse.trace.output'],
  },
  {
    kind: 'langsmith.span.kind',
    kinds: { llm: 'chat', chain: 'agent' },
    input: [],
    output: [],
  },
  {
    kind: 'mlflow.spanType',
    kinds: { llm: 'chat', chat_model: 'chat', agent: 'agent', chain: 'agent' },
    input: ['mlflow.spanInputs'],
    output: ['mlflow.spanOutputs'],
  },
];

const GATEWAYS: WholeValues = {
  kinds: {},
  any: 'chat',
  input: ['gen_ai.prompt_json', 'gen_ai.prompt', 'gcp.vertex.agent.llm_request'],
  output: [
    'gen_ai.completion_json',
    'gen_ai.completion',
    'gcp.vertex.agent.llm_response',
    // The whole conversation, with the question
    'pydantic_ai.all_messages',
    'all_messages_events',
  ],
};

/** Logfire says by other attributes that it is a call of a model. */
const LOGFIRE: WholeValues = { kinds: {}, input: ['request_data'], output: ['response_data'] };

export const platforms: readonly Convention[] = PLATFORMS.map(conventionOf);
export const gateways: Convention = conventionOf(GATEWAYS);
export const logfire: Convention = conventionOf(LOGFIRE);

function conventionOf(values: WholeValues): Convention {
  const { kind = [], input, output } = values;
  return {
    reads: [kind, input, output].flat(),
    kindOf: (span) => kindOf(span, values),
    asked: (span, omitted) => valueIn(span, input, 'user', omitted),
    answered: (span, omitted) => valueIn(span, output, 'assistant', omitted),
  };
}

function valueIn(
  { attributes }: Span,
  names: readonly string[],
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  return recorded(unwrapped(ofTexts(firstOf(names, attributes), role)), role, omitted);
}

function kindOf(
  { attributes, parentSpanId }: Span,
  { kind, kinds, root, any, input, output }: WholeValues,
): ObservationKind | undefined {
  // MLflow writes JSON, so its texts are in quotes.
  const named = kind === undefined ? undefined : parsed(attributes.get(kind));
  const found = typeof named === 'string' ? kinds[named.toLowerCase()] : undefined;
  if (found !== undefined) return found;
  const hasContent = firstOf([...input, ...output], attributes) !== undefined;
  if (named !== undefined && named !== 'span') return 'other';
  if (!hasContent) return undefined;
  return any ?? (parentSpanId === undefined ? root : undefined);
}

function firstOf(
  names: readonly string[],
  attributes: ReadonlyMap<string, AttributeValue>,
): AttributeValue | undefined {
  return names.map((name) => attributes.get(name)).find((value) => value !== undefined && value !== '');
}

/** The one member of an object that wraps all others: `{"input": {"messages": […]}}`. */
function unwrapped(value: unknown): unknown {
  const inner = parsed(value);
  if (!isObject(inner)) return value;
  const only = Object.values(inner);
  return only.length === 1 && isObject(only[0]) ? only[0] : inner;
}

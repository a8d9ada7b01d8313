/**
 * Reads what a call of a model took, tokens and cost, from attributes of its span. The lists hold their names; the
 * first that holds a sensible number counts, as in metadata of messages.
 *
 * Test: test/doors/traces/conventions/usage.test.ts.
 */
import { usageNamed, type Usage, type UsageNames } from '../../../domain/usage.ts';
import type { Attributes } from '../span.ts';
import { isObject } from '../values.ts';
import { parsed } from './recorded.ts';

/** Langfuse and MLflow write JSON into one attribute: the end of such a name is a member of it. */
const [LANGFUSE_TOKENS, LANGFUSE_COST] = [
  'langfuse.observation.usage_details',
  'langfuse.observation.cost_details',
];
const [MLFLOW_TOKENS, MLFLOW_COST] = ['mlflow.chat.tokenUsage', 'mlflow.llm.cost'];

const NAMES: UsageNames = {
  inputTokens: [
    // OpenTelemetry GenAI, and up to 1.26
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    // OpenInference
    'llm.token_count.prompt',
    `${LANGFUSE_TOKENS}.input`,
    `${LANGFUSE_TOKENS}.input_tokens`,
    `${LANGFUSE_TOKENS}.prompt_tokens`,
    // The AI SDK, and up to version 4
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    `${MLFLOW_TOKENS}.input_tokens`,
    // OpenLLMetry until 0.17
    'llm.usage.prompt_tokens',
  ],
  outputTokens: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    `${LANGFUSE_TOKENS}.output`,
    `${LANGFUSE_TOKENS}.output_tokens`,
    `${LANGFUSE_TOKENS}.completion_tokens`,
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
    `${MLFLOW_TOKENS}.output_tokens`,
    'llm.usage.completion_tokens',
  ],
  costUsd: [
    // OpenLIT; OpenRouter; LiteLLM; OpenInference; Pydantic AI; LiteLLM's newer spans
    'gen_ai.usage.cost',
    'gen_ai.usage.total_cost',
    'gen_ai.cost.total_cost',
    'llm.cost.total',
    'operation.cost',
    'litellm.cost.total',
    `${LANGFUSE_COST}.total`,
    `${MLFLOW_COST}.total_cost`,
  ],
};

/** The names of the attributes that are read. */
export const USAGE_NAMES: ReadonlySet<string> = new Set([
  ...Object.values(NAMES).flat(),
  LANGFUSE_TOKENS,
  LANGFUSE_COST,
  MLFLOW_TOKENS,
  MLFLOW_COST,
]);

/** Returns the usage that a span says; undefined: it says none. */
export function usageIn(attributes: Attributes): Usage | undefined {
  if (attributes.size === 0) return undefined;
  // Each is parsed once: it may be large, and say nothing.
  const holders = new Map<string, unknown>();
  const memberIn = (name: string): unknown => {
    const dot = name.lastIndexOf('.');
    const holding = name.slice(0, dot);
    if (!attributes.has(holding)) return undefined;
    if (!holders.has(holding)) holders.set(holding, parsed(attributes.get(holding)));
    const holder = holders.get(holding);
    return isObject(holder) ? holder[name.slice(dot + 1)] : undefined;
  };
  return usageNamed(NAMES, [(name) => attributes.get(name), memberIn]);
}

/**
 * OpenTelemetry GenAI as it is since 1.37: structured messages in attributes of the span.
 * https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-spans.md)
 */
import { SYSTEM_PROMPT } from '../content.ts';
import type { Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes } from '../span.ts';
import type { Convention } from './convention.ts';
import { recorded } from './recorded.ts';
import { inWords } from './structured.ts';

export const INPUT_MESSAGES = 'gen_ai.input.messages';
export const OUTPUT_MESSAGES = 'gen_ai.output.messages';
export const SYSTEM_INSTRUCTIONS = 'gen_ai.system_instructions';
const OPERATION = 'gen_ai.operation.name';
/** Before there were operations, these alone told a call of a model. */
const MODEL_CALL = ['gen_ai.request.model', 'gen_ai.system'];
const OUTPUT_TYPE = 'gen_ai.output.type';
/** How many answers the model was asked for, of which somebody saw one. */
const CHOICES = 'gen_ai.request.choice.count';

const OPERATIONS: ReadonlyMap<string, ObservationKind> = new Map([
  ...[
    'chat',
    'generate_content',
    'text_completion',
    'completion',
    'acompletion',
    'responses',
    'aresponses',
    // Semantic Kernel, NeMo Guardrails
    'chat.completions',
    'chat.streaming_completions',
    'text.completions',
    'text.streaming_completions',
    'realtime_inference',
  ].map((name) => [name, 'chat'] as const),
  ...['invoke_agent', 'invoke_workflow'].map((name) => [name, 'agent'] as const),
  // Some write what they take and give as messages, too.
  ...[
    'embeddings',
    'rerank',
    'retrieval',
    'execute_tool',
    'create_agent',
    'plan',
    'decide',
    'apply_guardrail',
    'search_memory',
    ...['create', 'delete'].flatMap((verb) => [`${verb}_memory`, `${verb}_memory_store`]),
    ...['update', 'upsert'].map((verb) => `${verb}_memory`),
    // The AI SDK: text that is read aloud, sound that is written down
    ...['generatespeech', 'transcribe', 'streamtranscribe'].map((name) => `ai.${name}`),
  ].map((name) => [name, 'other'] as const),
]);

export const genAi: Convention = {
  reads: [
    INPUT_MESSAGES,
    OUTPUT_MESSAGES,
    SYSTEM_INSTRUCTIONS,
    OPERATION,
    OUTPUT_TYPE,
    CHOICES,
    ...MODEL_CALL,
  ],
  kindOf({ attributes }) {
    const operation = attributes.get(OPERATION);
    const kind = typeof operation === 'string' ? OPERATIONS.get(operation.toLowerCase()) : undefined;
    if (kind !== undefined) return kind;
    if (attributes.has(INPUT_MESSAGES) || attributes.has(OUTPUT_MESSAGES)) return 'chat';
    if (operation !== undefined) return 'other';
    return MODEL_CALL.every((name) => attributes.has(name)) ? 'chat' : undefined;
  },
  asked({ attributes }, omitted) {
    if (attributes.has(SYSTEM_INSTRUCTIONS)) omitted.add(SYSTEM_PROMPT);
    return recorded(attributes.get(INPUT_MESSAGES), 'user', omitted);
  },
  answered: ({ attributes }, omitted) => outputIn(attributes, omitted),
};

/** The messages that a model gave, of a span or of the event with its details; undefined: there are none. */
export function outputIn(attributes: Attributes, omitted: OmissionCounts): readonly Message[] | undefined {
  const messages = recorded(attributes.get(OUTPUT_MESSAGES), 'assistant', omitted);
  if (messages === undefined) return undefined;
  const chosen = Number(attributes.get(CHOICES)) > 1 ? messages.slice(0, 1) : messages;
  omitted.add('alternative answer', messages.length - chosen.length);
  return attributes.get(OUTPUT_TYPE) === 'json' ? inWords(chosen, omitted) : chosen;
}

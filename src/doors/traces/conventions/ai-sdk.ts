/**
 * The AI SDK's own spans: those up to version 6, and of LegacyOpenTelemetry in @ai-sdk/otel. Those that @ai-sdk/otel
 * writes by default follow OpenTelemetry GenAI.
 * https://ai-sdk.dev/docs/ai-sdk-core/telemetry
 */
import { SYSTEM_PROMPT } from '../content.ts';
import type { Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes } from '../span.ts';
import { isObject } from '../values.ts';
import type { Convention } from './convention.ts';
import { parsed, recorded, said } from './recorded.ts';
import { inWords } from './structured.ts';

const OPERATION = 'ai.operationId';
const OPERATIONS = ['generateText', 'streamText', 'generateObject', 'streamObject'];
/** All others (`ai.toolCall`, `ai.embed` …) hold no conversation. */
const KINDS: ReadonlyMap<string, ObservationKind> = new Map([
  ['ai.workflowAgent.stream', 'agent'],
  ...OPERATIONS.flatMap((name) => [
    [`ai.${name}`, 'agent'] as const,
    [`ai.${name}.doGenerate`, 'chat'] as const,
    [`ai.${name}.doStream`, 'chat'] as const,
  ]),
]);

const PROMPT = 'ai.prompt';
const MESSAGES = 'ai.prompt.messages';
/** `ai.result` up to version 3. */
const ANSWERS = ['ai.response', 'ai.result'];

export const aiSdk: Convention = {
  reads: [
    OPERATION,
    MESSAGES,
    ...ANSWERS.flatMap((name) => [`${name}.text`, `${name}.object`, `${name}.toolCalls`]),
    // Not the tools beside it.
    PROMPT,
  ],
  kindOf({ attributes }) {
    const operation = attributes.get(OPERATION);
    return typeof operation === 'string' ? (KINDS.get(operation) ?? 'other') : undefined;
  },
  asked({ attributes }, omitted) {
    const messages = recorded(attributes.get(MESSAGES), 'user', omitted);
    if (messages !== undefined) return messages;
    const prompt = parsed(attributes.get(PROMPT));
    if (isObject(prompt) && (prompt['system'] ?? prompt['instructions']) !== undefined)
      omitted.add(SYSTEM_PROMPT);
    return recorded(prompt, 'user', omitted);
  },
  answered({ attributes }, omitted) {
    for (const name of ANSWERS) {
      const answer = answerIn(attributes, name, omitted);
      if (answer !== undefined) return answer;
    }
    return undefined;
  },
};

function answerIn(
  attributes: Attributes,
  name: string,
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  const calls = parsed(attributes.get(`${name}.toolCalls`));
  if (Array.isArray(calls)) omitted.add('tool call', calls.length);
  const text = said(attributes.get(`${name}.text`), 'assistant');
  if (text !== undefined) return text;
  const object = said(attributes.get(`${name}.object`), 'assistant');
  if (object !== undefined) return inWords(object, omitted);
  return calls === undefined ? undefined : [];
}

/**
 * OpenInference (Arize Phoenix).
 * https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
 */
import { messagesOf, type Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes, Span } from '../span.ts';
import { isObject } from '../values.ts';
import type { Convention } from './convention.ts';
import { listIn } from './flattened.ts';
import { recorded, said } from './recorded.ts';

const KIND = 'openinference.span.kind';
const INPUT = { list: 'llm.input_messages', texts: 'llm.prompts', value: 'input' };
const OUTPUT = { list: 'llm.output_messages', texts: 'llm.choices', value: 'output' };

/** All others (TOOL, RETRIEVER, RERANKER, EMBEDDING, GUARDRAIL, EVALUATOR, PROMPT) hold no conversation. */
const KINDS: ReadonlyMap<string, ObservationKind> = new Map([
  ['LLM', 'chat'],
  ['AGENT', 'agent'],
  ['CHAIN', 'agent'],
]);

export const openInference: Convention = {
  reads: [
    KIND,
    'llm.input_messages.',
    'llm.output_messages.',
    'llm.prompts.',
    'llm.choices.',
    'input.value',
    'input.mime_type',
    'output.value',
    'output.mime_type',
  ],
  kindOf({ attributes }) {
    const kind = attributes.get(KIND);
    return typeof kind === 'string' ? (KINDS.get(kind.toUpperCase()) ?? 'other') : undefined;
  },
  asked: (span, omitted) => contentIn(span, INPUT, 'user', omitted),
  answered: (span, omitted) => contentIn(span, OUTPUT, 'assistant', omitted),
};

function contentIn(
  { attributes }: Span,
  names: { readonly list: string; readonly texts: string; readonly value: string },
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  if (!attributes.has(KIND)) return undefined;
  const messages = listIn(attributes, names.list);
  if (messages.length > 0) return messages.flatMap((member) => messageOf(member, role, omitted));
  // Completions without roles: `llm.prompts.0.prompt.text`, `llm.choices.0.completion.text`.
  const texts = listIn(attributes, names.texts).flatMap((member) => textIn(member) ?? []);
  if (texts.length > 0) return texts.map((content) => ({ role, content }));
  return valueIn(attributes, names.value, role, omitted);
}

/** `message.role`, `message.content` or `message.contents.0.message_content.text`, `message.tool_calls.0…` */
function messageOf(value: unknown, role: string, omitted: OmissionCounts): readonly Message[] {
  const message = isObject(value) ? value['message'] : undefined;
  if (!isObject(message)) return [];
  const { contents, content, role: own, tool_calls: calls } = message;
  const parts = Array.isArray(contents)
    ? contents.map((part: unknown) => (isObject(part) ? part['message_content'] : part))
    : content;
  return (
    messagesOf(
      { role: own ?? role, content: parts ?? '', ...(calls === undefined ? {} : { tool_calls: calls }) },
      'user',
      omitted,
    ) ?? []
  );
}

function textIn(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const inner = value['prompt'] ?? value['completion'];
  const text = isObject(inner) ? inner['text'] : undefined;
  return typeof text === 'string' ? text : undefined;
}

function valueIn(
  attributes: Attributes,
  name: string,
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  const value = attributes.get(`${name}.value`);
  return attributes.get(`${name}.mime_type`) === 'text/plain'
    ? said(value, role)
    : recorded(value, role, omitted);
}

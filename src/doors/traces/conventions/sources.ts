/**
 * Where single conventions have messages in a form of their own. Keeps the invariant that a source takes nothing when
 * in doubt. Test: test/doors/traces/conventions.
 */
import { SYSTEM_PROMPT, TOOL_CALL } from '../content.ts';
import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes } from '../span.ts';
import { isObject } from '../values.ts';
import type { Role, Source } from './convention.ts';
import { listIn } from './flattened.ts';
import { contentOf, parsed, recorded, textMessage } from './recorded.ts';
import { inWords } from './structured.ts';

/** OpenTelemetry GenAI since 1.37: structured messages, and what the model was told beside them. */
export const INPUT_MESSAGES = 'gen_ai.input.messages';
export const OUTPUT_MESSAGES = 'gen_ai.output.messages';
export const SYSTEM_INSTRUCTIONS = 'gen_ai.system_instructions';
const OUTPUT_TYPE = 'gen_ai.output.type';
/** How many answers the model was asked for, of which somebody saw one. */
const CHOICES = 'gen_ai.request.choice.count';

export const genAiInput: Source = {
  names: [INPUT_MESSAGES, SYSTEM_INSTRUCTIONS],
  read: ({ attributes }, _, omitted) => inputIn(attributes, omitted),
};
export const genAiOutput: Source = {
  names: [OUTPUT_MESSAGES, OUTPUT_TYPE, CHOICES],
  read: ({ attributes }, _, omitted) => outputIn(attributes, omitted),
};

/** The messages that a model was given, of a span or of the event with its details; undefined: there are none. */
export function inputIn(attributes: Attributes, omitted: OmissionCounts): readonly Message[] | undefined {
  if (attributes.has(SYSTEM_INSTRUCTIONS)) omitted.add(SYSTEM_PROMPT);
  return recorded(attributes.get(INPUT_MESSAGES), 'user', omitted);
}

/** The messages that a model gave, likewise. */
export function outputIn(attributes: Attributes, omitted: OmissionCounts): readonly Message[] | undefined {
  const messages = recorded(attributes.get(OUTPUT_MESSAGES), 'assistant', omitted);
  if (messages === undefined) return undefined;
  const chosen = Number(attributes.get(CHOICES)) > 1 ? messages.slice(0, 1) : messages;
  omitted.add('alternative answer', messages.length - chosen.length);
  return attributes.get(OUTPUT_TYPE) === 'json' ? inWords(chosen, omitted) : chosen;
}

/** AI SDK: a prompt with the system prompt in it. */
export const aiSdkPrompt: Source = {
  names: ['ai.prompt'],
  read({ attributes }, role, omitted) {
    const prompt = parsed(attributes.get('ai.prompt'));
    if (isObject(prompt) && (prompt['system'] ?? prompt['instructions']) !== undefined)
      omitted.add(SYSTEM_PROMPT);
    return recorded(prompt, role, omitted);
  },
};

/** AI SDK: an answer as a text, or as an object, and the calls of tools beside it. */
export function aiSdkAnswer(name: string): Source {
  const [text, object, toolCalls] = [`${name}.text`, `${name}.object`, `${name}.toolCalls`] as const;
  return {
    names: [text, object, toolCalls],
    read({ attributes }, role, omitted) {
      const calls = parsed(attributes.get(toolCalls));
      if (Array.isArray(calls)) omitted.add(TOOL_CALL, calls.length);
      const asObject = textMessage(attributes.get(object), role);
      const answer = textMessage(attributes.get(text), role) ?? (asObject && inWords(asObject, omitted));
      return answer ?? (calls === undefined ? undefined : []);
    },
  };
}

/** OpenInference: a value, and whether it is a text or JSON. */
export function openInferenceValue(name: 'input' | 'output'): Source {
  const [value, type] = [`${name}.value`, `${name}.mime_type`] as const;
  return {
    names: [value, type],
    read: ({ attributes }, role, omitted) =>
      attributes.get(type) === 'text/plain'
        ? textMessage(attributes.get(value), role)
        : recorded(attributes.get(value), role, omitted),
  };
}

/** OpenInference: completions without roles, `llm.prompts.0.prompt.text`, `llm.choices.0.completion.text`. */
export function openInferenceTexts(prefix: string): Source {
  const textIn = (member: unknown): unknown => {
    const inner = isObject(member) ? (member['prompt'] ?? member['completion']) : undefined;
    return isObject(inner) ? inner['text'] : undefined;
  };
  return {
    names: [`${prefix}.`],
    read({ attributes }, role) {
      const texts = listIn(attributes, prefix).map(textIn);
      const found = texts.filter((text) => typeof text === 'string');
      return found.length === 0 ? undefined : found.map((content) => ({ role, content }));
    },
  };
}

/**
 * OpenInference: `message.role`, `message.content` or `message.contents.0.message_content.text`, `message.tool_calls`.
 */
export function openInferenceMessage(
  value: unknown,
  role: Role,
  omitted: OmissionCounts,
): readonly Message[] {
  const message = isObject(value) ? value['message'] : undefined;
  if (!isObject(message)) return [];
  const { contents, content, role: own, tool_calls: calls } = message;
  const parts = Array.isArray(contents)
    ? contents.map((part: unknown) => (isObject(part) ? part['message_content'] : part))
    : content;
  const listed = calls === undefined ? {} : { tool_calls: calls };
  return messagesOf({ role: own ?? role, content: parts ?? '', ...listed }, 'user', omitted) ?? [];
}

/** OpenLLMetry: `role`, `content` (a text, or parts in JSON), and `tool_calls.0.name` … or `tool_calls` in JSON. */
export function traceloopMessage(member: unknown, role: Role, omitted: OmissionCounts): readonly Message[] {
  if (!isObject(member)) return [];
  const own = member['role'] ?? role;
  if (own === 'thinking' || own === 'reasoning') {
    omitted.add('reasoning');
    return [];
  }
  const calls = parsed(member['tool_calls']);
  const listed = Array.isArray(calls) ? { tool_calls: calls } : {};
  if (isObject(member['function_call'])) omitted.add(TOOL_CALL);
  const content = contentOf(member['content']) ?? '';
  return messagesOf({ role: own, content, ...listed }, 'user', omitted) ?? [];
}

/**
 * OpenLLMetry: LangChain's inputs are a member; a decorated function has its named arguments, and positional ones, of
 * which a bare text may be anything.
 */
export function traceloopEntity(name: string, member: 'inputs' | 'outputs'): Source {
  const partOf = (entity: unknown): unknown => {
    if (!isObject(entity)) return entity;
    const { args, kwargs, [member]: own } = entity;
    if (own !== undefined) return own;
    if (!Array.isArray(args) && !isObject(kwargs)) return entity;
    if (isObject(kwargs) && Object.keys(kwargs).length > 0) return kwargs;
    const [first] = Array.isArray(args) ? (args as readonly unknown[]) : [];
    return typeof first === 'object' ? first : undefined;
  };
  return {
    names: [name],
    read: ({ attributes }, role, omitted) => recorded(partOf(parsed(attributes.get(name))), role, omitted),
  };
}

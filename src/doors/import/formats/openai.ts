/**
 * Reads chats in the formats of OpenAI's APIs: fine-tuning examples, preference pairs, batch input and output, stored
 * completions, and logs that pair a request with its response.
 * Source: platform.openai.com/docs/guides/fine-tuning, /docs/guides/batch, /docs/api-reference/chat.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { contentText } from '../../traces/content.ts';
import { readTime } from '../times.ts';
import type { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations, objectsOf, type EntryFormat, type Turn } from './format.ts';

const chats = conversations({
  name: 'openai',
  title: 'OpenAI chat JSONL',
  recognise: byShare({
    holds: (value) =>
      requestMessages(value).some(hasRole) || replies(value).some(hasRole) || 'custom_id' in value,
    confidence: 0.85,
    reason: 'entries have messages with role and content, or a request and its response',
    alwaysSure: true,
  }),
  read(value, omitted) {
    const asked = requestMessages(value);
    const answered = replies(value);
    if (asked.length === 0 && answered.length === 0) {
      if (isObject(value['error'] ?? null) || value['response'] === null)
        return { leftOut: 'request that failed' };
      if (Array.isArray(value['messages'])) return { leftOut: 'conversation without text' };
      return { fault: 'messages: missing; expected an array of objects with role and content' };
    }
    if (asked.length === 0) return { leftOut: 'answer without its request (import the requests as well)' };
    const answeredAt = timeOf(value);
    const { metadata, user } = { ...value, ...bodyOf(value) };
    return {
      id: textOf(value['custom_id']) ?? textOf(value['id']),
      userId: textOf(user),
      metadata: isObject(metadata) ? metadata : undefined,
      messages: [...asked, ...answered],
      turn: (message, index) => turnOf(message, { place: `messages.${index}`, answeredAt, omitted }),
      faultAt: (index) => `messages.${index}: must be an object with role and content`,
    };
  },
});

/** A bare list of messages is an entry, too. */
export const openai: EntryFormat = {
  ...chats,
  recognise: (sample) => chats.recognise({ ...sample, values: sample.values.map(asObject) }),
  read: (value) => chats.read(asObject(value)),
};

/** Wraps a bare list of messages. */
function asObject(value: unknown): unknown {
  return Array.isArray(value) ? { messages: value } : value;
}

/** Returns a turn, a reason for leaving the message out, or its fault. */
function turnOf(
  message: Record<string, unknown>,
  of: { readonly place: string; readonly answeredAt: string | undefined; readonly omitted: OmissionCounts },
): Turn | string | { fault: string } {
  const { type, role: given, refusal } = message;
  if (typeof type === 'string' && type !== 'message') return type === 'reasoning' ? type : 'tool call';
  const role = textOf(given);
  if (role === undefined)
    return { fault: `${of.place}.role: must be a non-empty string such as "user" or "assistant"` };
  const text = contentText(message['content'], of.omitted);
  if (text === null) return { fault: `${of.place}.content: must be a string or a list of parts` };
  const content = text === '' && typeof refusal === 'string' ? refusal : text;
  if (content.trim() === '' && (message['tool_calls'] ?? message['function_call'])) return 'tool call';
  const createdAt = message['createdAt'] ?? message['created_at'] ?? message['timestamp'];
  const isTimed = typeof createdAt === 'string' || typeof createdAt === 'number';
  return { role, content, createdAt: isTimed ? createdAt : of.answeredAt };
}

function bodyOf(value: Record<string, unknown>): Record<string, unknown> {
  for (const name of ['body', 'request', 'input']) if (isObject(value[name])) return value[name];
  return {};
}

function requestMessages(value: Record<string, unknown>): unknown[] {
  const body = bodyOf(value);
  // A stored response of the Responses API may contain its input.
  const own = Array.isArray(value['output']) ? value['input'] : undefined;
  for (const messages of [value['messages'], body['messages'], body['input'], own])
    if (Array.isArray(messages)) return messages;
  // The Responses API also accepts a plain string.
  const text = body['input'] ?? own;
  return typeof text === 'string' ? [{ role: 'user', content: text }] : [];
}

/** Time of the model's answer; undefined if the entry has none. */
function timeOf(value: Record<string, unknown>): string | undefined {
  const body = responseBodyOf(value);
  const hasAnswer = Array.isArray(body['choices']) || Array.isArray(body['output']);
  return hasAnswer ? (readTime(body['created'] ?? body['created_at']) ?? undefined) : undefined;
}

function responseBodyOf(value: Record<string, unknown>): Record<string, unknown> {
  const response = isObject(value['response']) ? value['response'] : value;
  return isObject(response['body']) ? response['body'] : response;
}

/** Returns the first choice of a response, or the preferred output of a preference pair. */
function replies(value: Record<string, unknown>): unknown[] {
  if (Array.isArray(value['preferred_output'])) return value['preferred_output'];
  const body = responseBodyOf(value);
  if (Array.isArray(body['output'])) return body['output'];
  const [choice] = objectsOf(body['choices']);
  return choice !== undefined && isObject(choice['message']) ? [choice['message']] : [];
}

function hasRole(message: unknown): boolean {
  return isObject(message) && typeof message['role'] === 'string' && !('parts' in message);
}

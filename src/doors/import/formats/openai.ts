/**
 * Reads chats in the formats of OpenAI's APIs: fine-tuning examples, preference pairs, batch input and output, stored
 * completions, and logs that pair a request with its response.
 * Source: platform.openai.com/docs/guides/fine-tuning, /docs/guides/batch, /docs/api-reference/chat.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { contentText } from '../../traces/content.ts';
import { readTime } from '../times.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { bySome, objectsOf, shareOf, type EntryFormat, type Reading, type Turn } from './format.ts';

export const openai: EntryFormat = {
  kind: 'entries',
  name: 'openai',
  title: 'OpenAI chat JSONL',
  recognise({ values }) {
    const share = shareOf(
      values.map(asObject),
      (value) => requestMessages(value).some(hasRole) || replies(value).some(hasRole) || 'custom_id' in value,
    );
    return bySome(share, 0.85, 'entries have messages with role and content, or a request and its response');
  },
  read(given): Reading {
    const value = asObject(given);
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const omitted = new OmissionCounts();
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
    const turns: Turn[] = [];
    for (const [index, message] of [...asked, ...answered].entries()) {
      const turn = turnOf(message, `messages.${index}`, omitted);
      if (typeof turn === 'string') return { fault: turn };
      if (turn !== null) turns.push(answeredAt === null ? turn : { createdAt: answeredAt, ...turn });
    }
    const { metadata, user } = { ...value, ...bodyOf(value) };
    const userId = textOf(user);
    return {
      line: {
        id: textOf(value['custom_id']) ?? textOf(value['id']),
        turns,
        ...(isObject(metadata) ? { metadata } : {}),
        ...(userId === undefined ? {} : { userId }),
      },
      omitted: omitted.all,
    };
  },
};

/** Wraps a bare list of messages. */
function asObject(value: unknown): unknown {
  return Array.isArray(value) ? { messages: value } : value;
}

/** Returns a turn, null for a message without text, or a fault. */
function turnOf(message: unknown, place: string, omitted: OmissionCounts): Turn | string | null {
  if (!isObject(message)) return `${place}: must be an object with role and content`;
  const { type } = message;
  if (typeof type === 'string' && type !== 'message') {
    omitted.add(type === 'reasoning' ? 'reasoning' : 'tool call');
    return null;
  }
  const role = textOf(message['role']);
  if (role === undefined) return `${place}.role: must be a non-empty string such as "user" or "assistant"`;
  const text = contentText(message['content'], omitted);
  if (text === null) return `${place}.content: must be a string or a list of parts`;
  const content = text === '' && typeof message['refusal'] === 'string' ? message['refusal'] : text;
  if (content.trim() === '') {
    omitted.add((message['tool_calls'] ?? message['function_call']) ? 'tool call' : 'message without text');
    return null;
  }
  const createdAt = message['createdAt'] ?? message['created_at'] ?? message['timestamp'];
  const timed = typeof createdAt === 'string' || typeof createdAt === 'number' ? { createdAt } : {};
  return { role, content, ...timed };
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

/** Time of the model's answer; null if the entry has none. */
function timeOf(value: Record<string, unknown>): string | null {
  const body = responseBodyOf(value);
  const hasAnswer = Array.isArray(body['choices']) || Array.isArray(body['output']);
  return hasAnswer ? readTime(body['created'] ?? body['created_at']) : null;
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

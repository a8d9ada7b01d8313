/**
 * Extracts messages from the inputs and outputs of models and agents.
 *
 * Test: test/doors/traces/messages.test.ts.
 */
import { contentText, TOOL_CALL, TOOL_RESULT } from './content.ts';
import { OmissionCounts } from './omissions.ts';
import { isObject, textOf } from './values.ts';

/** `role` is user, assistant, system or tool. */
export interface Message {
  readonly role: string;
  readonly content: string;
  /** Set for a tool call or a tool result. */
  readonly usesTool?: true;
}

/** Members that hold the input or output where there are no messages, the most specific first. */
const ASKED = [
  'question',
  'query',
  'input',
  'prompt',
  'text',
  'content',
  'message',
  'user_input',
  'value',
  // Arguments of frameworks: LlamaIndex (a query, a workflow), smolagents
  'query_str',
  'user_msg',
  'task',
];
const ANSWERED = [
  'answer',
  'output',
  'response',
  'reply',
  'result',
  'text',
  'content',
  'message',
  'completion',
  'value',
  // Logfire's streams
  'combined_chunk_content',
];
const LISTS = ['messages', 'chat_history', 'history', 'contents'];
const ROLES: ReadonlyMap<string, string> = new Map([
  ...['human', 'humanmessage', 'humanmessagechunk', 'user'].map((name) => [name, 'user'] as const),
  ...['ai', 'aimessage', 'aimessagechunk', 'assistant', 'model'].map((name) => [name, 'assistant'] as const),
  ...['system', 'systemmessage', 'developer'].map((name) => [name, 'system'] as const),
  ...['tool', 'toolmessage', 'function', 'functionmessage'].map((name) => [name, 'tool'] as const),
]);
const MAX_DEPTH = 8;

/**
 * Returns the messages in an input or output; null if none is recognised. `role` applies to a bare text. Parts without
 * text are counted in `omitted`; messages of system and tools are returned.
 */
export function messagesOf(
  value: unknown,
  role: 'user' | 'assistant',
  omitted = new OmissionCounts(),
  depth = 0,
): Message[] | null {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') {
    const parsed = parsedJson(value);
    if (parsed !== undefined) return messagesOf(parsed, role, omitted, depth + 1);
    return value.trim() === '' ? null : [{ role, content: value }];
  }
  if (Array.isArray(value)) {
    // LangChain has a list for each prompt of a batch; the first is read.
    if (Array.isArray(value[0])) return messagesOf(value[0], role, omitted, depth + 1);
    const found = value.flatMap((member) => messageOf(member, omitted) ?? []);
    return found.length > 0 ? found : null;
  }
  if (!isObject(value)) return null;
  const single = messageOf(value, omitted);
  if (single !== null) return [single];
  return inObject(value, role, omitted, depth);
}

function inObject(
  value: Record<string, unknown>,
  role: 'user' | 'assistant',
  omitted: OmissionCounts,
  depth: number,
): Message[] | null {
  const [choice] = Array.isArray(value['choices']) ? value['choices'] : [];
  const [generations] = Array.isArray(value['generations']) ? value['generations'] : [];
  const generation: unknown = Array.isArray(generations) ? generations[0] : generations;
  for (const only of [choice, generation])
    if (isObject(only)) return messagesOf(only['message'] ?? only['text'], role, omitted, depth + 1);
  const history = LISTS.map((name) => value[name]).find((list) => Array.isArray(list) && list.length > 0);
  const before = history === undefined ? null : messagesOf(history, role, omitted, depth + 1);
  if (before !== null && Array.isArray(value['messages'])) return before;
  for (const name of role === 'user' ? ASKED : ANSWERED) {
    const found = messagesOf(value[name], role, omitted, depth + 1);
    if (found !== null) return [...(before ?? []), ...found];
  }
  return before;
}

/** Reads `{role, content}`, `{type: 'human', content}`, or a message as LangChain stores it. */
function messageOf(value: unknown, omitted: OmissionCounts): Message | null {
  if (!isObject(value)) return null;
  const stored = isObject(value['kwargs']) ? value['kwargs'] : isObject(value['data']) ? value['data'] : null;
  const path: unknown = Array.isArray(value['id']) ? value['id'].at(-1) : undefined;
  const member = stored ?? value;
  const named = textOf(member['role']) ?? textOf(value['type']) ?? '';
  const role =
    ROLES.get(named.toLowerCase()) ?? ROLES.get((textOf(path) ?? textOf(member['type']) ?? '').toLowerCase());
  if (role === undefined || !('content' in member || 'parts' in member || 'tool_calls' in member))
    return null;
  const own = new OmissionCounts();
  const content = contentText(member['content'] ?? member['parts'], own);
  if (Array.isArray(member['tool_calls'])) own.add(TOOL_CALL, member['tool_calls'].length);
  omitted.addAll(own.all);
  if (content === null) return null;
  const usesTool = role === 'tool' || own.has(TOOL_CALL) || own.has(TOOL_RESULT);
  return usesTool ? { role, content, usesTool } : { role, content };
}

function parsedJson(text: string): unknown {
  const start = text.trimStart();
  if (!start.startsWith('{') && !start.startsWith('[') && !start.startsWith('"')) return undefined;
  try {
    const value: unknown = JSON.parse(start);
    return value === null ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Conversations out of traces of language models, where each call repeats what was said before it. */
import { contentText } from './content.ts';
import { isObject, OmissionCounts, textOf, type Reading, type Turn } from './format.ts';

/** One step of a trace: a call of a model, or the whole of what an application did for one message. */
export interface Span {
  readonly id: string;
  readonly trace: string;
  /** Nothing is above it in its trace. */
  readonly isRoot: boolean;
  readonly isCall: boolean;
  readonly startedAt?: string | number;
  readonly endedAt?: string | number;
  readonly userId?: string;
  readonly input: unknown;
  readonly output: unknown;
}

interface Message {
  readonly role: string;
  readonly content: string;
}

/** Members that hold what was asked or answered where no messages are, most telling first. */
const ASKED = ['question', 'query', 'input', 'prompt', 'text', 'content', 'message', 'user_input', 'value'];
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
];
const LISTS = ['messages', 'chat_history', 'history'];
const ROLES: ReadonlyMap<string, string> = new Map([
  ...['human', 'humanmessage', 'humanmessagechunk', 'user'].map((name) => [name, 'user'] as const),
  ...['ai', 'aimessage', 'aimessagechunk', 'assistant', 'model'].map((name) => [name, 'assistant'] as const),
  ...['system', 'systemmessage', 'developer'].map((name) => [name, 'system'] as const),
  ...['tool', 'toolmessage', 'function', 'functionmessage'].map((name) => [name, 'tool'] as const),
]);
const MAX_DEPTH = 8;

/** Puts the spans of a conversation together; `spans` are in the order of their start. */
export function conversationOfSpans(id: string, source: string, spans: readonly Span[]): Reading {
  const omitted = new OmissionCounts();
  const turns: Turn[] = [];
  const seen = new Set<string>();
  const traces = Map.groupBy(
    spans.filter((span) => !seen.has(span.id) && seen.add(span.id)),
    ({ trace }) => trace,
  );
  for (const trace of traces.values()) {
    const chosen = chosenOf(trace);
    if (chosen.length === 0) omitted.add('trace without messages');
    for (const [index, call] of chosen.entries()) addCall(turns, call, index === 0, omitted);
  }
  return { line: { id, source, turns }, omitted: omitted.all };
}

interface Call {
  readonly span: Span;
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
}

/** The root says what the user saw; calls below it may be about anything, and count only where it says nothing. */
function chosenOf(trace: readonly Span[]): Call[] {
  const calls = trace.map((span): Call => ({
    span,
    asked: messagesOf(span.input, 'user') ?? [],
    answered: messagesOf(span.output, 'assistant') ?? [],
  }));
  const roots = calls.filter(({ span, asked }) => span.isRoot && asked.some(({ role }) => role === 'user'));
  if (roots.some(({ answered }) => answered.some(({ role }) => role === 'assistant'))) return roots;
  const models = calls.filter(({ span, asked }) => span.isCall && asked.length > 0);
  return models.length > 0 ? models : roots;
}

/**
 * Adds what a call says that is new. What comes before its last question is history, which is known unless the
 * conversation began elsewhere. The question of the first call of a trace is new even if the same was asked before.
 */
function addCall(
  turns: Turn[],
  { span, asked, answered }: Call,
  isFirst: boolean,
  omitted: OmissionCounts,
): void {
  const said = asked.filter(isSpoken);
  omitted.add('system prompt', asked.filter(({ role }) => role === 'system').length);
  omitted.add('tool result', [...asked, ...answered].filter(({ role }) => role === 'tool').length);
  const at = timed(span.startedAt);
  const lastAnswer = said.findLastIndex(({ role }) => role === 'assistant');
  const history = isFirst ? said.slice(0, lastAnswer + 1) : said;
  const questions = isFirst ? said.slice(lastAnswer + 1) : [];
  const userOf = ({ role }: Message): { userId?: string } =>
    role === 'user' && span.userId !== undefined ? { userId: span.userId } : {};
  addUnknown(turns, history, (message) => ({ ...message, ...at, ...userOf(message) }));
  const last = turns.at(-1);
  for (const [index, message] of questions.entries()) {
    // A call that is tried again asks what nobody has answered yet.
    const isRetry = index === 0 && last?.role === 'user' && last.content === message.content;
    if (!isRetry) turns.push({ ...message, ...at, ...userOf(message) });
  }
  const end = timed(span.endedAt ?? span.startedAt);
  addUnknown(
    turns,
    answered.filter(isSpoken),
    (message) => ({ ...message, ...end }),
    isFirst ? turns.length : 0,
  );
}

/** Adds the messages that do not occur, in this order, among the turns from `from` on. */
function addUnknown(
  turns: Turn[],
  messages: readonly Message[],
  turnOf: (message: Message) => Turn,
  from = 0,
): void {
  // An answer that repeats the whole conversation is known to where it repeats it.
  let next = messages.length > 1 ? 0 : from;
  const known = turns.length;
  for (const message of messages) {
    const found = turns.findIndex(
      (turn, index) =>
        index >= next && index < known && turn.role === message.role && turn.content === message.content,
    );
    if (found === -1) turns.push(turnOf(message));
    else next = found + 1;
  }
}

function isSpoken({ role, content }: Message): boolean {
  return (role === 'user' || role === 'assistant') && content.trim() !== '';
}

function timed(createdAt: string | number | undefined): { createdAt?: string | number } {
  return createdAt === undefined ? {} : { createdAt };
}

/** The messages in what a call took or gave; null where none can be told. `role`: of a bare text. */
export function messagesOf(value: unknown, role: 'user' | 'assistant', depth = 0): Message[] | null {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') {
    const parsed = parsedJson(value);
    if (parsed !== undefined) return messagesOf(parsed, role, depth + 1);
    return value.trim() === '' ? null : [{ role, content: value }];
  }
  if (Array.isArray(value)) {
    // LangChain has a list of lists, one for each prompt of a batch.
    if (Array.isArray(value[0])) return messagesOf(value[0], role, depth + 1);
    const found = value.flatMap((member) => messageOf(member) ?? []);
    return found.length > 0 ? found : null;
  }
  if (!isObject(value)) return null;
  const single = messageOf(value);
  if (single !== null) return [single];
  return inObject(value, role, depth);
}

function inObject(
  value: Record<string, unknown>,
  role: 'user' | 'assistant',
  depth: number,
): Message[] | null {
  const [choice] = Array.isArray(value['choices']) ? value['choices'] : [];
  const [generations] = Array.isArray(value['generations']) ? value['generations'] : [];
  const generation: unknown = Array.isArray(generations) ? generations[0] : generations;
  for (const only of [choice, generation])
    if (isObject(only)) return messagesOf(only['message'] ?? only['text'], role, depth + 1);
  const history = LISTS.map((name) => value[name]).find((list) => Array.isArray(list) && list.length > 0);
  const before = history === undefined ? null : messagesOf(history, role, depth + 1);
  if (before !== null && Array.isArray(value['messages'])) return before;
  for (const name of role === 'user' ? ASKED : ANSWERED) {
    const found = messagesOf(value[name], role, depth + 1);
    if (found !== null) return [...(before ?? []), ...found];
  }
  return before;
}

/** `{role, content}`, `{type: 'human', content}`, or a message as LangChain stores it. */
function messageOf(value: unknown): Message | null {
  if (!isObject(value)) return null;
  const stored = isObject(value['kwargs']) ? value['kwargs'] : isObject(value['data']) ? value['data'] : null;
  const path: unknown = Array.isArray(value['id']) ? value['id'].at(-1) : undefined;
  const member = stored ?? value;
  const named = textOf(member['role']) ?? textOf(value['type']) ?? '';
  const role =
    ROLES.get(named.toLowerCase()) ?? ROLES.get((textOf(path) ?? textOf(member['type']) ?? '').toLowerCase());
  if (role === undefined || !('content' in member || 'parts' in member || 'tool_calls' in member))
    return null;
  const content = contentText(member['content'] ?? member['parts'], new OmissionCounts());
  return content === null ? null : { role, content };
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

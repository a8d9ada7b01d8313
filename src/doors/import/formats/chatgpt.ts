/**
 * Reads the data export of ChatGPT (`conversations.json`, `conversations-000.json` …). Each conversation is a tree of
 * messages; the path to `current_node`, which the user saw last, is imported.
 * Source: help.openai.com "How do I export my ChatGPT history and data?"; github.com/mitkury/chatgpt-export-parser
 * docs/chatgpt-data-export-format.md.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { contentText } from '../../traces/content.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations, type Turn } from './format.ts';

type Nodes = Readonly<Record<string, unknown>>;

/** Content types that are no message of user or assistant → reason for leaving them out. All others are text. */
const OMITTED_TYPES: ReadonlyMap<string, string> = new Map([
  ...[
    'code',
    'tether_browsing_display',
    'tether_quote',
    'execution_output',
    'system_error',
    'computer_output',
  ].map((type) => [type, 'tool call'] as const),
  ...['thoughts', 'reasoning_recap'].map((type) => [type, 'reasoning'] as const),
  ...['user_editable_context', 'model_editable_context'].map(
    (type) => [type, 'custom instructions'] as const,
  ),
]);

export const chatgpt = conversations({
  name: 'chatgpt',
  title: 'ChatGPT export',
  recognise: byShare({
    holds: ({ mapping }) => isObject(mapping) && Object.values(mapping).every(isNode),
    confidence: 0.99,
    reason: 'entries have a mapping of nodes with parent and message',
  }),
  read(value, omitted) {
    const { mapping, title } = value;
    if (!isObject(mapping)) return { fault: 'mapping: missing; expected an object of nodes' };
    const path = pathOf(mapping, value['current_node']);
    const onPath = new Set(path);
    const unread = new OmissionCounts();
    omitted.add(
      'message of another branch',
      Object.entries(mapping).filter(([id, node]) => !onPath.has(id) && turnOf(node, unread) !== null).length,
    );
    return {
      id: textOf(value['conversation_id']) ?? textOf(value['id']),
      source: 'chatgpt',
      metadata: typeof title === 'string' && title !== '' ? { title } : undefined,
      messages: path.map((id) => mapping[id]),
      turn: (node) => turnOf(node, omitted),
      faultAt: (index) => `mapping.${path[index]}: must be an object`,
    };
  },
});

/** Returns the ids from the root to the node that was shown last. */
function pathOf(nodes: Nodes, current: unknown): string[] {
  const path: string[] = [];
  const seen = new Set<string>();
  let id = typeof current === 'string' && isObject(nodes[current]) ? current : lastLeafOf(nodes);
  while (id !== null && !seen.has(id) && isObject(nodes[id])) {
    seen.add(id);
    path.push(id);
    const parent = memberOf(nodes[id], 'parent');
    id = typeof parent === 'string' ? parent : null;
  }
  return path.toReversed();
}

/** Returns the leaf that the last child of each node leads to: the node shown last where the export names none. */
function lastLeafOf(nodes: Nodes): string | null {
  const roots = Object.entries(nodes).filter(
    ([, node]) => isObject(node) && typeof node['parent'] !== 'string',
  );
  let id = roots[0]?.[0] ?? null;
  const seen = new Set<string>();
  while (id !== null && !seen.has(id)) {
    seen.add(id);
    const children = memberOf(nodes[id], 'children');
    const last: unknown = Array.isArray(children) ? children.at(-1) : undefined;
    if (typeof last !== 'string' || !isObject(nodes[last])) return id;
    id = last;
  }
  return id;
}

function turnOf(node: unknown, omitted: OmissionCounts): Turn | null {
  const message = isObject(node) ? node['message'] : null;
  if (!isObject(message)) return null;
  const author = isObject(message['author']) ? message['author'] : {};
  const role = textOf(author['role']) ?? '';
  const content = isObject(message['content']) ? message['content'] : {};
  const metadata = isObject(message['metadata']) ? message['metadata'] : {};
  const reason = omissionOf(role, message, metadata, content);
  if (reason !== null) {
    omitted.add(reason);
    return null;
  }
  const text = withoutMarks(contentText(content['parts'] ?? content['text'] ?? '', omitted) ?? '');
  if (text.trim() === '') return null;
  const createdAt = message['create_time'];
  return { role, content: text, ...(typeof createdAt === 'number' && createdAt > 0 ? { createdAt } : {}) };
}

/** Removes marks of sources, pictures and entities, which ChatGPT renders as links; keeps the name of an entity. */
function withoutMarks(text: string): string {
  if (!text.includes('\ue200')) return text;
  return text.replace(/ ?\ue200([^\ue200\ue201]*)\ue201/g, (mark: string, inside: string) => {
    const name = /^entity\ue202\["[^"]*","([^"]*)"/.exec(inside)?.[1];
    return name === undefined ? '' : `${mark.startsWith(' ') ? ' ' : ''}${name}`;
  });
}

function omissionOf(
  role: string,
  { weight, recipient }: Nodes,
  { is_visually_hidden_from_conversation: hidden }: Nodes,
  { content_type: type }: Nodes,
): string | null {
  if (role === 'system') return 'system prompt';
  if (weight === 0 || hidden === true) return 'hidden message';
  if (role === 'tool') return 'tool result';
  if (typeof type === 'string' && OMITTED_TYPES.has(type)) return OMITTED_TYPES.get(type) ?? null;
  if (typeof recipient === 'string' && recipient !== 'all') return 'tool call';
  return role === 'user' || role === 'assistant' ? null : 'message of an unknown author';
}

function memberOf(node: unknown, name: string): unknown {
  return isObject(node) ? node[name] : undefined;
}

function isNode(node: unknown): boolean {
  return isObject(node) && ('message' in node || 'parent' in node);
}

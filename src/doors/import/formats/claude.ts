/**
 * Reads the data export of Claude (`conversations.json`): `chat_messages` with `sender` and `text`.
 * Source: support.claude.com "How can I export my Claude data?"; github.com/Sinity/polylogue
 * docs/providers/claude-ai.md.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { contentText } from '../../traces/content.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, objectsOf, shareOf, type EntryFormat, type Reading, type Turn } from './format.ts';

export const claude: EntryFormat = {
  kind: 'entries',
  name: 'claude',
  title: 'Claude export',
  recognise({ values }) {
    return byShare(
      shareOf(values, (value) => Array.isArray(value['chat_messages'])),
      0.99,
      'entries have chat_messages',
    );
  },
  read(value): Reading {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    if (!Array.isArray(value['chat_messages'])) return { fault: 'chat_messages: missing; expected an array' };
    const omitted = new OmissionCounts();
    const turns: Turn[] = [];
    const messages = value['chat_messages'] as unknown[];
    const visible = pathTo(messages, value['current_leaf_message_uuid']);
    for (const [index, message] of messages.entries()) {
      if (visible !== null && isObject(message) && !visible.has(message['uuid'])) {
        omitted.add('message of another branch');
        continue;
      }
      const sender = isObject(message) ? textOf(message['sender']) : undefined;
      if (!isObject(message) || sender === undefined)
        return { fault: `chat_messages.${index}: must be an object with sender and text` };
      const content = textIn(message, omitted);
      for (const name of ['attachments', 'files']) omitted.add('attachment', objectsOf(message[name]).length);
      const createdAt = textOf(message['created_at']);
      if (content.trim() === '') omitted.add('message without text');
      else turns.push({ role: sender, content, ...(createdAt === undefined ? {} : { createdAt }) });
    }
    const account = isObject(value['account']) ? textOf(value['account']['uuid']) : undefined;
    const title = textOf(value['name']);
    return {
      line: {
        id: textOf(value['uuid']),
        source: 'claude',
        turns,
        ...(account === undefined ? {} : { userId: account }),
        ...(title === undefined ? {} : { metadata: { title } }),
      },
      omitted: omitted.all,
    };
  },
};

/**
 * Returns the ids on the path to the message that was shown last, where messages name their parents and some have
 * siblings: an edited question or a regenerated answer. Null if there are no siblings, so that all messages were shown.
 */
function pathTo(messages: readonly unknown[], leaf: unknown): ReadonlySet<unknown> | null {
  const parents = new Map(objectsOf(messages).map(({ uuid, parent_message_uuid: parent }) => [uuid, parent]));
  const known = [...parents.values()];
  const isTree = parents.size === messages.length && known.every((parent) => textOf(parent) !== undefined);
  if (!isTree || new Set(known).size === known.length) return null;
  const path = new Set<unknown>();
  for (
    let id = parents.has(leaf) ? leaf : [...parents.keys()].at(-1);
    parents.has(id);
    id = parents.get(id)
  ) {
    if (path.has(id)) return null;
    path.add(id);
  }
  return path;
}

/** Prefers the blocks of `content`: `text` repeats them with placeholders for tool calls. */
function textIn(message: Record<string, unknown>, omitted: OmissionCounts): string {
  const blocks = Array.isArray(message['content']) ? message['content'] : [];
  const text = contentText(blocks, omitted) ?? '';
  if (text !== '' || typeof message['text'] !== 'string') return text;
  return message['text'];
}

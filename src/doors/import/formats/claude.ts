/**
 * Reads the data export of Claude (`conversations.json`): `chat_messages` with `sender` and `text`.
 * Source: support.claude.com "How can I export my Claude data?"; github.com/Sinity/polylogue
 * docs/providers/claude-ai.md.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { contentText } from '../../traces/content.ts';
import type { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations, objectsOf } from './format.ts';

export const claude = conversations({
  name: 'claude',
  title: 'Claude export',
  recognise: byShare({
    holds: (value) => Array.isArray(value['chat_messages']),
    confidence: 0.99,
    reason: 'entries have chat_messages',
  }),
  read(value, omitted) {
    const { chat_messages: messages, account } = value;
    if (!Array.isArray(messages)) return { fault: 'chat_messages: missing; expected an array' };
    const visible = pathTo(messages, value['current_leaf_message_uuid']);
    return {
      id: textOf(value['uuid']),
      source: 'claude',
      userId: isObject(account) ? textOf(account['uuid']) : undefined,
      metadata: { title: textOf(value['name']) },
      messages,
      turn(message) {
        if (visible?.has(message['uuid']) === false) return 'message of another branch';
        for (const name of ['attachments', 'files'])
          omitted.add('attachment', objectsOf(message[name]).length);
        const content = textIn(message, omitted);
        return { role: textOf(message['sender']), content, createdAt: textOf(message['created_at']) };
      },
      faultAt: (index) => `chat_messages.${index}: must be an object with sender and text`,
    };
  },
});

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

/**
 * Reads conversations of Intercom's API: the opening message (`source`) and `conversation_parts`.
 * Source: developers.intercom.com/docs/references/rest-api/api.intercom.io/conversations (the conversation model).
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, shareOf, unlessThin, type EntryFormat, type Reading, type Turn } from './format.ts';
import { htmlText } from './html.ts';

/** Types of parts that the customer sees if they have a body: closing and assigning may include an answer. */
const PUBLIC_PARTS = new Set(['comment', 'open', 'close', 'quick_reply', 'assignment']);
const CUSTOMERS = new Set(['user', 'lead', 'contact', 'visitor']);

export const intercom: EntryFormat = {
  kind: 'entries',
  name: 'intercom',
  title: 'Intercom conversations',
  recognise({ values }) {
    const recognition = byShare(
      shareOf(
        values,
        ({ type, source, conversation_parts: parts }) =>
          (type === 'conversation' || isObject(parts)) && isObject(source) && isObject(source['author']),
      ),
      0.98,
      'entries are conversations with a source and its author',
    );
    // The list endpoint returns conversations without their parts.
    const isThin =
      shareOf(values, ({ conversation_parts: parts }) => parts !== undefined && parts !== null) === 0;
    return unlessThin(
      recognition,
      isThin,
      'none has conversation_parts, so every answer is missing; retrieve each conversation by its id',
    );
  },
  read(value): Reading {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const { source, conversation_parts: list } = value;
    if (!isObject(source))
      return { fault: 'source: missing; expected the message that opened the conversation' };
    const omitted = new OmissionCounts();
    const turns: Turn[] = [];
    add(turns, source, value['created_at'], omitted);
    const parts: unknown = isObject(list) ? list['conversation_parts'] : list;
    const present = Array.isArray(parts) ? parts : [];
    for (const part of present as readonly unknown[]) {
      if (!isObject(part)) return { fault: 'conversation_parts: must be objects' };
      const type = textOf(part['part_type']) ?? 'comment';
      if (PUBLIC_PARTS.has(type)) add(turns, part, part['created_at'], omitted);
      else omitted.add(type.startsWith('note') ? 'internal note' : 'event');
    }
    const total =
      isObject(list) && typeof list['total_count'] === 'number' ? list['total_count'] : present.length;
    omitted.add('part that the export lacks', Math.max(0, total - present.length));
    const subject = htmlText(textOf(source['subject']) ?? '');
    return {
      line: {
        id: textOf(value['id']),
        source: 'intercom',
        turns,
        ...(subject === '' ? {} : { metadata: { subject } }),
      },
      omitted: omitted.all,
    };
  },
};

function add(
  turns: Turn[],
  { author, body, redacted }: Record<string, unknown>,
  createdAt: unknown,
  omitted: OmissionCounts,
): void {
  const content = typeof body === 'string' ? htmlText(body) : '';
  if (content === '') {
    omitted.add(redacted === true ? 'redacted part' : 'event');
    return;
  }
  const { type, id } = isObject(author) ? author : {};
  const isCustomer = typeof type === 'string' && CUSTOMERS.has(type);
  const userId = textOf(id);
  turns.push({
    role: isCustomer ? 'user' : 'assistant',
    content,
    ...(typeof createdAt === 'number' || typeof createdAt === 'string' ? { createdAt } : {}),
    ...(isCustomer && userId !== undefined ? { userId } : {}),
  });
}

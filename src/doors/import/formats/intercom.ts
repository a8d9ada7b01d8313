/**
 * Reads conversations of Intercom's API: the opening message (`source`) and `conversation_parts`.
 * Source: developers.intercom.com/docs/references/rest-api/api.intercom.io/conversations (the conversation model).
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations } from './format.ts';
import { htmlText } from './html.ts';

/** Types of parts that the customer sees if they have a body: closing and assigning may include an answer. */
const PUBLIC_PARTS = new Set(['comment', 'open', 'close', 'quick_reply', 'assignment']);
const CUSTOMERS = new Set(['user', 'lead', 'contact', 'visitor']);

export const intercom = conversations({
  name: 'intercom',
  title: 'Intercom conversations',
  recognise: byShare({
    holds: ({ type, source, conversation_parts: parts }) =>
      (type === 'conversation' || isObject(parts)) && isObject(source) && isObject(source['author']),
    confidence: 0.98,
    reason: 'entries are conversations with a source and its author',
    // The list endpoint returns conversations without their parts.
    needs: {
      isIn: ({ conversation_parts: parts }) => parts !== undefined && parts !== null,
      otherwise:
        'none has conversation_parts, so every answer is missing; retrieve each conversation by its id',
    },
  }),
  read(value, omitted) {
    const { source, conversation_parts: list, created_at: openedAt } = value;
    if (!isObject(source))
      return { fault: 'source: missing; expected the message that opened the conversation' };
    const parts: unknown = isObject(list) ? list['conversation_parts'] : list;
    const present = Array.isArray(parts) ? (parts as unknown[]) : [];
    const total =
      isObject(list) && typeof list['total_count'] === 'number' ? list['total_count'] : present.length;
    omitted.add('part that the export lacks', Math.max(0, total - present.length));
    const subject = htmlText(textOf(source['subject']) ?? '');
    return {
      id: textOf(value['id']),
      source: 'intercom',
      metadata: subject === '' ? undefined : { subject },
      messages: [{ ...source, created_at: openedAt, part_type: 'open' }, ...present],
      turn({ author, body, redacted, part_type: part, created_at: createdAt }) {
        const kind = textOf(part) ?? 'comment';
        if (!PUBLIC_PARTS.has(kind)) return kind.startsWith('note') ? 'internal note' : 'event';
        const content = typeof body === 'string' ? htmlText(body) : '';
        if (content === '') return redacted === true ? 'redacted part' : 'event';
        const { type, id } = isObject(author) ? author : {};
        const isCustomer = typeof type === 'string' && CUSTOMERS.has(type);
        return {
          role: isCustomer ? 'user' : 'assistant',
          content,
          createdAt: typeof createdAt === 'number' || typeof createdAt === 'string' ? createdAt : undefined,
          userId: isCustomer ? textOf(id) : undefined,
        };
      },
      faultAt: () => 'conversation_parts: must be objects',
    };
  },
});

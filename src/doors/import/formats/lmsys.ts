/**
 * Reads LMSYS-Chat-1M and WildChat: `conversation` of `role` and `content`, mostly as Parquet.
 * Source: the dataset cards huggingface.co/datasets/lmsys/lmsys-chat-1m and
 * huggingface.co/datasets/allenai/WildChat-1M.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { utcTime } from '../times.ts';
import { textOf } from '../../traces/values.ts';
import { byShare, conversations, objectsOf } from './format.ts';

export const lmsys = conversations({
  name: 'lmsys',
  title: 'LMSYS-Chat or WildChat',
  recognise: byShare({
    holds: (value) =>
      (textOf(value['conversation_id']) ?? textOf(value['conversation_hash'])) !== undefined &&
      objectsOf(value['conversation']).some((turn) => 'role' in turn && 'content' in turn),
    confidence: 0.97,
    reason: 'entries have a conversation of role and content beside its id or hash',
  }),
  read(value) {
    const { conversation: messages } = value;
    if (!Array.isArray(messages)) return { fault: 'conversation: missing; expected an array' };
    const last = utcTime(value['timestamp']);
    const hash = textOf(value['conversation_hash']);
    return {
      id: textOf(value['conversation_id']) ?? hash,
      source: hash === undefined ? 'lmsys' : 'wildchat',
      userId: textOf(value['hashed_ip']),
      metadata: { model: textOf(value['model']) },
      messages,
      turn({ role: given, content, hashed_ip: user, timestamp }) {
        const role = textOf(given);
        const isNamed = role === 'user' && typeof user === 'string' && user !== '';
        return {
          role,
          content: typeof content === 'string' ? content : '',
          // WildChat has a time on each answer, and on the conversation the time of the last one.
          createdAt: utcTime(timestamp) ?? last,
          userId: isNamed ? user : undefined,
        };
      },
      faultAt: (index) => `conversation.${index}: must be an object with role and content`,
    };
  },
});

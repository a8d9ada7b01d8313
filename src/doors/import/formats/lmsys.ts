/**
 * Reads LMSYS-Chat-1M and WildChat: `conversation` of `role` and `content`, mostly as Parquet.
 * Source: the dataset cards huggingface.co/datasets/lmsys/lmsys-chat-1m and
 * huggingface.co/datasets/allenai/WildChat-1M.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { utcTime } from './utc-time.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, objectsOf, shareOf, type EntryFormat, type Reading, type Turn } from './format.ts';

export const lmsys: EntryFormat = {
  kind: 'entries',
  name: 'lmsys',
  title: 'LMSYS-Chat or WildChat',
  recognise({ values }) {
    return byShare(
      shareOf(
        values,
        (value) =>
          (textOf(value['conversation_id']) ?? textOf(value['conversation_hash'])) !== undefined &&
          objectsOf(value['conversation']).some((turn) => 'role' in turn && 'content' in turn),
      ),
      0.97,
      'entries have a conversation of role and content beside its id or hash',
    );
  },
  read(value): Reading {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    if (!Array.isArray(value['conversation'])) return { fault: 'conversation: missing; expected an array' };
    const omitted = new OmissionCounts();
    const turns: Turn[] = [];
    const last = utcTime(value['timestamp']);
    for (const [index, turn] of (value['conversation'] as unknown[]).entries()) {
      const role = isObject(turn) ? textOf(turn['role']) : undefined;
      if (!isObject(turn) || role === undefined)
        return { fault: `conversation.${index}: must be an object with role and content` };
      const { content, hashed_ip: user } = turn;
      // WildChat has a time on each answer, and on the conversation the time of the last one.
      const createdAt = utcTime(turn['timestamp']) ?? last;
      if (typeof content !== 'string' || content.trim() === '') omitted.add('message without text');
      else
        turns.push({
          role,
          content,
          ...(createdAt === undefined ? {} : { createdAt }),
          ...(role === 'user' && typeof user === 'string' && user !== '' ? { userId: user } : {}),
        });
    }
    const hash = textOf(value['conversation_hash']);
    const user = textOf(value['hashed_ip']);
    const model = textOf(value['model']);
    return {
      line: {
        id: textOf(value['conversation_id']) ?? hash,
        source: hash === undefined ? 'lmsys' : 'wildchat',
        turns,
        ...(user === undefined ? {} : { userId: user }),
        ...(model === undefined ? {} : { metadata: { model } }),
      },
      omitted: omitted.all,
    };
  },
};

/**
 * Reads WhatsApp chats exported as text (`_chat.txt`, `WhatsApp Chat with ….txt`), after `whatsapp-chat.ts` has cut
 * them into conversations.
 *
 * Test: test/doors/import/formats/whatsapp.test.ts.
 */
import { roleOf } from '../../../domain/records.ts';
import { formatInstant } from '../../../domain/time.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { objectsOf, type EntryFormat, type Reading, type Turn } from './format.ts';
import { ASSISTANT_WORDS } from './whatsapp-words.ts';
import type { Omissions } from '../../traces/omissions.ts';

/** Creates the format for a chat with these roles by name; everybody else is a user. */
export function whatsappFormat(roles: ReadonlyMap<string, string>): EntryFormat {
  return {
    kind: 'entries',
    name: 'whatsapp',
    title: 'WhatsApp chat',
    recognise: ({ shape }) =>
      shape === 'chat' ? { confidence: 0.9, reason: 'messages begin with date and name' } : null,
    read: (value) => readStretch(value, roles),
  };
}

export const whatsapp = whatsappFormat(new Map());

function readStretch(value: unknown, roles: ReadonlyMap<string, string>): Reading {
  if (!isObject(value) || !Array.isArray(value['messages'])) return { fault: 'no messages of a chat' };
  const turns = objectsOf(value['messages']).map(({ name, text, at }): Turn => {
    const who = textOf(name) ?? '';
    const role = roles.get(who) ?? 'user';
    return {
      role,
      content: textOf(text) ?? '',
      ...(roleOf(role) === 'user' && who !== '' ? { userId: who } : {}),
      ...(typeof at === 'number' && Math.abs(at) < MOST_MICROS ? { createdAt: formatInstant(at) } : {}),
    };
  });
  const omitted =
    value['omitted'] instanceof Map ? (value['omitted'] as Omissions) : new Map<string, number>();
  return { line: { id: textOf(value['id']), source: 'whatsapp', turns }, omitted };
}

/** End of year 9999, microseconds. */
const MOST_MICROS = 253_402_300_799_000_000;

/**
 * Returns roles by name: the given ones, otherwise the only name that sounds like an assistant. Null if that is
 * undecided. If `given` has an assistant or covers all names, the rest are users.
 */
export function rolesOfChat(
  names: Iterable<string>,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | null {
  const all = [...names];
  const known = new Map(
    all.flatMap((name) => (given.has(name) ? [[name, given.get(name) ?? ''] as const] : [])),
  );
  const hasAssistant = [...known.values()].some((role) => roleOf(role) === 'assistant');
  if (hasAssistant || all.every((name) => known.has(name))) return known;
  const called = all.filter((name) => !known.has(name) && isCalledAssistant(name));
  const [only] = called;
  return only === undefined || called.length > 1 ? null : new Map([...known, [only, 'assistant']]);
}

function isCalledAssistant(name: string): boolean {
  if (name.toLowerCase() === 'meta ai') return true;
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => ASSISTANT_WORDS.has(word.toLowerCase()) || /\p{Ll}Bot$/u.test(word));
}

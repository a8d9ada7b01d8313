/**
 * Words titles and texts that are gone, and finds the turns that may be requests.
 *
 * Test: test/web/page/transcript-words.test.ts.
 */
import { roleOf } from '../../../domain/records.ts';
import type { SessionResponse } from './api.ts';
import { counted } from './format.ts';

type Message = SessionResponse['messages'][number];

/** What the title of a conversation is made of. */
interface Titled {
  readonly title?: string | null | undefined;
  readonly outcome?: string | null | undefined;
  readonly language?: string | null | undefined;
}

/**
 * Returns true if the retention removed title and texts. Whoever asked for something or has a language said something,
 * and then there was a title; the retention removes the title and keeps the others.
 */
export function isTextRemoved({ title = null, outcome = null, language = null }: Titled): boolean {
  return title === null && (outcome !== null || language !== null);
}

/** `topic`: name of its topic, if known; `otherwise`: the title if nothing was said. */
export function titleOf(session: Titled, topic: string | null, otherwise: string): string {
  if (typeof session.title === 'string') return session.title;
  if (!isTextRemoved(session)) return otherwise;
  return topic === null ? 'Text removed' : `${topic} · text removed`;
}

export function isOfUser({ role }: Pick<Message, 'role'>): boolean {
  return role !== null && roleOf(role) === 'user';
}

const GONE = {
  EXPIRED: 'Removed: the text was kept long enough.',
  DELETED: 'The text was deleted.',
  ERASED: 'The text was erased.',
  UNREADABLE: 'The text cannot be read: its entry in the stream is damaged.',
} as const;

/** Explains why a text is gone. `textDays`: days that the instance keeps texts; null if unknown. */
export function goneWords(gone: Message['gone'], textDays: number | null): string {
  return gone === 'EXPIRED' && textDays !== null
    ? `Removed: texts are kept for ${counted(textDays, 'day')}.`
    : GONE[gone ?? 'UNREADABLE'];
}

/** A shorter message is an answer or a greeting. */
const FEWEST_WORDS = 3;
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * Returns true if a user's message may be a request: it asks again, or it is long enough, has no signal, and does not
 * stay with the topic under discussion, as "ok, I will do that" does. `topicBefore`: id of the topic of the user's turn
 * before; null: none.
 */
export function mayAsk(
  {
    content,
    signals,
    repeatedRequest,
    topic,
  }: Pick<Message, 'content' | 'signals' | 'repeatedRequest' | 'topic'>,
  topicBefore: string | null,
): boolean {
  if (repeatedRequest !== null) return true;
  if (topic !== null && topic.id === topicBefore) return false;
  const wordSegments = [...words.segment(content ?? '')].filter(({ isWordLike }) => isWordLike === true);
  return signals.length === 0 && wordSegments.length >= FEWEST_WORDS;
}

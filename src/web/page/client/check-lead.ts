/**
 * Chooses the turns of a conversation that a check shows first. Keeps the invariant that the choice does not depend on
 * whether the checked topic, signal, gap or outcome was found in the conversation, which would decide for the reader: of
 * findings, it only knows where the assistant admits a gap, whichever that is.
 *
 * Test: test/web/page/check-lead.test.ts.
 */
import type { Checked } from '../../../domain/checks.ts';
import type { SessionResponse } from './api.ts';
import { isOfUser } from './transcript-words.ts';

type Message = SessionResponse['messages'][number];

/** A turn of the lead. */
export interface LeadTurn {
  readonly message: Message;
  /** The most characters (UTF-16 units) to show before somebody asks for more. */
  readonly most: number;
}

/** Lengths of a message of the user, of a reply that only helps to understand it, and of a reply that decides. */
const OF_USER = 160;
const OF_HELP = 32;
const OF_REPLY = 64;

const WROTE = 'You see what the user wrote.';
const ADMITS =
  'You see where the assistant says that it cannot do or does not know something, and the question before; otherwise ' +
  'what the user wrote.';

/** What people read first in a check of this, as a sentence on the page. */
export const LEAD_WORDS: Readonly<Record<Checked, string>> = {
  TOPIC: WROTE,
  REPEATED_REQUEST: WROTE,
  LABEL: WROTE,
  SIGNAL: 'You see how the user reacts, and how the reply before begins.',
  GAP: ADMITS,
  GAP_TYPE: ADMITS,
  OUTCOME: 'You see how the conversation ends.',
};

/** Returns the turns, in their order: what the user wrote if there is none of the kind; else, all. */
export function leadOf(of: Checked, messages: readonly Message[]): readonly LeadTurn[] {
  const mostOfReply = of === 'SIGNAL' ? OF_HELP : OF_REPLY;
  const turns = messages.map((message) => ({ message, most: isOfUser(message) ? OF_USER : mostOfReply }));
  const chosen = turns.filter((_, index) => decides(of, messages, index));
  const written = turns.filter(({ message }) => isOfUser(message));
  return [chosen, written, turns].find((some) => some.length > 0) ?? [];
}

function decides(of: Checked, messages: readonly Message[], index: number): boolean {
  const message = messages[index]!;
  switch (of) {
    case 'TOPIC':
    case 'REPEATED_REQUEST':
    case 'LABEL':
      return isOfUser(message);
    case 'SIGNAL': {
      // A reaction, or the reply before one.
      const at = isOfUser(message) ? index : index + 1;
      const isAnswered = messages.slice(0, at).some((before) => !isOfUser(before));
      return isAnswered && at < messages.length && isOfUser(messages[at]!);
    }
    case 'GAP':
    case 'GAP_TYPE': {
      // A reply that admits any gap, or the question before one.
      const next = messages.findIndex((other, at) => at > index && (other.gap !== null || isOfUser(other)));
      return message.gap !== null || (isOfUser(message) && (messages[next]?.gap ?? null) !== null);
    }
    case 'OUTCOME': {
      const last = messages.findLastIndex(isOfUser);
      return last >= 0 && index >= last - 1;
    }
  }
}

/** A text that is longer by less is not cut: reading where it was cut takes as long. */
const SOFT = 0.25;

/** Returns the beginning of a text of at most `most` characters (UTF-16 units) and a quarter, cut between words if it can. */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most * (1 + SOFT)) return text;
  const space = text.lastIndexOf(' ', most);
  if (space > most / 2) return text.slice(0, space);
  // Not within a surrogate pair.
  return String.fromCodePoint(text.codePointAt(most - 1)!).length > 1
    ? text.slice(0, most - 1)
    : text.slice(0, most);
}

/** Covered by test/traces/assembly/known-turns.test.ts. */
import { hash } from 'node:crypto';
import type { ObservedMessage } from '../observation.ts';

/** A message, and what its text is known by. */
export interface SaidMessage extends ObservedMessage {
  /** Of its text, white space aside. */
  readonly hash: string;
}

/** What a span says about a conversation. */
export interface SpokenSpan {
  /** Names the trace. */
  readonly trace: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly asked: readonly SaidMessage[];
  readonly answered: readonly SaidMessage[];
  /** It goes on with a question of an earlier call. */
  readonly continues: boolean;
  /** Nothing is above it: its trace is this call alone, so others of the same turn are in other traces. */
  readonly alone: boolean;
}

/** Cut into what was said before, what is asked, what was said to that before a tool was used, and what came out. */
export interface SpanParts<Message = SaidMessage> {
  readonly history: readonly Message[];
  readonly questions: readonly Message[];
  readonly steps: readonly Message[];
  readonly answers: readonly Message[];
}

/** Many times what two texts of one conversation need to differ: 66 bits. */
const HASH_CHARACTERS = 11;
/** Texts whose hashes are remembered: calls repeat what was said before. */
const REMEMBERED = 10_000;

/** Names texts by their hashes. */
export class TextHashes {
  #known = new Map<string, string>();

  of(content: string): string {
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    const normal = content.trim().replace(/\s+/gu, ' ');
    const name = hash('sha256', normal, 'base64url').slice(0, HASH_CHARACTERS);
    if (this.#known.size === REMEMBERED) this.#known = new Map();
    this.#known.set(content, name);
    return name;
  }
}

/** Each is looked for by itself; what a person said before so many in a row is history. */
const MAX_QUESTIONS = 200;

export function partsOf<Message extends ObservedMessage>(span: {
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
  readonly continues?: boolean;
}): SpanParts<Message> {
  const { asked, answered, continues = false } = span;
  // What comes after the last answer is asked now; a span that goes on with a question has said something since.
  const behind = continues ? asked.findLastIndex(({ role }) => role === 'user') + 1 : asked.length;
  const lastAnswer = asked.slice(0, behind).findLastIndex(({ role }) => role === 'assistant');
  const begin = Math.max(lastAnswer + 1, behind - MAX_QUESTIONS);
  return {
    history: asked.slice(0, begin),
    questions: asked.slice(begin, behind),
    steps: asked.slice(behind),
    answers: answered,
  };
}

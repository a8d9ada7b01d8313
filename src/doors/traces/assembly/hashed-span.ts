/**
 * What a span says about a conversation, each text with its hash. Keeps the invariant that texts which differ in white
 * space alone, or in whether a masked value can be read again, have the same hash. Test: test/doors/traces/assembly/merge-span.test.ts.
 */
import { hash } from 'node:crypto';
import type { ObservedMessage } from '../observation.ts';
import { withoutSeals } from '../tokens.ts';

/** A message, and the hash of its text. */
export interface HashedMessage extends ObservedMessage {
  readonly hash: string;
}

export interface HashedSpan {
  /** Names the trace. */
  readonly trace: string;
  /** Microseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly asked: readonly HashedMessage[];
  readonly answered: readonly HashedMessage[];
  /** The span goes on with a question of an earlier call. */
  readonly continues: boolean;
  /** The span is the whole trace, so other calls of the same turn are in other traces. */
  readonly alone: boolean;
}

/** The messages of a span: said before, asked now, answered to that before a tool was used, and answered now. */
export interface SpanParts<Message = HashedMessage> {
  readonly history: readonly Message[];
  readonly questions: readonly Message[];
  readonly steps: readonly Message[];
  readonly answers: readonly Message[];
}

/** The length of a hash: 66 bits, many times what two texts of one conversation need to differ. */
const HASH_CHARACTERS = 11;
/** So many texts keep their hashes in memory, because calls repeat what was said before. */
const REMEMBERED = 10_000;
/** A span asks at most so many questions; what a person said before them in a row is history. */
const MAX_QUESTIONS = 200;

/** Names texts by their hashes. */
export class TextHashes {
  #known = new Map<string, string>();

  of(content: string): string {
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    const normal = withoutSeals(content).trim().replace(/\s+/gu, ' ');
    const name = hash('sha256', normal, 'base64url').slice(0, HASH_CHARACTERS);
    if (this.#known.size === REMEMBERED) this.#known = new Map();
    this.#known.set(content, name);
    return name;
  }
}

/** Cuts the messages of a span into parts. */
export function partsOf<Message extends ObservedMessage>(span: {
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
  readonly continues?: boolean;
}): SpanParts<Message> {
  const { asked, answered, continues = false } = span;
  // The questions follow the last answer. A span that continues has said something since its question.
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

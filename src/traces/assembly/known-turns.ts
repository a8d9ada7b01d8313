import { createHash } from 'node:crypto';
import type { ObservedMessage } from '../observation.ts';
import { alignHistory } from './history-alignment.ts';

/** A turn of a conversation that has been counted. Turns are kept in their order. */
export interface KnownTurn {
  readonly role: 'user' | 'assistant';
  /** Of its text, white space aside. */
  readonly hash: string;
  /**
   * Microseconds; ascending over the turns that were seen in a call of their own. Of one that was only seen in a
   * later call's history: the start of that call, so at the latest then.
   */
  at: number;
  /** It was only seen in the history of a later call. */
  inferred: boolean;
  /** Names the trace. */
  readonly trace: string;
}

/** What a span says about a conversation. */
export interface SpokenSpan {
  /** Names the trace. */
  readonly trace: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly asked: readonly ObservedMessage[];
  readonly answered: readonly ObservedMessage[];
  /** It goes on with a question of an earlier call. */
  readonly continues: boolean;
}

/** A message that nobody had counted. */
export interface NewMessage extends ObservedMessage {
  readonly at: number;
}

/** Cut into what was said before, what is asked now and what came out. */
export interface SpanParts {
  readonly history: readonly ObservedMessage[];
  readonly questions: readonly ObservedMessage[];
  readonly answers: readonly ObservedMessage[];
}

/** Many times what two texts of one conversation need to differ: 66 bits. */
const HASH_CHARACTERS = 11;

export function hashOf(content: string): string {
  const normal = content.trim().split(/\s+/u).join(' ');
  return createHash('sha256').update(normal).digest('base64url').slice(0, HASH_CHARACTERS);
}

/** What comes after the last answer is asked now; of a span that goes on with a question, nothing is. */
export function partsOf({ asked, answered, continues }: SpokenSpan): SpanParts {
  let taken = asked.filter(isSpoken);
  let given = answered.filter(isSpoken);
  // An answer may repeat the whole conversation.
  const lastUser = given.findLastIndex(({ role }) => role === 'user');
  if (lastUser >= 0) {
    if (lastUser + 1 > taken.length) taken = given.slice(0, lastUser + 1);
    given = given.slice(lastUser + 1);
  }
  const lastAnswer = taken.findLastIndex(({ role }) => role === 'assistant');
  const end = continues ? taken.length : lastAnswer + 1;
  return { history: taken.slice(0, end), questions: taken.slice(end), answers: given };
}

function isSpoken({ content }: ObservedMessage): boolean {
  return content.trim() !== '';
}

/**
 * Merges what a span says into the known turns of its conversation, which it changes, and returns what is new. Each
 * message counts once: calls repeat the history, are tried again, and arrive in any order.
 */
export function mergeSpan(turns: KnownTurn[], span: SpokenSpan, forgotten: boolean): NewMessage[] {
  const parts = partsOf(span);
  const merge = new Merge(turns, span);
  merge.addHistory(parts.history, forgotten);
  merge.addQuestions(parts.questions, parts.answers);
  merge.addAnswers(parts.answers);
  return merge.added;
}

class Merge {
  readonly added: NewMessage[] = [];
  readonly #turns: KnownTurn[];
  readonly #span: SpokenSpan;
  /** Turns that this span's messages were found to be: none is two messages. */
  readonly #taken = new Set<KnownTurn>();
  /** Where the questions are looked for: behind the history. Null: where the time says. */
  #place: number | null = null;
  /** Where the answers are looked for: behind the question. */
  #behind: number;

  constructor(turns: KnownTurn[], span: SpokenSpan) {
    this.#turns = turns;
    this.#span = span;
    this.#behind = this.#zone().end;
  }

  /** Turns that may belong before or behind the start of the span: from the last answer that was given before it. */
  #zone(): { readonly begin: number; readonly end: number } {
    const { startedAt } = this.#span;
    const later = this.#turns.findIndex(({ at, inferred }) => !inferred && at > startedAt);
    const end = later < 0 ? this.#turns.length : later;
    const isAnswer = ({ role, inferred }: KnownTurn): boolean => role === 'assistant' && !inferred;
    return { begin: this.#turns.slice(0, end).findLastIndex(isAnswer) + 1, end };
  }

  /** `forgotten`: the beginning of the conversation was counted, and is no longer known. */
  addHistory(history: readonly ObservedMessage[], forgotten: boolean): void {
    if (history.length === 0) return;
    const said = history.map(({ role, content }) => ({ role, hash: hashOf(content) }));
    const { places, place } = alignHistory(this.#turns, said, this.#zone());
    const first = places.findIndex((found) => found !== null);
    // Inserting moves what is behind.
    let moved = 0;
    let next = first < 0 ? this.#zone().begin : (places[first] ?? 0);
    for (const [index, message] of history.entries()) {
      const found = places[index] ?? null;
      if (found !== null) {
        const turn = this.#turns[found + moved] as KnownTurn;
        this.#taken.add(turn);
        next = found + moved + 1;
        continue;
      }
      const turn = this.#turn(message, this.#span.startedAt, true);
      this.#turns.splice(next, 0, turn);
      this.#taken.add(turn);
      next += 1;
      moved += 1;
      if (!forgotten || (first >= 0 && index > first)) this.#add(message, this.#span.startedAt);
    }
    this.#place = place === null ? null : Math.max(place + moved, next);
    this.#behind = this.#place ?? this.#zone().end;
  }

  addQuestions(questions: readonly ObservedMessage[], answers: readonly ObservedMessage[]): void {
    const answer = answers[0] === undefined ? null : hashOf(answers[0].content);
    for (const message of questions) {
      const hash = hashOf(message.content);
      const found = this.#place === null ? this.#sameByTime(hash, answer) : this.#sameBehind(hash);
      if (found !== null) {
        this.#recognise(found, this.#span.startedAt);
        this.#behind = found + 1;
      } else {
        const at = this.#place === null ? this.#zone().end : this.#behind;
        this.#insert(at, message, this.#span.startedAt);
        this.#behind = at + 1;
      }
      if (this.#place !== null) this.#place = this.#behind;
    }
  }

  addAnswers(answers: readonly ObservedMessage[]): void {
    for (const message of answers) {
      const hash = hashOf(message.content);
      const end = this.#untilQuestion(this.#behind);
      const found = this.#find(this.#behind, end, (turn) => turn.role === 'assistant' && turn.hash === hash);
      if (found !== null) {
        this.#recognise(found, this.#span.endedAt);
        this.#behind = found + 1;
        continue;
      }
      const later = this.#find(this.#behind, end, ({ at, inferred }) => !inferred && at > this.#span.endedAt);
      this.#insert(later ?? end, message, this.#span.endedAt);
      this.#behind = (later ?? end) + 1;
    }
  }

  /** The equal question among the user turns that follow the history. */
  #sameBehind(hash: string): number | null {
    const begin = this.#place ?? 0;
    let end = begin;
    while (this.#turns[end]?.role === 'user') end += 1;
    return this.#find(begin, end, (turn) => turn.hash === hash);
  }

  /** The equal question near the start of the span, with no answer between them. */
  #sameByTime(hash: string, answer: string | null): number | null {
    const { begin, end } = this.#zone();
    const isEqual = ({ role, hash: known }: KnownTurn): boolean => role === 'user' && known === hash;
    const answered = this.#find(begin, end, (turn, index) => {
      const next = this.#turns[index + 1];
      return turn.inferred && isEqual(turn) && next?.role === 'assistant' && next.hash === answer;
    });
    if (answered !== null) return answered;
    const before = this.#find(begin, end, (turn, index) => isEqual(turn) && this.#untilAnswer(index) >= end);
    if (before !== null) return before;
    const inferred = this.#find(begin, end, (turn) => turn.inferred && isEqual(turn));
    if (inferred !== null) return inferred;
    // A question behind the answer of this span is another one.
    const behind = this.#find(end, this.#untilAnswer(end), (turn) => {
      return isEqual(turn) && (answer === null || turn.at <= this.#span.endedAt);
    });
    if (behind !== null) return behind;
    // A step of the same trace repeats its question behind what was said meanwhile.
    const last = this.#turns.slice(0, end).findLastIndex(({ role }) => role === 'user');
    const turn = this.#turns[last];
    return turn !== undefined && isEqual(turn) && turn.trace === this.#span.trace && !this.#taken.has(turn)
      ? last
      : null;
  }

  #find(from: number, to: number, fits: (turn: KnownTurn, index: number) => boolean): number | null {
    for (let index = from; index < to; index += 1) {
      const turn = this.#turns[index];
      if (turn !== undefined && !this.#taken.has(turn) && fits(turn, index)) return index;
    }
    return null;
  }

  #untilQuestion(from: number): number {
    let end = from;
    while (this.#turns[end]?.role === 'assistant') end += 1;
    return end;
  }

  #untilAnswer(from: number): number {
    let end = from;
    while (this.#turns[end]?.role === 'user') end += 1;
    return end;
  }

  /** The turn is this span's own: now its time is known. */
  #recognise(index: number, at: number): void {
    const turn = this.#turns[index] as KnownTurn;
    this.#taken.add(turn);
    if (!turn.inferred) return;
    turn.inferred = false;
    turn.at = this.#between(index, index + 1, at);
  }

  #insert(index: number, message: ObservedMessage, at: number): void {
    const turn = this.#turn(message, this.#between(index, index, at), false);
    this.#turns.splice(index, 0, turn);
    this.#taken.add(turn);
    this.#add(message, at);
  }

  /** A time that keeps those of the turns before `before` and from `behind` on in order. */
  #between(before: number, behind: number, at: number): number {
    const isExact = ({ inferred }: KnownTurn): boolean => !inferred;
    const previous = this.#turns.slice(0, before).findLast(isExact)?.at ?? -Infinity;
    const next = this.#turns.slice(behind).find(isExact)?.at ?? Infinity;
    return Math.min(Math.max(at, previous), next);
  }

  #turn({ role, content }: ObservedMessage, at: number, inferred: boolean): KnownTurn {
    return { role, hash: hashOf(content), at, inferred, trace: this.#span.trace };
  }

  #add({ role, content }: ObservedMessage, at: number): void {
    this.added.push({ role, content, at });
  }
}

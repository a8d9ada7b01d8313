import { createHash } from 'node:crypto';
import type { ObservedMessage } from '../observation.ts';
import { alignHistory } from './history-alignment.ts';

/** A turn of a conversation that has been counted. Turns are kept in their order. */
export interface KnownTurn {
  readonly role: 'user' | 'assistant';
  /** Of its text, white space aside. */
  readonly hash: string;
  /** Microseconds; ascending over all turns but those that are inferred from a history. */
  at: number;
  /**
   * Not null: the call that it was said in has not been seen. `history`: a later call repeats it, so `at` is when it
   * had been said at the latest. `step`: it was said shortly before a call that goes on with it after a tool.
   */
  inferred: 'history' | 'step' | null;
  /** Names the trace. */
  trace: string;
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
  /** Nothing is above it: its trace is this call alone, so others of the same turn are in other traces. */
  readonly alone: boolean;
}

/** A message that nobody had counted. */
export interface NewMessage extends ObservedMessage {
  readonly at: number;
}

/** Cut into what was said before, what is asked, what was said to that before a tool was used, and what came out. */
export interface SpanParts {
  readonly history: readonly ObservedMessage[];
  readonly questions: readonly ObservedMessage[];
  readonly steps: readonly ObservedMessage[];
  readonly answers: readonly ObservedMessage[];
}

/** Many times what two texts of one conversation need to differ: 66 bits. */
const HASH_CHARACTERS = 11;

export function hashOf(content: string): string {
  const normal = content.trim().split(/\s+/u).join(' ');
  return createHash('sha256').update(normal).digest('base64url').slice(0, HASH_CHARACTERS);
}

/** Each is looked for by itself; what a person said before so many in a row is history. */
const MAX_QUESTIONS = 200;

export function partsOf({ asked, answered, continues }: SpokenSpan): SpanParts {
  let taken = asked.filter(isSpoken);
  let given = answered.filter(isSpoken);
  // An answer may repeat the whole conversation.
  const lastUser = given.findLastIndex(({ role }) => role === 'user');
  if (lastUser >= 0) {
    if (lastUser + 1 > taken.length) taken = given.slice(0, lastUser + 1);
    given = given.slice(lastUser + 1);
  }
  // What comes after the last answer is asked now; a span that goes on with a question has said something since.
  const behind = continues ? taken.findLastIndex(({ role }) => role === 'user') + 1 : taken.length;
  const lastAnswer = taken.slice(0, behind).findLastIndex(({ role }) => role === 'assistant');
  const begin = Math.max(lastAnswer + 1, behind - MAX_QUESTIONS);
  return {
    history: taken.slice(0, begin),
    questions: taken.slice(begin, behind),
    steps: taken.slice(behind),
    answers: given,
  };
}

function isSpoken({ content }: ObservedMessage): boolean {
  return content.trim() !== '';
}

export interface MergeOptions {
  /** The beginning of the conversation was counted, and is no longer known. */
  readonly forgotten?: boolean;
  /** The turns are so many of the first messages of the history, and no more. */
  readonly begun?: number | undefined;
}

/**
 * Merges what a span says into the known turns of its conversation, which it changes, and returns what is new. Each
 * message counts once: calls repeat the history, are tried again, and arrive in any order.
 */
export function mergeSpan(turns: KnownTurn[], span: SpokenSpan, options: MergeOptions = {}): NewMessage[] {
  const parts = partsOf(span);
  const merge = new Merge(turns, span, parts);
  merge.addHistory(parts.history, options);
  merge.addQuestions(parts.questions, [...parts.steps, ...parts.answers]);
  merge.addAnswers(parts.steps, true);
  merge.addAnswers(parts.answers, false);
  return merge.added;
}

/** What a trace says was only seen in a history until now: the first turns are its own, in this order. */
export function recogniseTurns(turns: KnownTurn[], own: readonly KnownTurn[]): void {
  for (const [index, { inferred, at, trace }] of own.entries()) {
    const turn = turns[index];
    if (turn === undefined || inferred !== null || turn.inferred === null) continue;
    turns[index] = { ...turn, inferred: null, at: timeBetween(turns, index, index + 1, at), trace };
  }
}

/** A time that keeps those of the turns before `before` and from `behind` on in order. */
function timeBetween(turns: readonly KnownTurn[], before: number, behind: number, at: number): number {
  let previous = before - 1;
  while (previous >= 0 && !isTimed(turns[previous] as KnownTurn)) previous -= 1;
  let next = behind;
  while (next < turns.length && !isTimed(turns[next] as KnownTurn)) next += 1;
  return Math.min(Math.max(at, turns[previous]?.at ?? -Infinity), turns[next]?.at ?? Infinity);
}

function isTimed({ inferred }: KnownTurn): boolean {
  return inferred !== 'history';
}

class Merge {
  readonly added: NewMessage[] = [];
  readonly #turns: KnownTurn[];
  readonly #span: SpokenSpan;
  /** Turns that this span's messages were found to be: none is two messages. */
  readonly #taken = new Set<KnownTurn>();
  /** Hashes of what the assistant said since the question that this span goes on with. */
  readonly #steps: readonly string[];
  /** What was said before that question. */
  readonly #lastBefore: string | undefined;
  /** Of that question; null: this span asks its own. */
  readonly #question: string | null;
  /** Where the questions are looked for: behind the history. Null: where the time says. */
  #place: number | null = null;
  /** Where the answers are looked for: behind the question. */
  #behind: number;

  constructor(turns: KnownTurn[], span: SpokenSpan, { history, questions, steps }: SpanParts) {
    this.#turns = turns;
    this.#span = span;
    this.#steps = steps.map(({ content }) => hashOf(content));
    const last = history.at(-1);
    this.#lastBefore = last === undefined ? undefined : hashOf(last.content);
    const question = span.continues ? questions.at(-1) : undefined;
    this.#question = question === undefined ? null : hashOf(question.content);
    this.#behind = this.#zone().end;
  }

  /** Turns that may belong before or behind the start of the span: from the last answer that was given before it. */
  #zone(): { readonly begin: number; readonly end: number } {
    const { startedAt } = this.#span;
    const later = this.#turns.findIndex((turn) => isTimed(turn) && turn.at > startedAt);
    const end = later < 0 ? this.#turns.length : later;
    const isAnswer = (turn: KnownTurn): boolean => turn.role === 'assistant' && isTimed(turn);
    return { begin: this.#turns.slice(0, this.#questionBefore(end)).findLastIndex(isAnswer) + 1, end };
  }

  /**
   * The question that this span goes on with: since then, no more was said before `end` than this span repeats. `end`
   * where there is none.
   */
  #questionBefore(end: number): number {
    if (this.#question === null) return end;
    const fits = (index: number): boolean => this.#isQuestion(index, end);
    const places = Array.from({ length: end }, (_, back) => end - 1 - back).filter(fits);
    const isBehind = (index: number): boolean => this.#turns[index - 1]?.hash === this.#lastBefore;
    const own = places.filter((index) => this.#turns[index]?.trace === this.#span.trace);
    const likely = own.length > 0 ? own : places;
    return likely.find(isBehind) ?? likely[0] ?? end;
  }

  #isQuestion(index: number, end: number): boolean {
    const turn = this.#turns[index] as KnownTurn;
    if (turn.role !== 'user' || turn.hash !== this.#question || !this.#mayBe(turn)) return false;
    const next = this.#untilQuestion(index + 1);
    let step = 0;
    let repeated = 0;
    for (let place = index + 1; place < end; place += 1) {
      const said = this.#turns[place] as KnownTurn;
      if (said.role !== 'assistant') continue;
      const found = place < next ? this.#steps.indexOf(said.hash, step) : -1;
      if (found >= 0) [step, repeated] = [found + 1, repeated + 1];
      else if (isTimed(said)) return false;
    }
    // A history leaves nothing out.
    return turn.inferred !== 'history' || repeated === this.#steps.length;
  }

  addHistory(history: readonly ObservedMessage[], { forgotten = false, begun }: MergeOptions): void {
    if (history.length === 0 && begun !== this.#turns.length) return;
    const said = history.map(({ role, content }) => ({ role, hash: hashOf(content) }));
    const { places, place } =
      begun === this.#turns.length
        ? {
            places: said.map((_, index) => (index < begun ? index : null)),
            place: Math.min(begun, said.length),
          }
        : alignHistory(this.#turns, said, this.#zone());
    const first = places.findIndex((found) => found !== null);
    // Inserting moves what is behind.
    let moved = 0;
    let next = first >= 0 ? (places[first] ?? 0) : begun === this.#turns.length ? 0 : this.#zone().begin;
    for (const [index, message] of history.entries()) {
      const found = places[index] ?? null;
      if (found !== null) {
        const turn = this.#turns[found + moved] as KnownTurn;
        this.#taken.add(turn);
        next = found + moved + 1;
        continue;
      }
      const turn = this.#turn(message, this.#span.startedAt, 'history');
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
        if (!this.#span.continues) this.#recognise(found, this.#span.startedAt);
        this.#taken.add(this.#turns[found] as KnownTurn);
        this.#behind = found + 1;
      } else {
        const at = this.#place === null ? this.#zone().end : this.#behind;
        this.#insert(at, message, this.#span.startedAt, this.#span.continues);
        this.#behind = at + 1;
      }
      if (this.#place !== null) this.#place = this.#behind;
    }
  }

  /** `steps`: they were said in an earlier call. */
  addAnswers(answers: readonly ObservedMessage[], steps: boolean): void {
    const at = steps ? this.#span.startedAt : this.#span.endedAt;
    for (const message of answers) {
      const hash = hashOf(message.content);
      const end = this.#untilQuestion(this.#behind);
      const found = this.#find(this.#behind, end, (turn) => turn.role === 'assistant' && turn.hash === hash);
      if (found !== null) {
        if (!steps) this.#recognise(found, at);
        this.#taken.add(this.#turns[found] as KnownTurn);
        this.#behind = found + 1;
        continue;
      }
      const later = this.#find(this.#behind, end, (turn) => isTimed(turn) && turn.at > at);
      this.#insert(later ?? end, message, at, steps);
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
    const { trace, alone } = this.#span;
    const { begin, end } = this.#zone();
    const isEqual = ({ role, hash: known }: KnownTurn): boolean => role === 'user' && known === hash;
    const own = this.#find(begin, end, (turn) => isEqual(turn) && turn.trace === trace);
    if (own !== null) return own;
    const before = hash === this.#question ? this.#questionBefore(end) : end;
    if (before < end && !this.#taken.has(this.#turns[before] as KnownTurn)) return before;
    const answered = this.#find(begin, end, (turn, index) => {
      const next = this.#turns[index + 1];
      const isAnswered = next?.role === 'assistant' && next.hash === answer;
      return turn.inferred !== null && isAnswered && this.#mayBe(turn) && isEqual(turn);
    });
    if (answered !== null) return answered;
    const near = this.#find(begin, end, (turn) => this.#mayBe(turn) && isEqual(turn));
    if (near !== null) return near;
    // A question behind the answer of this span is another one.
    const behind = this.#find(end, this.#untilAnswer(end), (turn) => {
      if (!isEqual(turn) || !this.#mayBe(turn)) return false;
      if (turn.inferred === 'step' || turn.at <= this.#span.endedAt) return true;
      return turn.trace === trace || (answer === null && alone);
    });
    if (behind !== null) return behind;
    // A step of the same trace repeats its question behind what was said meanwhile.
    const last = this.#turns.slice(0, end).findLastIndex(({ role }) => role === 'user');
    const turn = this.#turns[last];
    return turn !== undefined && isEqual(turn) && turn.trace === trace && !this.#taken.has(turn)
      ? last
      : null;
  }

  /** What a step of a trace goes on with was said in the same trace, unless each call is a trace of its own. */
  #mayBe({ inferred, trace }: KnownTurn): boolean {
    return inferred !== 'step' || this.#span.alone || trace === this.#span.trace;
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
    if (turn.inferred === null) return;
    turn.inferred = null;
    turn.trace = this.#span.trace;
    turn.at = timeBetween(this.#turns, index, index + 1, at);
  }

  #insert(index: number, message: ObservedMessage, at: number, step: boolean): void {
    const turn = this.#turn(message, timeBetween(this.#turns, index, index, at), step ? 'step' : null);
    this.#turns.splice(index, 0, turn);
    this.#taken.add(turn);
    this.#add(message, at);
  }

  #turn({ role, content }: ObservedMessage, at: number, inferred: KnownTurn['inferred']): KnownTurn {
    return { role, hash: hashOf(content), at, inferred, trace: this.#span.trace };
  }

  #add({ role, content }: ObservedMessage, at: number): void {
    this.added.push({ role, content, at });
  }
}

/** Covered by test/traces/assembly/known-turns.test.ts. */
import {
  endOfRun,
  insertTurns,
  timeBetween,
  timedFrom,
  type Insertion,
  type KnownTurn,
} from './known-turn.ts';
import type { SpanPlace, Zone } from './span-zone.ts';
import type { SpokenSpan } from './spoken-span.ts';

/** Turns with the same words, by the reasons for which one may be what a span asks. Indexes, ascending. */
interface Candidates {
  /** Of the same trace. */
  readonly own: Queue;
  /** Not seen in their own calls, and answered with what the span answers. */
  readonly answered: Queue;
  /** Of another trace. */
  readonly others: Queue;
  /** If they stand behind the start of the span: said before it ended, or for another reason no later question. */
  readonly late: Queue;
}

interface Queue {
  readonly indexes: number[];
  head: number;
}

export interface EqualQuestionsOptions {
  /** They are changed at the end, by `settle`. */
  readonly turns: KnownTurn[];
  /** Turns that messages of the span were found to be. */
  readonly taken: Set<KnownTurn>;
  readonly span: SpokenSpan;
  readonly place: SpanPlace;
  /** The hash of what the span says next; null: nothing. */
  readonly answer: string | null;
}

/**
 * Finds the questions of a span without a history among the turns near its start. Each turn is looked at once, and put
 * to its equals by the reason for which it may be the span's. Where several reasons hold, the first counts: it is of
 * the same trace; the span goes on with it; it was answered alike; it stands near; it stands right behind the start;
 * it is the last one before what was said meanwhile.
 */
export class EqualQuestions {
  readonly #options: EqualQuestionsOptions;
  readonly #byHash = new Map<string, Candidates>();
  readonly #insertions: Insertion[] = [];
  #zone: Zone;
  /** The turns before it have been looked at. */
  #lookedUntil: number;
  /** The last turn of a person before the end of the zone. */
  #lastUser: number;

  constructor(options: EqualQuestionsOptions) {
    const { turns, place } = options;
    this.#options = options;
    this.#zone = place.zone(turns);
    this.#lookedUntil = this.#zone.begin;
    this.#lastUser = lastUserBefore(turns, this.#zone.end);
    this.#look();
  }

  /** The turn that the span asks, and has not asked before; null: it is new. */
  find(hash: string): number | null {
    const { begin, end } = this.#zone;
    const equal = this.#byHash.get(hash) ?? NOBODY;
    return (
      this.#first(equal.own, begin, end) ??
      this.#goneOnWith(hash) ??
      this.#first(equal.answered, begin, end, this.#isAnswered) ??
      this.#first(equal.others, begin, end) ??
      this.#first(equal.late, end, this.#lookedUntil) ??
      this.#lastOfTrace(hash)
    );
  }

  /** The turn is the span's own: now its time is known. */
  recognise(index: number): void {
    const { turns, taken, span } = this.#options;
    const turn = turns[index] as KnownTurn;
    taken.add(turn);
    if (turn.inferred === null) return;
    turn.at = timeBetween(turns, index, span.startedAt);
    turn.inferred = null;
    turn.trace = span.trace;
    // It was what the zone ended with.
    if (index !== this.#zone.end) return;
    this.#zone = { ...this.#zone, end: timedFrom(turns, index + 1) };
    this.#lastUser = lastUserBefore(turns, this.#zone.end);
    this.#look();
  }

  /** The question is new: it stands at the end of the zone. */
  insert(turn: KnownTurn): void {
    const { turns, taken, place } = this.#options;
    const { end } = this.#zone;
    const last = this.#insertions.at(-1);
    const before = last?.index === end ? last.turn : turns[end - 1];
    this.#zone = place.asked(turns, this.#zone, turn.hash, before?.hash);
    taken.add(turn);
    this.#insertions.push({ index: end, turn });
  }

  /** Puts the new questions between the turns. Returns the place behind the turn at `index`, or behind the last new one. */
  settle(index: number | null): number {
    const { turns } = this.#options;
    const last = this.#insertions.at(-1);
    const before =
      index === null
        ? this.#insertions.length
        : this.#insertions.filter((insertion) => insertion.index <= index).length;
    insertTurns(turns, this.#insertions);
    return index === null ? (last?.index ?? 0) + before : index + before + 1;
  }

  /** Looks at the turns of persons up to the first answer behind the start of the span. */
  #look(): void {
    const { turns } = this.#options;
    const until = Math.max(this.#lookedUntil, endOfRun(turns, this.#zone.end, 'user'));
    for (let index = this.#lookedUntil; index < until; index += 1) {
      const turn = turns[index] as KnownTurn;
      if (turn.role === 'user') this.#put(turn, index);
    }
    this.#lookedUntil = until;
  }

  #put(turn: KnownTurn, index: number): void {
    const { turns, span, answer } = this.#options;
    const isOwn = turn.trace === span.trace;
    // What a step of a trace goes on with was said in the same trace, unless each call is a trace of its own.
    if (turn.inferred === 'step' && !span.alone && !isOwn) return;
    let equal = this.#byHash.get(turn.hash);
    if (equal === undefined) {
      equal = { own: newQueue(), answered: newQueue(), others: newQueue(), late: newQueue() };
      this.#byHash.set(turn.hash, equal);
    }
    if (isOwn) equal.own.indexes.push(index);
    else {
      equal.others.indexes.push(index);
      const next = turns[index + 1];
      const isAnswered = next?.role === 'assistant' && next.hash === answer;
      if (turn.inferred !== null && isAnswered) equal.answered.indexes.push(index);
    }
    // A question behind the answer of this span is another one.
    const isInTime = turn.inferred === 'step' || turn.at <= span.endedAt;
    if (isInTime || isOwn || (answer === null && span.alone)) equal.late.indexes.push(index);
  }

  /** A new question that stands between a question and its answer has parted them. */
  readonly #isAnswered = (index: number): boolean =>
    !this.#insertions.some((insertion) => insertion.index === index + 1);

  #first(
    queue: Queue,
    from: number,
    to: number,
    fits: (index: number) => boolean = () => true,
  ): number | null {
    const { turns, taken } = this.#options;
    for (; queue.head < queue.indexes.length; queue.head += 1) {
      const index = queue.indexes[queue.head] as number;
      if (index >= to) return null;
      if (index >= from && !taken.has(turns[index] as KnownTurn) && fits(index)) return index;
    }
    return null;
  }

  #goneOnWith(hash: string): number | null {
    const { turns, taken, place } = this.#options;
    const { question, end } = this.#zone;
    if (hash !== place.goneOnWith || question >= end) return null;
    const turn = turns[question];
    return turn === undefined || taken.has(turn) ? null : question;
  }

  /** A step of the same trace repeats its question behind what was said meanwhile. */
  #lastOfTrace(hash: string): number | null {
    const { turns, taken, span } = this.#options;
    const turn = turns[this.#lastUser];
    const last = this.#insertions.at(-1);
    if (turn === undefined || (last !== undefined && last.index > this.#lastUser)) return null;
    const isOwn = turn.hash === hash && turn.trace === span.trace && !taken.has(turn);
    return isOwn ? this.#lastUser : null;
  }
}

const newQueue = (): Queue => ({ indexes: [], head: 0 });
const NOBODY: Candidates = { own: newQueue(), answered: newQueue(), others: newQueue(), late: newQueue() };

function lastUserBefore(turns: readonly KnownTurn[], before: number): number {
  let index = before - 1;
  while (index >= 0 && turns[index]?.role !== 'user') index -= 1;
  return index;
}

/** Covered by test/traces/assembly/known-turns.test.ts. */
import {
  endOfRun,
  insertTurns,
  isTimed,
  timedBefore,
  timedFrom,
  type Insertion,
  type KnownTurn,
} from './known-turn.ts';

/**
 * Turns of one role in a row, in which what a span says is looked for in its order: each message behind the one
 * before it. Goes along them once, whatever the number of messages. The turns are changed at the end, by `settle`.
 */
export class TurnRun {
  readonly #turns: KnownTurn[];
  readonly #taken: Set<KnownTurn>;
  readonly #end: number;
  readonly #insertions: Insertion[] = [];
  /** Indexes of turns by hash, ascending. */
  readonly #byHash = new Map<string, { readonly indexes: number[]; head: number }>();
  /** Behind what was found or inserted last. */
  #position: number;
  /** The time of the last turn before it that has one. */
  #previousAt: number;
  /** The next turn from there on that has a time. */
  #nextTimed: number;
  /** No turn of the run before it is later than what was asked for. */
  #laterFrom: number;

  /** `taken`: turns that messages of the span were found to be. */
  constructor(turns: KnownTurn[], taken: Set<KnownTurn>, from: number, role: KnownTurn['role']) {
    this.#turns = turns;
    this.#taken = taken;
    this.#position = from;
    this.#laterFrom = from;
    this.#end = endOfRun(turns, from, role);
    this.#previousAt = turns[timedBefore(turns, from)]?.at ?? -Infinity;
    this.#nextTimed = timedFrom(turns, from);
    for (let index = from; index < this.#end; index += 1) {
      const { hash } = turns[index] as KnownTurn;
      const equal = this.#byHash.get(hash);
      if (equal === undefined) this.#byHash.set(hash, { indexes: [index], head: 0 });
      else equal.indexes.push(index);
    }
  }

  /** The next turn with these words that no other message was found to be; null: there is none. */
  find(hash: string): number | null {
    const equal = this.#byHash.get(hash);
    if (equal === undefined) return null;
    for (; equal.head < equal.indexes.length; equal.head += 1) {
      const index = equal.indexes[equal.head] as number;
      if (index >= this.#position && !this.#taken.has(this.#turns[index] as KnownTurn)) return index;
    }
    return null;
  }

  /** A message is the turn at `index`. `own`: it is seen here in its own call, at a time. */
  pass(index: number, own: { readonly at: number; readonly trace: string } | null): void {
    const turn = this.#turns[index] as KnownTurn;
    this.#moveTo(index);
    this.#taken.add(turn);
    if (own !== null && turn.inferred !== null) {
      turn.inferred = null;
      turn.trace = own.trace;
      this.#nextTimed = Math.max(this.#nextTimed, timedFrom(this.#turns, index + 1));
      turn.at = this.#between(own.at);
    }
    this.#moveTo(index + 1);
  }

  /** A message is new: it stands right behind the one before it. */
  insertHere(turn: KnownTurn): void {
    turn.at = this.#between(turn.at);
    this.#previousAt = turn.at;
    this.#taken.add(turn);
    this.#insertions.push({ index: this.#position, turn });
  }

  /** A message is new: it stands before the first turn that is later than it, else at the end. All ask for one time. */
  insertInTime(turn: KnownTurn): void {
    this.#laterFrom = Math.max(this.#laterFrom, this.#position);
    while (this.#laterFrom < this.#end && !this.#isLater(this.#laterFrom, turn.at)) this.#laterFrom += 1;
    this.#moveTo(this.#laterFrom);
    this.insertHere(turn);
  }

  /** Puts the new turns between the others. Returns the place behind what was found or inserted last. */
  settle(): number {
    insertTurns(this.#turns, this.#insertions);
    return this.#position + this.#insertions.length;
  }

  #isLater(index: number, at: number): boolean {
    const turn = this.#turns[index] as KnownTurn;
    return isTimed(turn) && turn.at > at && !this.#taken.has(turn);
  }

  #moveTo(position: number): void {
    for (; this.#position < position; this.#position += 1) {
      const turn = this.#turns[this.#position] as KnownTurn;
      if (isTimed(turn)) this.#previousAt = turn.at;
    }
    if (this.#nextTimed < position) this.#nextTimed = timedFrom(this.#turns, position);
  }

  /** A time that keeps those of the turns before and behind the position in order. */
  #between(at: number): number {
    return Math.min(Math.max(at, this.#previousAt), this.#turns[this.#nextTimed]?.at ?? Infinity);
  }
}

/** Covered by test/traces/assembly/known-turns.test.ts. */

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

/** What tells one turn from another. */
export type Said = Pick<KnownTurn, 'role' | 'hash'>;

export function isTimed({ inferred }: KnownTurn): boolean {
  return inferred !== 'history';
}

/** The first timed turn from `from` on; the number of turns if there is none. */
export function timedFrom(turns: readonly KnownTurn[], from: number): number {
  let index = from;
  while (index < turns.length && !isTimed(turns[index] as KnownTurn)) index += 1;
  return index;
}

/** The last timed turn before `before`; -1 if there is none. */
export function timedBefore(turns: readonly KnownTurn[], before: number): number {
  let index = before - 1;
  while (index >= 0 && !isTimed(turns[index] as KnownTurn)) index -= 1;
  return index;
}

/** The first turn from `from` on that has not this role; the number of turns if there is none. */
export function endOfRun(turns: readonly KnownTurn[], from: number, role: KnownTurn['role']): number {
  let index = from;
  while (turns[index]?.role === role) index += 1;
  return index;
}

/** A time that keeps those of the turns before and behind the turn at `index` in order. */
export function timeBetween(turns: readonly KnownTurn[], index: number, at: number): number {
  const previous = turns[timedBefore(turns, index)]?.at ?? -Infinity;
  const next = turns[timedFrom(turns, index + 1)]?.at ?? Infinity;
  return Math.min(Math.max(at, previous), next);
}

/** Where a new turn goes: before the turn that is at `index` now. */
export interface Insertion {
  readonly index: number;
  readonly turn: KnownTurn;
}

/** Puts new turns between the others, all in one pass. `insertions`: ascending. */
export function insertTurns(turns: KnownTurn[], insertions: readonly Insertion[]): void {
  const [first] = insertions;
  if (first === undefined) return;
  const rest = turns.splice(first.index);
  let copied = 0;
  for (const { index, turn } of insertions) {
    for (const end = index - first.index; copied < end; copied += 1) turns.push(rest[copied] as KnownTurn);
    turns.push(turn);
  }
  for (; copied < rest.length; copied += 1) turns.push(rest[copied] as KnownTurn);
}

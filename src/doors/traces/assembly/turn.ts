/**
 * The turns of a conversation that are known. Keeps the invariant that a turn stands once, in the order of the
 * conversation, however many calls repeat it. Test: test/doors/traces/assembly/merge-span.test.ts.
 */

/** How a turn became known, if the call in which it was said has not been seen. */
export type Inferred =
  /** A later call repeats it. `at` is when it had been said at the latest. */
  | 'history'
  /** The same, and it does not count: it was said in another trace. */
  | 'elsewhere'
  /** A call goes on with it after a tool. It was said shortly before. */
  | 'step';

export interface Turn {
  readonly role: 'user' | 'assistant';
  /** The hash of its text. */
  readonly hash: string;
  /** Microseconds. */
  at: number;
  /** Null: the call in which it was said has been seen. */
  inferred: Inferred | null;
  /** Names the trace that said it. */
  trace: string;
}

/** Tells one turn from another. */
export type TurnKey = Pick<Turn, 'role' | 'hash'>;

/** A new turn, and the index of the turn that it goes before. */
export interface Insertion {
  readonly index: number;
  readonly turn: Turn;
}

/** Tells whether `at` says when the turn was said. */
export function isTimed({ inferred }: Turn): boolean {
  return inferred === null || inferred === 'step';
}

/** Returns the first index from `from` on whose turn has another role; the number of turns if there is none. */
export function endOfRun(turns: readonly Turn[], from: number, role: Turn['role']): number {
  let index = from;
  while (turns[index]?.role === role) index += 1;
  return index;
}

/** Puts new turns between the others, all in one pass. `insertions`: ascending. */
export function insertTurns(turns: Turn[], insertions: readonly Insertion[]): void {
  const [first] = insertions;
  if (first === undefined) return;
  const rest = turns.splice(first.index);
  let copied = 0;
  for (const { index, turn } of insertions) {
    for (const end = index - first.index; copied < end; copied += 1) turns.push(rest[copied] as Turn);
    turns.push(turn);
  }
  for (; copied < rest.length; copied += 1) turns.push(rest[copied] as Turn);
}

/** The turns between which a span belongs by its time: behind the last answer before its start, up to the next turn. */
export interface Zone {
  readonly begin: number;
  readonly end: number;
}

export function zoneOf(turns: readonly Turn[], startedAt: number): Zone {
  let end = turns.length;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index] as Turn;
    if (!isTimed(turn)) continue;
    if (turn.at <= startedAt) break;
    end = index;
  }
  let begin = end;
  while (begin > 0 && !isTimedAnswer(turns[begin - 1] as Turn)) begin -= 1;
  return { begin, end };
}

function isTimedAnswer(turn: Turn): boolean {
  return turn.role === 'assistant' && isTimed(turn);
}

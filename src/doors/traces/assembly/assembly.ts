/**
 * Rounds of traces. Keeps the invariant that a trace is done, or comes again before all others of its project. Test:
 * test/doors/traces/assembly/assembly.test.ts, turns.test.ts.
 */
import { ValueTooLargeError } from '../../../stream/kv/key-value.ts';
import { ROUND_LIMITS, type AssemblyParts } from './assembly-parts.ts';
import { Round } from './round.ts';
import type { TraceBuffer } from './trace-buffer.ts';
import type { ArrivedTrace, TracePlan } from './trace-plan.ts';

/** What a round did. */
export interface AssembledCounts {
  /** Traces that are done. */
  traces: number;
  messages: number;
  /** Pieces of feedback that are on no reply. */
  lostFeedback: number;
  /** Messages that do not count: their traces are full. */
  leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly projectId: string;
  readonly traceId: string;
  readonly messages: number;
}

/**
 * Turns traces into messages of conversations, in rounds of bounded size. Projects take turns: a trace that is too
 * large for a round goes on in the next one in which it is its project's turn.
 */
export class Assembly {
  readonly #parts: AssemblyParts;
  /** Traces that were begun, and are to be gone on with. */
  readonly #begun = new Map<ArrivedTrace, TracePlan>();

  constructor(parts: AssemblyParts) {
    this.#parts = parts;
  }

  /** Assembles traces until the round is full, or none is left. Rejects with RoundFailure. */
  async round(
    traces: Pick<TraceBuffer, 'upcoming' | 'next' | 'giveBack'>,
    most = Infinity,
  ): Promise<AssembledCounts> {
    const limits = { ...ROUND_LIMITS, ...this.#parts.limits };
    const count = Math.min(most, limits.traces);
    const round = new Round(this.#parts, limits, this.#begun);
    const taken: ArrivedTrace[] = [];
    let rest: TracePlan | null = null;
    try {
      await round.prefetch(traces.upcoming(count));
      while (taken.length < count && rest === null && !round.isFull) {
        const trace = traces.next();
        if (trace === undefined) break;
        taken.push(trace);
        rest = await round.add(trace);
      }
      await round.write();
    } catch (error) {
      this.#begun.clear();
      this.#parts.outboxKeys.keep();
      this.#forget();
      throw new RoundFailure(taken, error);
    }
    for (const trace of taken) this.#begun.delete(trace);
    if (rest !== null) {
      this.#begun.set(rest.trace, rest);
      traces.giveBack(rest.trace);
    }
    const { messages, lostFeedback, leftOut } = round;
    return { traces: taken.length - (rest === null ? 0 : 1), messages, lostFeedback, leftOut };
  }

  /** What was read is not trusted any more. */
  #forget(): void {
    const { conversations, pages, traces } = this.#parts;
    for (const bucket of [conversations, pages, traces]) bucket.clear();
  }
}

/** A round failed: what of its traces is stored, nobody knows. They are to come again. */
export class RoundFailure extends Error {
  readonly traces: readonly ArrivedTrace[];

  constructor(traces: readonly ArrivedTrace[], cause: unknown) {
    super('traces could not be assembled', { cause });
    this.name = 'RoundFailure';
    this.traces = traces;
  }
}

/** A fault in what is assembled, or in how, and none of what it is stored in: it will not get better. */
export function isForGood(error: unknown): boolean {
  return (
    error instanceof ValueTooLargeError ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}

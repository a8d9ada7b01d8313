/** Covered by test/doors/traces/assembly/trace-buffer.test.ts. */
import type { Observation } from '../observation.ts';
import type { ArrivedTrace } from './trace-plan.ts';

/** A trace that waits for the rest of it, or to be assembled. */
export interface Held extends ArrivedTrace {
  readonly observations: Observation[];
  since: number;
  until: number;
  /** When the first of its spans came. */
  readonly heldAt: number;
  bytes: number;
  changedAt: number;
  /** When the first of its spans began, microseconds. */
  startedAt: number;
  /** Its record was asked for. */
  isRecalled: boolean;
  isReady: boolean;
}

/** The traces of one project that were not assembled yet. */
export class ProjectTraces {
  /** By trace id, those that are ready as well; not those that were given back. */
  readonly #held = new Map<string, Held>();
  /** In the order in which they last got a span. */
  readonly #waiting = new Set<Held>();
  /** In the order in which their first span came. */
  readonly #byAge = new Set<Held>();
  /** They have got spans since they were looked at. */
  readonly #fresh = new Set<Held>();
  /** From `#next` on: what began first, first; and what is not ready any more. */
  #ready: Held[] = [];
  #next = 0;
  #isSorted = true;
  /** They come before all others: the last one first. */
  readonly #givenBack: Held[] = [];
  #readyCount = 0;
  bytes = 0;
  /** Spans and log records. */
  spans = 0;

  get isEmpty(): boolean {
    return this.#held.size === 0 && this.#givenBack.length === 0;
  }

  get traces(): number {
    return this.#held.size + this.#givenBack.length;
  }

  /** Traces that are ready. */
  get readyCount(): number {
    return this.#readyCount + this.#givenBack.length;
  }

  /** The one that got no span for the longest time; undefined: none waits. */
  get longestUnchanged(): Held | undefined {
    return this.#waiting.values().next().value;
  }

  get oldest(): Held | undefined {
    return this.#byAge.values().next().value;
  }

  get oldestSequence(): number {
    let oldest = Infinity;
    for (const { since } of this.#held.values()) oldest = Math.min(oldest, since);
    for (const { since } of this.#givenBack) oldest = Math.min(oldest, since);
    return oldest;
  }

  /** The trace that a span belongs to, which has got one; `make`: it is its first. */
  touch(traceId: string, make: () => Held): Held {
    let held = this.#held.get(traceId);
    if (held === undefined) {
      held = make();
      this.#held.set(traceId, held);
      this.#byAge.add(held);
    }
    if (held.isReady) {
      held.isReady = false;
      this.#isSorted = false;
      this.#readyCount -= 1;
      this.#byAge.add(held);
    }
    this.#waiting.delete(held);
    this.#waiting.add(held);
    this.#fresh.add(held);
    return held;
  }

  /** More is known of a trace: it has to be looked at again. */
  refresh(traceId: string): void {
    const held = this.#held.get(traceId);
    if (held !== undefined && !held.isReady) this.#fresh.add(held);
  }

  /** Those that have got spans since this was asked, and still wait. */
  takeFresh(): readonly Held[] {
    const fresh = [...this.#fresh].filter(({ isReady }) => !isReady);
    this.#fresh.clear();
    return fresh;
  }

  /** It waits no longer. */
  makeReady(held: Held): void {
    held.isReady = true;
    this.#waiting.delete(held);
    this.#byAge.delete(held);
    this.#ready.push(held);
    this.#readyCount += 1;
    this.#isSorted = false;
  }

  /** Those that will be taken next, at most so many. */
  upcoming(most: number): readonly Held[] {
    this.#sort();
    const found = this.#givenBack.slice(-most).toReversed();
    return [...found, ...this.#ready.slice(this.#next, this.#next + most - found.length)];
  }

  /** What was given back, then what began first. */
  take(): Held | undefined {
    const again = this.#givenBack.pop();
    if (again !== undefined) return again;
    this.#sort();
    const held = this.#ready[this.#next];
    if (held === undefined) return undefined;
    this.#next += 1;
    this.#readyCount -= 1;
    this.#held.delete(held.traceId);
    this.#fresh.delete(held);
    return held;
  }

  giveBack(held: Held): void {
    this.#givenBack.push(held);
  }

  #sort(): void {
    if (this.#isSorted) return;
    // One that was ready twice stands twice.
    const ready = new Set(this.#ready.slice(this.#next).filter(({ isReady }) => isReady));
    this.#ready = [...ready].toSorted((a, b) => a.startedAt - b.startedAt);
    this.#next = 0;
    this.#isSorted = true;
  }
}

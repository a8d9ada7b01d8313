/**
 * States by number, least recently used first out. Keeps the invariant that only `evict` drops a state, because a batch
 * needs everything that was restored for it. Eviction never changes a result: the caller restores what it needs again.
 *
 * Test: test/reader/threads/state-cache.test.ts.
 */
import { LRUCache } from 'lru-cache';

/** Wraps a state. Each change of size makes a new wrapper: the library keeps the old size for an equal value. */
interface Entry<State> {
  readonly state: State;
}

/** A cache of states, each with its estimated size in bytes. */
export class StateCache<State> {
  readonly #entries: LRUCache<number, Entry<State>>;

  /** `onGone` is called with each state that is dropped or replaced. */
  constructor(onGone: (state: State) => void = () => undefined) {
    this.#entries = new LRUCache({
      maxSize: Number.MAX_SAFE_INTEGER,
      dispose: ({ state }) => onGone(state),
    });
  }

  /** Estimated memory of all states, bytes. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  peek(number: number): State | undefined {
    return this.#entries.peek(number)?.state;
  }

  /** Returns the state and marks it as most recently used. */
  get(number: number): State | undefined {
    return this.#entries.get(number)?.state;
  }

  set(number: number, state: State, bytes: number): void {
    this.#entries.set(number, { state }, { size: bytes });
  }

  /** Updates the memory that a state takes. */
  resize(number: number, bytes: number): void {
    const entry = this.#entries.peek(number);
    if (entry !== undefined) this.#entries.set(number, { ...entry }, { size: bytes, noDisposeOnSet: true });
  }

  /**
   * Drops the least recently used states for which `mayGo` holds until the rest takes at most `bytes`. Returns their
   * numbers.
   */
  evict(bytes: number, mayGo: (state: State) => boolean): number[] {
    const evicted: number[] = [];
    let excess = this.bytes - bytes;
    for (const number of this.#entries.rkeys()) {
      if (excess <= 0) break;
      if (!mayGo(this.peek(number)!)) continue;
      evicted.push(number);
      excess -= this.#entries.info(number)?.size ?? 0;
    }
    for (const number of evicted) this.#entries.delete(number);
    return evicted;
  }

  clear(): void {
    this.#entries.clear();
  }
}

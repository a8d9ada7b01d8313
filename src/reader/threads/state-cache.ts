/**
 * States by number, within a bound of memory. A batch needs all that was restored for it, so nothing is dropped until
 * `evict` is called. What is dropped decides no result: it is restored when it is needed again.
 */
import { LRUCache } from 'lru-cache';

/** A new one at each change of size: the library takes an equal value for the same size. */
interface Entry<State> {
  readonly state: State;
}

export class StateCache<State> {
  readonly #entries: LRUCache<number, Entry<State>>;

  /** `onGone`: called with each state that is dropped or replaced. */
  constructor(onGone: (state: State) => void = () => undefined) {
    this.#entries = new LRUCache({
      maxSize: Number.MAX_SAFE_INTEGER,
      dispose: ({ state }) => onGone(state),
    });
  }

  /** About how much memory all states take. */
  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  peek(number: number): State | undefined {
    return this.#entries.peek(number)?.state;
  }

  /** Marks the state as the one used last. */
  get(number: number): State | undefined {
    return this.#entries.get(number)?.state;
  }

  set(number: number, state: State, bytes: number): void {
    this.#entries.set(number, { state }, { size: bytes });
  }

  /** Notes how much memory a state takes now. */
  resize(number: number, bytes: number): void {
    const entry = this.#entries.peek(number);
    if (entry !== undefined) this.#entries.set(number, { ...entry }, { size: bytes, noDisposeOnSet: true });
  }

  /**
   * Drops the least recently used of those that may go, until the rest takes at most `bytes`; returns their
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

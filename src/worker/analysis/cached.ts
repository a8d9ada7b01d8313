interface Held<State> {
  readonly state: State;
  bytes: number;
}

/** States by number, the least recently used first, and about how much memory they take. */
export class Remembered<State> {
  readonly #held = new Map<number, Held<State>>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Without using it. */
  peek(number: number): State | undefined {
    return this.#held.get(number)?.state;
  }

  /** It is then the one that was used last. */
  use(number: number): State | undefined {
    const held = this.#held.get(number);
    if (held === undefined) return undefined;
    this.#held.delete(number);
    this.#held.set(number, held);
    return held.state;
  }

  set(number: number, state: State, bytes: number): void {
    this.#forget(number);
    this.#held.set(number, { state, bytes });
    this.#bytes += bytes;
  }

  /** Notes what a state takes now. */
  measure(number: number, bytes: number): void {
    const held = this.#held.get(number);
    if (held === undefined) return;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
  }

  /** Forgets the least recently used, as far as they may go, until the others take at most so much. */
  evict(
    keepBytes: number,
    mayGo: (state: State) => boolean,
    onGone: (state: State) => void = () => undefined,
  ): number[] {
    const gone: number[] = [];
    for (const [number, { state }] of this.#held) {
      if (this.#bytes <= keepBytes) break;
      if (!mayGo(state)) continue;
      this.#forget(number);
      onGone(state);
      gone.push(number);
    }
    return gone;
  }

  *values(): Generator<State> {
    for (const { state } of this.#held.values()) yield state;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  #forget(number: number): void {
    this.#bytes -= this.#held.get(number)?.bytes ?? 0;
    this.#held.delete(number);
  }
}

/** Covered by test/stream/log/stream-end.test.ts. */

/** Where a stream ends, as far as somebody needs to know it. */
export class StreamEnd {
  readonly #ask: () => Promise<number>;
  /** The stream has come so far: it never becomes shorter. */
  #known = 0;
  #asking: Promise<number> | null = null;
  #next: Promise<number> | null = null;

  /** `ask` gets the stream's last sequence from the server. */
  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** An entry was stored at this sequence. */
  stored(sequence: number): void {
    this.#known = Math.max(this.#known, sequence);
  }

  /**
   * Whether the stream has an entry at this sequence or behind it. What another process stored a moment ago is not
   * known here, so only the server's word counts for a no. Rejects when the server does not answer.
   */
  async reaches(sequence: number): Promise<boolean> {
    if (sequence <= this.#known) return true;
    this.stored(await this.#askAgain());
    return sequence <= this.#known;
  }

  /** One question serves all who come before it is asked; what was asked before somebody came says nothing to them. */
  #askAgain(): Promise<number> {
    this.#next ??= this.#askAfter(this.#asking);
    return this.#next;
  }

  async #askAfter(earlier: Promise<number> | null): Promise<number> {
    await earlier?.catch(() => undefined);
    this.#asking = this.#next;
    this.#next = null;
    return this.#ask();
  }
}

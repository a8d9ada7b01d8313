/**
 * The end of a stream, cached. It denies a sequence only after it has asked the server.
 *
 * Test: test/stream/log/stream-end.test.ts.
 */

/** The known end of a stream. */
export class StreamEnd {
  readonly #ask: () => Promise<number>;
  /** A sequence that the stream has reached; it never gets shorter. */
  #known = 0;
  #asking: Promise<number> | null = null;
  #next: Promise<number> | null = null;

  /** `ask` requests the stream's last sequence from the server. */
  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** Reports that an entry was stored at this sequence. */
  stored(sequence: number): void {
    this.#known = Math.max(this.#known, sequence);
  }

  /**
   * Resolves to true if the stream has an entry at this sequence or after it. This process may not know of the newest
   * entries of others, so a no needs an answer of the server. Rejects when the server does not answer.
   */
  async reaches(sequence: number): Promise<boolean> {
    if (sequence <= this.#known) return true;
    this.stored(await this.#askAgain());
    return sequence <= this.#known;
  }

  /** One request serves all callers that came before it was sent; an earlier request may be too old for them. */
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

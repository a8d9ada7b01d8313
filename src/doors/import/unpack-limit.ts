/**
 * Limits how much a packed file may unpack to. All files of one zip file share a limit.
 *
 * Test: test/doors/import/inputs.test.ts.
 */

/** Conversations compress to a tenth; traces that repeat their history, to a hundredth. */
const MOST_TIMES = 200;
/** Bytes that any file may unpack to. */
const ALWAYS = 16 * 1024 * 1024;

/** Bytes counted for an entry, as the least work that it costs. */
export const ENTRY_BYTES = 50;

/** Counts unpacked bytes against the stored size. */
export class UnpackLimit {
  readonly #most: number;
  #bytes = 0;

  /** `stored`: bytes on disk. */
  constructor(stored: number) {
    this.#most = ALWAYS + MOST_TIMES * stored;
  }

  /** Throws an Error above the limit. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#most)
      throw new Error(
        `unpacks to more than ${MOST_TIMES} times its size. If that is right, unpack it and import what is in it`,
      );
  }

  /**
   * Returns a counter for something that is read several times: it receives how far the reader is, and counts each step
   * once.
   */
  meter(bytesEach: number): (reached: number) => void {
    let furthest = 0;
    return (reached) => {
      if (reached <= furthest) return;
      this.add((reached - furthest) * bytesEach);
      furthest = reached;
    };
  }

  /** Counts the bytes of a stream as they pass. */
  counter(): (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
    const reach = this.meter(1);
    return async function* (chunks) {
      let at = 0;
      for await (const chunk of chunks) {
        at += chunk.length;
        reach(at);
        yield chunk;
      }
    };
  }
}

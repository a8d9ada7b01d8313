/** Covered by test/doors/import/inputs.test.ts. */

/** Conversations pack to a tenth, and traces that repeat what was said to a hundredth. */
const MOST_TIMES = 200;
/** However small a file is. */
const ALWAYS = 16 * 1024 * 1024;

/** Of work an entry is at least as much as so many bytes. */
export const ENTRY_BYTES = 50;

/** Keeps a packed file, and all files in a zip file together, from unpacking to much more than anybody stored. */
export class UnpackLimit {
  readonly #most: number;
  #bytes = 0;

  /** `stored`: bytes on the disk. */
  constructor(stored: number) {
    this.#most = ALWAYS + MOST_TIMES * stored;
  }

  /** Throws an Error when it is too much. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#most)
      throw new Error(
        `unpacks to more than ${MOST_TIMES} times its size. If that is right, unpack it and import what is in it`,
      );
  }

  /** For one thing that is gone through several times: hears how far one has come, and counts each step once. */
  meter(bytesEach: number): (reached: number) => void {
    let furthest = 0;
    return (reached) => {
      if (reached <= furthest) return;
      this.add((reached - furthest) * bytesEach);
      furthest = reached;
    };
  }

  /** Counts the bytes of a stream on their way. */
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

/**
 * Reads the lines of UTF-8 text. Memory is bounded: a line longer than the limit is reported as a fault and skipped.
 *
 * Test: test/doors/import/lines.test.ts.
 */

/** One line or entry: exactly one of `text` and `fault` is set. */
export interface Piece {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | null;
  /** Reason why the piece is not text. */
  readonly fault: string | null;
}

/** Longest line that is held in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Collects the bytes of one piece after the other. Keeps the invariant that it holds at most `limit` bytes. */
export class PieceBytes {
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#limit) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Returns the piece and begins the next one. */
  finish(number: number): Piece {
    const parts = this.#parts;
    const bytes = this.#bytes;
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#limit) return { number, text: null, fault: `longer than ${this.#limit} bytes` };
    try {
      const text = this.#decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
      return { number, text, fault: null };
    } catch {
      return { number, text: null, fault: 'not valid UTF-8' };
    }
  }
}

/**
 * Yields the lines of unpacked bytes. Blank lines are skipped but counted.
 *
 * Lines end at `\n` alone, without a `\r` before it: U+2028 may stand inside a JSON string, and node:readline would cut
 * there. Throws the error of `chunks`, after every complete line before it.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  options: { readonly maxLineBytes?: number } = {},
): AsyncGenerator<Piece> {
  const pending = new PieceBytes(options.maxLineBytes ?? MAX_LINE_BYTES);
  let number = 0;

  const finishLine = (): Piece | null => {
    number += 1;
    if (pending.isEmpty) return null;
    let { text, fault } = pending.finish(number);
    if (number === 1 && text?.startsWith('\uFEFF')) text = text.slice(1);
    if (text?.endsWith('\r')) text = text.slice(0, -1);
    return text?.trim() === '' ? null : { number, text, fault };
  };

  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      if (end > from) pending.keep(chunk.subarray(from, end));
      from = end + 1;
      const line = finishLine();
      if (line !== null) yield line;
    }
    if (from < chunk.length) pending.keep(chunk.subarray(from));
  }
  const last = finishLine();
  if (last !== null) yield last;
}

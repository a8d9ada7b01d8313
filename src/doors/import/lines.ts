/**
 * Reads the lines of UTF-8 text. Memory is bounded: a line longer than the limit is reported as a fault and skipped.
 *
 * Test: test/doors/import/lines.test.ts.
 */

/** One line: exactly one of `text` and `fault` is set. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | null;
  /** Reason why the line is not text. */
  readonly fault: string | null;
}

/** Longest line that is held in memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Yields the lines of unpacked bytes. Blank lines are skipped but counted.
 *
 * Lines end at `\n` alone, without a `\r` before it: U+2028 may stand inside a JSON string, and node:readline would cut
 * there. Throws the error of `chunks`, after every complete line before it.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  options: { readonly maxLineBytes?: number } = {},
): AsyncGenerator<Line> {
  const limit = options.maxLineBytes ?? MAX_LINE_BYTES;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  const finishLine = (): Line | null => {
    number += 1;
    if (pendingBytes === 0) return null;
    const parts = pending;
    const size = pendingBytes;
    pending = [];
    pendingBytes = 0;
    if (size > limit) return { number, text: null, fault: `longer than ${limit} bytes` };
    let text: string;
    try {
      text = decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    } catch {
      return { number, text: null, fault: 'not valid UTF-8' };
    }
    if (number === 1 && text.startsWith('\uFEFF')) text = text.slice(1);
    if (text.endsWith('\r')) text = text.slice(0, -1);
    return text.trim() === '' ? null : { number, text, fault: null };
  };
  const keep = (part: Buffer): void => {
    pendingBytes += part.length;
    if (pendingBytes > limit) pending = [];
    else pending.push(part);
  };

  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      if (end > from) keep(chunk.subarray(from, end));
      from = end + 1;
      const line = finishLine();
      if (line !== null) yield line;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
  if (pendingBytes > 0) {
    const line = finishLine();
    if (line !== null) yield line;
  }
}

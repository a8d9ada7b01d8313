/**
 * Reads the lines of plain and gzip files as UTF-8. Memory is bounded: a line longer than the limit is reported as a
 * fault and skipped.
 *
 * Test: test/doors/import/lines.test.ts.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';

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
const GZIP_MAGIC = [0x1f, 0x8b];

/** True if the file starts with the magic bytes of gzip; its name does not matter. */
async function isGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === GZIP_MAGIC[0] && buffer[1] === GZIP_MAGIC[1];
  } finally {
    await file.close();
  }
}

/**
 * Streams the lines of a plain or gzip file. Blank lines are skipped but counted.
 *
 * Lines end at `\n` alone, without a `\r` before it: U+2028 may stand inside a JSON string, and node:readline would cut
 * there. `onRead` receives the stored bytes of the lines so far: exact for a plain file, within a few kilobytes for
 * gzip. Throws the stream's error when the gzip data are cut off or unreadable, after every complete line before the
 * fault.
 */
export async function* readLines(
  path: string,
  options: { readonly onRead?: (bytes: number) => void; readonly maxLineBytes?: number } = {},
): AsyncGenerator<Line> {
  const gzip = await isGzip(path);
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  const gunzip = gzip ? file.pipe(createGunzip()) : null;
  const bytes = gunzip ?? file;
  file.on('error', (error) => gunzip?.destroy(error));
  try {
    yield* linesOf(bytes as AsyncIterable<Buffer>, {
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      onLine: (end) => options.onRead?.(gunzip?.bytesWritten ?? end),
    });
  } finally {
    file.destroy();
    bytes.destroy();
  }
}

/**
 * Yields the lines of unpacked bytes as `readLines` does. `onLine` receives the byte offset after each line, and at
 * last the total.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  options: { readonly maxLineBytes?: number; readonly onLine?: (end: number) => void } = {},
): AsyncGenerator<Line> {
  const limit = options.maxLineBytes ?? MAX_LINE_BYTES;
  let chunkStart = 0;
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
      if (line === null) continue;
      options.onLine?.(chunkStart + from);
      yield line;
    }
    chunkStart += chunk.length;
    if (from < chunk.length) keep(chunk.subarray(from));
  }
  options.onLine?.(chunkStart);
  if (pendingBytes > 0) {
    const line = finishLine();
    if (line !== null) yield line;
  }
}

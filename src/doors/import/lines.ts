import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';

/** One line of a file. Exactly one of `text` and `fault` is set. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | null;
  /** Why the line cannot be read as text. */
  readonly fault: string | null;
}

/** A line longer than this is not held in memory: it is reported and passed over. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const GZIP_MAGIC = [0x1f, 0x8b];

/** Whether a file starts as a gzip member does; its name does not matter. */
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
 * Streams the lines of a plain or gzip'ed UTF-8 file; blank lines are passed over (and counted).
 *
 * Lines end at `\n` alone (a `\r` before it is dropped): U+2028 may stand inside a JSON string, and
 * node:readline would cut there. `onRead` hears how many bytes of the file itself the lines so far
 * took up: exactly in a plain file, within a few kilobytes in a gzip'ed one.
 * Throws the stream's own error when the file ends in the middle of its gzip data or cannot be read;
 * every complete line before the fault has been yielded by then.
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

/** The lines of unpacked bytes, as `readLines` says. `onLine` hears where each line ends, and at last where all end. */
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

/**
 * Reads bytes of a file: recognises how they are packed, unpacks them as a stream, and converts text to UTF-8.
 *
 * Test: test/doors/import/inputs.test.ts.
 */
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import {
  createGunzip,
  createInflateRaw,
  createZstdDecompress,
  type Gunzip,
  type InflateRaw,
  type ZstdDecompress,
} from 'node:zlib';

/** Compression of the bytes. `deflate` has no header, as in zip files. */
export type Packing = 'none' | 'gzip' | 'zstd' | 'deflate';

const CHUNK_BYTES = 256 * 1024;

/** Recognises gzip and zstd by the first four bytes; the file name does not matter. */
export function packingOf(start: Uint8Array): Packing {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip';
  return start[0] === 0x28 && start[1] === 0xb5 && start[2] === 0x2f && start[3] === 0xfd ? 'zstd' : 'none';
}

/** A range of bytes of a file, in bytes as stored. */
export interface Range {
  readonly path: string;
  readonly packing: Packing;
  readonly start: number;
  readonly size: number;
}

export interface UnpackOptions {
  /** Receives the number of stored bytes read so far. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  /** Checked before each chunk. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Limit on zstd frames: each costs as much as opening a file. Tools that write many put tens of kilobytes into each.
 */
const FRAMES = { always: 1000, bytesEach: 512 };

/**
 * Unpacks a range of a file; a reader that stops early closes the file. Throws the stream's error where the data end
 * too early, after it has yielded all before; an Error where there are too many small zstd frames; the signal's reason.
 */
export async function* unpack(range: Range, { onRead, signal }: UnpackOptions = {}): AsyncGenerator<Buffer> {
  const { path, packing, size } = range;
  const mostFrames = FRAMES.always + size / FRAMES.bytesEach;
  let done = 0;
  // Node's zstd stream ends with the first frame, and a file may have several.
  for (let frames = 1; done < size; frames += 1) {
    if (frames > mostFrames)
      throw new Error('is packed in more zstd frames than one can read. Unpack it and import what is in it');
    signal?.throwIfAborted();
    const start = range.start + done;
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES, start, end: range.start + size - 1 });
    const engine = packing === 'none' ? null : unpacker(packing);
    // An error of either stream reaches the reader of the last one.
    const bytes = engine === null ? file : pipeline(file, engine, () => undefined);
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      onRead?.(done + file.bytesRead);
      yield chunk;
    }
    const taken = engine?.bytesWritten ?? 0;
    done = packing === 'zstd' && taken > 0 ? done + taken : size;
  }
  onRead?.(size);
}

/** Unpacks a stream that was packed twice. Throws an Error for zstd of several frames, and the signal's reason. */
export async function* unpackStream(
  chunks: AsyncIterable<Buffer>,
  packing: Exclude<Packing, 'none'>,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const engine = unpacker(packing);
  let given = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      given += chunk.length;
      yield chunk;
    }
  }
  const unpacked = pipeline(Readable.from(counted()), engine, () => undefined) as AsyncIterable<Buffer>;
  for await (const chunk of unpacked) {
    signal?.throwIfAborted();
    yield chunk;
  }
  if (packing === 'zstd' && engine.bytesWritten < given)
    throw new Error('zstd of several frames in a zip file: unpack the zip file first');
}

function unpacker(packing: Exclude<Packing, 'none'>): Gunzip | InflateRaw | ZstdDecompress {
  switch (packing) {
    case 'gzip':
      return createGunzip();
    case 'zstd':
      return createZstdDecompress();
    case 'deflate':
      return createInflateRaw();
    default:
      return packing satisfies never;
  }
}

/** Returns the first bytes of a stream and ends it; fewer than `count` where the stream ends or fails after them. */
export async function firstBytes(chunks: AsyncIterable<Buffer>, count: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes >= count) break;
    }
  } catch (error) {
    if (bytes === 0) throw error;
  }
  return Buffer.concat(parts).subarray(0, count);
}

/** Byte order marks of UTF-16. */
const UTF_16 = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;
const PARQUET_MAGIC = 'PAR1';

/**
 * Converts text to UTF-8. UTF-16 is recognised by its byte order mark; any other encoding is named by `encoding`, a
 * label of the Encoding Standard. Parquet passes unchanged.
 */
export async function* asUtf8(chunks: AsyncIterable<Buffer>, encoding?: string): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst && chunk.length > 0) {
      isFirst = false;
      const known =
        encoding ?? UTF_16.find(({ mark }) => mark.every((byte, at) => chunk[at] === byte))?.encoding;
      if (known !== undefined && chunk.subarray(0, 4).toString('latin1') !== PARQUET_MAGIC)
        decoder = new TextDecoder(known);
    }
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
  const rest = decoder?.decode() ?? '';
  if (rest !== '') yield Buffer.from(rest);
}

/** True if the bytes are valid UTF-8; a character cut off at their end is allowed. */
export function isUtf8Start(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

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

/** How bytes are packed. `deflate`: without header, as in zip files. */
export type Packing = 'none' | 'gzip' | 'zstd' | 'deflate';

const CHUNK_BYTES = 256 * 1024;

/** Tells from the first four bytes how the rest is packed; names do not matter. */
export function packingOf(start: Uint8Array): Packing {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip';
  return start[0] === 0x28 && start[1] === 0xb5 && start[2] === 0x2f && start[3] === 0xfd ? 'zstd' : 'none';
}

/** Where packed bytes stand in a file. */
export interface Range {
  readonly path: string;
  readonly packing: Packing;
  readonly start: number;
  /** In the file. */
  readonly size: number;
}

/**
 * Unpacks a range of a file. `onRead` hears how many bytes of the range have been read. Whoever stops reading closes
 * the file. Throws the stream's own error where the data end too early, after all that came before.
 */
export async function* unpack(range: Range, onRead?: (bytes: number) => void): AsyncGenerator<Buffer> {
  const { path, packing, size } = range;
  let done = 0;
  // Node's zstd stream ends with the first frame, and a file may have several.
  while (done < size) {
    const start = range.start + done;
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES, start, end: range.start + size - 1 });
    const engine = packing === 'none' ? null : unpacker(packing);
    // An error of either reaches whoever reads the last.
    const bytes = engine === null ? file : pipeline(file, engine, () => undefined);
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      onRead?.(done + file.bytesRead);
      yield chunk;
    }
    const taken = engine?.bytesWritten ?? 0;
    done = packing === 'zstd' && taken > 0 ? done + taken : size;
  }
  onRead?.(size);
}

/** Unpacks what is packed a second time. Throws an Error for zstd of several frames. */
export async function* unpackStream(
  chunks: AsyncIterable<Buffer>,
  packing: Exclude<Packing, 'none'>,
): AsyncGenerator<Buffer> {
  const engine = unpacker(packing);
  let given = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      given += chunk.length;
      yield chunk;
    }
  }
  yield* pipeline(Readable.from(counted()), engine, () => undefined) as AsyncIterable<Buffer>;
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

/** The first bytes of a stream, which it ends: fewer where the stream fails behind them. */
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

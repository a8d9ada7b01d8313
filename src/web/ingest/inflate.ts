/**
 * Decompresses bodies. The output and the memory are bounded by the limit, whatever the input.
 *
 * Test: test/web/ingest/preparer.test.ts, test/web/app.test.ts.
 */
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { AppError } from '../../errors.ts';

export type ContentEncoding = 'identity' | 'gzip' | 'br' | 'zstd';

const CHUNK_BYTES = 64 * 1024;

/**
 * Decompresses a body; null when the result exceeds `limit` bytes. Throws AppError BAD_REQUEST for bytes that are
 * invalid in their encoding or end too early.
 */
export function inflate(bytes: Uint8Array, encoding: ContentEncoding, limit: number): Uint8Array | null {
  if (encoding === 'identity') return bytes.length > limit ? null : bytes;
  const options = { maxOutputLength: limit, chunkSize: Math.min(CHUNK_BYTES, Math.max(limit, 64)) };
  try {
    switch (encoding) {
      case 'gzip':
        return gunzipSync(bytes, options);
      case 'br':
        return brotliDecompressSync(bytes, options);
      case 'zstd':
        return zstdDecompressSync(bytes, {
          ...options,
          params: { [constants.ZSTD_d_windowLogMax]: windowLogFor(limit) },
        });
      default:
        return encoding satisfies never;
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw new AppError('BAD_REQUEST', 'The body is not valid in its Content-Encoding.', { cause });
  }
}

/** A few bytes may request a zstd window of gigabytes; a window larger than the limit is never needed. */
function windowLogFor(limit: number): number {
  return Math.min(Math.max(Math.ceil(Math.log2(limit)), 23), 30);
}

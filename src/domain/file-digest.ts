/**
 * The digest by which a file is known where its name does not say what is in it.
 *
 * Test: test/store/objects/object-store.test.ts, test/doors/hub/pull.test.ts.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** SHA-256 of a file's content, hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { end: false });
  return hash.digest('hex');
}

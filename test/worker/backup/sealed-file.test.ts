import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  CHUNK_BYTES,
  openSealed,
  SealedWriter,
  SealError,
  type FileSecret,
} from '../../../src/worker/backup/sealed-file.ts';
import { temporaryDirectory } from '../../support/fold.ts';

const SECRET: FileSecret = {
  key: Buffer.alloc(32, 7),
  backupId: '0192f0a0-0000-7000-8000-000000000001',
  path: 'streams/CONVERSATIONS.entries',
};
const HEADER_BYTES = 40;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + 16;

describe('a sealed file', () => {
  const temporary = temporaryDirectory();
  after(() => temporary.remove());
  let made = 0;
  const newFile = (): string => join(temporary.path, String((made += 1)));

  async function seal(text: Uint8Array, secret = SECRET, step = 100_000): Promise<string> {
    const file = newFile();
    const writer = await SealedWriter.open(file, secret);
    for (let at = 0; at < text.length; at += step) await writer.write(text.subarray(at, at + step));
    await writer.end();
    return file;
  }
  async function read(file: string, secret = SECRET): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of openSealed(file, secret)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
  /** Reads what a file becomes by a change. */
  async function readChanged(file: string, change: (bytes: Buffer) => Uint8Array): Promise<Buffer> {
    const changed = newFile();
    writeFileSync(changed, change(readFileSync(file)));
    return read(changed);
  }

  const lengths = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 5];
  for (const length of lengths) {
    it(`gives back ${length} bytes, and shows none of them`, async () => {
      const text = Buffer.alloc(length, 'a planted word ');
      for (const step of [1 + Math.floor(length / 3), 10 * CHUNK_BYTES]) {
        const file = await seal(text, SECRET, step);
        deepEqual(await read(file), text);
        ok(!readFileSync(file).includes('planted'));
      }
    });
  }

  it('is another one each time', async () => {
    const text = randomBytes(100);
    const [one, other] = [await seal(text), await seal(text)];
    ok(!readFileSync(one).subarray(HEADER_BYTES).equals(readFileSync(other).subarray(HEADER_BYTES)));
  });

  it('does not open with another key, of another backup or at another place', async () => {
    const file = await seal(randomBytes(1000));
    for (const wrong of [
      { ...SECRET, key: Buffer.alloc(32, 8) },
      { ...SECRET, backupId: '0192f0a0-0000-7000-8000-000000000002' },
      { ...SECRET, path: 'streams/DEAD_LETTERS.entries' },
    ])
      await rejects(read(file, wrong), SealError);
  });

  it('does not open where a byte was changed', async () => {
    const file = await seal(randomBytes(CHUNK_BYTES + 100));
    const size = readFileSync(file).length;
    for (const at of [0, 8, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + CHUNK_BYTES, size - 100, size - 1])
      await rejects(
        readChanged(file, (bytes) => {
          bytes[at]! ^= 1;
          return bytes;
        }),
        SealError,
        `byte ${at}`,
      );
  });

  it('does not open where it was cut off, anywhere', async () => {
    const file = await seal(randomBytes(2 * CHUNK_BYTES + 100));
    const size = readFileSync(file).length;
    const ends = [0, 5, HEADER_BYTES, HEADER_BYTES + 10, HEADER_BYTES + SEALED_CHUNK_BYTES];
    for (const end of [...ends, HEADER_BYTES + 2 * SEALED_CHUNK_BYTES, size - 100, size - 1])
      await rejects(
        readChanged(file, (bytes) => bytes.subarray(0, end)),
        SealError,
        `cut at ${end}`,
      );
  });

  it('does not open where something was added, or chunks were swapped, repeated or left out', async () => {
    const file = await seal(randomBytes(3 * CHUNK_BYTES));
    const chunk = (bytes: Buffer, number: number): Buffer =>
      bytes.subarray(
        HEADER_BYTES + number * SEALED_CHUNK_BYTES,
        HEADER_BYTES + (number + 1) * SEALED_CHUNK_BYTES,
      );
    const orders = [
      [1, 0, 2],
      [0, 2, 1],
      [0, 0, 2],
      [0, 2],
      [1, 2],
      [0, 1, 2, 2],
      [0, 1, 1, 2],
    ];
    for (const order of orders)
      await rejects(
        readChanged(file, (bytes) =>
          Buffer.concat([bytes.subarray(0, HEADER_BYTES), ...order.map((number) => chunk(bytes, number))]),
        ),
        SealError,
        order.join(),
      );
    await rejects(
      readChanged(file, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
      SealError,
    );
    const same = await readChanged(file, (bytes) =>
      Buffer.concat([bytes.subarray(0, HEADER_BYTES), ...[0, 1, 2].map((number) => chunk(bytes, number))]),
    );
    equal(same.length, 3 * CHUNK_BYTES);
  });

  it('does not open where it was not ended', async () => {
    const file = newFile();
    const writer = await SealedWriter.open(file, SECRET);
    await writer.write(randomBytes(2 * CHUNK_BYTES));
    await writer.close();
    await rejects(read(file), SealError);
  });
});

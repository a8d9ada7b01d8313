/**
 * A file that is encrypted and authenticated in chunks (STREAM of Hoang, Reyhanitabar, Rogaway and Vizár, as in age).
 *
 *     "UTSEAL1\n" | salt, 32 bytes | chunks: 256 KiB of text, encrypted with AES-256-GCM, and a tag of 16 bytes
 *
 * Each file has a key of its own, by HKDF-SHA256 from the backup's key, the salt, the backup's id and the file's path.
 * A chunk's nonce is its number and its last-chunk flag. So a chunk opens only at its own place in its own file of its
 * own backup, and a file with a missing or foreign end does not open. No byte of a chunk is returned before its tag was
 * verified.
 *
 * Test: test/worker/backup/sealed-file.test.ts.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

/** The inputs from which the key of a file is derived. */
export interface FileSecret {
  /** Key of the backup, 32 bytes. */
  readonly key: Uint8Array;
  /** UUID of the backup. */
  readonly backupId: string;
  /** Path of the file in the backup, with `/`. */
  readonly path: string;
}

/** A sealed file was changed, truncated or moved, or has another key. The message continues the words "the file". */
export class SealError extends Error {}

const MAGIC = Buffer.from('UTSEAL1\n');
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + SALT_BYTES;
/** Length of the text in a full chunk, bytes. */
export const CHUNK_BYTES = 256 * 1024;
const TAG_BYTES = 16;
const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const CIPHER = 'aes-256-gcm';

/** Writes a new sealed file. The caller must call `end`: a file without its last chunk does not open. */
export class SealedWriter {
  readonly #output: FileHandle;
  readonly #key: Buffer;
  /** The next chunk, filled up to `#filled`. */
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  #number = 0;

  private constructor(output: FileHandle, key: Buffer) {
    this.#output = output;
    this.#key = key;
  }

  /** @throws when the file exists already or cannot be written */
  static async open(file: string, secret: FileSecret): Promise<SealedWriter> {
    const salt = randomBytes(SALT_BYTES);
    const output = await open(file, 'wx', 0o600);
    const writer = new SealedWriter(output, keyOf(secret, salt));
    await output.writeFile(Buffer.concat([MAGIC, salt]));
    return writer;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      // A full chunk waits for more bytes: it may be the last.
      if (this.#filled === CHUNK_BYTES) await this.#seal(false);
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#filled);
      this.#chunk.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  /** Writes the last chunk, syncs the file to disk and closes it. */
  async end(): Promise<void> {
    await this.#seal(true);
    await this.#output.sync();
    await this.close();
  }

  /** Closes the file, ended or not. */
  async close(): Promise<void> {
    await this.#output.close();
  }

  async #seal(isLast: boolean): Promise<void> {
    const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#number, isLast));
    const text = cipher.update(this.#chunk.subarray(0, this.#filled));
    await this.#output.writeFile(Buffer.concat([text, cipher.final(), cipher.getAuthTag()]));
    this.#number += 1;
    this.#filled = 0;
  }
}

/** Yields the text of a sealed file, one chunk at a time. Throws SealError. */
export async function* openSealed(file: string, secret: FileSecret): AsyncGenerator<Buffer> {
  const input = await open(file, 'r');
  try {
    const { size } = await input.stat();
    const header = await readAt(input, 0, Math.min(size, HEADER_BYTES));
    if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC))
      throw new SealError('does not begin as an encrypted file does');
    const key = keyOf(secret, header.subarray(MAGIC.length));
    const chunks = Math.max(1, Math.ceil((size - HEADER_BYTES) / SEALED_CHUNK_BYTES));
    for (let number = 0; number < chunks; number++) {
      const from = HEADER_BYTES + number * SEALED_CHUNK_BYTES;
      const sealed = await readAt(input, from, Math.min(SEALED_CHUNK_BYTES, size - from));
      yield chunkOf(sealed, key, number, number === chunks - 1);
    }
  } finally {
    await input.close();
  }
}

/** Decrypts and verifies a chunk. Throws SealError. */
function chunkOf(sealed: Buffer, key: Buffer, number: number, isLast: boolean): Buffer {
  const end = sealed.length - TAG_BYTES;
  if (end < 0) throw new SealError('is cut off');
  const decipher = createDecipheriv(CIPHER, key, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  const text = decipher.update(sealed.subarray(0, end));
  try {
    return Buffer.concat([text, decipher.final()]);
  } catch (error) {
    throw new SealError(`was changed, cut off or put in the place of another (chunk ${number + 1})`, {
      cause: error,
    });
  }
}

function keyOf({ key, backupId, path }: FileSecret, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `undertone backup\n${backupId}\n${path}`, 32));
}

/** 12 bytes. No two chunks of a file share a nonce, and no two files share a key. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

async function readAt(input: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await input.read(bytes, read, length - read, from + read);
    if (bytesRead === 0) throw new SealError('is cut off');
    read += bytesRead;
  }
  return bytes;
}

/**
 * Issues and reads session ids: UUIDv8 (RFC 9562) that contain the number of their instance, so that finding it needs
 * no look-up.
 *
 * Test: test/web/registry/session-ids.test.ts.
 */
import { createCipheriv, createHmac, randomBytes } from 'node:crypto';

/** Highest instance number that fits a session id. */
export const MAX_INSTANCE_NUMBER = 2 ** 40 - 1;

/**
 * Layout of an id:
 *
 * | bytes | bits | content |
 * |---|---|---|
 * | 0–4 | 40 | instance number, big-endian |
 * | 5–7 | 24 | tag: byte 6 begins with the version (4 bits), so 20 bits of it are tag |
 * | 8–15 | 64 | variant (2 bits), then 62 bits that make the id unique |
 *
 * The tag is an HMAC-SHA256 over number and unique part, cut to 20 bits. A client's own UUIDv8 counts as issued only if
 * its tag fits (1 in a million) and its first 40 bits name an existing instance.
 *
 * Ids do not reveal how many others were issued: instance numbers are random, and the unique part is a shuffled count.
 */
export interface SessionIds {
  /** Issues a new id; equal seeds give equal ids. */
  issue(instanceNumber: number, seed?: string): string;
  /** Returns a keyed digest, base64url; equal only for equal parts. */
  digest(parts: readonly string[]): string;
  /** Returns the instance number in an id that we issued; null for any other UUID. Ignores case. */
  read(sessionId: string): number | null;
}

/** `secret`: hex, from the registry; the same in every process for good. */
export function createSessionIds(secret: string): SessionIds {
  const key = Buffer.from(secret, 'hex');
  const shuffled = createShuffle(createHmac('sha256', key).update('session-count').digest());
  // Counts up from a random start: ids of one process never collide, those of several hardly ever.
  let count = randomBytes(8).readBigUInt64BE() & UNIQUE_MASK;

  const sign = (bytes: Buffer): void => {
    const tag = createHmac('sha256', key)
      .update('session-id')
      .update(bytes.subarray(0, 5))
      .update(bytes.subarray(8))
      .digest();
    bytes[5] = tag[0] ?? 0;
    bytes[6] = 0x80 | ((tag[1] ?? 0) & 0x0f);
    bytes[7] = tag[2] ?? 0;
  };

  return {
    issue(instanceNumber, seed) {
      if (!Number.isInteger(instanceNumber) || instanceNumber < 0 || instanceNumber > MAX_INSTANCE_NUMBER) {
        throw new RangeError(`no instance number: ${instanceNumber}`);
      }
      const bytes = Buffer.alloc(16);
      bytes.writeUIntBE(instanceNumber, 0, 5);
      if (seed === undefined) {
        count = (count + 1n) & UNIQUE_MASK;
        bytes.writeBigUInt64BE(VARIANT | shuffled(count), 8);
      } else {
        const derived = createHmac('sha256', key)
          .update('session-seed')
          .update(bytes.subarray(0, 5))
          .update(seed)
          .digest();
        bytes.writeBigUInt64BE(VARIANT | (derived.readBigUInt64BE() & UNIQUE_MASK), 8);
      }
      sign(bytes);
      const hex = bytes.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    digest: (parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url'),
    read(sessionId) {
      if (sessionId.charAt(14) !== '8') return null;
      const given = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
      if (given.length !== 16) return null;
      const signed = Buffer.from(given);
      sign(signed);
      return signed.equals(given) ? given.readUIntBE(0, 5) : null;
    },
  };
}

const UNIQUE_MASK = (1n << 62n) - 1n;
const VARIANT = 2n << 62n;

const HALF_BITS = 31n;
const HALF_MASK = 0x7fff_ffff;
const ROUNDS = 8;

/**
 * Returns a keyed permutation of 62 bits, a Feistel network of AES: different counts stay different, and without the
 * key consecutive counts look unrelated. `key`: 32 bytes.
 */
function createShuffle(key: Buffer): (count: bigint) => bigint {
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const block = Buffer.alloc(16);
  return (count) => {
    let left = Number(count >> HALF_BITS);
    let right = Number(count & BigInt(HALF_MASK));
    for (let round = 0; round < ROUNDS; round += 1) {
      block.writeUInt32BE(round, 0);
      block.writeUInt32BE(right, 4);
      const mixed = left ^ (cipher.update(block).readUInt32BE(0) & HALF_MASK);
      left = right;
      right = mixed;
    }
    return (BigInt(left) << HALF_BITS) | BigInt(right);
  };
}

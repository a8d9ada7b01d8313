/**
 * Derives session ids, synchronously and in any runtime.
 *
 * Test: test/doors/client/session.test.ts.
 */
/**
 * Returns the session id for your `externalId`: its UUIDv5 in the namespace of the instance (RFC 9562), the same in
 * every language. SHA-1 is implemented here because Web Crypto's is asynchronous.
 *
 * @throws TypeError if `instanceId` is no UUID
 */
export function sessionIdOf(instanceId: string, externalId: string): string {
  const digits = instanceId.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(digits)) throw new TypeError(`instanceId must be a UUID, not ${instanceId}`);
  const name = new TextEncoder().encode(externalId);
  const bytes = new Uint8Array(16 + name.length);
  for (let at = 0; at < 16; at += 1) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16);
  bytes.set(name, 16);
  const hash = sha1(bytes).slice(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Constant and mixing function of each twenty rounds (FIPS 180-4, section 6.1). */
const ROUNDS: readonly (readonly [number, (b: number, c: number, d: number) => number])[] = [
  [0x5a827999, (b, c, d) => (b & c) | (~b & d)],
  [0x6ed9eba1, (b, c, d) => b ^ c ^ d],
  [0x8f1bbcdc, (b, c, d) => (b & c) | (b & d) | (c & d)],
  [0xca62c1d6, (b, c, d) => b ^ c ^ d],
];

function sha1(message: Uint8Array): Uint8Array {
  const padded = new DataView(new ArrayBuffer((((message.length + 8) >> 6) + 1) << 6));
  message.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(message.length, 0x80);
  padded.setUint32(padded.byteLength - 4, message.length * 8);
  const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const words = new Uint32Array(80);
  const word = (at: number): number => words[at] ?? 0;
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let at = 0; at < 16; at += 1) words[at] = padded.getUint32(block + 4 * at);
    for (let at = 16; at < 80; at += 1)
      words[at] = rotate(word(at - 3) ^ word(at - 8) ^ word(at - 14) ^ word(at - 16), 1);
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    for (let at = 0; at < 80; at += 1) {
      const [constant, mix] = ROUNDS[Math.trunc(at / 20)] ?? [0, () => 0];
      const next = (rotate(a, 5) + mix(b, c, d) + e + constant + word(at)) >>> 0;
      [a, b, c, d, e] = [next, a, rotate(b, 30), c, d];
    }
    [a, b, c, d, e].forEach((value, at) => {
      state[at] = (state[at] ?? 0) + value;
    });
  }
  const digest = new DataView(new ArrayBuffer(20));
  state.forEach((value, at) => digest.setUint32(4 * at, value));
  return new Uint8Array(digest.buffer);
}

function rotate(value: number, bits: number): number {
  return ((value << bits) | (value >>> (32 - bits))) >>> 0;
}

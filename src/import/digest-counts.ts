import { hash } from 'node:crypto';

/** Slots at first; a power of two. */
const FIRST_SLOTS = 1024;
/** The table grows when it is fuller than this. */
const MAX_LOAD = 0.6;

/**
 * A count for each text, of which it keeps 64 bits: millions of texts take some tens of megabytes. Two of ten million
 * different texts are taken for one with a probability of 10⁻⁶.
 */
export class DigestCounts {
  #slots = new BigUint64Array(FIRST_SLOTS);
  #counts = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** Texts with a count. */
  get size(): number {
    return this.#size;
  }

  /** 0 for a text that has none. */
  get(text: string): number {
    return this.#counts[slotOf(this.#slots, digestOf(text))] ?? 0;
  }

  /** `count`: 1 or more. */
  set(text: string, count: number): void {
    const digest = digestOf(text);
    const slot = slotOf(this.#slots, digest);
    if (this.#slots[slot] === 0n) this.#size += 1;
    this.#slots[slot] = digest;
    this.#counts[slot] = count;
    if (this.#size > this.#slots.length * MAX_LOAD) this.#grow();
  }

  #grow(): void {
    const slots = new BigUint64Array(this.#slots.length * 2);
    const counts = new Uint32Array(slots.length);
    for (const [index, digest] of this.#slots.entries()) {
      if (digest === 0n) continue;
      const slot = slotOf(slots, digest);
      slots[slot] = digest;
      counts[slot] = this.#counts[index] ?? 0;
    }
    [this.#slots, this.#counts] = [slots, counts];
  }
}

/** Never 0, which is an empty slot. */
function digestOf(text: string): bigint {
  const digest = hash('sha1', text, 'buffer').readBigUInt64LE(0);
  return digest === 0n ? 1n : digest;
}

/** Where a digest is, or would be. */
function slotOf(slots: BigUint64Array, digest: bigint): number {
  const mask = slots.length - 1;
  let slot = Number(digest & BigInt(mask));
  while (slots[slot] !== 0n && slots[slot] !== digest) slot = (slot + 1) & mask;
  return slot;
}

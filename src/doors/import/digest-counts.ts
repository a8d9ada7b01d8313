/**
 * Counts by text that keep 64 bits of a digest instead of the text, for imports of millions of conversations.
 *
 * Test: test/doors/import/digest-counts.test.ts.
 */
import { hash } from 'node:crypto';

/** Number of parts, a power of two. Each grows by itself, so that growth copies little at a time. */
const PARTS = 256;
/** Initial slots of a part. */
const FIRST_SLOTS = 16;
/** A part whose load exceeds MAX_LOAD grows by GROWTH. */
const MAX_LOAD = 0.85;
const GROWTH = 1.25;

/**
 * A map from text to count that takes about 16 bytes a text. The probability that two of ten million texts collide is
 * 10⁻⁵.
 */
export class DigestCounts {
  readonly #parts = Array.from({ length: PARTS }, () => new Part());

  /** Number of texts with a count. */
  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  /** Returns 0 for an unknown text. */
  get(text: string): number {
    const [high, low] = digestOf(text);
    return this.#of(low).get(high, low);
  }

  /** `count` is at least 1. */
  set(text: string, count: number): void {
    const [high, low] = digestOf(text);
    this.#of(low).set(high, low, count);
  }

  #of(low: number): Part {
    return this.#parts[low & (PARTS - 1)] as Part;
  }
}

class Part {
  size = 0;
  #slots = new Slots(FIRST_SLOTS);

  get(high: number, low: number): number {
    const { counts } = this.#slots;
    return counts[this.#slots.find(high, low)] ?? 0;
  }

  set(high: number, low: number, count: number): void {
    if (this.#slots.put(high, low, count)) this.size += 1;
    if (this.size <= this.#slots.counts.length * MAX_LOAD) return;
    const { highs, lows, counts } = this.#slots;
    this.#slots = new Slots(Math.ceil(counts.length * GROWTH));
    for (const [slot, known] of counts.entries())
      if (known > 0) this.#slots.put(highs[slot] ?? 0, lows[slot] ?? 0, known);
  }
}

/** A hash table with open addressing; a slot with count 0 is empty. */
class Slots {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly counts: Uint32Array;

  constructor(length: number) {
    this.highs = new Uint32Array(length);
    this.lows = new Uint32Array(length);
    this.counts = new Uint32Array(length);
  }

  /** Returns the slot of a digest, or the empty slot where it belongs. */
  find(high: number, low: number): number {
    const { length } = this.counts;
    let slot = Math.floor((high / 2 ** 32) * length);
    while (this.counts[slot] !== 0 && (this.highs[slot] !== high || this.lows[slot] !== low))
      slot = slot + 1 === length ? 0 : slot + 1;
    return slot;
  }

  /** Returns true if the digest is new. */
  put(high: number, low: number, count: number): boolean {
    const slot = this.find(high, low);
    const isNew = this.counts[slot] === 0;
    this.highs[slot] = high;
    this.lows[slot] = low;
    this.counts[slot] = count;
    return isNew;
  }
}

function digestOf(text: string): readonly [high: number, low: number] {
  const digest = hash('sha1', text, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

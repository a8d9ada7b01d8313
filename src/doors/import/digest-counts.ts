import { hash } from 'node:crypto';

/** Parts of the table that grow by themselves, so that little is copied at a time; a power of two. */
const PARTS = 256;
/** Slots of a part at first. */
const FIRST_SLOTS = 16;
/** A part grows when it is fuller than this, by this. */
const MAX_LOAD = 0.85;
const GROWTH = 1.25;

/**
 * A count for each text, of which it keeps 64 bits: about 16 bytes a text. Two of ten million different texts are
 * taken for one with a probability of 10⁻⁵.
 */
export class DigestCounts {
  readonly #parts = Array.from({ length: PARTS }, () => new Part());

  /** Texts with a count. */
  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  /** 0 for a text that has none. */
  get(text: string): number {
    const [high, low] = digestOf(text);
    return this.#of(low).get(high, low);
  }

  /** `count`: 1 or more. */
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

/** Open addressing. A slot without a count is empty. */
class Slots {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly counts: Uint32Array;

  constructor(length: number) {
    this.highs = new Uint32Array(length);
    this.lows = new Uint32Array(length);
    this.counts = new Uint32Array(length);
  }

  /** Where a digest is, or would be. */
  find(high: number, low: number): number {
    const { length } = this.counts;
    let slot = Math.floor((high / 2 ** 32) * length);
    while (this.counts[slot] !== 0 && (this.highs[slot] !== high || this.lows[slot] !== low))
      slot = slot + 1 === length ? 0 : slot + 1;
    return slot;
  }

  /** Whether it is new. */
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

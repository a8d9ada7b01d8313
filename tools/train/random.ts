/** Reproducible random numbers (mulberry32): one seed, one sequence, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** About normally distributed, mean 0, variance 1: twelve even ones added up, whose bits no library decides. */
  normal(): number {
    let sum = -6;
    for (let i = 0; i < 12; i += 1) sum += this.next();
    return sum;
  }
}

/** Draws places with given weights. */
export class WeightedChoice {
  readonly #ends: Float64Array;

  constructor(weights: readonly number[]) {
    let end = 0;
    this.#ends = Float64Array.from(weights, (weight) => (end += weight));
  }

  draw(random: Random): number {
    const ends = this.#ends;
    const target = random.next() * (ends[ends.length - 1] ?? 0);
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > target) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

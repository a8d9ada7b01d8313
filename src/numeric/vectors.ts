import { DotArena } from './dot-kernel.ts';

/** Unit-length rows that are searched together; row numbers are dense and keep their order. */
export class VectorTable {
  readonly #arena: DotArena;
  readonly #blocks: number[] = [];
  #length = 0;

  constructor(arena: DotArena) {
    this.#arena = arena;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends `vector` scaled to unit length; returns its row. */
  push(vector: Float32Array): number {
    if (this.#length === this.#blocks.length * DotArena.ROWS_PER_BLOCK)
      this.#blocks.push(this.#arena.allocate());
    this.#length += 1;
    this.set(this.#length - 1, vector);
    return this.#length - 1;
  }

  /** Replaces a row by `vector` scaled to unit length. Returns the length that `vector` had. */
  set(row: number, vector: Float32Array): number {
    const norm = normOf(vector);
    const scale = norm === 0 ? 0 : 1 / norm;
    const offset = this.#offset(row);
    const floats = this.#arena.floats;
    for (let index = 0; index < vector.length; index += 1) floats[offset + index] = vector[index]! * scale;
    return norm;
  }

  /** Cosine of `query` (unit length) with every row, into `out` (at least `length` long). */
  cosines(query: Float32Array, out: Float32Array): void {
    this.#arena.setQuery(query);
    this.#search(this.#length, out, 0);
  }

  /** Cosine of a row with the rows before it, into `out` from `start`. */
  cosinesBefore(row: number, out: Float32Array, start: number): void {
    this.#arena.setQueryRow(this.#offset(row));
    this.#search(row, out, start);
  }

  /**
   * Cosines of all pairs of rows, into a lower triangle, row after row: (i, j < i) at i(i−1)/2 + j. Block by
   * block, so that the rows of a block stay in the nearest cache.
   */
  pairCosines(out: Float64Array): void {
    const cosines = new Float32Array(DotArena.ROWS_PER_BLOCK);
    for (const [block, offset] of this.#blocks.entries()) {
      const first = block * DotArena.ROWS_PER_BLOCK;
      for (let row = first + 1; row < this.#length; row += 1) {
        const rows = Math.min(DotArena.ROWS_PER_BLOCK, row - first);
        this.#arena.setQueryRow(this.#offset(row));
        this.#arena.dots(offset, rows, cosines, 0);
        const at = (row * (row - 1)) / 2 + first;
        for (let index = 0; index < rows; index += 1) out[at + index] = cosines[index]!;
      }
    }
  }

  /** Cosine of a row with every row, into `out` (at least `length` long). */
  cosinesOf(row: number, out: Float32Array): void {
    this.#arena.setQueryRow(this.#offset(row));
    this.#search(this.#length, out, 0);
  }

  clear(): void {
    for (const block of this.#blocks) this.#arena.release(block);
    this.#blocks.length = 0;
    this.#length = 0;
  }

  #offset(row: number): number {
    const block = Math.floor(row / DotArena.ROWS_PER_BLOCK);
    return this.#blocks[block]! + (row % DotArena.ROWS_PER_BLOCK) * this.#arena.stride;
  }

  #search(count: number, out: Float32Array, start: number): void {
    for (let block = 0; block * DotArena.ROWS_PER_BLOCK < count; block += 1) {
      const first = block * DotArena.ROWS_PER_BLOCK;
      const rows = Math.min(DotArena.ROWS_PER_BLOCK, count - first);
      this.#arena.dots(this.#blocks[block]!, rows, out, start + first);
    }
  }
}

/** Euclidean length. */
export function normOf(vector: Float32Array): number {
  let total = 0;
  for (let index = 0; index < vector.length; index += 1) total += vector[index]! * vector[index]!;
  return Math.sqrt(total);
}

/** Dot product of two vectors of one length. */
export function dotOf(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let index = 0; index < a.length; index += 1) total += a[index]! * b[index]!;
  return total;
}

/**
 * Dot products of one vector with many, into `out`. Several at a time: one sum has to wait for each of its own
 * additions, not for the others'. Each is added up in the order of `dotOf`, to the same bits.
 */
export function dotsOf(vector: Float32Array, others: readonly Float32Array[], out: Float64Array): void {
  let at = 0;
  for (; at + 4 <= others.length; at += 4) {
    const [a, b, c, d] = [others[at]!, others[at + 1]!, others[at + 2]!, others[at + 3]!];
    let totalA = 0;
    let totalB = 0;
    let totalC = 0;
    let totalD = 0;
    for (let index = 0; index < vector.length; index += 1) {
      const x = vector[index]!;
      totalA += x * a[index]!;
      totalB += x * b[index]!;
      totalC += x * c[index]!;
      totalD += x * d[index]!;
    }
    out[at] = totalA;
    out[at + 1] = totalB;
    out[at + 2] = totalC;
    out[at + 3] = totalD;
  }
  for (; at < others.length; at += 1) out[at] = dotOf(vector, others[at]!);
}

/** Adds `vector` to `sum` in place. */
export function addTo(sum: Float32Array, vector: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index]! += vector[index]!;
}

/** Bytes per component: unit vectors as int8, scaled so that the largest component is ±127. */
export function quantise(vector: Float32Array): Int8Array {
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1)
    largest = Math.max(largest, Math.abs(vector[index]!));
  const scale = largest === 0 ? 0 : 127 / largest;
  const quantised = new Int8Array(vector.length);
  for (let index = 0; index < vector.length; index += 1)
    quantised[index] = Math.round(vector[index]! * scale);
  return quantised;
}

/** Cosine of two quantised vectors; 0 when either is all zeros. Exact: integers below 2^53. */
export function quantisedCosine(a: Int8Array, b: Int8Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let index = 0; index < a.length; index += 1) {
    const x = a[index]!;
    const y = b[index]!;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

/** The unit-length vector that a quantised one stands for. */
export function dequantise(quantised: Int8Array): Float32Array {
  const vector = Float32Array.from(quantised);
  const norm = normOf(vector);
  if (norm > 0) for (let index = 0; index < vector.length; index += 1) vector[index]! /= norm;
  return vector;
}

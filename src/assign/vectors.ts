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

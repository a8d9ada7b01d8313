/**
 * A table of vectors that are searched together. Keeps the invariant that every row has unit length or is zero.
 *
 * Test: test/reader/numeric/vector-table.test.ts.
 */
import { DotArena } from './dot-kernel.ts';
import { startOfRow } from './lower-triangle.ts';
import { normOf } from './vectors.ts';

/** Vectors of unit length in rows from 0 on. */
export class VectorTable {
  readonly #arena: DotArena;
  readonly #blocks: number[] = [];
  #length = 0;

  constructor(arena: DotArena) {
    this.#arena = arena;
  }

  /** Appends `vector`, scaled to unit length; returns its row. */
  push(vector: Float32Array): number {
    if (this.#length === this.#blocks.length * DotArena.ROWS_PER_BLOCK)
      this.#blocks.push(this.#arena.allocate());
    this.#length += 1;
    this.set(this.#length - 1, vector);
    return this.#length - 1;
  }

  /** Replaces a row by `vector`, scaled to unit length; returns the length before scaling. */
  set(row: number, vector: Float32Array): number {
    const norm = normOf(vector);
    const scale = norm === 0 ? 0 : 1 / norm;
    const offset = this.#offset(row);
    const floats = this.#arena.floats;
    for (let index = 0; index < vector.length; index += 1) floats[offset + index] = vector[index]! * scale;
    return norm;
  }

  /** Writes the cosines of `query` (unit length) with all rows to `out`. */
  cosines(query: Float32Array, out: Float32Array): void {
    this.#arena.setQuery(query);
    this.#search(out);
  }

  /**
   * Writes the cosines of all pairs of rows to a lower triangle. Goes block by block, so that the rows of a block stay
   * in the processor's nearest cache.
   */
  pairCosines(out: Float64Array): void {
    const cosines = new Float32Array(DotArena.ROWS_PER_BLOCK);
    for (const [block, offset] of this.#blocks.entries()) {
      const first = block * DotArena.ROWS_PER_BLOCK;
      for (let row = first + 1; row < this.#length; row += 1) {
        const rows = Math.min(DotArena.ROWS_PER_BLOCK, row - first);
        this.#arena.setQueryRow(this.#offset(row));
        this.#arena.dots(offset, rows, cosines, 0);
        const start = startOfRow(row) + first;
        for (let index = 0; index < rows; index += 1) out[start + index] = cosines[index]!;
      }
    }
  }

  /** Writes the cosines of one row with all rows to `out`. */
  cosinesOf(row: number, out: Float32Array): void {
    this.#arena.setQueryRow(this.#offset(row));
    this.#search(out);
  }

  /** Arena memory that the table occupies, bytes. */
  get bytes(): number {
    return this.#blocks.length * this.#arena.blockBytes;
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

  #search(out: Float32Array): void {
    for (const [block, offset] of this.#blocks.entries()) {
      const first = block * DotArena.ROWS_PER_BLOCK;
      this.#arena.dots(offset, Math.min(DotArena.ROWS_PER_BLOCK, this.#length - first), out, first);
    }
  }
}

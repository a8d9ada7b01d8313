/**
 * Dot products of one vector with many, in SIMD: plain JavaScript is too slow for the search over a thousand centroids
 * that every request needs. Keeps the invariant that the order of additions is fixed, so every machine and every replay
 * computes the same bits.
 *
 * Test: test/reader/numeric/vector-table.test.ts.
 */
import {
  advance,
  clear,
  countDown,
  I32,
  instantiate,
  OP,
  PAGE_BYTES,
  stepUp,
  type WasmFunction,
  type WasmMemory,
} from './wasm.ts';

/** Vectors are padded with zeros to a multiple of this many floats: one iteration of the inner loop. */
const FLOATS_PER_STEP = 16;

/** Byte addresses and counts: query, first row, number of rows, first output, bytes per row. */
type DotsFunction = (query: number, rows: number, count: number, out: number, rowBytes: number) => void;

const MAXIMUM_PAGES = 32_768;

/**
 * The kernel. Takes two rows at a time, so that each part of the query is loaded once for both; an odd last row alone.
 * Each row has four sums, added up in the same order either way.
 */
function dotsFunction(): WasmFunction {
  const [query, rows, count, out, rowBytes, at, second, pairs] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
  const [part, ...sums] = [8, 9, 10, 11, 12, 13, 14, 15, 16] as const;
  const [sumsOfFirst, sumsOfSecond] = [sums.slice(0, 4), sums.slice(4)];
  const addProduct = (row: number, sum: number, lane: number): number[] => [
    ...OP.get(sum),
    ...OP.get(part),
    ...OP.get(row),
    ...OP.get(at),
    ...OP.add,
    ...OP.loadVector(16 * lane),
    ...OP.multiplyVectors,
    ...OP.addVectors,
    ...OP.set(sum),
  ];
  const dotsWith = (own: readonly { readonly row: number; readonly sums: readonly number[] }[]): number[] => [
    ...own.flatMap((one) => clear(one.sums)),
    ...OP.constant(0),
    ...OP.set(at),
    ...stepUp(
      at,
      4 * FLOATS_PER_STEP,
      rowBytes,
      [0, 1, 2, 3].flatMap((lane) => [
        ...OP.get(query),
        ...OP.get(at),
        ...OP.add,
        ...OP.loadVector(16 * lane),
        ...OP.set(part),
        ...own.flatMap((one) => addProduct(one.row, one.sums[lane]!, lane)),
      ]),
    ),
    ...own.flatMap((one) => [...storeTotal(out, one.sums), ...advance(out, OP.constant(4))]),
  ];
  const first = { row: rows, sums: sumsOfFirst };
  const code = [
    ...OP.get(count),
    ...OP.constant(1),
    ...OP.shiftRight,
    ...OP.set(pairs),
    ...countDown(pairs, [
      ...OP.get(rows),
      ...OP.get(rowBytes),
      ...OP.add,
      ...OP.set(second),
      ...dotsWith([first, { row: second, sums: sumsOfSecond }]),
      ...OP.get(second),
      ...OP.get(rowBytes),
      ...OP.add,
      ...OP.set(rows),
    ]),
    ...OP.get(count),
    ...OP.constant(1),
    ...OP.and,
    ...OP.set(pairs),
    ...countDown(pairs, dotsWith([first])),
  ];
  return { name: 'dots', parameters: [I32, I32, I32, I32, I32], integers: 3, vectors: 9, code };
}

/** Code that stores the total of four vectors' floats. */
function storeTotal(out: number, sums: readonly number[]): number[] {
  const halfOfVectors = (lanes: readonly number[]): number[] => [
    ...lanes.flatMap((lane) => OP.get(sums[lane]!)),
    ...OP.addVectors,
  ];
  const halfOfSum = (lanes: readonly number[]): number[] => [
    ...lanes.flatMap((lane) => [...OP.get(sums[0]!), ...OP.lane(lane)]),
    ...OP.addFloat,
  ];
  return [
    ...halfOfVectors([0, 1]),
    ...halfOfVectors([2, 3]),
    ...OP.addVectors,
    ...OP.set(sums[0]!),
    ...OP.get(out),
    ...halfOfSum([0, 1]),
    ...halfOfSum([2, 3]),
    ...OP.addFloat,
    ...OP.storeFloat,
  ];
}

/**
 * Memory for vectors of one padded length, allocated in blocks of `ROWS_PER_BLOCK` rows. The query lies at address 0,
 * the results after it.
 */
export class DotArena {
  static readonly ROWS_PER_BLOCK = 32;
  /** Number of floats from one row to the next. */
  readonly stride: number;
  readonly #memory: WasmMemory;
  #floats: Float32Array<ArrayBuffer>;
  readonly #dots: DotsFunction;
  readonly #free: number[] = [];
  #end: number;

  constructor(dimensions: number) {
    this.stride = Math.ceil(dimensions / FLOATS_PER_STEP) * FLOATS_PER_STEP;
    const { memory, exports } = instantiate<{ readonly dots: DotsFunction }>([dotsFunction()], {
      initial: 1,
      maximum: MAXIMUM_PAGES,
    });
    this.#memory = memory;
    this.#floats = new Float32Array(memory.buffer);
    this.#dots = exports.dots;
    this.#end = this.stride + DotArena.ROWS_PER_BLOCK;
    this.#ensure(this.#end);
  }

  /** The whole memory. `allocate` may replace this array, so do not keep it. */
  get floats(): Float32Array {
    return this.#floats;
  }

  /** Size of a block of rows, bytes. */
  get blockBytes(): number {
    return this.stride * DotArena.ROWS_PER_BLOCK * 4;
  }

  /** Allocates a block of zero rows; returns its offset in floats. */
  allocate(): number {
    const size = this.stride * DotArena.ROWS_PER_BLOCK;
    const block = this.#free.pop() ?? this.#end;
    if (block === this.#end) {
      this.#end += size;
      this.#ensure(this.#end);
    }
    this.#floats.fill(0, block, block + size);
    return block;
  }

  release(block: number): void {
    this.#free.push(block);
  }

  setQuery(vector: Float32Array): void {
    this.#floats.set(vector, 0);
  }

  setQueryRow(offset: number): void {
    this.#floats.copyWithin(0, offset, offset + this.stride);
  }

  /** Writes the dot products of the query with the first `count` rows of a block to `out`, from index `start` on. */
  dots(block: number, count: number, out: Float32Array, start: number): void {
    this.#dots(0, block * 4, count, this.stride * 4, this.stride * 4);
    const floats = this.#floats;
    const from = this.stride;
    for (let index = 0; index < count; index += 1) out[start + index] = floats[from + index]!;
  }

  #ensure(floats: number): void {
    const missing = floats * 4 - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    const pages = Math.max(Math.ceil(missing / PAGE_BYTES), 64);
    this.#memory.grow(pages);
    this.#floats = new Float32Array(this.#memory.buffer);
  }
}

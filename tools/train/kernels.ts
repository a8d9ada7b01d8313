/**
 * The arithmetic of training as WebAssembly SIMD: products of matrices, sums of rows, a step of Adam. Every sum has one
 * order, so training gives the same bits on every processor.
 * Covered by test/tools/train/matrix-space.test.ts.
 */
import {
  advance,
  clear,
  countDown,
  F32,
  I32,
  OP,
  stepUp,
  type WasmFunction,
} from '../../src/reader/numeric/wasm.ts';

/** Addresses and lengths are in bytes. */
export interface Kernels {
  /** One panel of eight columns of a product, for `rows` rows. */
  readonly panel: (
    left: number,
    panel: number,
    product: number,
    rows: number,
    leftRowBytes: number,
    productRowBytes: number,
  ) => void;
  /** `out` = the sum of the rows whose numbers lie at `numbers`. */
  readonly sum: (rows: number, numbers: number, count: number, out: number, rowBytes: number) => void;
  /** Adds `row` to each of the rows whose numbers lie at `numbers`. */
  readonly spread: (rows: number, numbers: number, count: number, row: number, rowBytes: number) => void;
  /** Adam for one row: moments and values move by the gradient. */
  readonly adam: (
    values: number,
    means: number,
    squares: number,
    gradients: number,
    rowBytes: number,
    rate: number,
    squareScale: number,
  ) => void;
}

/** Rows of a product are handled in fours, columns in eights, terms of a sum in fours. */
export const ROWS = 4;
export const COLUMNS = 8;
export const UNROLLED = 4;
/** Rows are summed and spread in pieces of this many floats. */
export const CHUNK = 32;

export const BETA1 = 0.9;
export const BETA2 = 0.99;
const EPSILON = 1e-8;

const integers = (count: number): number[] => Array.from({ length: count }, () => I32);

function panelFunction(): WasmFunction {
  const [left, panel, product, rows, leftRow, productRow] = [0, 1, 2, 3, 4, 5] as const;
  const pointers = [6, 7, 8, 9] as const;
  const [at, stop] = [10, 11] as const;
  const sums = Array.from({ length: ROWS * 2 }, (_, i) => 12 + i);
  const [low, high, factor] = [20, 21, 22] as const;
  const term = (step: number): number[] => [
    ...OP.get(at),
    ...OP.loadVector(32 * step),
    ...OP.set(low),
    ...OP.get(at),
    ...OP.loadVector(32 * step + 16),
    ...OP.set(high),
    ...pointers.flatMap((pointer, row) => [
      ...OP.get(pointer),
      ...OP.loadSplat(4 * step),
      ...OP.set(factor),
      ...[low, high].flatMap((half, side) => [
        ...OP.get(sums[2 * row + side]!),
        ...OP.get(factor),
        ...OP.get(half),
        ...OP.multiplyVectors,
        ...OP.addVectors,
        ...OP.set(sums[2 * row + side]!),
      ]),
    ]),
  ];
  const code = [
    ...OP.loop,
    ...clear(sums),
    ...OP.get(left),
    ...OP.set(pointers[0]),
    ...[1, 2, 3].flatMap((row) => [
      ...OP.get(pointers[row - 1]!),
      ...OP.get(leftRow),
      ...OP.add,
      ...OP.set(pointers[row]!),
    ]),
    // The panel has one row of eight floats a term: its end is eight left rows further on.
    ...OP.get(panel),
    ...OP.tee(at),
    ...OP.get(leftRow),
    ...OP.constant(COLUMNS),
    ...OP.multiply,
    ...OP.add,
    ...OP.set(stop),
    ...stepUp(at, 4 * COLUMNS * UNROLLED, stop, [
      ...Array.from({ length: UNROLLED }, (_, step) => term(step)).flat(),
      ...pointers.flatMap((pointer) => advance(pointer, OP.constant(4 * UNROLLED))),
    ]),
    ...Array.from({ length: ROWS }, (_, row) => [
      ...[0, 1].flatMap((side) => [
        ...OP.get(product),
        ...OP.get(sums[2 * row + side]!),
        ...OP.storeVector(16 * side),
      ]),
      ...advance(product, OP.get(productRow)),
      ...advance(left, OP.get(leftRow)),
    ]).flat(),
    ...OP.get(rows),
    ...OP.constant(ROWS),
    ...OP.subtract,
    ...OP.tee(rows),
    ...OP.brIf(0),
    ...OP.end,
  ];
  return { name: 'panel', parameters: integers(6), integers: 6, vectors: sums.length + 3, code };
}

const LANES = Array.from({ length: CHUNK / 4 }, (_, lane) => lane);

/** Locals of the functions that go through numbered rows, chunk by chunk: `sum` and `spread`. */
const [ROWS_AT, NUMBERS, COUNT, OTHER_ROW, ROW_BYTES] = [0, 1, 2, 3, 4] as const;
const [AT, LEFT, NEXT, ROW] = [5, 6, 7, 8] as const;
/** The chunk in work, in vectors of four. */
const PARTS = LANES.map((lane) => 9 + lane);

/** For each chunk of a row: `begin`, then `each` with `ROW` at that chunk of every numbered row, then `end`. */
function numberedRows(
  name: string,
  begin: readonly number[],
  each: readonly number[],
  end: readonly number[],
): WasmFunction {
  const code = [
    ...OP.constant(0),
    ...OP.set(AT),
    ...stepUp(AT, 4 * CHUNK, ROW_BYTES, [
      ...begin,
      ...OP.get(COUNT),
      ...OP.set(LEFT),
      ...OP.get(NUMBERS),
      ...OP.set(NEXT),
      ...countDown(LEFT, [
        ...OP.get(NEXT),
        ...OP.load,
        ...OP.get(ROW_BYTES),
        ...OP.multiply,
        ...OP.get(ROWS_AT),
        ...OP.add,
        ...OP.get(AT),
        ...OP.add,
        ...OP.set(ROW),
        ...each,
        ...advance(NEXT, OP.constant(4)),
      ]),
      ...end,
    ]),
  ];
  return { name, parameters: integers(5), integers: 4, vectors: PARTS.length, code };
}

function sumFunction(): WasmFunction {
  const each = PARTS.flatMap((part, lane) => [
    ...OP.get(part),
    ...OP.get(ROW),
    ...OP.loadVector(16 * lane),
    ...OP.addVectors,
    ...OP.set(part),
  ]);
  const end = PARTS.flatMap((part, lane) => [
    ...OP.get(OTHER_ROW),
    ...OP.get(AT),
    ...OP.add,
    ...OP.get(part),
    ...OP.storeVector(16 * lane),
  ]);
  return numberedRows('sum', clear(PARTS), each, end);
}

function spreadFunction(): WasmFunction {
  const begin = PARTS.flatMap((part, lane) => [
    ...OP.get(OTHER_ROW),
    ...OP.get(AT),
    ...OP.add,
    ...OP.loadVector(16 * lane),
    ...OP.set(part),
  ]);
  const each = PARTS.flatMap((part, lane) => [
    ...OP.get(ROW),
    ...OP.get(ROW),
    ...OP.loadVector(16 * lane),
    ...OP.get(part),
    ...OP.addVectors,
    ...OP.storeVector(16 * lane),
  ]);
  return numberedRows('spread', begin, each, []);
}

function adamFunction(): WasmFunction {
  const [values, means, squares, gradients, rowBytes, rate, squareScale] = [0, 1, 2, 3, 4, 5, 6] as const;
  const stop = 7;
  const [gradient, mean, square] = [8, 9, 10] as const;
  const scaled = (value: number): number[] => [...OP.float(value), ...OP.splat, ...OP.multiplyVectors];
  const code = [
    ...OP.get(values),
    ...OP.get(rowBytes),
    ...OP.add,
    ...OP.set(stop),
    ...stepUp(values, 16, stop, [
      ...OP.get(gradients),
      ...OP.loadVector(0),
      ...OP.set(gradient),
      ...OP.get(means),
      ...OP.get(means),
      ...OP.loadVector(0),
      ...scaled(BETA1),
      ...OP.get(gradient),
      ...scaled(1 - BETA1),
      ...OP.addVectors,
      ...OP.tee(mean),
      ...OP.storeVector(0),
      ...OP.get(squares),
      ...OP.get(squares),
      ...OP.loadVector(0),
      ...scaled(BETA2),
      ...OP.get(gradient),
      ...OP.get(gradient),
      ...OP.multiplyVectors,
      ...scaled(1 - BETA2),
      ...OP.addVectors,
      ...OP.tee(square),
      ...OP.storeVector(0),
      ...OP.get(values),
      ...OP.get(values),
      ...OP.loadVector(0),
      ...OP.get(mean),
      ...OP.get(rate),
      ...OP.splat,
      ...OP.multiplyVectors,
      ...OP.get(square),
      ...OP.get(squareScale),
      ...OP.splat,
      ...OP.multiplyVectors,
      ...OP.squareRoot,
      ...OP.float(EPSILON),
      ...OP.splat,
      ...OP.addVectors,
      ...OP.divideVectors,
      ...OP.subtractVectors,
      ...OP.storeVector(0),
      ...[means, squares, gradients].flatMap((pointer) => advance(pointer, OP.constant(16))),
    ]),
  ];
  return { name: 'adam', parameters: [...integers(5), F32, F32], integers: 1, vectors: 3, code };
}

export const KERNELS: readonly WasmFunction[] = [
  panelFunction(),
  sumFunction(),
  spreadFunction(),
  adamFunction(),
];

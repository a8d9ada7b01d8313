/**
 * Products of matrices in WebAssembly SIMD, for training: some twenty times as fast as plain
 * JavaScript, and with one fixed order of additions, so that training gives the same bits on every
 * processor.
 */

/** The little of the WebAssembly JavaScript interface that is used here (not in the es2024 library). */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
interface WasmApi {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: { readonly panel: PanelFunction } };
}
/** Byte addresses of the left matrix, a packed panel of the right one and the product; rows; bytes of a left row; bytes of a product row. */
type PanelFunction = (
  left: number,
  panel: number,
  product: number,
  rows: number,
  leftRowBytes: number,
  productRowBytes: number,
) => void;

/** Rows are handled in fours, columns in eights, terms of a sum in fours. */
const ROWS = 4;
const COLUMNS = 8;
const UNROLLED = 4;

const I32 = 0x7f;
const V128 = 0x7b;
const OP = {
  loop: [0x03, 0x40],
  end: [0x0b],
  brIf: (depth: number) => [0x0d, depth],
  get: (local: number) => [0x20, local],
  set: (local: number) => [0x21, local],
  tee: (local: number) => [0x22, local],
  constant: (value: number) => [0x41, ...signedLeb(value)],
  lessUnsigned: [0x49],
  add: [0x6a],
  subtract: [0x6b],
  loadVector: (offset: number) => [0xfd, 0x00, 4, ...unsignedLeb(offset)],
  loadSplat: (offset: number) => [0xfd, 0x09, 2, ...unsignedLeb(offset)],
  storeVector: (offset: number) => [0xfd, 0x0b, 4, ...unsignedLeb(offset)],
  zeroVector: [0xfd, 0x0c, ...new Uint8Array(16)],
  addVectors: [0xfd, 0xe4, 0x01],
  multiplyVectors: [0xfd, 0xe6, 0x01],
} as const;

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const done = (value === 0 && (byte & 0x40) === 0) || (value === -1 && (byte & 0x40) !== 0);
    bytes.push(done ? byte : byte | 0x80);
    if (done) return bytes;
  }
}

function unsignedLeb(value: number): number[] {
  const bytes: number[] = [];
  do {
    const byte = value & 0x7f;
    value >>>= 7;
    bytes.push(value === 0 ? byte : byte | 0x80);
  } while (value !== 0);
  return bytes;
}

function section(id: number, ...items: readonly (readonly number[])[]): number[] {
  const body = [...unsignedLeb(items.length), ...items.flat()];
  return [id, ...unsignedLeb(body.length), ...body];
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value, 'latin1')];
}

/** `\0asm`, version 1. */
const WASM_HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const PAGE_BYTES = 65_536;

/** One panel of eight columns: for every four rows, eight running sums over the terms. */
function moduleBytes(pages: number): Uint8Array {
  const [left, panel, product, rows, leftRow, productRow] = [0, 1, 2, 3, 4, 5];
  const pointers = [6, 7, 8, 9];
  const [at, stop] = [10, 11];
  const sums = Array.from({ length: ROWS * 2 }, (_, i) => 12 + i);
  const [low, high, factor] = [20, 21, 22];
  const term = (step: number): number[] => [
    ...OP.get(at!),
    ...OP.loadVector(32 * step),
    ...OP.set(low!),
    ...OP.get(at!),
    ...OP.loadVector(32 * step + 16),
    ...OP.set(high!),
    ...pointers.flatMap((pointer, row) => [
      ...OP.get(pointer),
      ...OP.loadSplat(4 * step),
      ...OP.set(factor!),
      ...[low!, high!].flatMap((half, side) => [
        ...OP.get(sums[2 * row + side]!),
        ...OP.get(factor!),
        ...OP.get(half),
        ...OP.multiplyVectors,
        ...OP.addVectors,
        ...OP.set(sums[2 * row + side]!),
      ]),
    ]),
  ];
  const advance = (local: number, by: readonly number[]): number[] => [
    ...OP.get(local),
    ...by,
    ...OP.add,
    ...OP.set(local),
  ];
  const code = [
    ...OP.loop,
    ...sums.flatMap((sum) => [...OP.zeroVector, ...OP.set(sum)]),
    ...OP.get(left!),
    ...OP.set(pointers[0]!),
    ...[1, 2, 3].flatMap((row) => [
      ...OP.get(pointers[row - 1]!),
      ...OP.get(leftRow!),
      ...OP.add,
      ...OP.set(pointers[row]!),
    ]),
    // The panel has one row of eight floats a term: its end is eight left rows further on.
    ...OP.get(panel!),
    ...OP.tee(at!),
    ...Array.from({ length: COLUMNS }, () => [...OP.get(leftRow!), ...OP.add]).flat(),
    ...OP.set(stop!),
    ...OP.loop,
    ...Array.from({ length: UNROLLED }, (_, step) => term(step)).flat(),
    ...pointers.flatMap((pointer) => advance(pointer, OP.constant(4 * UNROLLED))),
    ...OP.get(at!),
    ...OP.constant(4 * COLUMNS * UNROLLED),
    ...OP.add,
    ...OP.tee(at!),
    ...OP.get(stop!),
    ...OP.lessUnsigned,
    ...OP.brIf(0),
    ...OP.end,
    ...Array.from({ length: ROWS }, (_, row) => [
      ...[0, 1].flatMap((side) => [
        ...OP.get(product!),
        ...OP.get(sums[2 * row + side]!),
        ...OP.storeVector(16 * side),
      ]),
      ...advance(product!, OP.get(productRow!)),
      ...advance(left!, OP.get(leftRow!)),
    ]).flat(),
    ...OP.get(rows!),
    ...OP.constant(ROWS),
    ...OP.subtract,
    ...OP.tee(rows!),
    ...OP.brIf(0),
    ...OP.end,
    ...OP.end,
  ];
  const body = [2, 6, I32, sums.length + 3, V128, ...code];
  return Uint8Array.from([
    ...WASM_HEADER,
    ...section(1, [0x60, 6, I32, I32, I32, I32, I32, I32, 0]),
    ...section(2, [
      ...text('env'),
      ...text('memory'),
      0x02,
      0x01,
      ...unsignedLeb(pages),
      ...unsignedLeb(pages),
    ]),
    ...section(3, [0]),
    ...section(7, [...text('panel'), 0x00, 0]),
    ...section(10, [...unsignedLeb(body.length), ...body]),
  ]);
}

/** A matrix of 32-bit floats, row after row, in the memory of a `MatrixSpace`. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** Memory for matrices and the product of two of them. Rows must be multiples of 4, columns of 8. */
export class MatrixSpace {
  readonly #buffer: ArrayBuffer;
  readonly #panel: PanelFunction;
  readonly #packed: Float32Array;
  #end = 0;

  /** `floats` is the sum of the sizes of all matrices to be made; `largest` that of the largest. */
  constructor(floats: number, largest: number) {
    const pages = Math.ceil(((floats + largest) * 4) / PAGE_BYTES) + 1;
    const api = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
    const memory = new api.Memory({ initial: pages, maximum: pages });
    this.#buffer = memory.buffer;
    this.#panel = new api.Instance(new api.Module(moduleBytes(pages)), { env: { memory } }).exports.panel;
    this.#packed = this.#take(largest);
  }

  matrix(rows: number, columns: number): Matrix {
    if (rows % ROWS !== 0 || columns % COLUMNS !== 0)
      throw new RangeError(`a matrix of ${rows} × ${columns}: rows in fours, columns in eights`);
    return { rows, columns, values: this.#take(rows * columns) };
  }

  /** `product` = `left` · `right`. */
  multiply(left: Matrix, right: Matrix, product: Matrix): void {
    const { rows, columns, values } = right;
    const packed = this.#packed;
    let to = 0;
    for (let column = 0; column < columns; column += COLUMNS) {
      for (let row = 0; row < rows; row += 1) {
        const from = row * columns + column;
        for (let i = 0; i < COLUMNS; i += 1) packed[to + i] = values[from + i]!;
        to += COLUMNS;
      }
    }
    this.#run(left, columns, product);
  }

  /** `product` = `left` · `right` transposed. */
  multiplyTransposed(left: Matrix, right: Matrix, product: Matrix): void {
    const { rows, columns, values } = right;
    const packed = this.#packed;
    for (let row = 0; row < rows; row += 1) {
      const panel = (row - (row % COLUMNS)) * columns + (row % COLUMNS);
      const from = row * columns;
      for (let i = 0; i < columns; i += 1) packed[panel + i * COLUMNS] = values[from + i]!;
    }
    this.#run(left, rows, product);
  }

  #run(left: Matrix, columns: number, product: Matrix): void {
    if (left.rows !== product.rows || columns !== product.columns) throw new RangeError('shapes differ');
    const rowBytes = left.columns * 4;
    for (let column = 0; column < columns; column += COLUMNS) {
      this.#panel(
        left.values.byteOffset,
        this.#packed.byteOffset + column * rowBytes,
        product.values.byteOffset + column * 4,
        left.rows,
        rowBytes,
        product.columns * 4,
      );
    }
  }

  #take(floats: number): Float32Array {
    const values = new Float32Array(this.#buffer, this.#end, floats);
    this.#end += Math.ceil(floats / 4) * 16;
    return values;
  }
}

/** Writes the transpose of a square matrix's values. */
export function transposeSquare(from: Float32Array, size: number, to: Float32Array): void {
  const tile = 16;
  for (let rowStart = 0; rowStart < size; rowStart += tile) {
    const rowEnd = Math.min(size, rowStart + tile);
    for (let columnStart = 0; columnStart < size; columnStart += tile) {
      const columnEnd = Math.min(size, columnStart + tile);
      for (let row = rowStart; row < rowEnd; row += 1)
        for (let column = columnStart; column < columnEnd; column += 1)
          to[column * size + row] = from[row * size + column]!;
    }
  }
}

/**
 * Matrices in the memory of the training kernels: some twenty times as fast as plain JavaScript. Shapes must be
 * multiples of what a kernel handles at once.
 */
import { instantiate, PAGE_BYTES } from '../../src/reader/numeric/wasm.ts';
import { BETA1, BETA2, CHUNK, COLUMNS, KERNELS, ROWS, UNROLLED, type Kernels } from './kernels.ts';

/** A matrix of 32-bit floats, row after row, in the memory of a `MatrixSpace`. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** Memory for matrices, and what can be done with them there. Everything keeps its place until the end. */
export class MatrixSpace {
  readonly #buffer: ArrayBuffer;
  readonly #kernels: Kernels;
  readonly #packed: Float32Array;
  #end = 0;

  /**
   * `floats`: room for everything that `matrix` and `numbers` will be asked for; `largest`: for the largest right
   * side of a product.
   */
  constructor(floats: number, largest: number) {
    const pages = Math.ceil(((floats + largest) * 4) / PAGE_BYTES) + 1;
    const { memory, exports } = instantiate<Kernels>(KERNELS, { initial: pages, maximum: pages });
    this.#buffer = memory.buffer;
    this.#kernels = exports;
    this.#packed = new Float32Array(this.#buffer, this.#take(largest), largest);
  }

  /** A matrix of zeros. */
  matrix(rows: number, columns: number): Matrix {
    return {
      rows,
      columns,
      values: new Float32Array(this.#buffer, this.#take(rows * columns), rows * columns),
    };
  }

  /** Room for numbers of rows. */
  numbers(count: number): Int32Array {
    return new Int32Array(this.#buffer, this.#take(count), count);
  }

  /** `product` = `left` · `right`. Rows of `left` in fours, its columns too; columns of `right` in eights. */
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
    this.#run(left, rows, columns, product);
  }

  /** `product` = `left` · `right` transposed. Rows of `left` in fours, columns too; rows of `right` in eights. */
  multiplyTransposed(left: Matrix, right: Matrix, product: Matrix): void {
    const { rows, columns, values } = right;
    const packed = this.#packed;
    for (let row = 0; row < rows; row += 1) {
      const panel = (row - (row % COLUMNS)) * columns + (row % COLUMNS);
      const from = row * columns;
      for (let i = 0; i < columns; i += 1) packed[panel + i * COLUMNS] = values[from + i]!;
    }
    this.#run(left, columns, rows, product);
  }

  /**
   * Row `to` of `out` = the sum of the rows of `table` that the first `count` of `numbers` name, in order. Columns
   * in 32s.
   */
  sumRows(table: Matrix, numbers: Int32Array, count: number, out: Matrix, to: number): void {
    const rowBytes = this.#chunked(table) * 4;
    this.#kernels.sum(
      table.values.byteOffset,
      numbers.byteOffset,
      count,
      out.values.byteOffset + to * rowBytes,
      rowBytes,
    );
  }

  /** Adds row `from` of `source` to the rows of `table` that the first `count` of `numbers` name. Columns in 32s. */
  spreadRow(table: Matrix, numbers: Int32Array, count: number, source: Matrix, from: number): void {
    const rowBytes = this.#chunked(table) * 4;
    this.#kernels.spread(
      table.values.byteOffset,
      numbers.byteOffset,
      count,
      source.values.byteOffset + from * rowBytes,
      rowBytes,
    );
  }

  /**
   * One step of Adam for a row of `values` by row `slot` of `gradients`. `steps`: how many steps there have
   * been with this one.
   */
  adamRow(
    values: Matrix,
    moments: { readonly means: Matrix; readonly squares: Matrix },
    row: number,
    gradients: Matrix,
    slot: number,
    step: { readonly rate: number; readonly steps: number },
  ): void {
    const rowBytes = this.#chunked(values) * 4;
    const at = row * rowBytes;
    this.#kernels.adam(
      values.values.byteOffset + at,
      moments.means.values.byteOffset + at,
      moments.squares.values.byteOffset + at,
      gradients.values.byteOffset + slot * rowBytes,
      rowBytes,
      step.rate / (1 - BETA1 ** step.steps),
      1 / (1 - BETA2 ** step.steps),
    );
  }

  #chunked({ columns }: Matrix): number {
    if (columns % CHUNK !== 0) throw new RangeError(`rows of ${columns}: only multiples of ${CHUNK}`);
    return columns;
  }

  #run(left: Matrix, terms: number, columns: number, product: Matrix): void {
    if (left.columns !== terms || left.rows !== product.rows || columns !== product.columns)
      throw new RangeError('the shapes of a product differ');
    if (left.rows % ROWS !== 0 || terms % UNROLLED !== 0 || columns % COLUMNS !== 0)
      throw new RangeError(`a product of ${left.rows} × ${terms} × ${columns}: fours, fours, eights`);
    const rowBytes = terms * 4;
    for (let column = 0; column < columns; column += COLUMNS) {
      this.#kernels.panel(
        left.values.byteOffset,
        this.#packed.byteOffset + column * rowBytes,
        product.values.byteOffset + column * 4,
        left.rows,
        rowBytes,
        columns * 4,
      );
    }
  }

  /** Address of room for so many floats, on a multiple of 16. */
  #take(floats: number): number {
    const start = this.#end;
    this.#end += Math.ceil(floats / 4) * 16;
    return start;
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

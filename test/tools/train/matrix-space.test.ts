import { deepEqual, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MatrixSpace, transposeSquare, type Matrix } from '../../../tools/train/matrix-space.ts';

function fill(matrix: Matrix, seed: number): void {
  let state = seed;
  for (let i = 0; i < matrix.values.length; i += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    matrix.values[i] = state / 2 ** 31 - 1;
  }
}

/** Rounds after every term, as 32-bit sums in the order of the terms do. */
function plain(left: Matrix, at: (term: number, column: number) => number, columns: number): number[] {
  const out: number[] = [];
  for (let row = 0; row < left.rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      let sum = 0;
      for (let term = 0; term < left.columns; term += 1)
        sum = Math.fround(sum + Math.fround(left.values[row * left.columns + term]! * at(term, column)));
      out.push(sum);
    }
  return out;
}

describe('products of matrices', () => {
  it('are bit for bit the sums in the order of their terms', () => {
    const space = new MatrixSpace(10_000, 16 * 24);
    const left = space.matrix(12, 16);
    const right = space.matrix(16, 24);
    const product = space.matrix(12, 24);
    fill(left, 1);
    fill(right, 2);
    space.multiply(left, right, product);
    deepEqual(
      [...product.values],
      plain(left, (term, column) => right.values[term * 24 + column]!, 24),
    );
  });

  it('with a transposed right side too', () => {
    const space = new MatrixSpace(10_000, 16 * 24);
    const left = space.matrix(8, 16);
    const right = space.matrix(24, 16);
    const product = space.matrix(8, 24);
    fill(left, 3);
    fill(right, 4);
    space.multiplyTransposed(left, right, product);
    deepEqual(
      [...product.values],
      plain(left, (term, column) => right.values[column * 16 + term]!, 24),
    );
  });

  it('refuse shapes that do not fit', () => {
    const space = new MatrixSpace(10_000, 1000);
    const refused = (left: Matrix, right: Matrix, product: Matrix): void => {
      throws(() => {
        space.multiply(left, right, product);
      }, RangeError);
    };
    refused(space.matrix(4, 8), space.matrix(8, 16), space.matrix(4, 8));
    refused(space.matrix(4, 8), space.matrix(16, 8), space.matrix(4, 8));
    refused(space.matrix(3, 8), space.matrix(8, 8), space.matrix(3, 8));
  });

  it('transpose', () => {
    const from = Float32Array.from({ length: 400 }, (_, i) => i);
    const to = new Float32Array(400);
    transposeSquare(from, 20, to);
    ok(to[1] === 20 && to[20] === 1 && to[399] === 399 && to[3 * 20 + 7] === 7 * 20 + 3);
  });
});

describe('sums of rows', () => {
  it('take the rows named, in order, and spread one to them', () => {
    const space = new MatrixSpace(2000, 8);
    const table = space.matrix(10, 64);
    const sums = space.matrix(2, 64);
    fill(table, 5);
    const numbers = space.numbers(4);
    numbers.set([7, 2, 7, 9]);
    const before = Float32Array.from(table.values);
    space.sumRows(table, numbers, 3, sums, 1);
    deepEqual(
      [...sums.values.subarray(64)],
      Array.from({ length: 64 }, (_, i) =>
        [7, 2, 7].reduce((sum, row) => Math.fround(sum + before[row * 64 + i]!), 0),
      ),
    );
    ok(sums.values.subarray(0, 64).every((value) => value === 0));
    space.spreadRow(table, numbers, 3, sums, 1);
    for (let i = 0; i < 64; i += 1) {
      const added = sums.values[64 + i]!;
      deepEqual(table.values[2 * 64 + i], Math.fround(before[2 * 64 + i]! + added));
      deepEqual(table.values[7 * 64 + i], Math.fround(Math.fround(before[7 * 64 + i]! + added) + added));
      deepEqual(table.values[9 * 64 + i], before[9 * 64 + i]);
    }
    space.sumRows(table, numbers, 0, sums, 1);
    ok(sums.values.every((value) => value === 0));
  });
});

describe('Adam', () => {
  it('moves a row by its gradient as the paper says', () => {
    const space = new MatrixSpace(2000, 8);
    const values = space.matrix(3, 32);
    const moments = { means: space.matrix(3, 32), squares: space.matrix(3, 32) };
    const gradients = space.matrix(1, 32);
    fill(values, 6);
    const expected = Float64Array.from(values.values.subarray(32, 64));
    const mean = new Float64Array(32);
    const square = new Float64Array(32);
    for (let steps = 1; steps <= 5; steps += 1) {
      fill(gradients, 10 + steps);
      space.adamRow(values, moments, 1, gradients, 0, { rate: 0.01, steps });
      for (let i = 0; i < 32; i += 1) {
        const gradient = gradients.values[i]!;
        mean[i] = 0.9 * mean[i]! + 0.1 * gradient;
        square[i] = 0.99 * square[i]! + 0.01 * gradient * gradient;
        expected[i]! -=
          (0.01 * (mean[i]! / (1 - 0.9 ** steps))) / (Math.sqrt(square[i]! / (1 - 0.99 ** steps)) + 1e-8);
      }
    }
    values.values.subarray(32, 64).forEach((value, i) => {
      ok(Math.abs(value - expected[i]!) < 1e-5, `${value} ${expected[i]}`);
    });
    ok(moments.means.values.subarray(64).every((value) => value === 0));
  });
});

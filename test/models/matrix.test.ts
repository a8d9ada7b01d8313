import { deepEqual, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MatrixSpace, transposeSquare, type Matrix } from '../../models/train/matrix.ts';

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
    throws(() => space.matrix(3, 8), /rows in fours/);
    throws(() => space.multiply(space.matrix(4, 8), space.matrix(8, 16), space.matrix(4, 8)), /shapes/);
  });

  it('transpose', () => {
    const from = Float32Array.from({ length: 400 }, (_, i) => i);
    const to = new Float32Array(400);
    transposeSquare(from, 20, to);
    ok(to[1] === 20 && to[20] === 1 && to[399] === 399 && to[3 * 20 + 7] === 7 * 20 + 3);
  });
});

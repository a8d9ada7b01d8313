import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { centroidIsOfLabel, nearestIsOfLabel, spearman, sumOf } from '../../../tools/eval/vector-scores.ts';

/** Unit vectors of the plane at these degrees. */
const at = (...degrees: readonly number[]): Float32Array[] =>
  degrees.map((degree) =>
    Float32Array.of(Math.cos((degree * Math.PI) / 180), Math.sin((degree * Math.PI) / 180)),
  );

describe('labels of near vectors', () => {
  it('asks the nearest other vector', () => {
    deepEqual(nearestIsOfLabel(at(0, 10, 90, 100, 15), ['a', 'a', 'b', 'b', 'b']), [
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  it('asks the centroids of the first examples, and judges the others alone', () => {
    deepEqual(centroidIsOfLabel(at(0, 20, 90, 110, 15, 70, 60), ['a', 'a', 'b', 'b', 'a', 'b', 'a'], 2), [
      null,
      null,
      null,
      null,
      true,
      true,
      false,
    ]);
  });

  it('adds a share of one vector to another, at unit length', () => {
    const [x, y, diagonal] = at(0, 90, 45);
    const sum = sumOf(x!, y!, 1);
    deepEqual(
      [...sum].map((value) => value.toFixed(6)),
      [...diagonal!].map((value) => value.toFixed(6)),
    );
    deepEqual([...sumOf(new Float32Array(2), new Float32Array(2), 0.5)], [0, 0]);
  });
});

describe('rank correlation', () => {
  it('is 1 for the same order, -1 for the opposite, and gives ties their mean rank', () => {
    ok(Math.abs(spearman([1, 2, 3, 4], [10, 20, 30, 40]) - 1) < 1e-12);
    ok(Math.abs(spearman([1, 2, 3, 4], [4, 3, 2, 1]) + 1) < 1e-12);
    ok(Math.abs(spearman([1, 2, 2, 3], [1, 2, 2, 3]) - 1) < 1e-12);
  });
});

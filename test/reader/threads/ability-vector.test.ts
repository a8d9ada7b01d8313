import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withRequest } from '../../../src/reader/threads/ability-vector.ts';
import { normOf } from '../../../src/reader/numeric/vectors.ts';

const x = Float32Array.of(1, 0);
const y = Float32Array.of(0, 1);

describe('withRequest', () => {
  it('leans to what the assistant says, and is of unit length', () => {
    const both = withRequest(x, y)!;
    equal(both[0]! > both[1]! && both[1]! > 0, true);
    equal(Math.abs(normOf(both) - 1) < 1e-6, true);
  });

  it('is the one that there is, or none', () => {
    deepEqual([withRequest(x, null), withRequest(null, y), withRequest(null, null)], [x, y, null]);
    deepEqual(withRequest(x, Float32Array.of(-2, 0)), x);
  });
});

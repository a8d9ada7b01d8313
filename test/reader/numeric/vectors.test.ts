import { deepEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { dotOf, dotsOf } from '../../../src/reader/numeric/vectors.ts';
import { vectorOf } from '../threads/builders.ts';

it('gives many dot products to the same bits as one at a time', () => {
  for (const count of [0, 1, 3, 4, 5, 11]) {
    const others = Array.from({ length: count }, (_, index) => vectorOf(`text ${index}`));
    const dots = new Float64Array(count);
    dotsOf(vectorOf('query'), others, dots);
    deepEqual(
      [...dots],
      others.map((other) => dotOf(vectorOf('query'), other)),
    );
  }
});

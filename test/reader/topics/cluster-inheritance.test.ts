import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inherit, largestShare, type Holding } from '../../../src/reader/topics/cluster-inheritance.ts';

const held = (...holdings: readonly (readonly [holder: number, weight: number])[]): Holding[] =>
  holdings.map(([holder, weight]) => ({ holder, weight }));

describe('inherit', () => {
  it('gives a group the id that holds most of its weight', () => {
    deepEqual(inherit([held([1, 5], [2, 3]), held([2, 4]), held([-1, 9], [3, 1])]), [1, 2, 3]);
  });

  it('gives an id once, to the group with most of its weight', () => {
    deepEqual(inherit([held([1, 5]), held([1, 6], [2, 5])]), [-1, 1]);
  });

  it('breaks ties by the lower id and the earlier group', () => {
    deepEqual(inherit([held([2, 5], [1, 5]), held([1, 5])]), [1, -1]);
  });
});

describe('largestShare', () => {
  it('adds up what one holder has, and leaves out what nobody holds', () => {
    deepEqual(largestShare(held([1, 2], [2, 3], [1, 2], [-1, 9])), { holder: 1, weight: 4 });
    deepEqual(largestShare(held([-1, 9])), null);
  });
});

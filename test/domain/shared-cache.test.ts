import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedCache } from '../../src/domain/shared-cache.ts';

describe('a shared cache', () => {
  it('takes what was used least recently from the caller with most', () => {
    const cache = new SharedCache<number>(10);
    cache.set('b', 'x', 1, 3);
    for (const name of ['p', 'q', 'r']) cache.set('a', name, 2, 2);
    equal(cache.get('a', 'p'), 2);
    cache.set('a', 's', 3, 2);
    deepEqual(
      [...cache].map(([caller, name]) => `${caller} ${name}`),
      ['b x', 'a r', 'a p', 'a s'],
    );
    equal(cache.size, 9);
    cache.set('b', 'y', 1, 8);
    equal(cache.get('b', 'x'), undefined);
    equal(cache.get('b', 'y'), undefined, 'too large beside what the other has');
    equal(cache.size, 6);
  });

  it('keeps one value of a name, of its last size', () => {
    const cache = new SharedCache<number>(10);
    cache.set('a', 'x', 1, 4);
    cache.set('a', 'x', 2, 6);
    equal(cache.get('a', 'x'), 2);
    equal(cache.size, 6);
    cache.delete('a', 'x');
    cache.delete('a', 'x');
    equal(cache.size, 0);
    equal(cache.get('a', 'x'), undefined);
  });
});

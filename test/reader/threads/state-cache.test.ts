import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StateCache } from '../../../src/reader/threads/state-cache.ts';

describe('StateCache', () => {
  const gone: string[] = [];
  const filled = (): StateCache<string> => {
    gone.length = 0;
    const cache = new StateCache<string>((state) => gone.push(state));
    for (const [number, state] of ['a', 'b', 'c'].entries()) cache.set(number, state, 10);
    return cache;
  };

  it('drops the least recently used until the rest is small enough, and only on request', () => {
    const cache = filled();
    cache.get(0);
    cache.peek(1);
    equal(cache.bytes, 30);
    deepEqual(
      cache.evict(20, () => true),
      [1],
    );
    deepEqual([cache.get(0), cache.get(1), cache.get(2)], ['a', undefined, 'c']);
    deepEqual(gone, ['b']);
  });

  it('passes over what may not go', () => {
    deepEqual(
      filled().evict(10, (state) => state !== 'a'),
      [1, 2],
    );
  });

  it('counts a state that has grown, and says that one was replaced', () => {
    const cache = filled();
    cache.resize(1, 100);
    cache.resize(9, 100);
    equal(cache.bytes, 120);
    deepEqual(gone, []);
    cache.set(1, 'd', 5);
    equal(cache.bytes, 25);
    cache.clear();
    equal(cache.bytes, 0);
    deepEqual(gone.toSorted(), ['a', 'b', 'c', 'd']);
  });
});

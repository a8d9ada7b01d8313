import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoise } from '../../../src/reader/document/word-cache.ts';

describe('toldOnce', () => {
  it('asks once for a word that comes again', () => {
    const asked: string[] = [];
    const firstOf = memoise((word) => {
      asked.push(word);
      return word.slice(0, 1);
    });
    deepEqual(['order', '', 'order', ''].map(firstOf), ['o', '', 'o', '']);
    deepEqual(asked, ['order', '']);
  });

  it('forgets what it was asked long ago, and keeps no long words', () => {
    let asked = 0;
    const same = memoise((word) => {
      asked += 1;
      return word;
    });
    for (const word of ['first', 'x'.repeat(13), 'x'.repeat(13)]) same(word);
    for (let index = 0; index < 4096; index += 1) same(`word${index}`);
    const before = asked;
    equal(same('first'), 'first');
    deepEqual([before, asked], [3 + 4096, 3 + 4096 + 1]);
  });
});

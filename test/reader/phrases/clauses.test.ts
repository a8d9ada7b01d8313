import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutIntoClauses } from '../../../src/reader/phrases/clauses.ts';
import { readText } from '../../../src/reader/phrases/read-text.ts';

describe('clauses', () => {
  it('end with sentences and before words of contrast', () => {
    const clauses = cutIntoClauses(readText('thanks but no. why but how?'), [
      { start: 1, end: 2 },
      { start: 4, end: 5 },
    ]);
    deepEqual(clauses, [
      { start: 0, end: 1, sentence: 0, contrasts: false, isQuestion: false },
      { start: 1, end: 3, sentence: 0, contrasts: true, isQuestion: false },
      { start: 3, end: 4, sentence: 1, contrasts: false, isQuestion: true },
      { start: 4, end: 6, sentence: 1, contrasts: true, isQuestion: true },
    ]);
  });

  it('do not begin with a word of contrast that ends its sentence', () => {
    const clauses = cutIntoClauses(readText('thanks though. ok'), [{ start: 1, end: 2 }]);
    deepEqual(
      clauses.map(({ start, end }) => [start, end]),
      [
        [0, 2],
        [2, 3],
      ],
    );
  });

  it('are none without words', () => {
    deepEqual(cutIntoClauses(readText('...'), []), []);
  });
});

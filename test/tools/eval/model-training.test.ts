import { deepEqual, equal } from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { markedTitle, meansBySeen, trainedOn } from '../../../tools/eval/model-training.ts';

describe('trainedOn', () => {
  it('reads the sets out of the model that ships', () => {
    const modelsDirectory = resolve(import.meta.dirname, '../../../models');
    equal(trainedOn({ model: 'undertone-small', modelsDirectory })?.has('nlupp'), true);
  });
});

describe('meansBySeen', () => {
  const seen = new Set(['a']);
  const rows = [
    ['10', markedTitle('A', 'a', seen), 1, 'x', Number.NaN],
    ['10', markedTitle('B', 'b', seen), 2, 'x', 4],
    ['10', markedTitle('C', 'c', seen), 6, 'x', Number.NaN],
  ];

  it('gives the mean of what is known, over all sets and over those that the model has not seen', () => {
    deepEqual(meansBySeen(rows, [2, 4], { titleColumn: 1 }), [
      ['10', 'mean', 3, '', 4],
      ['10', 'mean, unseen', 4, '', 4],
    ]);
  });

  it('gives one line where all sets are seen, or none', () => {
    equal(meansBySeen(rows.slice(0, 1), [2], { titleColumn: 1 }).length, 1);
    equal(meansBySeen(rows.slice(1), [2], { titleColumn: 1 }).length, 1);
  });

  it('takes another figure than the mean', () => {
    const worst = { titleColumn: 1, of: (values: readonly number[]) => Math.max(...values), name: 'worst' };
    deepEqual(meansBySeen(rows, [2], worst)[1], ['10', 'worst, unseen', 6, '', '']);
  });
});

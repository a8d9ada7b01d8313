import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { binaryScores, formatCell } from '../../../tools/eval/report.ts';

describe('binaryScores', () => {
  it('counts hits, misses and ranks, ties half', () => {
    const scores = binaryScores([
      { score: 3, decided: true, positive: true },
      { score: 2, decided: true, positive: false },
      { score: 2, decided: false, positive: true },
      { score: 1, decided: false, positive: false },
    ]);
    deepEqual(scores, {
      auc: 0.875,
      precision: 0.5,
      recall: 0.5,
      f1: 0.5,
      decided: 2,
      positives: 2,
      total: 4,
    });
  });

  it('has no curve with one class alone and no precision without a decision', () => {
    const scores = binaryScores([{ score: 1, decided: false, positive: true }]);
    ok(Number.isNaN(scores.auc));
    equal(scores.precision, 0);
    equal(formatCell(scores.auc), '–');
  });
});

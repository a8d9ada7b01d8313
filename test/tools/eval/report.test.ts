import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataSetPath } from '../../../tools/eval/data.ts';
import { binaryScores, formatCell, tablesWithData } from '../../../tools/eval/report.ts';

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

describe('tablesWithData', () => {
  const gold = { title: 'gold', columns: [], rows: [] };
  it('measures what is there, and names the data sets that are not', async () => {
    const absent = async (): Promise<[]> => {
      dataSetPath('/none', 'pairs/of-none');
      return [];
    };
    const tables = await tablesWithData('x', [absent, async () => [gold], absent]);
    deepEqual(tables[0], gold);
    deepEqual(
      tables.slice(1).map(({ rows }) => rows),
      [[['pairs/of-none']]],
    );
    deepEqual(await tablesWithData('x', [async () => [gold]]), [gold]);
  });

  it('fails where anything else fails', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('broken'));
    await rejects(tablesWithData('x', [broken]), /broken/);
  });
});

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byWeight, sampledSheet, sheetOf, sheetText } from '../../../tools/eval/topic-sheet.ts';
import { labelledRequest, snapshotOf } from './builders.ts';

describe('byWeight', () => {
  it('takes large items first of all, small ones at even steps, and each once', () => {
    const sizes = [90, 5, 3, 1, 1];
    const items = sizes.map((size) => ({ size }));
    deepEqual(
      byWeight(items, 1).map(({ size }) => size),
      [90],
    );
    deepEqual(
      byWeight(items, 3).map(({ size }) => size),
      [90, 5, 3],
    );
    equal(byWeight(items, 5).length, 5);
  });
});

describe('sheetOf', () => {
  const members = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'last'].map(
    (content) => labelledRequest({ content, label: 'secret' }),
  );
  const snapshot = {
    ...snapshotOf([['secret', 1]], { 1: { name: 'Track parcel', cluster: 4 } }),
    clusters: new Map([[4, 'Parcels']]),
  };
  const sheet = sheetOf(snapshot, new Map([[1, members]]));

  it('shows a topic by name, cluster, size and five members at even distances', () => {
    deepEqual(sheet.topics, [
      {
        name: 'Track parcel',
        cluster: 'Parcels',
        size: 9,
        members: ['first', 'third', 'fifth', 'seventh', 'last'],
      },
    ]);
    deepEqual(sheet.clusters, [{ name: 'Parcels', size: 9, topics: [{ name: 'Track parcel', size: 9 }] }]);
  });

  it('is written without labels', () => {
    const text = sheetText(sampledSheet([sheet]));
    match(text, /## T1\. Track parcel\n\n9 requests; cluster: Parcels\n\n- first\n/);
    match(text, /## C1\. Parcels\n\n9 requests in 1 topic\n\n- Track parcel \(9\)\n/);
    equal(text.includes('secret'), false);
  });
});

describe('sampledSheet', () => {
  it('takes as many of each instance, more where another has too few, and the same each time', () => {
    const instance = (name: string, count: number) => ({
      topics: Array.from({ length: count }, (_, index) => ({
        name: `${name} ${index}`,
        cluster: '',
        size: 1 + index,
        members: [],
      })),
      clusters: [],
    });
    const sheets = [instance('large', 100), instance('small', 10)];
    const { topics } = sampledSheet(sheets);
    const small = topics.filter(({ name }) => name.startsWith('small')).length;
    deepEqual([topics.length, small], [60, 10]);
    deepEqual(sampledSheet(sheets), sampledSheet(sheets));
  });
});

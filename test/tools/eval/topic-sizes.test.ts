import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkedGroups, sizeRow, sizesFor, sizeTable } from '../../../tools/eval/topic-sizes.ts';
import { labelledRequest } from './builders.ts';

const east = Float32Array.of(1, 0);
const north = Float32Array.of(0, 1);

describe('sizesFor', () => {
  it('goes as far as a set does, and takes a set that nearly reaches a size whole', () => {
    const sizesOf = (available: number) => sizesFor(available).map(({ size, requests }) => [size, requests]);
    deepEqual(sizesOf(18), [[50, 18]]);
    deepEqual(sizesOf(700), [
      [50, 50],
      [200, 200],
    ]);
    deepEqual(sizesOf(910), [
      [50, 50],
      [200, 200],
      [1000, 910],
    ]);
    deepEqual(sizesOf(8900).at(-1), [9000, 8900]);
    deepEqual(sizesOf(20_000).at(-1), [9000, 9000]);
  });
});

describe('linkedGroups', () => {
  it('groups what is near enough, and leaves out what is too small for a topic', () => {
    const groups = linkedGroups([east, north, east, east, north], 0.5);
    deepEqual(groups, [0, null, 0, 0, null]);
  });
});

describe('sizeTable', () => {
  it('scores the online topics beside k-means and linkage of the same vectors', () => {
    const given = [
      ['a', east, 1],
      ['a', east, 1],
      ['a', east, 1],
      ['b', north, 2],
      ['b', north, 2],
      ['b', north, null],
    ] as const;
    const snapshot = {
      requests: given.map(([label, vector]) => labelledRequest({ label, vector })),
      topicOf: given.map(([, , topic]) => topic),
      topics: new Map(),
      clusters: new Map(),
    };
    const { columns, rows } = sizeTable([sizeRow(50, 'mine', snapshot, 0.5)]);
    const cell = (column: string) => rows[0]![columns.indexOf(column)]!;
    equal(cell('k-means ARI'), 1);
    equal(cell('linkage ARI'), 1);
    equal(cell('linkage groups'), 2);
    equal(cell('topics'), 2);
    equal(cell('topics / labels'), 1);
    equal(cell('without topic'), 1 / 6);
    equal(Number(cell('online ARI')) < 1, true);
    equal(cell('online / k-means'), cell('online ARI'));
    deepEqual(rows[1]!.slice(0, 4), ['50', 'mean', '', cell('online ARI')]);
  });
});

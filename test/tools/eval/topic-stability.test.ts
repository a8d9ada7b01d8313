import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stabilityBetween, stabilityRows, stabilityTable } from '../../../tools/eval/topic-stability.ts';
import { snapshotOf } from './builders.ts';

describe('stabilityBetween', () => {
  it('finds nothing changed where requests were only added', () => {
    const before = snapshotOf([
      ['a', 1],
      ['a', 1],
      ['b', null],
    ]);
    const now = snapshotOf([
      ['a', 1],
      ['a', 1],
      ['b', 2],
      ['c', 1],
    ]);
    deepEqual(stabilityBetween(before, now), { moved: 0, renamed: 0, meaningChanged: 0, dropped: 0 });
  });

  it('counts requests that went to another topic or to none, of those that had one', () => {
    const before = snapshotOf([
      ['a', 1],
      ['a', 1],
      ['a', 1],
      ['a', 1],
      ['b', null],
    ]);
    const now = snapshotOf([
      ['a', 1],
      ['a', 1],
      ['a', 2],
      ['a', null],
      ['b', 1],
    ]);
    equal(stabilityBetween(before, now).moved, 0.5);
  });

  it('counts topics without requests as dropped, and others by name and main label', () => {
    const before = snapshotOf([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 4],
    ]);
    const now = snapshotOf(
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
        ['d', 3],
        ['x', 2],
        ['x', 2],
      ],
      { 1: { name: 'Another name' } },
    );
    deepEqual(stabilityBetween(before, now), {
      moved: 1 / 4,
      renamed: 1 / 3,
      meaningChanged: 1 / 3,
      dropped: 1 / 4,
    });
  });

  it('does not call a meaning changed as long as one of equally frequent labels stays', () => {
    const before = snapshotOf([
      ['a', 1],
      ['b', 1],
    ]);
    const now = snapshotOf([
      ['a', 1],
      ['b', 1],
      ['b', 1],
    ]);
    equal(stabilityBetween(before, now).meaningChanged, 0);
    equal(
      stabilityBetween(
        now,
        snapshotOf([
          ['b', null],
          ['b', null],
          ['b', null],
          ['a', 1],
        ]),
      ).dropped,
      0,
    );
  });
});

describe('stabilityTable', () => {
  it('follows each doubling by its mean and its worst, and ends with the mean of all', () => {
    const one = snapshotOf([['a', 1]]);
    const gone = snapshotOf([['a', null]]);
    const rows = [
      ...stabilityRows(
        'held',
        new Map([
          [250, one],
          [500, one],
          [1000, one],
        ]),
      ),
      ...stabilityRows(
        'lost',
        new Map([
          [250, one],
          [500, gone],
        ]),
      ),
    ];
    const { rows: printed } = stabilityTable(rows);
    deepEqual(
      printed.map(([doubling, title, moved]) => [doubling, title, moved]),
      [
        ['250 → 500', 'held', 0],
        ['250 → 500', 'lost', 1],
        ['250 → 500', 'mean', 0.5],
        ['250 → 500', 'worst', 1],
        ['500 → 1000', 'held', 0],
        ['500 → 1000', 'mean', 0],
        ['500 → 1000', 'worst', 0],
        ['all', 'mean', 1 / 3],
      ],
    );
  });
});

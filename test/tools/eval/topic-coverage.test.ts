import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  coverageIn,
  coverageRows,
  coverageTable,
  CoverageWatch,
} from '../../../tools/eval/topic-coverage.ts';
import type { TopicSnapshot } from '../../../tools/eval/topic-run.ts';
import { labelledRequest } from './builders.ts';

/** A moment with so many requests, of which `topicOnArrival` and `topicOf` of each place are given. */
function moment(
  size: number,
  onArrival: (place: number) => number | null,
  now: (place: number) => number | null,
): TopicSnapshot {
  const places = Array.from({ length: size }, (_, place) => place);
  return {
    requests: places.map((place) => labelledRequest({ topicOnArrival: onArrival(place) })),
    topicOf: places.map(now),
    topics: new Map(),
    clusters: new Map(),
  };
}

describe('coverageIn', () => {
  it('compares the arrival of the newest tenth with the rest at the same moment', () => {
    const snapshot = moment(
      20,
      (place) => (place === 19 ? 1 : null),
      (place) => (place < 9 || place >= 18 ? 1 : null),
    );
    deepEqual(coverageIn(snapshot), { size: 20, onArrival: 0.5, newest: 1, rest: 0.5 });
  });
});

describe('CoverageWatch', () => {
  it('measures at 500 and at every 50 more, once each', () => {
    const watch = new CoverageWatch();
    for (const size of [400, 499, 501, 502, 549, 561, 700])
      watch.look(size, () =>
        moment(
          size,
          () => 1,
          () => 1,
        ),
      );
    deepEqual(
      watch.measured.map(({ size }) => size),
      [501, 561, 700],
    );
  });
});

describe('coverageTable', () => {
  it('gives fixed sizes, the worst size and the mean, each with the mean of the sets', () => {
    const at = (size: number, onArrival: number) => ({ size, onArrival, newest: 1, rest: 0.9 });
    const rows = [
      ...coverageRows('one', [at(500, 0.1), at(1000, 0.8)]),
      ...coverageRows('two', [at(1010, 0.6)]),
      ...coverageRows('too small', []),
    ];
    const { rows: printed } = coverageTable(rows);
    deepEqual(
      printed.map(([when, data, size, onArrival]) => [when, data, size, onArrival]),
      [
        ['1000', 'one', 1000, 0.8],
        ['1000', 'two', 1010, 0.6],
        ['1000', 'mean', '', 0.7],
        ['worst', 'one', 500, 0.1],
        ['worst', 'two', 1010, 0.6],
        ['worst', 'mean', '', 0.35],
        ['mean of all', 'one', '', 0.45],
        ['mean of all', 'two', 1010, 0.6],
        ['mean of all', 'mean', '', 0.525],
      ],
    );
    equal(Number(printed[3]![6]).toFixed(6), '-0.800000');
  });
});

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import { MicroClusters } from '../../../src/reader/topics/micro-clusters.ts';
import { addKeys, keysOf, noKeys } from '../../../src/reader/topics/request-keys.ts';
import { DIMENSIONS } from '../threads/builders.ts';
import { axis, NOWHERE } from './builders.ts';

function microsAt(...axes: readonly number[]): MicroClusters {
  const micros = new MicroClusters(new DotArena(DIMENSIONS));
  for (const [index, at] of axes.entries()) micros.create(axis(at), noKeys(), index + 1, NOWHERE);
  return micros;
}

describe('MicroClusters', () => {
  it('finds the nearest from a threshold on; of equal ones the earliest', () => {
    const micros = microsAt(0, 1, 1);
    micros.measure(axis(1, 0.8, 0));
    equal(micros.nearest(0.5)?.micro.number, 1);
    equal(micros.nearest(0.5, ({ number }) => number !== 1)?.micro.number, 2);
    equal(micros.nearest(0.9), null);
  });

  it('adds up the similarities to topics and to waiting groups; loose ones are in a waiting group', () => {
    const micros = microsAt(0, 1, 1);
    micros.moveToTopic(micros.live[0]!, 5, true);
    micros.moveToTopic(micros.live[1]!, 5, false);
    micros.moveToWaitingGroup(micros.live[2]!, 1);
    micros.measure(axis(1, 0.8, 0));
    const { groups, totals, weights } = micros.similaritiesByGroup(noKeys(), 1);
    deepEqual(
      groups.map((group, at) => [group, totals[at]!.toFixed(1), weights[at]]),
      [
        [5, '0.6', 1],
        [-2, '1.6', 2],
      ],
    );
  });

  it('counts those that agree in action or thing as more similar', () => {
    const micros = microsAt(0, 0, 0);
    const [order, parcel] = [keysOf('cancel my order'), keysOf('cancel my flight')];
    const keys = micros.live.map(({ keys }) => keys);
    addKeys(keys[0]!, order);
    addKeys(keys[1]!, parcel);
    const totals = micros.pairTotals(micros.live, 1);
    deepEqual(
      Array.from(totals, (total) => total.toFixed(2)),
      ['1.01', '1.00', '1.00'],
    );
  });

  it('merges into one that keeps the requests of both, and tells where a merged one went', () => {
    const micros = microsAt(0, 0, 0, 1);
    const [a, b, c] = micros.live;
    micros.changes.drain();
    micros.merge(b!, c!);
    micros.merge(a!, b!);
    micros.compact();
    equal(micros.resolve(2).number, 0);
    equal(micros.resolve(0).weight, 3);
    deepEqual(
      micros.live.map(({ number }) => number),
      [0, 3],
    );
    deepEqual([micros.mergedInto(2), micros.mergedInto(1), micros.mergedInto(0)], [1, 0, undefined]);
  });

  it('says again of merged micro-clusters that their topic changed', () => {
    const micros = microsAt(0, 0);
    const [a, b] = micros.live;
    micros.merge(a!, b!);
    micros.compact();
    micros.changes.drain();
    micros.moveToTopic(a!, 3, true);
    deepEqual(micros.changes.drain(), [
      [0, -1],
      [1, -1],
    ]);
  });
});

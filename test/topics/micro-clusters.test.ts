import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DotArena } from '../../src/numeric/dot-kernel.ts';
import { MicroClusters } from '../../src/topics/micro-clusters.ts';
import { DIMENSIONS } from '../worker/analysis/builders.ts';
import { axis } from './builders.ts';

function microsAt(...axes: readonly number[]): MicroClusters {
  const micros = new MicroClusters(new DotArena(DIMENSIONS));
  for (const [index, at] of axes.entries()) micros.create(axis(at), index + 1, null);
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

  it('prefers a topic to a nearer waiting group', () => {
    const micros = microsAt(0, 1);
    micros.moveToTopic(micros.live[0]!, 5);
    micros.measure(axis(1, 0.8, 0));
    equal(micros.nearestGroup(0.5), 5);
    equal(micros.nearestGroup(0.7), -1 - 1);
    equal(micros.nearestGroup(0.9), null);
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

  it('moves a waiting group into the topic of what merges into it', () => {
    const micros = microsAt(0, 0, 1);
    const [a, b, c] = micros.live;
    micros.moveToWaitingGroup(c!, a!.number);
    micros.moveToTopic(b!, 4);
    micros.merge(a!, b!);
    deepEqual([a!.topic, c!.topic], [4, 4]);
  });

  it('says again of merged micro-clusters that their topic changed', () => {
    const micros = microsAt(0, 0);
    const [a, b] = micros.live;
    micros.merge(a!, b!);
    micros.compact();
    micros.changes.drain();
    micros.moveToTopic(a!, 3);
    deepEqual(micros.changes.drain(), [
      [0, -1],
      [1, -1],
    ]);
  });
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import {
  CentroidCosines,
  centroidSimilarity,
  type TopicSum,
} from '../../../src/reader/topics/centroid-similarity.ts';
import { DIMENSIONS } from '../threads/builders.ts';
import { axis } from './builders.ts';

describe('centroidSimilarity', () => {
  it('is the cosine when requests have nothing in common', () => {
    equal(centroidSimilarity(0.3, 0.5, 0.6, 0), 0.3);
  });

  it('leaves out what all requests have in common', () => {
    // Two centroids whose product is the floor are as unrelated as any two requests.
    ok(Math.abs(centroidSimilarity(0.8, 1, 1, 0.8)) < 1e-12);
    ok(Math.abs(centroidSimilarity(1, 1, 1, 0.8) - 1) < 1e-12);
  });
});

describe('CentroidCosines', () => {
  const sumOf = (number: number, vector: Float32Array): TopicSum => ({
    topic: {
      number,
      position: number,
      name: '',
      namedAt: 0,
      cluster: -1,
      length: 1,
      heir: -1,
      since: -1,
      own: null,
    },
    sum: vector,
    norm: 1,
    weight: 1,
    things: new Map(),
  });
  const cosines = (table: CentroidCosines, topics: readonly TopicSum[]): string[] =>
    Array.from(table.of(topics).subarray(0, 3), (cosine) => cosine.toFixed(3));

  it('gives the same whether sums are new, changed or cached, and when a topic is gone', () => {
    const table = new CentroidCosines(new DotArena(DIMENSIONS));
    const [a, b, c] = [sumOf(1, axis(0)), sumOf(2, axis(0, 0.6, 1)), sumOf(3, axis(1))];
    deepEqual(cosines(table, [a, b, c]), ['0.600', '0.000', '0.800']);
    deepEqual(cosines(table, [a, b, c]), ['0.600', '0.000', '0.800']);
    const changed = { ...b, sum: axis(1) };
    deepEqual(cosines(table, [a, changed, c]), ['0.000', '0.000', '1.000']);
    deepEqual(cosines(table, [changed, c]).slice(0, 1), ['1.000']);
  });
});

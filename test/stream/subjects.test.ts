import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  conversationsSubject,
  overlapOf,
  PARTITIONS,
  partitionOf,
  partitionsOf,
  shardOf,
} from '../../src/stream/subjects.ts';
import { instanceIds } from '../support/requests.ts';

describe('partitions', () => {
  // Computed once with another implementation (Python).
  it('stay what they are in every version: instances would move otherwise', () => {
    const ids = [
      '00000000-0000-0000-0000-000000000000',
      '018f2b6e-7c1a-7d3e-9b5f-2a4c6e8f0a1b',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ];
    deepEqual(ids.map(partitionOf), [6, 4, 1]);
  });

  it('ignore the case of the id', () => {
    equal(
      partitionOf('ABCDEF00-0000-4000-8000-000000000000'),
      partitionOf('abcdef00-0000-4000-8000-000000000000'),
    );
  });

  it('share instances about evenly', () => {
    const counts = Array.from({ length: PARTITIONS }, () => 0);
    for (const id of instanceIds(8000)) counts[partitionOf(id)]! += 1;
    ok(Math.min(...counts) > 800 && Math.max(...counts) < 1200, counts.join());
  });

  it('are divided among shards, and slots among more shards than that', () => {
    const ids = instanceIds(2000);
    for (const shards of [1, 2, 3, 5, 8, 9, 12, 16, 100, 256]) {
      const read = Array.from({ length: shards }, (_, shard) => new Set(partitionsOf(shard, shards)));
      for (const id of ids) {
        const shard = shardOf(id, shards);
        ok(shard >= 0 && shard < shards);
        ok(read[shard]!.has(partitionOf(id)), `${id} of ${shards}`);
        // As it was before there were slots.
        if (shards <= PARTITIONS) equal(shard, partitionOf(id) % shards);
        for (const others of [1, 3, 8, 12])
          ok(overlapOf(shard, shards, others).includes(shardOf(id, others)), `${shards}, ${others}`);
      }
      for (const [shard] of read.entries()) deepEqual(overlapOf(shard, shards, shards), [shard]);
    }
    deepEqual(partitionsOf(3, 8), [3]);
    deepEqual(partitionsOf(11, 16), [3]);
    deepEqual(partitionsOf(5, 12), [1, 5]);
    const used = new Set(ids.map((id) => shardOf(id, 100)));
    equal(used.size, 100);
  });

  it('name their subject', () => {
    equal(conversationsSubject(3), 'conversations.3');
  });
});

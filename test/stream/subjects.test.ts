import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversationsSubject, PARTITIONS, partitionOf } from '../../src/stream/subjects.ts';
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

  it('name their subject', () => {
    equal(conversationsSubject(3), 'conversations.3');
  });
});

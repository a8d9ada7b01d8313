import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DigestCounts } from '../../../src/doors/import/digest-counts.ts';

describe('DigestCounts', () => {
  it('keeps the last count of each text, however many there are', () => {
    const counts = new DigestCounts();
    const texts = Array.from({ length: 50_000 }, (_, index) => `conversation ${index}`);
    for (const text of texts) counts.set(text, 1);
    for (const [index, text] of texts.entries()) counts.set(text, index + 2);
    equal(
      texts.every((text, index) => counts.get(text) === index + 2),
      true,
    );
    deepEqual([counts.size, counts.get('conversation 50000')], [50_000, 0]);
  });
});

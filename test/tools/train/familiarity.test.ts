import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fit } from '../../../tools/train/familiarity.ts';
import { familiarityTest } from '../../../src/reader/embedding/familiarity.ts';

/** Tokens 0 to 9 are of texts that are known, 10 to 19 of others, 20 to 24 of both. */
const EXAMPLES = Array.from({ length: 400 }, (_, i) => {
  const known = i % 2 === 0;
  const first = known ? 0 : 10;
  return { tokens: [first + (i % 10), first + ((i * 7) % 10), 20 + (i % 5)], known, weight: 1 };
});

describe('fit', () => {
  const familiarity = fit(EXAMPLES, 30);
  const isFamiliar = familiarityTest(familiarity);

  it('learns by which tokens known texts are told from others', () => {
    equal(isFamiliar([0, 4, 20]), true);
    equal(isFamiliar([10, 13, 16, 20]), false);
    equal(isFamiliar([20, 21]), true);
  });

  it('needs more of what is unknown where a text says something known', () => {
    equal(isFamiliar([10, 13, 0, 2, 4]), true);
  });

  it('gives the same bytes again, one a token', () => {
    deepEqual(fit(EXAMPLES, 30), familiarity);
    equal(Buffer.from(familiarity.weights, 'base64').length, 30);
  });
});

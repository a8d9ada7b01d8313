import { equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { familiaritySchema, familiarityTest } from '../../../src/reader/embedding/familiarity.ts';

/** Tokens 1 and 2 are known, 3 and 4 are not. */
const FAMILIARITY = {
  bias: 1,
  scale: 0.25,
  weights: Buffer.from(Int8Array.of(0, 4, 2, -3, -6).buffer).toString('base64'),
};

describe('familiarityTest', () => {
  const isFamiliar = familiarityTest(FAMILIARITY);

  it('adds up what the tokens say', () => {
    equal(isFamiliar([1, 3]), true);
    equal(isFamiliar([3, 3, 2]), true);
    equal(isFamiliar([3, 3, 3]), false);
    equal(isFamiliar([4, 3, 2]), false);
  });

  it('needs more than a token or two to find a text unfamiliar', () => {
    equal(isFamiliar([3]), true);
    equal(isFamiliar([]), true);
  });

  it('finds tokens familiar that have no weight, and all of them without weights', () => {
    equal(isFamiliar([99, 3]), true);
    equal(familiarityTest(null)([4, 4, 4]), true);
  });
});

describe('familiaritySchema', () => {
  it('takes bytes in base64 only', () => {
    familiaritySchema.parse(FAMILIARITY);
    throws(() => familiaritySchema.parse({ ...FAMILIARITY, weights: '%%' }));
    throws(() => familiaritySchema.parse({ ...FAMILIARITY, scale: 0 }));
  });
});

import { equal, match, notEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UUID_PATTERN } from '../../src/domain/ids.ts';
import { createSessionIds, MAX_INSTANCE_NUMBER } from '../../src/registry/session-ids.ts';

const ids = createSessionIds('11'.repeat(32));
const others = createSessionIds('22'.repeat(32));
const number = fc.integer({ min: 0, max: MAX_INSTANCE_NUMBER });

describe('session ids', () => {
  it('lead back to their instance in any case, and are UUIDv8', () => {
    fc.assert(
      fc.property(number, fc.option(fc.string(), { nil: undefined }), (instance, seed) => {
        const id = ids.issue(instance, seed);
        match(id, UUID_PATTERN);
        equal(id.charAt(14), '8');
        equal(ids.read(id), instance);
        equal(ids.read(id.toUpperCase()), instance);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });

  it('are the same for the same seed and instance, and differ otherwise', () => {
    fc.assert(
      fc.property(number, fc.string(), (instance, seed) => {
        equal(ids.issue(instance, seed), ids.issue(instance, seed));
        notEqual(ids.issue(instance, seed), ids.issue(instance, `${seed}.`));
        notEqual(ids.issue(instance), ids.issue(instance));
      }),
      { seed: 2 },
    );
  });

  it('are not taken for ours when a client chose them', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => equal(ids.read(id), null)),
      { numRuns: 10_000, seed: 3 },
    );
    for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      equal(ids.read(id), null);
    }
  });

  it('are not taken for ours under another secret or with a digit changed', () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        number,
        fc.integer({ min: 0, max: 35 }),
        fc.integer({ min: 1, max: 15 }),
        (instance, at, change) => {
          const id = ids.issue(instance, 'seed');
          if (others.read(id) !== null) accepted++;
          const digit = id.charAt(at);
          if (digit === '-' || at === 19) return;
          const changed =
            id.slice(0, at) + ((Number.parseInt(digit, 16) ^ change) & 15).toString(16) + id.slice(at + 1);
          if (ids.read(changed) !== null) accepted++;
        },
      ),
      { numRuns: 5000, seed: 4 },
    );
    equal(accepted, 0);
  });

  it('are distinct', () => {
    const made = new Set(Array.from({ length: 100_000 }, () => ids.issue(5)));
    equal(made.size, 100_000);
  });

  it('exist only for instance numbers', () => {
    for (const wrong of [-1, 0.5, MAX_INSTANCE_NUMBER + 1, Number.NaN])
      throws(() => ids.issue(wrong), RangeError);
  });
});

import { deepEqual, equal, match, notEqual, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UUID_PATTERN } from '../../../src/domain/ids.ts';
import { createSessionIds, MAX_INSTANCE_NUMBER } from '../../../src/web/registry/session-ids.ts';

const ids = createSessionIds('11'.repeat(32));
const others = createSessionIds('22'.repeat(32));
/** By instance number under the first secret: the id of the seed `seed`, and one without a seed. */
const ISSUED_BY_0_1 = [
  [1, '00000000-01ef-8795-b134-5c36a5399dbe', '00000000-01a7-8dac-b8c6-c562880fc11f'],
  [4711, '00000012-6707-8f1f-9de3-a830e0a61911', '00000012-67a6-8096-b8c6-c562880fc120'],
  [1099511627775, 'ffffffff-ff39-80af-9aef-bbae19a8dadb', 'ffffffff-ff8a-8f1b-b8c6-c562880fc121'],
] as const;
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
    const made = new Set(Array.from({ length: 30_000 }, () => ids.issue(5)));
    equal(made.size, 30_000);
  });

  it('tell nothing of how many lie between two of them', () => {
    const unique = Array.from({ length: 4000 }, () => BigInt(`0x${ids.issue(5).slice(19).replace('-', '')}`));
    const steps = unique.slice(1).map((value, index) => value - (unique[index] ?? 0n));
    equal(new Set(steps).size, steps.length);
    // Chance has it that half of them go up, and that each bit but the variant's changes in every other step.
    const isHalf = (count: number): boolean => Math.abs(count / steps.length - 0.5) < 0.05;
    ok(isHalf(steps.filter((step) => step > 0n).length));
    for (let bit = 0n; bit < 62n; bit += 1n) {
      const changes = unique.slice(1).filter((value, index) => ((value ^ (unique[index] ?? 0n)) >> bit) & 1n);
      ok(isHalf(changes.length), `bit ${bit}: ${changes.length}`);
    }
  });

  it('keep their meaning when 0.1 issued them, and belong to the same seeds', () => {
    for (const [instance, ofSeed, counted] of ISSUED_BY_0_1) {
      equal(ids.issue(instance, 'seed'), ofSeed);
      deepEqual([ids.read(ofSeed), ids.read(counted)], [instance, instance]);
    }
  });

  it('exist only for instance numbers', () => {
    for (const wrong of [-1, 0.5, MAX_INSTANCE_NUMBER + 1, Number.NaN])
      throws(() => ids.issue(wrong), RangeError);
  });
});

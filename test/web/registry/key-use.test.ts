import { deepEqual, equal, ok } from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { KeyUse } from '../../../src/web/registry/key-use.ts';

const AT = Date.UTC(2026, 0, 1);
const iso = (ms: number): string => new Date(ms).toISOString();

describe('key use', () => {
  let written: [string, string][];
  let failing: boolean;
  let use: KeyUse;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: AT });
    written = [];
    failing = false;
    use = new KeyUse({
      now: () => new Date(),
      write: async (digest, at) => {
        if (failing) throw new Error('away');
        written.push([digest, at]);
      },
    });
  });

  afterEach(() => mock.timers.reset());

  /** Lets time pass; writes settle in between. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      mock.timers.tick(Math.min(left, 1000));
      for (let i = 0; i < 10; i += 1) await Promise.resolve();
    }
  }

  it('writes nothing on the way of a request, and soon after', async () => {
    use.note('a');
    deepEqual(written, []);
    equal(use.lastUsedAt('a'), iso(AT));
    await pass(1000);
    deepEqual(written, [['a', iso(AT)]]);
  });

  it('writes a key that is in use all the time once a minute', async () => {
    for (let second = 0; second < 300; second += 1) {
      use.note('a');
      await pass(1000);
    }
    ok(written.length >= 5 && written.length <= 6, `${written.length} writes`);
  });

  it('writes the last of several uses too, and then nothing more', async () => {
    use.note('a');
    await pass(10_000);
    use.note('a');
    await pass(600_000);
    deepEqual(written, [
      ['a', iso(AT)],
      ['a', iso(AT + 10_000)],
    ]);
  });

  it('leaves to others what they wrote', async () => {
    use.note('a');
    use.written('a', iso(AT + 5));
    await pass(120_000);
    deepEqual(written, []);
    equal(use.lastUsedAt('a'), iso(AT + 5));
    use.written('a', iso(AT));
    equal(use.lastUsedAt('a'), iso(AT + 5));
  });

  it('tries again what could not be written, and writes the rest at the end', async () => {
    failing = true;
    use.note('a');
    await pass(5000);
    failing = false;
    await pass(1000);
    deepEqual(written, [['a', iso(AT)]]);
    use.note('a');
    use.note('b');
    await use.close();
    deepEqual(written.slice(1), [
      ['a', iso(AT + 6000)],
      ['b', iso(AT + 6000)],
    ]);
  });
});

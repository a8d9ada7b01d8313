import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retrying, type Retries } from '../../src/domain/retry.ts';

/** Work that fails so often, and how often it was tried. */
function failing(times: number) {
  const tried: number[] = [];
  const work = async (): Promise<string> => {
    tried.push(performance.now());
    if (tried.length <= times) throw new Error(`failure ${tried.length}`);
    return 'done';
  };
  return { tried, run: (retries: Partial<Retries>) => retrying(work, { pauseMs: 1, ...retries }) };
}

describe('work that is tried again', () => {
  it('returns what succeeds, after pauses that double up to the longest', async () => {
    const { tried, run } = failing(4);
    equal(await run({ pauseMs: 20, longestMs: 40 }), 'done');
    const pauses = tried.slice(1).map((at, index) => at - (tried[index] ?? 0));
    deepEqual(
      [20, 40, 40, 40].map((ms, index) => (pauses[index] ?? 0) >= ms - 2),
      [true, true, true, true],
    );
  });

  it('fails with the last failure: after so many tries, too late, or where another does not help', async () => {
    await rejects(failing(9).run({ tries: 3 }), /failure 3/);
    await rejects(failing(9).run({ until: performance.now() }), /failure 1/);
    await rejects(failing(9).run({ mayPass: (error) => !String(error).includes('2') }), /failure 2/);
  });

  it('ends with its signal, within a pause', async () => {
    const { tried, run } = failing(9);
    const reason = new Error('stopped');
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 5);
    await rejects(run({ pauseMs: 60_000, signal: stop.signal }));
    equal(tried.length, 1);
    await rejects(run({ signal: AbortSignal.abort(reason) }), reason);
  });
});

import { describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import { uuid, VIEWS } from '../support/fold.ts';

describe('queries that wait for a position', () => {
  const notRead = (): Promise<never> => Promise.reject(new Error('nothing is read'));

  it('are a few hundred at most; the next must come again, and one that need not wait is let through', async () => {
    const { promise: reaching, resolve: reach } = Promise.withResolvers<boolean>();
    const runner = new QueryRunner({
      views: VIEWS,
      maxWaiting: 2,
      readerOf: () => ({
        read: notRead,
        snapshot: notRead,
        waitFor: async (position, timeoutMs) => (position <= 1 ? true : timeoutMs > 0 && reaching),
      }),
    });
    const waiting = [runner.waitFor(uuid(1, 1), 2, 5000), runner.waitFor(uuid(1, 2), 2, 5000)];
    // Both have looked once by now.
    await new Promise((resolve) => setImmediate(resolve));
    const fault = await runner.waitFor(uuid(1, 1), 2, 5000).catch((error: unknown) => error);
    ok(fault instanceof AppError);
    deepEqual([fault.code, fault.retryAfter], ['SERVICE_UNAVAILABLE', 1]);
    equal(await runner.waitFor(uuid(1, 1), 1, 5000), true);
    reach(true);
    deepEqual(await Promise.all(waiting), [true, true]);
    equal(await runner.waitFor(uuid(1, 1), 2, 5000), true);
  });
});

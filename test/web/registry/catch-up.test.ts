import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { CatchUp } from '../../../src/web/registry/catch-up.ts';

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('catching up', () => {
  it('waits for what had been written when it was asked, and no longer', async () => {
    let newest = 5;
    const catchUp = new CatchUp({ newest: async () => newest, pauseMs: 0 });
    let done = false;
    const waiting = catchUp.done().then(() => (done = true));
    catchUp.delivered(4);
    await soon();
    equal(done, false);
    newest = 100;
    catchUp.delivered(5);
    await waiting;
  });

  it('lets a question serve only those who came before it was asked', async () => {
    const answers: ((revision: number) => void)[] = [];
    const catchUp = new CatchUp({
      newest: () => new Promise((resolve) => answers.push(resolve)),
      pauseMs: 0,
    });
    const first = catchUp.done();
    await soon();
    equal(answers.length, 1);
    const [second, third] = [catchUp.done(), catchUp.done()];
    answers[0]?.(0);
    await first;
    await soon();
    equal(answers.length, 2);
    answers[1]?.(0);
    await Promise.all([second, third]);
    equal(answers.length, 2);
  });

  it('asks a flood of callers’ question once a pause', async () => {
    let asked = 0;
    const catchUp = new CatchUp({ newest: async () => (asked += 1) && 0, pauseMs: 20 });
    const startedAt = performance.now();
    for (let i = 0; i < 5; i += 1) await Promise.all(Array.from({ length: 100 }, () => catchUp.done()));
    deepEqual([asked <= 5, performance.now() - startedAt >= 60], [true, true]);
  });

  it('gives up with SERVICE_UNAVAILABLE when the watch lags, and passes on what the server says', async () => {
    const lagging = new CatchUp({ newest: async () => 7, timeoutMs: 10 });
    await rejects(
      lagging.done(),
      (error) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE',
    );
    await rejects(new CatchUp({ newest: () => Promise.reject(new Error('away')) }).done(), /away/);
  });
});

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { Turns } from '../../src/ingest/turns.ts';

describe('turns', () => {
  it('lets so many be done at a time, callers one after the other', async () => {
    const turns = new Turns(2);
    const order: string[] = [];
    let active = 0;
    let most = 0;
    const work = (name: string) => async (): Promise<void> => {
      active += 1;
      most = Math.max(most, active);
      order.push(name);
      await turn();
      active -= 1;
    };
    await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => turns.run('busy', work(`busy ${index}`))),
      turns.run('other', work('other 0')),
      turns.run('other', work('other 1')),
    ]);
    equal(most, 2);
    deepEqual(order.slice(0, 6), ['busy 0', 'busy 1', 'busy 2', 'other 0', 'busy 3', 'other 1']);
    equal(order.length, 8);
  });

  it('hands the place on when work fails', async () => {
    const turns = new Turns(1);
    const failed = turns.run('a', () => Promise.reject(new Error('no')));
    const next = turns.run('b', () => Promise.resolve('done'));
    await rejects(failed, /no/);
    equal(await next, 'done');
    equal(await turns.run('a', () => Promise.resolve('again')), 'again');
  });
});

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { FairQueue, Turns, type TurnsOptions } from '../../src/domain/turns.ts';

describe('a fair queue', () => {
  const queueOf = (names: readonly string[]): FairQueue<{ name: string }> => {
    const queue = new FairQueue<{ name: string }>();
    for (const name of names) queue.push(name.charAt(0), { name });
    return queue;
  };
  const drain = (queue: FairQueue<{ name: string }>): string[] => {
    const names: string[] = [];
    for (let item = queue.take(); item !== undefined; item = queue.take()) names.push(item.name);
    return names;
  };

  it('gives to callers by turns, and to each in order', () => {
    const queue = queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
    deepEqual([queue.size, queue.sizeOf('a'), queue.sizeOf('d')], [6, 3, 0]);
    deepEqual(drain(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    deepEqual([queue.size, queue.sizeOf('a')], [0, 0]);
  });

  it('puts a caller who comes back behind those who have waited', () => {
    const queue = queueOf(['a1', 'b1', 'c1']);
    equal(queue.take()?.name, 'a1');
    queue.push('a', { name: 'a2' });
    deepEqual(drain(queue), ['b1', 'c1', 'a2']);
  });

  it('lets a caller who may not have their first item keep their place', () => {
    const queue = queueOf(['a1', 'a2', 'b1', 'c1']);
    equal(queue.take((caller) => caller === 'b')?.name, 'b1');
    equal(queue.peek()?.name, 'a1');
    equal(
      queue.take((_, { name }) => name === 'a2'),
      undefined,
    );
    deepEqual(drain(queue), ['a1', 'c1', 'a2']);
  });

  it('keeps the order of very many', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `a${index}`);
    const queue = queueOf(names.slice(0, 500));
    const first = Array.from({ length: 300 }, () => queue.take()?.name);
    for (const name of names.slice(500)) queue.push('a', { name });
    deepEqual([...first, ...drain(queue)], names);
  });
});

describe('turns', () => {
  /** Starts what is named, of the caller of its first letter; each ends when told to. */
  function start(options: TurnsOptions) {
    const turns = new Turns(options);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const go = (name: string, places?: number): Promise<void> =>
      turns.run(
        name.charAt(0),
        () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        },
        places,
      );
    const end = async (name: string): Promise<void> => {
      ends.get(name)?.();
      ends.delete(name);
      await turn();
    };
    return { turns, begun, go, end };
  }

  it('lets so many be done at a time, callers one after the other', async () => {
    const { begun, go, end } = start({ most: 2 });
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) => go(name));
    await turn();
    deepEqual(begun, ['a1', 'a2']);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'b2']) await end(name);
    deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'a4', 'b2']);
    await Promise.all(all);
  });

  it('keeps places free of one caller for whoever comes next', async () => {
    const { begun, go, end } = start({ most: 3, mostPerCaller: 2 });
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => go(name));
    await turn();
    deepEqual(begun, ['a1', 'a2', 'b1']);
    await end('b1');
    deepEqual(begun.slice(3), ['b2']);
    await end('a1');
    await end('a2');
    deepEqual(begun.slice(4), ['a3', 'c1'], 'by turns');
    for (const name of ['b2', 'a3', 'c1', 'a4']) await end(name);
    await Promise.all(all);
  });

  it('refuses more of one caller than may wait, and nobody else', async () => {
    const refusal = (): Error => new Error('too many');
    const { turns, begun, go, end } = start({ most: 1, waitingPerCaller: { most: 2, refusal } });
    const all = ['a1', 'a2', 'a3'].map((name) => go(name));
    await rejects(go('a4'), /too many/);
    all.push(go('b1'));
    equal(turns.waitingOf('a'), 2);
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name);
    await Promise.all(all);
    deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  });

  it('gives all places to one who needs them alone, whatever a caller may have', async () => {
    const { begun, go, end } = start({ most: 3, mostPerCaller: 2 });
    const all = [go('a1'), go('b1'), go('a2', 3), go('c1'), go('a3')];
    await turn();
    deepEqual(begun, ['a1', 'b1', 'c1'], 'the caller has a place already');
    await end('a1');
    all.push(go('d1'));
    await end('b1');
    deepEqual(begun.slice(3), [], 'nobody overtakes');
    await end('c1');
    deepEqual(begun.slice(3), ['a2']);
    await end('a2');
    deepEqual(begun.slice(4), ['d1', 'a3']);
    await end('d1');
    await end('a3');
    await Promise.all(all);
  });

  it('hands the place on when work fails, and takes it back once', async () => {
    const { turns, begun, go, end } = start({ most: 1 });
    const failed = turns.run('a', () => Promise.reject(new Error('no')));
    const next = go('b1');
    await rejects(failed, /no/);
    await turn();
    deepEqual(begun, ['b1']);
    await end('b1');
    await next;
    const leave = await turns.take('a');
    leave();
    leave();
    const both = [go('c1'), go('d1')];
    await turn();
    deepEqual(begun, ['b1', 'c1']);
    await end('c1');
    await end('d1');
    await Promise.all(both);
  });

  it('refuses those who wait when it is to end', async () => {
    const { turns, go, end } = start({ most: 1 });
    const first = go('a1');
    const waits = rejects(go('a2'), /ending/);
    turns.refuseWaiting(() => new Error('ending'));
    await waits;
    await end('a1');
    await first;
  });
});

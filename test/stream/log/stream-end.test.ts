import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamEnd } from '../../../src/stream/log/stream-end.ts';

/** A server whose answers are let go one by one. */
function slowServer() {
  const asked: { answer: (last: number) => void; fail: () => void }[] = [];
  const end = new StreamEnd(
    () =>
      new Promise((resolve, reject) => {
        asked.push({ answer: resolve, fail: () => reject(new Error('away')) });
      }),
  );
  /** Until everything that can be asked is asked. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { end, asked, settle };
}

describe('the end of a stream', () => {
  it('is asked for only when it is not known to be further on', async () => {
    let [asked, last] = [0, 10];
    const end = new StreamEnd(async () => {
      asked += 1;
      return last;
    });
    deepEqual([await end.reaches(10), await end.reaches(3), asked], [true, true, 1]);
    deepEqual([await end.reaches(11), asked], [false, 2]);
    last = 11;
    deepEqual([await end.reaches(11), await end.reaches(11), asked], [true, true, 3]);
  });

  it('is known from what this process has stored', async () => {
    const end = new StreamEnd(() => Promise.reject(new Error('not asked')));
    end.stored(7);
    end.stored(5);
    equal(await end.reaches(7), true);
    await rejects(end.reaches(8), /not asked/);
  });

  it('is asked for again by whoever comes while a question is under way', async () => {
    const { end, asked, settle } = slowServer();
    const early = end.reaches(5);
    await settle();
    // Another process stores entry 5 after the question was answered, and its caller asks here.
    const late = [end.reaches(5), end.reaches(6)];
    await settle();
    equal(asked.length, 1);
    asked[0]?.answer(4);
    equal(await early, false);
    await settle();
    equal(asked.length, 2);
    asked[1]?.answer(5);
    deepEqual(await Promise.all(late), [true, false]);
  });

  it('is not known while the server does not answer, and is asked for again', async () => {
    const { end, asked, settle } = slowServer();
    const first = end.reaches(5);
    await settle();
    const waiting = end.reaches(5);
    asked[0]?.fail();
    await rejects(first, /away/);
    await settle();
    asked[1]?.answer(5);
    equal(await waiting, true);
  });
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { giveWay, mapInPieces, PIECE, piecesOf } from '../../src/domain/give-way.ts';
import { watchRounds } from '../support/rounds.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('long work', () => {
  it('is done a piece at a time, in order', async () => {
    const rounds = watchRounds();
    const made = await mapInPieces(numbers(10 * PIECE + 1), (item, index) => {
      rounds.count();
      equal(item, index);
      return item * 2;
    });
    rounds.stop();
    deepEqual(
      made,
      numbers(10 * PIECE + 1).map((item) => item * 2),
    );
    equal(rounds.most, PIECE);
  });

  it('of many is still one piece of one of them at a time, by turns', async () => {
    const rounds = watchRounds();
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let piece = 0; piece < 3; piece += 1) {
        await giveWay();
        rounds.count();
        order.push(name);
      }
    };
    await Promise.all(['a', 'b', 'c'].map(work));
    rounds.stop();
    deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
    equal(rounds.most, 1);
  });

  it('lets what came in meanwhile go first', async () => {
    const order: string[] = [];
    const long = mapInPieces(numbers(5 * PIECE), () => undefined).then(() => order.push('long'));
    await new Promise((resolve) => setImmediate(resolve));
    order.push('other');
    await long;
    deepEqual(order, ['other', 'long']);
  });

  it('that is short gives way to nobody', async () => {
    let isOver = false;
    void mapInPieces(numbers(PIECE), (item) => item).then(() => (isOver = true));
    for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
    ok(isOver);
  });

  it('is cut into pieces that hold all of it', () => {
    for (const count of [0, 1, PIECE, PIECE + 1, 3 * PIECE])
      deepEqual([...piecesOf(numbers(count))].flat(), numbers(count));
  });
});

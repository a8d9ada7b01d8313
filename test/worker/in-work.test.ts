import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../src/logger.ts';
import { WorkMarkFile } from '../../src/store/live/work-mark.ts';
import { InWork, type Piece, type Progress } from '../../src/worker/in-work.ts';
import { temporaryDirectory } from '../support/fold.ts';

const UP_TO = 20_000;

const at = (sequence: number): Progress => ({ sequence, revision: sequence });
const pieces = (...sequences: number[]): Piece[] => sequences.map((sequence) => ({ sequence }));

describe('what is in work', () => {
  const temporary = temporaryDirectory();

  /** Processes one after the other, each of which works until it comes to the fatal entry; how many there were. */
  function deathsOf(
    fatal: number,
    { killsFor = 0 }: { killsFor?: number } = {},
  ): { deaths: number; aside: number[] } {
    let position = 0;
    const aside: number[] = [];
    for (let deaths = 0; ; deaths += 1) {
      const file = new WorkMarkFile(temporary.path);
      const inWork = new InWork(file, at(position), silentLogger(), Math.min(deaths, killsFor));
      let died = false;
      while (position < UP_TO && !died) {
        const count = Math.min(inWork.limit, 10_000, UP_TO - position);
        const sequences = Array.from({ length: count }, (_, index) => position + index + 1);
        inWork.begin(pieces(...sequences));
        if (sequences.includes(fatal)) {
          died = inWork.verdict(fatal) === null;
          if (!died) aside.push(fatal);
        }
        if (died) continue;
        position += count;
        inWork.moved(at(position));
      }
      if (!died) inWork.end();
      file.close();
      if (!died) return { deaths, aside };
    }
  }

  it('leads to the entry of which process after process dies, in few deaths', () => {
    for (const fatal of [1, 100, 101, 9_999, 10_001, 20_000]) {
      const { deaths, aside } = deathsOf(fatal);
      deepEqual(aside, [fatal]);
      // In the batch, in a part of it, alone.
      equal(deaths, 5);
    }
  });

  it('leads to no entry while the kernel kills for want of memory', () => {
    // Ten deaths that say nothing, and then three alone.
    deepEqual(deathsOf(101, { killsFor: 10 }), { deaths: 13, aside: [101] });
  });

  it('does not slow down a worker that is killed now and then', () => {
    const file = new WorkMarkFile(temporary.path);
    const first = new InWork(file, at(0), silentLogger());
    first.begin(pieces(1, 2, 3));
    first.moved(at(3));
    first.begin(pieces(4, 5));
    // It had got on before it was killed: of what it took up then, nothing is known.
    equal(new InWork(file, at(5), silentLogger()).limit, Infinity);
    const second = new InWork(file, at(3), silentLogger());
    equal(second.limit, 1);
    second.begin(pieces(4));
    second.moved(at(4));
    second.begin(pieces(5));
    second.moved(at(5));
    equal(second.limit, Infinity);
    second.end();
    equal(new InWork(file, at(5), silentLogger()).limit, Infinity);
    file.close();
  });

  it('takes a mark that cannot be read for none', () => {
    const file = new WorkMarkFile(temporary.path);
    const reason = 'aü\n'.repeat(900);
    file.write({ after: 1, until: 2, entries: 1, deferred: {}, alone: 3, reason, memoryKills: 0 });
    equal(file.read()?.reason, 'a '.repeat(250));
    file.write(null);
    equal(file.read(), null);
    file.close();
    temporary.remove();
  });
});

import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

/** Longer than a lease lives. */
const FROZEN_MS = 6000;

/**
 * Two workers run on one shard. One of them works; when it is killed the other takes over; when it is frozen for
 * longer than its lease lives and then goes on, nothing is applied twice.
 */
export async function twoWorkers({ long, rounds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const stack = given ?? (await Stack.start());
  try {
    const load = await Load.start(stack, await stack.newKey(), { long, seed, writers: 3, pauseMs: 10 });
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      const second = stack.another('worker');
      await stack.until(
        () => second.log().includes('worker_ready'),
        () => `the second worker is not ready: ${second.log()}`,
      );
      await load.counted();
      await sleep(random.between(0, 300));
      stack.freeze('worker');
      await sleep(FROZEN_MS);
      stack.thaw('worker');
      recovered(figures, 'frozen', await load.counted());
      await stack.hold('worker');
      recovered(figures, 'taken over', await load.counted());
      figures.kills += 1;
      stack.release('worker');
      await sleep(random.between(0, 1000));
      const ended = once(second.process, 'close');
      second.process.kill('SIGKILL');
      await ended;
      recovered(figures, 'taken back', await load.counted());
      figures.kills += 1;
      await load.pause();
      await load.settle();
      figures.rounds += 1;
      say(`round ${round}: frozen, killed, taken over, killed, taken back`);
    }
    await load.pause();
    if (rounds > 1) {
      const { code, output } = await stack.command('cli/rebuild.ts');
      equal(code, 0, output);
      say(output.trim());
    }
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}

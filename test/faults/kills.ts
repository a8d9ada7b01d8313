import { match } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { MEMBERS, Stack } from './support/stack.ts';

/** Between the start of a round and its kill, at most. */
const UNTIL_KILL_MS = 1500;
const SHORT_UNTIL_KILL_MS = 400;

/**
 * kill -9 of web, worker and nats-server at random moments under load; every third round, a second one while
 * the first is still coming back. After each round the messages are counted; in the end the views are rebuilt
 * from the stream and compared with what the killed processes left, row for row.
 */
export async function kills({ long, rounds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const stack = given ?? (await Stack.start());
  try {
    const load = await Load.start(stack, await stack.newKey(), { long, seed, writers: 6, pauseMs: 20 });
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      await sleep(random.between(100, long ? UNTIL_KILL_MS : SHORT_UNTIL_KILL_MS));
      const victim = MEMBERS[(round + seed) % MEMBERS.length] as (typeof MEMBERS)[number];
      await stack.kill(victim);
      figures.kills += 1;
      if (round % 3 === 0) {
        const second = random.pick(MEMBERS.filter((member) => member !== victim));
        await sleep(random.between(0, 600));
        await stack.kill(second);
        figures.kills += 1;
      } else {
        const back = { nats: () => load.probe(), web: () => load.answered(), worker: () => load.counted() };
        recovered(figures, victim, await back[victim]());
      }
      await load.pause();
      await load.settle();
      figures.rounds += 1;
      say(`round ${round}: ${victim} killed, ${load.accepted} messages accepted and counted`);
    }
    addLoad(figures, await load.stop());
    const { output } = await stack.command('cli/rebuild.ts');
    say(output.trim());
    match(output, /compared with the live views at entry [\d,]+: (\d+) of \1 tables equal \(/);
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}

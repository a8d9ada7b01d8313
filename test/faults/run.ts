/** `npm run faults`: the long form of the faults; the tests run each in a short form. */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { away } from './away.ts';
import { clock } from './clock.ts';
import { cluster } from './cluster.ts';
import { damage } from './damage.ts';
import { fullDisk, fullSmallDisk } from './full-disk.ts';
import { fullStream } from './full-stream.ts';
import { kills } from './kills.ts';
import { points } from './points.ts';
import { poison } from './poison.ts';
import { retries } from './retries.ts';
import { twoWorkers } from './two-workers.ts';
import { inWords, nothingWrong, timesOf, type FaultOptions, type Figures } from './support/figures.ts';

const FAULTS: Readonly<
  Record<
    string,
    { readonly rounds: number; readonly seconds: number; run: (options: FaultOptions) => Promise<Figures> }
  >
> = {
  kills: { rounds: 24, seconds: 0, run: kills },
  away: { rounds: 2, seconds: 60, run: away },
  points: { rounds: 1, seconds: 0, run: points },
  'full-disk': { rounds: 2, seconds: 30, run: fullDisk },
  'full-small-disk': { rounds: 3, seconds: 0, run: fullSmallDisk },
  'full-stream': { rounds: 4, seconds: 0, run: fullStream },
  'two-workers': { rounds: 5, seconds: 0, run: twoWorkers },
  clock: { rounds: 10, seconds: 0, run: clock },
  damage: { rounds: 1, seconds: 0, run: damage },
  poison: { rounds: 1, seconds: 0, run: poison },
  // Beyond the two minutes in which NATS knows a message again.
  retries: { rounds: 1, seconds: 130, run: retries },
  cluster: { rounds: 6, seconds: 0, run: cluster },
};

const USAGE = `Usage: npm run faults [-- NAME …] [--rounds N] [--seconds N] [--seed N]

Breaks the service in every way it must stand, with real processes. Names: ${Object.keys(FAULTS).join(', ')}.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, seed: { type: 'string' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(FAULTS, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no fault ${unknown.join(', ')}.\n\n${USAGE}\n`);
  process.exit(2);
}
const seed = Number(values.seed ?? Date.now() % 1_000_000);
process.stdout.write(`seed ${seed}\n`);
const table = new Table({
  head: ['fault', 'rounds', 'kills', 'accepted', 'counted', 'wrong answers', 'time to recovery', 'seconds'],
  style: { head: [], border: [] },
});
for (const [name, fault] of Object.entries(FAULTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const startedAt = performance.now();
  process.stdout.write(`${name}\n`);
  try {
    const figures = await fault.run({
      long: true,
      rounds: Number(values.rounds ?? fault.rounds),
      seconds: Number(values.seconds ?? fault.seconds),
      seed,
      say: (sentence) => process.stdout.write(`  ${sentence.replaceAll('\n', '\n  ')}\n`),
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`${name}: ${inWords(figures)} (${seconds} s)\n`);
    const { rounds, kills: killed, accepted, counted, wrong } = figures;
    table.push([name, rounds, killed, accepted, counted, wrong.length, timesOf(figures).join('\n'), seconds]);
    nothingWrong(figures);
  } catch (error) {
    process.exitCode = 1;
    table.push([name, { content: 'FAILED', colSpan: 7 }]);
    process.stdout.write(
      `${name}: FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  }
}
process.stdout.write(`${table.toString()}\n`);

/** `npm run faults`: the long form of the faults; the tests run each in a short form. */
import Table from 'cli-table3';
import { action, runCommand, UsageError, wholeNumber } from '../../src/cli/command.ts';
import { alerts } from './alerts.ts';
import { answers } from './answers.ts';
import { ATTACK_NAMES, attacks } from './attacks.ts';
import { away } from './away.ts';
import { clock } from './clock.ts';
import { cluster } from './cluster.ts';
import { damage } from './damage.ts';
import { erasures } from './erasures.ts';
import { fullDisk, fullSmallDisk } from './full-disk.ts';
import { fullStream } from './full-stream.ts';
import { imports } from './imports.ts';
import { kills } from './kills.ts';
import { MACHINE_FAULTS, machines } from './machines.ts';
import { memory } from './memory.ts';
import { points } from './points.ts';
import { poison } from './poison.ts';
import { retries } from './retries.ts';
import { traces } from './traces.ts';
import { twoWorkers } from './two-workers.ts';
import { inWords, nothingWrong, timesOf, type FaultOptions, type Figures } from './support/figures.ts';

const FAULTS: Readonly<
  Record<
    string,
    { readonly rounds: number; readonly seconds: number; run: (options: FaultOptions) => Promise<Figures> }
  >
> = {
  kills: { rounds: 24, seconds: 0, run: kills },
  answers: { rounds: 20, seconds: 0, run: answers },
  imports: { rounds: 2, seconds: 0, run: imports },
  alerts: { rounds: 10, seconds: 0, run: alerts },
  away: { rounds: 2, seconds: 60, run: away },
  points: { rounds: 1, seconds: 0, run: points },
  'full-disk': { rounds: 2, seconds: 30, run: fullDisk },
  'full-small-disk': { rounds: 3, seconds: 0, run: fullSmallDisk },
  'full-stream': { rounds: 4, seconds: 0, run: fullStream },
  'two-workers': { rounds: 5, seconds: 0, run: twoWorkers },
  clock: { rounds: 10, seconds: 0, run: clock },
  damage: { rounds: 1, seconds: 0, run: damage },
  memory: { rounds: 100, seconds: 0, run: memory },
  poison: { rounds: 1, seconds: 0, run: poison },
  // Beyond the two minutes in which NATS knows a message again.
  retries: { rounds: 1, seconds: 130, run: retries },
  attacks: { rounds: 1, seconds: 0, run: attacks },
  traces: { rounds: 8, seconds: 0, run: traces },
  cluster: { rounds: 6, seconds: 0, run: cluster },
  machines: { rounds: 20, seconds: 0, run: machines },
  erasures: { rounds: 1, seconds: 0, run: erasures },
};

/** What can be named behind some of them. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  attacks: ATTACK_NAMES,
  machines: MACHINE_FAULTS,
};

const USAGE = `Usage: npm run faults -- [NAME…] [--rounds N] [--seconds N] [--seed N]
       npm run faults -- attacks [ATTACK…] [--seconds N]
       npm run faults -- machines [FAULT…] [--light] [--rounds N] [--seed N]

Breaks the service in every way that it must withstand, with real processes. Without a NAME, runs all faults.
attacks shows what a victim of another project feels of each attack; it fails when that is too much. All of them are
short and take about a quarter of an hour; those that are named last 30 s or more each.
machines needs Linux and root, because each part gets a network namespace of its own.

  --rounds N   how often each fault happens (the default depends on the fault)
  --seconds N  how long each fault that takes time lasts
  --light      machines: a fifth of the load, so that two cores are not full, and times to recover are those of the faults
  --seed N     decides what breaks when (default: another one each time)

Names: ${Object.keys(FAULTS).join(', ')}
Attacks: ${ATTACK_NAMES.join(', ')}
Faults of machines: ${MACHINE_FAULTS.join(', ')}`;

const number = (option: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber(option, text, 0);

const faults = action({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    light: { type: 'boolean' },
  },
  operands: Infinity,
  read(values, names) {
    const parts = names.flatMap((name) => PARTS[name] ?? []);
    const only = names.filter((name) => parts.includes(name));
    const unknown = names.filter((name) => !Object.hasOwn(FAULTS, name) && !only.includes(name));
    if (unknown.length > 0) throw new UsageError(`There is no fault ${unknown.join(', ')}.`);
    const rounds = number('--rounds', values.rounds);
    const seconds = number('--seconds', values.seconds);
    const seed = number('--seed', values.seed) ?? Date.now() % 1_000_000;
    return () => runFaults({ names, only, rounds, seconds, seed, isLight: values.light === true });
  },
});

async function runFaults({
  names,
  only,
  rounds,
  seconds,
  seed,
  isLight,
}: {
  readonly names: readonly string[];
  readonly only: readonly string[];
  readonly rounds: number | undefined;
  readonly seconds: number | undefined;
  readonly seed: number;
  readonly isLight: boolean;
}): Promise<number> {
  process.stdout.write(`seed ${seed}\n`);
  const table = new Table({
    head: ['fault', 'rounds', 'kills', 'accepted', 'counted', 'wrong answers', 'time to recovery', 'seconds'],
    style: { head: [], border: [] },
  });
  let failed = false;
  for (const [name, fault] of Object.entries(FAULTS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const startedAt = performance.now();
    process.stdout.write(`${name}\n`);
    try {
      const figures = await fault.run({
        long: true,
        rounds: rounds ?? fault.rounds,
        seconds: seconds ?? fault.seconds,
        seed,
        isLight,
        only: only.filter((part) => PARTS[name]?.includes(part)),
        say: (sentence) => process.stdout.write(`  ${sentence.replaceAll('\n', '\n  ')}\n`),
      });
      const took = Math.round((performance.now() - startedAt) / 1000);
      process.stdout.write(`${name}: ${inWords(figures)} (${took} s)\n`);
      const { rounds: done, kills: killed, accepted, counted, wrong } = figures;
      table.push([name, done, killed, accepted, counted, wrong.length, timesOf(figures).join('\n'), took]);
      nothingWrong(figures);
    } catch (error) {
      failed = true;
      table.push([name, { content: 'FAILED', colSpan: 7 }]);
      process.stdout.write(
        `${name}: FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
    }
  }
  process.stdout.write(`${table.toString()}\n`);
  return failed ? 1 : 0;
}

await runCommand({ usage: USAGE, action: faults });

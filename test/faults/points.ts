import { match, ok } from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { fillNewest, Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'support/fault-point.ts')).href;

const QUIET_PAUSE_MS = 250;

interface Point {
  readonly name: string;
  readonly at: string;
  /** At most so many are let pass first. */
  readonly skip: number;
  /** The short form has it too, and lets so many pass. */
  readonly short?: number;
}

/** Moments of the worker's work, in the order in which they come. */
const POINTS: readonly Point[] = [
  { name: 'within the fold', at: '^before sql set variable seq', skip: 20 },
  { name: 'before the commit', at: '^before sql commit', skip: 40 },
  { name: 'after the commit', at: '^after sql commit', skip: 40, short: 3 },
  { name: 'before the newest file is written', at: '^before sql attach .* as newest_out', skip: 20 },
  { name: 'while the newest file is written', at: '^after sql create table newest_out', skip: 20 },
  { name: 'before the newest file has its name', at: '^before rename newest-', skip: 20 },
  { name: 'before CURRENT is switched', at: '^before rename CURRENT', skip: 20, short: 1 },
  { name: 'after CURRENT is switched', at: '^after rename CURRENT', skip: 20 },
  { name: 'while a merged file is written', at: '^after sql attach .* as merged_out', skip: 2 },
  { name: 'before a merged file has its name', at: '^before rename merged-', skip: 1 },
  { name: 'after a merged file has its name', at: '^after rename merged-', skip: 1 },
];

/** The same of a rebuild. */
const REBUILD_POINTS: readonly Point[] = [
  { name: 'rebuild: before it is begun', at: '^before rename REBUILD', skip: 0 },
  { name: 'rebuild: after a commit', at: '^after sql commit', skip: 2 },
  { name: 'rebuild: before CURRENT is switched', at: '^before rename CURRENT', skip: 0 },
  { name: 'rebuild: before ACTIVE is switched', at: '^before rename ACTIVE', skip: 0, short: 0 },
  { name: 'rebuild: after ACTIVE is switched', at: '^after rename ACTIVE', skip: 0 },
];

/**
 * The worker is killed at chosen moments between and within commit, publication and merge, and a rebuild at
 * moments of its own: afterwards everything that was accepted is counted, once.
 */
export async function points({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'undertone-points-'));
  const [ofWorker, ofRebuild] = [join(folder, 'worker'), join(folder, 'rebuild')];
  const environment = (file: string) => ({ NODE_OPTIONS: `--import=${PRELOAD}`, FAULT_FILE: file });
  const stack = await Stack.start({ envOf: { worker: environment(ofWorker) } });
  const chosen = (points: readonly Point[]): readonly Point[] =>
    long ? Array(rounds).fill(points).flat() : points.filter(({ short }) => short !== undefined);
  const arm = (file: string, { at, skip, short = 0 }: Point): void => {
    writeFileSync(`${file}.new`, JSON.stringify({ at, skip: long ? random.between(0, skip) : short }));
    renameSync(`${file}.new`, file);
  };
  try {
    const key = await stack.newKey();
    const load = await Load.start(stack, key, { long, seed, writers: 6, pauseMs: 10 });
    for (const point of chosen(POINTS)) {
      const logged = stack.log('worker').length;
      arm(ofWorker, point);
      // A heavy load comes to it by itself.
      if (point.at.includes('merged') && !long) await fillNewest(new Client(stack.url, key));
      await stack.waitForOutput('worker', /fault point: .*ended: SIGKILL/s, logged);
      recovered(figures, 'worker', await load.counted());
      await load.pause();
      await load.settle();
      load.resume();
      figures.kills += 1;
      figures.rounds += 1;
      say(`killed ${point.name}`);
    }
    await load.pause();
    // So little that a rebuild of low priority keeps up on any machine.
    if (long) load.resume(QUIET_PAUSE_MS);
    for (const point of chosen(REBUILD_POINTS)) {
      arm(ofRebuild, point);
      const { signal, output } = await stack.command('cli/rebuild.ts', [], environment(ofRebuild));
      ok(signal === 'SIGKILL', output);
      await load.counted();
      await load.pause();
      await load.settle();
      if (long) load.resume();
      figures.kills += 1;
      figures.rounds += 1;
      say(`killed ${point.name}`);
    }
    await load.pause();
    await load.settle();
    if (long) {
      await stack.command('cli/rebuild.ts', ['--clean']);
      const { output } = await stack.command('cli/rebuild.ts');
      say(output.trim());
      match(output, /compared with the live views at entry [\d,]+: (\d+) of \1 tables equal \(/);
    }
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

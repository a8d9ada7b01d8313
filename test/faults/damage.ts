import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { Client } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { fillNewest, Load } from './support/load.ts';
import { Stack, type Member } from './support/stack.ts';

/** A file of the views is damaged while some processes are down, or none is. */
interface Damage {
  readonly name: string;
  readonly short?: true;
  readonly down: readonly Member[];
  /** Those that are down were ended in good order: everything is in the file itself, nothing in its log. */
  readonly inOrder?: true;
  /** Processes that are restarted after the damage, besides those that were down. */
  readonly restarted?: readonly Member[];
  readonly file: (directory: string) => string;
  readonly hurt: (file: string) => void;
  /** What the worker says of it. */
  readonly reported: RegExp;
  /** The running worker's next publication replaces the file: it may come before anybody has seen the damage. */
  readonly heals?: true;
}

const state = (directory: string): string => join(directory, 'state.duckdb');
const log = (directory: string): string => join(directory, 'state.duckdb.wal');
const current = (directory: string): string => join(directory, 'CURRENT');
const active = (directory: string): string => join(directory, '../../ACTIVE');
const published = (kind: 'newest' | 'merged') => (directory: string) =>
  join(directory, newestOf(directory, kind) ?? `${kind} is missing`);

function newestOf(directory: string, kind: 'newest' | 'merged'): string | undefined {
  const age = (file: string): number => statSync(join(directory, file)).mtimeMs;
  return readdirSync(directory)
    .filter((file) => new RegExp(`^${kind}-.*\\.duckdb$`).test(file))
    .toSorted((a, b) => age(b) - age(a))[0];
}

const garbage = (file: string): void => writeFileSync(file, 'This is not what was here. '.repeat(2000));
const shorten = (file: string): void => truncateSync(file, Math.floor(statSync(file).size / 2));
const remove = (file: string): void => rmSync(file);
/** Changes a few bytes in every block behind the headers; the size stays. */
const scratch = (file: string): void => {
  const descriptor = openSync(file, 'r+');
  try {
    for (let at = 3 * 4096 + 2000; at < statSync(file).size; at += 4096)
      writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, at);
  } finally {
    closeSync(descriptor);
  }
};

/** Enough that something is always on its way. */
const QUIET_PAUSE_MS = 100;

const LEVELS = /levels_damaged/;
const STATE = /state_damaged/;
const ACTIVE = /active_lost/;
const BEHIND = /state_behind/;

const DAMAGES: readonly Damage[] = [
  {
    name: 'CURRENT is garbage',
    down: [],
    restarted: ['web'],
    file: current,
    hurt: garbage,
    reported: LEVELS,
    heals: true,
  },
  {
    name: 'CURRENT is empty',
    down: ['web', 'worker'],
    file: current,
    hurt: (file) => truncateSync(file, 0),
    reported: LEVELS,
  },
  {
    name: 'CURRENT is gone',
    down: [],
    restarted: ['web'],
    file: current,
    hurt: remove,
    reported: LEVELS,
    heals: true,
  },
  {
    name: 'a newest file is garbage',
    down: [],
    restarted: ['web'],
    file: published('newest'),
    hurt: garbage,
    reported: LEVELS,
    heals: true,
  },
  {
    name: 'a newest file is cut',
    down: ['worker'],
    file: published('newest'),
    hurt: shorten,
    reported: LEVELS,
  },
  {
    name: 'a newest file is gone',
    down: ['web', 'worker'],
    file: published('newest'),
    hurt: remove,
    reported: LEVELS,
  },
  {
    name: 'a merged file is scratched',
    short: true,
    down: [],
    restarted: ['web'],
    file: published('merged'),
    hurt: scratch,
    reported: LEVELS,
  },
  { name: 'a merged file is cut', down: ['web'], file: published('merged'), hurt: shorten, reported: LEVELS },
  {
    name: 'a merged file is garbage',
    down: ['web', 'worker'],
    file: published('merged'),
    hurt: garbage,
    reported: LEVELS,
  },
  {
    name: 'ACTIVE is garbage',
    down: ['worker'],
    restarted: ['web'],
    file: active,
    hurt: garbage,
    reported: ACTIVE,
  },
  { name: 'ACTIVE is gone', down: [], restarted: ['web'], file: active, hurt: remove, reported: ACTIVE },
  {
    name: 'ACTIVE says nothing',
    down: ['web', 'worker'],
    file: active,
    hurt: (file) => writeFileSync(file, '{}'),
    reported: ACTIVE,
  },
  {
    name: 'the state is garbage',
    down: ['worker'],
    restarted: ['web'],
    file: state,
    hurt: garbage,
    reported: STATE,
  },
  { name: 'the state is cut', down: ['web', 'worker'], file: state, hurt: shorten, reported: STATE },
  {
    name: 'the state is scratched',
    short: true,
    down: ['worker'],
    inOrder: true,
    file: state,
    hurt: scratch,
    reported: STATE,
  },
  {
    name: 'the state is gone',
    down: ['worker'],
    restarted: ['web'],
    file: state,
    hurt: remove,
    reported: BEHIND,
  },
  { name: "the state's log is scratched", down: ['worker'], file: log, hurt: scratch, reported: STATE },
  { name: "the state's log is garbage", down: ['worker'], file: log, hurt: garbage, reported: BEHIND },
  {
    name: "the state's log is gone",
    short: true,
    down: ['web', 'worker'],
    file: log,
    hurt: remove,
    reported: BEHIND,
  },
];

/** The whole of what clients are told, but for the time at which the worker came by. */
async function answers(client: Client, instances: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const instanceId of instances) {
    for (const groupBy of ['TOPIC', 'TOPIC_CLUSTER', 'CSAT_DSAT', 'GAP', 'REPEATED_REQUEST', 'END_USER']) {
      const { elements, pagination } = await client.query({
        instanceId,
        groupBy,
        fields: 'sessions,messages',
      });
      all.push({ groupBy, elements, pagination });
    }
  }
  return all;
}

/**
 * Files of the views are overwritten, cut, scratched and deleted under running and stopped processes. Each
 * time clients get right answers or none, the damage is said in the log, and everything is made again without
 * anyone's help; in the end the same answers as before.
 */
export async function damage({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = await Stack.start();
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const load = await Load.start(stack, key, { long, seed, writers: 6, pauseMs: 2 });
    await fillNewest(client);
    await stack.until(
      () => newestOf(stack.shardDirectory(), 'merged') !== undefined,
      () => 'nothing was merged',
    );
    await load.pause();
    load.resume(QUIET_PAUSE_MS);
    const damages = long ? DAMAGES : DAMAGES.filter(({ short }) => short);
    for (let round = 0; round < rounds; round += 1) {
      for (const each of damages) {
        await load.pause();
        await load.settle();
        // A running web has to notice as well as one that starts.
        const spared = !long && each.down.includes('worker');
        const damaged = spared ? { ...each, restarted: [] } : each;
        recovered(figures, 'right answers', await suffer(stack, damaged, () => load.counted()));
        await load.settle();
        figures.kills += each.down.length + (each.restarted?.length ?? 0);
        figures.rounds += 1;
        load.resume();
        say(each.name);
      }
    }
    await load.pause();
    await load.settle();
    if (long) {
      const { code, output } = await stack.command('cli/rebuild.ts');
      equal(code, 0, output);
      match(output, /: (\d+) of \1 tables equal \(/);
    }
    await lost(stack, client, load);
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    await stack.stop();
  }
}

/** How long after the damage a message that is sent then is counted, milliseconds. */
async function suffer(stack: Stack, each: Damage, counted: () => Promise<number>): Promise<number> {
  const { name, down, restarted = [], file, hurt, reported } = each;
  for (const member of down) await stack.hold(member, each.inOrder ? 'SIGTERM' : 'SIGKILL');
  const logged = stack.log('worker').length;
  const target = file(stack.shardDirectory());
  ok(existsSync(target), `${name}: ${target}`);
  hurt(target);
  const startedAt = performance.now();
  for (const member of restarted) await stack.kill(member);
  for (const member of down) stack.release(member);
  await counted();
  if (each.heals !== true) await stack.waitForOutput('worker', reported, logged);
  return performance.now() - startedAt;
}

/** The state is damaged and the stream no longer holds its beginning: nothing is undercounted in silence. */
async function lost(stack: Stack, client: Client, load: Load): Promise<void> {
  const [instanceId = ''] = load.instances;
  const before = await answers(client, load.instances);
  const connection = await stack.connect();
  try {
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.purge(CONVERSATIONS_STREAM, { seq: 11 });
  } finally {
    await connection.close();
  }
  await stack.hold('worker');
  const logged = stack.log('worker').length;
  garbage(state(stack.shardDirectory()));
  stack.release('worker');
  await stack.kill('web');
  await stack.ready();
  await stack.waitForOutput(
    'worker',
    /state_lost.*no longer holds entries 1 to 10.*Restore a backup/,
    logged,
  );
  const starts = stack.starts('worker');
  equal((await client.post({ instanceId, messages: [{ content: 'Still there?' }] })).status, 200);
  deepEqual(await answers(client, load.instances), before);
  equal(stack.starts('worker'), starts);
}

/** What does each further machine add? */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GROUPINGS } from '../../src/domain/groupings.ts';
import { shardOf } from '../../src/stream/subjects.ts';
import { startObjectStore } from '../../test/support/object-store.ts';
import { benchmark } from './load/benchmark.ts';
import { CoreShare } from './load/core-share.ts';
import { messagesOf, sendConversations } from './load/counting.ts';
import { corpora, take, type Conversation } from './load/distinct-texts.ts';
import { inFolder } from './load/folder.ts';
import { closedLoop, ConnectionPool } from './load/http-load.ts';
import { randomFrom } from './load/questions.ts';
import { median } from './load/ratios.ts';
import { request, startMeasuredService, startNats, untilCounted, type OwnService } from './load/service.ts';
import { membersOf, useOfAll } from './load/service-use.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- growth [OPTIONS]

What does each further machine add? A machine with its own views, then one, two and more that share them through an object
store whose answers take --delay ms, all started at once. In each round, one of these groups after the other has work;
figures are medians of the rounds, ratios those to one machine that shares in the same round, because the processor of a
computer is not the same from minute to minute.

Every machine is held to --percent of a core (control groups of Linux, as root), and gets as many messages as fast as it
takes them, in instances that lie in its shards: so all are full, however many there are. Later eight connections to
each machine ask about the same instances, no question twice. Processes are warmed by other messages and questions
first, without the limit.

  --machines N   the most machines (default: 3)
  --shards N     of each machine (default: 2)
  --percent N    of a core for each machine (default: 35)
  --warm N       messages for each machine before the first round (default: 6000)
  --messages N   for each machine in a round (default: 1200)
  --rounds N     (default: 7)
  --seconds N    for which each group is asked in a round (default: 8)
  --delay MS     time of each answer of the store (default: 30)`;

const INSTANCES_OF_A_SHARD = 4;
const CONNECTIONS = 8;
/** Conversations of a request. */
const TOGETHER = 50;
/** Shards move once a machine has come, and not again. */
const DIVIDED_MS = 4000;
/** After the last message is counted: what is published later. */
const SETTLED_MS = 1000;

export const command = benchmark(
  USAGE,
  { machines: 3, shards: 2, percent: 35, warm: 6000, messages: 1200, rounds: 7, seconds: 8, delay: 30 },
  async ({ machines, shards, percent, warm, messages, rounds, seconds, delay }) =>
    inFolder(async (folder) => {
      const most = (warm + rounds * messages) * machines * 1.1;
      const conversations = await take(corpora()['demo']!(), Math.ceil(most));
      const setting = { folder, conversations, shards, delay };
      const groups: Group[] = [];
      try {
        groups.push(await startGroup('1, own views', setting, 1, false));
        for (let count = 1; count <= machines; count += 1)
          groups.push(await startGroup(`${count}`, setting, count, true));
        await sleep(DIVIDED_MS);
        const load = { messages, share: percent / 100, seconds };
        for (const group of groups) await count(group, warm);
        const counted = await inRounds(groups, rounds, (group) => counting(group, load));
        for (const group of groups) await questions(group, seconds, -1);
        const asked = await inRounds(groups, rounds, (group, round) => asking(group, round, load));
        const head = [
          'machines',
          'workers µs',
          '×',
          'webs µs',
          '×',
          'all µs',
          '×',
          'queries/s',
          '×',
          'webs µs',
          '×',
        ];
        const rows = groups.map(({ name }, at) => [
          name,
          ...figures(counted[at]!, counted[SHARING]!),
          ...figures(asked[at]!, asked[SHARING]!),
        ]);
        console.log(table(head, rows));
      } finally {
        await endAll(groups.map((group) => () => group.stop()));
      }
    }),
);

interface Load {
  /** For each machine. */
  readonly messages: number;
  /** Of a core for each machine. */
  readonly share: number;
  readonly seconds: number;
}

interface Machine {
  readonly service: OwnService;
  readonly core: CoreShare;
  /** What it is sent. */
  readonly instances: readonly string[];
}

/** Machines that have one NATS server in common. */
interface Group {
  readonly name: string;
  readonly machines: readonly Machine[];
  /** The next conversation that it was not sent yet. */
  next(): Conversation;
  stop(): Promise<void>;
}

/** Index of the group of one machine that shares. */
const SHARING = 1;

/** Figures of each round of each group. */
async function inRounds(
  groups: readonly Group[],
  rounds: number,
  measured: (group: Group, round: number) => Promise<number[]>,
): Promise<number[][][]> {
  const found = groups.map((): number[][] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, group] of groups.entries()) found[at]!.push(await measured(group, round));
  return found;
}

/** Each figure, and its ratio to that of another group in the same round: medians. */
function figures(rounds: readonly number[][], base: readonly number[][]): string[] {
  return rounds[0]!.flatMap((_, figure) => [
    median(rounds.map((all) => all[figure]!)).toFixed(0),
    median(rounds.map((all, round) => all[figure]! / base[round]![figure]!)).toFixed(2),
  ]);
}

interface Setting {
  readonly folder: string;
  readonly conversations: readonly Conversation[];
  /** Of each machine. */
  readonly shards: number;
  readonly delay: number;
}

async function startGroup(
  name: string,
  { folder, conversations, shards, delay }: Setting,
  count: number,
  isSharing: boolean,
): Promise<Group> {
  const ends: (() => Promise<void>)[] = [];
  const stop = (): Promise<void> => endAll(ends);
  try {
    const nats = await startNats(join(folder, name));
    ends.push(() => nats.stop());
    const objects = await startObjectStore('views', { delayMs: delay });
    ends.push(() => objects.close());
    const env = {
      NATS_URL: nats.url,
      NATS_TOKEN: nats.token,
      SHARDS: String(shards * count),
      ...(isSharing ? objects.env : {}),
    };
    const machines: Machine[] = [];
    let instances: string[][] = [];
    while (machines.length < count) {
      const started = await startMeasuredService(env);
      ends.push(() => started.stop());
      const pids = (await membersOf(started.dataDir)).map(({ pid }) => pid);
      const core = await CoreShare.of(`${name}-${machines.length}`.replaceAll(/\W/g, '-'), pids);
      // The group of processes goes after them.
      ends.splice(-1, 0, () => core.remove());
      const service = { ...started, key: machines[0]?.service.key ?? started.key };
      if (machines.length === 0) instances = await instancesOf(service, shards * count);
      const mine = instances.slice(machines.length * shards, (machines.length + 1) * shards).flat();
      machines.push({ service, core, instances: mine });
    }
    let taken = 0;
    return { name, machines, stop, next: () => conversations[taken++]! };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** In the opposite order. */
async function endAll(ends: readonly (() => Promise<void>)[]): Promise<void> {
  for (const end of ends.toReversed()) await end();
}

/** Processor time of the workers, the webs and both for a message, microseconds. */
async function counting(group: Group, { messages, share }: Load): Promise<number[]> {
  const [sent, used] = await held(group, share, async () => {
    const counted = await count(group, messages);
    await sleep(SETTLED_MS);
    return counted;
  });
  const [workers, webs] = ['worker', 'web'].map((name) => (used(name) * 1000) / sent) as [number, number];
  return [workers, webs, workers + webs];
}

/** Questions a second, and processor time of the webs for each, microseconds. */
async function asking(group: Group, round: number, { share, seconds }: Load): Promise<number[]> {
  const [perSecond, used] = await held(group, share, () => questions(group, seconds, round));
  return [perSecond, (used('web') * 1000) / (perSecond * seconds)];
}

/** Has machines work while they are held to a share of a core. Returns the processor time of a process, milliseconds. */
async function held(
  { machines }: Group,
  share: number,
  work: () => Promise<number>,
): Promise<[number, (name: string) => number]> {
  const services = machines.map(({ service }) => service);
  for (const { core } of machines) await core.limit(share);
  const before = await useOfAll(services);
  const result = await work();
  const after = await useOfAll(services);
  for (const { core } of machines) await core.limit(Infinity);
  return [result, (name) => after.get(name)! - before.get(name)!];
}

/** Sends each machine so many messages, and waits until it counts them. Returns how many all were sent. */
async function count(group: Group, messages: number): Promise<number> {
  let all = 0;
  await Promise.all(
    group.machines.map(async ({ service, instances }) => {
      const positions = new Map<string, number>();
      for (let sent = 0, turn = 0; sent < messages; turn += 1) {
        const some = Array.from({ length: TOGETHER }, () => group.next());
        const id = instances[turn % instances.length]!;
        positions.set(id, await sendConversations(service, id, some));
        sent += messagesOf(some);
        all += messagesOf(some);
      }
      for (const [id, position] of positions) await untilCounted(service, id, position);
    }),
  );
  return all;
}

/** Some in each shard. */
async function instancesOf(service: OwnService, shards: number): Promise<string[][]> {
  const found = Array.from({ length: shards }, () => [] as string[]);
  while (found.some(({ length }) => length < INSTANCES_OF_A_SHARD)) {
    const { id } = await request<{ id: string }>(service, 'instances', {});
    const some = found[shardOf(id, shards)]!;
    if (some.length < INSTANCES_OF_A_SHARD) some.push(id);
  }
  return found;
}

const FIELDS_ASKED = 3;
const GROUPINGS_ASKED = ['TOPIC', 'SESSION', 'END_USER', 'CSAT_DSAT', 'GAP'] as const;
const RANGES_FROM = Date.UTC(2020, 0, 1);
const RANGES_MS = 1e11;

/** Questions a second that all machines answer. */
async function questions({ machines }: Group, seconds: number, seed: number): Promise<number> {
  const { instances } = machines[0]!;
  const asked = machines.map(async ({ service: { url, key } }, at) => {
    const pool = new ConnectionPool(url, CONNECTIONS);
    const random = randomFrom(seed * 1000 + at);
    let turn = 0;
    const { measurements, perSecond } = await closedLoop(CONNECTIONS, seconds, async () => {
      turn += 1;
      const groupBy = GROUPINGS_ASKED[turn % GROUPINGS_ASKED.length]!;
      const query = new URLSearchParams({
        instanceId: instances[Math.floor(random() * instances.length)]!,
        groupBy,
        fields: GROUPINGS[groupBy].metrics.slice(0, FIELDS_ASKED).join(','),
        'dateRange.start': new Date(RANGES_FROM + Math.floor(random() * RANGES_MS)).toISOString(),
        limit: '20',
      });
      const { status, body } = await pool.get(`/v1/query/?${query.toString()}`, { 'x-api-key': key });
      if (status !== 200) throw new Error(`status ${status}: ${body.slice(0, 200)}`);
    });
    pool.close();
    if (measurements.errors.size > 0) throw new Error(measurements.describe());
    return perSecond;
  });
  return (await Promise.all(asked)).reduce((sum, each) => sum + each, 0);
}

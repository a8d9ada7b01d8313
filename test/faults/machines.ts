import { deepEqual } from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPlace, type SharedPlace } from '../../src/cluster/place.ts';
import { setDrained, statusOf } from '../../src/cluster/views-bucket.ts';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { shardOf } from '../../src/stream/subjects.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { PLAIN_GROUP_BYS } from '../support/groupings.ts';
import { BUCKET } from '../support/object-store.ts';
import { instanceId } from '../support/replays.ts';
import { Cluster } from './cluster.ts';
import { filesWith } from './support/files-with.ts';
import { noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Machine, PARTS, type Part } from './support/machine.ts';
import { Network, type Cut } from './support/network.ts';
import { Random } from './support/random.ts';
import { INSTANCES, SharedLoad, type Web } from './support/shared-load.ts';
import type { StoreAddress, StoreFault } from './support/store-process.ts';

const MACHINES = ['m1', 'm2', 'm3', 'm4'] as const;
const SERVERS = ['n1', 'n2', 'n3'] as const;
const STORE = 's3';
/** Counts everything alone, in the end. */
const ALONE = 'alone';
const SHARDS = 16;
/** Longer than a lease. */
const PAUSE_MS = 6000;
const CUT_MS = 8000;
const START_MS = 120_000;
/** Time in which others take the shards of a machine that is drained. */
const DRAINED_MS = 60_000;
/** Time until every web has counted what was accepted, after a fault. */
const CAUGHT_UP_MS = 180_000;
/** Time until an erasure is done, and no web shows what it erased. */
const ERASED_MS = 300_000;
/** The light load pauses so many times as long as the full one. */
const LIGHT = 5;
/** In so many of the instances sessions are erased. Their topics keep the shape that the erased ones gave them. */
const ERASED_IN = 3;
const HOUR_MS = 3_600_000;
const CLOCKS_MS = [2 * HOUR_MS, -2 * HOUR_MS, 30_000, -30_000] as const;

/** Four machines with one cluster of NATS servers and one object store, each part with a network of its own. */
class World {
  readonly folder = mkdtempSync(join(tmpdir(), 'undertone-machines-'));
  readonly network = Network.open([...SERVERS, STORE, ...MACHINES, ALONE]);
  readonly machines: Machine[] = [];
  #servers: Cluster | null = null;
  #store: ChildProcess | null = null;
  #objects = '';
  #connection: StreamConnection | null = null;
  #place: SharedPlace | null = null;
  key = '';
  /** Words of what was erased. */
  readonly erased: string[] = [];

  async start(): Promise<void> {
    this.#servers = await Cluster.start(
      SERVERS.map((name) => ({ host: this.network.addressOf(name), prefix: this.network.prefixOf(name) })),
    );
    const { env, folder } = await this.#startStore();
    this.#objects = folder;
    const { url, token } = this.servers;
    const connection = await whenServed(() =>
      openConnection({ url, token: () => token, name: 'test of machines' }),
    );
    this.#connection = connection;
    await whenServed(() => setUpStreams(connection, { replicas: SERVERS.length }));
    await this.#register();
    this.#place = await openPlace(
      connection,
      {
        url: env['VIEWS_URL'] ?? '',
        endpoint: env['AWS_ENDPOINT_URL'] ?? '',
        region: 'us-east-1',
        accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
        secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
      },
      SERVERS.length,
    );
    for (const name of MACHINES)
      this.machines.push(await this.#machine(name, { ...env, SHARDS: String(SHARDS) }));
  }

  get servers(): Cluster {
    if (this.#servers === null) throw new Error('the servers were not started');
    return this.#servers;
  }

  get webs(): Web[] {
    return this.machines.map(({ name, url }) => ({ name, url }));
  }

  /** A machine with views of its own, which counts the stream from its beginning. */
  async startAlone(): Promise<Machine> {
    return this.#machine(ALONE, { SHARDS: '1' });
  }

  machine(name: string): Machine {
    const machine = this.machines.find((candidate) => candidate.name === name);
    if (machine === undefined) throw new Error(`no machine ${name}`);
    return machine;
  }

  /** The machine that counts each shard. */
  async owners(): Promise<string[]> {
    const { bucket, keys } = this.place;
    const shards = await statusOf(bucket, keys, () => Promise.resolve(0));
    return (shards ?? []).map(({ machine }) => machine);
  }

  get place(): SharedPlace {
    if (this.#place === null) throw new Error('there are no views');
    return this.#place;
  }

  breakStore(fault: StoreFault): void {
    this.#store?.send(fault);
  }

  /** Files of the objects in the store. */
  objects(): string[] {
    return readdirSync(join(this.#objects, BUCKET), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('_object'))
      .map((entry) => join(entry.parentPath, entry.name));
  }

  /** Files of machines and objects in which a word of what was erased is left. */
  filesWithErased(): string[] {
    return filesWith([this.#objects, ...this.machines.flatMap(({ folders }) => folders)], this.erased);
  }

  /** What processes logged as errors, and how they ended by themselves, with numbers. */
  complaints(): string[] {
    const counts = new Map<string, number>();
    const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    for (const machine of this.machines)
      for (const part of PARTS) {
        for (const end of machine.endsOf(part)) if (end !== 'SIGKILL') count(`${part} ended: ${end}`);
        for (const line of machine.logOf(part).split('\n')) {
          if (!/"level":[56]0/.test(line)) continue;
          const { event, err } = JSON.parse(line) as {
            event: string;
            err?: { message: string; stack: string };
          };
          count(`${part} logged ${event}${err === undefined ? '' : `: ${err.stack}`}`);
        }
      }
    return [...counts].map(([what, times]) => `${what} (${times} times)`);
  }

  /** Logs stay where something was wrong. */
  async stop(isWell: boolean): Promise<void> {
    this.network.heal();
    await Promise.all(this.machines.map((machine) => machine.stop()));
    this.#store?.kill('SIGKILL');
    await this.#connection?.close();
    await this.#servers?.stop();
    this.network.close();
    if (isWell) rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.#objects, { recursive: true, force: true });
  }

  async #machine(name: string, env: Readonly<Record<string, string>>): Promise<Machine> {
    const { url, token } = this.servers;
    const nats = { NATS_URL: url, NATS_TOKEN: token, STREAM_REPLICAS: String(SERVERS.length) };
    const { network, folder } = this;
    return Machine.start({ network, name, folder, env: { ...nats, ...env } });
  }

  async #startStore(): Promise<StoreAddress> {
    const [command = '', ...words] = this.network.prefixOf(STORE);
    const script = join(import.meta.dirname, 'support/store-process.ts');
    const store = spawn(command, [...words, process.execPath, script, this.network.addressOf(STORE)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#store = store;
    process.on('exit', () => store.kill('SIGKILL'));
    const [address] = (await once(store, 'message')) as [StoreAddress];
    return address;
  }

  async #register(): Promise<void> {
    const registry = await openRegistry(this.#connection as StreamConnection, { replicas: SERVERS.length });
    await registry.whenReady();
    const { rawKey, key } = await registry.createKey({ projectName: 'machines', env: 'test' });
    this.key = rawKey;
    for (let number = 0; number < INSTANCES; number += 1)
      await registry.createInstance({ projectId: key.projectId, id: instanceId(number) });
    await registry.close();
  }
}

/** Servers that have just started may have no leader yet, or not know each other. */
async function whenServed<T>(open: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

/** What a fault has at hand. */
interface Scene {
  readonly world: World;
  readonly load: SharedLoad;
  readonly random: Random;
  readonly figures: Figures;
  readonly say: FaultOptions['say'];
}

/** Breaks something, restores it, and says what it was. */
type Fault = (scene: Scene) => Promise<string>;

/** The machine that counts most, so that its end is felt. */
async function anOwner({ world, random }: Scene): Promise<string> {
  const owners = (await world.owners()).filter((name) => MACHINES.some((known) => known === name));
  return owners.length === 0 ? random.pick(MACHINES) : random.pick(owners);
}

/** How long a message to one of the shards of a machine waits to be counted. */
async function countingGoesOn(
  { load, figures, random, say }: Scene,
  owners: string[],
  machine: string,
): Promise<void> {
  const concerned = load.instances.filter((id) => owners[shardOf(id, SHARDS)] === machine);
  if (concerned.length === 0) return;
  const startedAt = performance.now();
  await load.counted(random.pick(concerned));
  const ms = performance.now() - startedAt;
  recovered(figures, 'counting without its owner', ms);
  say(`a message to a shard of ${machine} was counted ${Math.round(ms)} ms later`);
}

const cutOf = (random: Random): Cut => random.pick(['refused', 'silent'] as const);

/** Cuts links for longer than a lease. */
async function cutLinks({ world, random }: Scene, cut: (network: Network, how: Cut) => void): Promise<Cut> {
  const how = cutOf(random);
  cut(world.network, how);
  await sleep(random.between(PAUSE_MS, CUT_MS));
  world.network.heal();
  return how;
}

async function freeze(machine: Machine, part: Part): Promise<void> {
  await machine.signal(part, 'SIGSTOP');
  await sleep(PAUSE_MS);
  await machine.signal(part, 'SIGCONT');
}

async function breakStore(
  { world, random }: Scene,
  kind: StoreFault['kind'],
  share: number,
  ms: number,
): Promise<string> {
  world.breakStore({ kind, share, seed: random.between(0, 2 ** 30) });
  await sleep(ms);
  world.breakStore({ kind: 'none', share: 0, seed: 0 });
  return `${ms} ms`;
}

/** kill -9 of all that a machine runs, and a start after a while. */
async function holdMachines(scene: Scene, names: readonly string[], meanwhile?: (machine: Machine) => void) {
  const { world, random, figures } = scene;
  const owners = await world.owners();
  const held = names.map((name) => world.machine(name));
  await Promise.all(held.map((machine) => machine.hold()));
  figures.kills += names.length;
  await countingGoesOn(scene, owners, names[0] ?? '');
  for (const machine of held) meanwhile?.(machine);
  await sleep(random.between(0, 3000));
  for (const machine of held) machine.release();
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'erase-a-session': eraseBeside,
  'kill-a-worker': async (scene) => {
    const name = await anOwner(scene);
    const owners = await scene.world.owners();
    await scene.world.machine(name).kill('worker');
    scene.figures.kills += 1;
    await countingGoesOn(scene, owners, name);
    return name;
  },
  'kill-a-web': async ({ world, random, figures }) => {
    const name = random.pick(MACHINES);
    await world.machine(name).kill('web');
    figures.kills += 1;
    return name;
  },
  'lose-a-machine': async (scene) => {
    const name = await anOwner(scene);
    await holdMachines(scene, [name]);
    return name;
  },
  'lose-two-machines': async (scene) => {
    const first = await anOwner(scene);
    const second = scene.random.pick(MACHINES.filter((name) => name !== first));
    await holdMachines(scene, [first, second]);
    return `${first}, ${second}`;
  },
  'lose-a-machine-and-its-disk': async (scene) => {
    const name = await anOwner(scene);
    await holdMachines(scene, [name], (machine) => machine.loseDisk());
    return name;
  },
  'kill-a-nats-server': async ({ world, random, figures }) => {
    const leader = await world.servers.leader();
    const victim = random.next() < 0.5 ? leader : random.pick(SERVERS);
    await world.servers.kill(victim);
    figures.kills += 1;
    await sleep(random.between(500, CUT_MS));
    world.servers.start(victim);
    await world.servers.whole();
    return `${victim}${victim === leader ? ' (leader)' : ''}`;
  },
  'pause-a-nats-server': async ({ world, random }) => {
    const leader = await world.servers.leader();
    const victim = random.next() < 0.5 ? leader : random.pick(SERVERS);
    await world.servers.pause(victim);
    await sleep(PAUSE_MS);
    world.servers.resume(victim);
    await world.servers.whole();
    return `${victim}${victim === leader ? ' (leader)' : ''}`;
  },
  'cut-a-machine-from-a-nats-server': async (scene) => {
    const [machine, server] = [await anOwner(scene), scene.random.pick(SERVERS)];
    return `${machine}, ${server}, ${await cutLinks(scene, (network, how) => network.cut(machine, server, how))}`;
  },
  'cut-a-machine-from-all-nats-servers': async (scene) => {
    const machine = await anOwner(scene);
    const how = await cutLinks(scene, (network, cut) => {
      for (const server of SERVERS) network.cut(machine, server, cut);
    });
    return `${machine}, ${how}`;
  },
  'cut-a-machine-from-the-store': async (scene) => {
    const machine = await anOwner(scene);
    return `${machine}, ${await cutLinks(scene, (network, how) => network.cut(machine, STORE, how))}`;
  },
  'cut-two-nats-servers': async (scene) => {
    const one = scene.random.pick(SERVERS);
    const other = scene.random.pick(SERVERS.filter((name) => name !== one));
    const how = await cutLinks(scene, (network, cut) => network.cut(one, other, cut));
    await scene.world.servers.whole();
    return `${one}, ${other}, ${how}`;
  },
  'cut-a-nats-server-from-the-others': async (scene) => {
    const leader = await scene.world.servers.leader();
    const how = await cutLinks(scene, (network, cut) => {
      for (const other of SERVERS) if (other !== leader) network.cut(leader, other, cut);
    });
    await scene.world.servers.whole();
    return `${leader} (leader), ${how}`;
  },
  'isolate-a-machine': async (scene) => {
    const machine = await anOwner(scene);
    return `${machine}, ${await cutLinks(scene, (network, how) => network.isolate(machine, how))}`;
  },
  'pause-a-worker': async (scene) => {
    const name = await anOwner(scene);
    await freeze(scene.world.machine(name), 'worker');
    return name;
  },
  'pause-a-web': async ({ world, random }) => {
    const name = random.pick(MACHINES);
    await freeze(world.machine(name), 'web');
    return name;
  },
  'shift-a-clock': async (scene) => {
    const { world, random } = scene;
    const [name, part, ms] = [await anOwner(scene), random.pick(PARTS), random.pick(CLOCKS_MS)];
    world.machine(name).setClock(part, ms);
    await sleep(PAUSE_MS);
    world.machine(name).setClock(part, 0);
    return `${part} of ${name}, ${ms / 1000} s`;
  },
  'lose-and-damage-objects': async ({ world, random, figures }) => {
    const share = random.pick([0.02, 0.2, 1]);
    let damaged = 0;
    for (const file of world.objects())
      if (random.next() < share) {
        if (random.next() < 0.5) rmSync(file, { force: true });
        else writeFileSync(file, 'damaged');
        damaged += 1;
      }
    // Somebody needs them.
    const name = random.pick(MACHINES);
    await world.machine(name).hold();
    world.machine(name).loseDisk();
    world.machine(name).release();
    figures.kills += 1;
    return `${damaged} objects, and ${name} lost its disk`;
  },
  'the-store-fails': (scene) => breakStore(scene, 'fails', 0.7, CUT_MS),
  'the-store-fails-wholly': (scene) => breakStore(scene, 'fails', 1, CUT_MS),
  'the-store-hangs': (scene) => breakStore(scene, 'hangs', scene.random.pick([0.1, 1]), CUT_MS),
  'the-store-is-slow': (scene) => breakStore(scene, 'slow', 1, CUT_MS),
  'no-room-for-a-copy': async ({ world, random }) => {
    const name = random.pick(MACHINES);
    world.machine(name).fillMirror();
    await sleep(PAUSE_MS);
    const isKilled = random.next() < 0.5;
    if (isKilled) await world.machine(name).kill('web');
    await sleep(PAUSE_MS);
    world.machine(name).emptyMirror();
    return `${name}${isKilled ? ', and its web was killed' : ''}`;
  },
  'drain-a-machine': async (scene) => {
    const { bucket, keys } = scene.world.place;
    const name = await anOwner(scene);
    await setDrained(bucket, keys, name, true);
    const startedAt = performance.now();
    while ((await scene.world.owners()).includes(name)) {
      if (performance.now() - startedAt > DRAINED_MS) {
        scene.load.wrong.push(`${name} has shards ${DRAINED_MS} ms after it was drained`);
        break;
      }
      await sleep(100);
    }
    recovered(scene.figures, 'drained', performance.now() - startedAt);
    if (scene.random.next() < 0.5) await scene.world.machine(name).kill('worker');
    await setDrained(bucket, keys, name, false);
    return name;
  },
};

/** What happens while a session is erased. */
const BESIDE_ERASURE = [
  'kill-a-worker',
  'kill-a-web',
  'lose-a-machine',
  'lose-a-machine-and-its-disk',
  'kill-a-nats-server',
  'cut-a-machine-from-all-nats-servers',
  'cut-a-machine-from-the-store',
  'isolate-a-machine',
  'pause-a-worker',
  'the-store-fails',
  'the-store-hangs',
  'no-room-for-a-copy',
] as const;

/** A session of an instance is erased while something else breaks. */
async function eraseBeside(scene: Scene): Promise<string> {
  const { load, random, figures } = scene;
  const instance = random.pick(load.instances.slice(0, ERASED_IN));
  const word = `quokka${random.between(1e6, 1e7)}`;
  const unwanted = await load.wantErased(instance, word);
  const startedAt = performance.now();
  const beside = random.pick(BESIDE_ERASURE);
  const what = await (FAULTS[beside] as Fault)(scene);
  load.wrong.push(...(await load.erased(unwanted, ERASED_MS)));
  recovered(figures, 'erased', performance.now() - startedAt);
  scene.world.erased.push(word);
  return `${unwanted.session}, beside ${beside} of ${what}`;
}

/** The faults by name. */
export const MACHINE_FAULTS: readonly string[] = Object.keys(FAULTS);

/** Runs one fault, and waits until every web has counted what was accepted. */
async function breakOnce(scene: Scene, name: string): Promise<string> {
  const { load, figures } = scene;
  load.takeProbes();
  const what = await (FAULTS[name] as Fault)(scene);
  recovered(figures, 'answers', Math.max(0, ...load.takeProbes()));
  const startedAt = performance.now();
  const missing = await load.caughtUp(CAUGHT_UP_MS);
  recovered(figures, 'all webs', performance.now() - startedAt);
  load.wrong.push(...missing.map((each) => `after "${name}" of ${what}: ${each}`));
  return `${name}: ${what}; all counted everywhere ${Math.round(performance.now() - startedAt)} ms later`;
}

/** All faults in any order, again and again. */
function* namesOf(random: Random, only: readonly string[]): Generator<string, never> {
  const all = MACHINE_FAULTS.filter((name) => only.length === 0 || only.includes(name));
  for (;;) {
    const left = [...all];
    while (left.length > 0) yield left.splice(random.between(0, left.length - 1), 1)[0] as string;
  }
}

/** All answers about an instance, without the time at which the worker came by. */
async function answersOf(load: SharedLoad, web: Web, instance: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [grouping, groupBy] of PLAIN_GROUP_BYS.entries()) {
    const timeGranularity = grouping % 2 === 0 ? 'ALL' : 'DAY';
    const dimensionFields = dimensionFieldsOf(groupBy).join();
    const { elements, pagination } = await load.answer(web, {
      instanceId: instance,
      groupBy,
      timeGranularity,
      fields: GROUPINGS[groupBy].metrics.join(),
      ...(dimensionFields === '' ? {} : { dimensionFields }),
    });
    answers[`${groupBy} ${timeGranularity}`] = { elements, pagination };
  }
  return answers;
}

/** Holds all webs against the ledger, and against a machine that counted the stream alone. Returns what it counted. */
async function compareAll({ world, load }: Scene): Promise<number> {
  const alone = await world.startAlone();
  world.machines.push(alone);
  let counted = 0;
  for (const [number, id] of load.instances.entries()) {
    const accepted = load.acceptedOf(id);
    const deadline = performance.now() + START_MS;
    let total: number | null = null;
    while (total !== accepted && performance.now() < deadline) {
      total = await load.totalOf(alone, id);
      await sleep(100);
    }
    counted += total ?? 0;
    if (total !== accepted) load.wrong.push(`alone: ${total} counted of ${accepted} of ${id}`);
    const right = await answersOf(load, number < ERASED_IN ? world.webs[0]! : alone, id);
    for (const web of world.webs.filter(({ name }) => name !== ALONE)) {
      const exact = await load.totalOf(web, id);
      if (exact !== accepted) load.wrong.push(`${web.name}: ${exact} counted of ${accepted} of ${id}`);
      try {
        deepEqual(await answersOf(load, web, id), right);
      } catch (error) {
        load.wrong.push(`${web.name} and alone, ${id}: ${String(error).slice(0, 2000)}`);
      }
    }
  }
  return counted;
}

/** Files that still have something that was erased after a while in which owners delete objects. */
async function withoutErased(world: World): Promise<string[]> {
  const deadline = performance.now() + CAUGHT_UP_MS;
  while (world.filesWithErased().length > 0 && performance.now() < deadline) await sleep(1000);
  return world.filesWithErased();
}

/**
 * Machines that share their views, each with a network of its own, under load and faults by chance: nothing is lost,
 * nothing is counted twice, no web goes back, and in the end all say what one machine says that counts the stream alone.
 */
export async function machines({
  rounds,
  seed,
  say,
  only = [],
  isLight = false,
}: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const world = new World();
  let isWell = false;
  try {
    await world.start();
    const load = new SharedLoad(
      world.webs,
      world.key,
      Array.from({ length: INSTANCES }, (_, i) => instanceId(i)),
      { seed, slowness: isLight ? LIGHT : 1 },
    );
    const scene: Scene = { world, load, random, figures, say };
    load.start();
    figures.wrong.push(...(await load.caughtUp(START_MS)));
    const names = namesOf(random, only);
    for (let round = 1; round <= rounds; round += 1) {
      await sleep(random.between(500, 2500));
      const known = load.wrong.length;
      say(`round ${round}, ${new Date().toISOString()}: ${await breakOnce(scene, names.next().value)}`);
      figures.rounds += 1;
      for (const wrong of load.wrong.slice(known)) say(wrong);
    }
    await load.stopWriting();
    figures.wrong.push(...(await load.caughtUp(CAUGHT_UP_MS)));
    await load.stopReading();
    figures.accepted = load.accepted;
    figures.counted = await compareAll(scene);
    for (const file of await withoutErased(world)) load.wrong.push(`${file} has something that was erased`);
    figures.wrong.push(...load.wrong);
    for (const line of world.complaints()) say(line);
    say(`${load.queries} answers of queries; answers to ingest: ${JSON.stringify(load.statuses)}`);
    isWell = figures.wrong.length === 0;
    return figures;
  } finally {
    if (!isWell) say(`logs are in ${world.folder}`);
    await world.stop(isWell);
  }
}

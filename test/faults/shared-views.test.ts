import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { completeUntil, readManifest } from '../../src/store/published/manifest.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { randomFrom } from '../../tools/bench/load/questions.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { BUCKET, startObjectStore, type TestObjectStore } from '../support/object-store.ts';
import {
  countedMessages,
  end,
  environmentOf,
  eventually,
  liveDirectories,
  runScript,
  type Running,
} from '../support/processes.ts';
import { requestsOf } from '../support/replays.ts';

const SHARDS = 3;
const MACHINES = ['a', 'b', 'c'] as const;
const requests = requestsOf({ conversations: 16, instances: 12, messages: 4 });
const INSTANCES = [...new Set(requests.map(({ instanceId }) => instanceId))];
const FAULTS = isLong ? 40 : 4;
const SEED = Number(process.env['SHARED_VIEWS_SEED'] ?? 1);
/** An erasure that failed waits up to a minute before it goes on. */
const ERASED_WITHIN_MS = 240_000;
/** Longer than a lease. */
const PAUSE_MS = 6000;

describe('shared views under faults', () => {
  const temporary = temporaryDirectory();
  const folderOf = (machine: string): string => join(temporary.path, machine);
  const workers = new Map<string, Running>();
  const ended: Running[] = [];
  const random = randomFrom(SEED);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let web: Running;
  let server: TestServer;
  let objects: TestObjectStore;
  let connection: StreamConnection;
  let publisher: Publisher;
  let ledger: ErasureLedger;

  type Script = 'main/worker.ts' | 'main/web.ts' | 'cli/erase.ts';
  const start = (machine: string, script: Script, words: readonly string[] = []): Running =>
    runScript(
      script,
      words,
      environmentOf(server, folderOf(machine), {
        ...objects.env,
        SHARDS: String(SHARDS),
        HOST: '127.0.0.1',
        PORT: '0',
      }),
    );
  const logs = (): string =>
    [web, ...workers.values(), ...ended]
      .map((each) => each.output())
      .join('\n')
      .slice(-20_000);
  before(async () => {
    server = await startTestServer();
    objects = await startObjectStore();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, {});
    publisher = createPublisher(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { key } = await registry.createKey({ projectName: 'test', env: 'test' });
    for (const id of INSTANCES) await registry.createInstance({ projectId: key.projectId, id });
    await registry.close();
    ledger = await ErasureLedger.open(connection, {});
  });
  after(async () => {
    for (const each of workers.values()) each.process.kill('SIGCONT');
    await Promise.all(
      [...workers.values(), ...(web === undefined ? [] : [web])].map((each) => end(each, 'SIGKILL')),
    );
    await publisher?.drain();
    await connection?.close();
    await objects?.close();
    await server?.stop();
    temporary.remove();
  });

  async function restart(machine: string): Promise<void> {
    const before = workers.get(machine);
    if (before !== undefined) {
      await end(before, 'SIGKILL');
      ended.push(before);
    }
    workers.set(machine, start(machine, 'main/worker.ts'));
  }

  /** Any file of the store: it is lost, or has other content. */
  function damageObject(): void {
    const folder = join(objects.folder, BUCKET);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('_object'))
      .map((entry) => join(entry.parentPath, entry.name));
    if (files.length === 0) return;
    const file = one(files);
    if (random() < 0.5) rmSync(file);
    else writeFileSync(file, 'damaged');
  }

  /** Each fault, and how it ends; a worker that ended by itself is started again, as a supervisor does. */
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    kill: () => restart(one(MACHINES)),
    'kill two': async () => {
      const spared = one(MACHINES);
      await Promise.all(MACHINES.filter((machine) => machine !== spared).map(restart));
    },
    'stop in good order': async () => {
      const machine = one(MACHINES);
      await end(workers.get(machine)!);
      ended.push(workers.get(machine)!);
      workers.set(machine, start(machine, 'main/worker.ts'));
    },
    'pause longer than a lease': async () => {
      const { process } = workers.get(one(MACHINES))!;
      process.kill('SIGSTOP');
      await sleep(PAUSE_MS);
      process.kill('SIGCONT');
    },
    'lose a disk': async () => {
      const machine = one(MACHINES);
      await end(workers.get(machine)!, 'SIGKILL');
      rmSync(join(folderOf(machine), 'views'), { recursive: true, force: true });
      await restart(machine);
    },
    'kill web': async () => {
      await end(web, 'SIGKILL');
      if (random() < 0.5) rmSync(join(folderOf('web'), 'mirror'), { recursive: true, force: true });
      seen.clear();
      web = start('web', 'main/web.ts');
    },
    'kill NATS': async () => {
      await server.kill();
      await sleep(500);
      await server.restart();
    },
    'the store fails': async () => {
      objects.fault = () => (random() < 0.7 ? 503 : null);
      await sleep(3000);
      objects.fault = null;
    },
    'the store hangs': async () => {
      objects.fault = (method) => (method === one(['PUT', 'GET']) ? 'hang' : null);
      await sleep(1500);
      objects.fault = null;
    },
    'a copy is damaged': async () => damageObject(),
    // It goes on during the next faults.
    'all of an instance is erased': async () => {
      ended.push(start('eraser', 'cli/erase.ts', ['everything', '--instance', one(INSTANCES)]));
      await sleep(2000);
    },
  };

  /** What readers saw of each shard last: they never go back. */
  const seen = new Map<string, number>();
  function look(): void {
    for (const directory of liveDirectories(join(folderOf('web'), 'mirror'))) {
      const manifest = readManifest(directory);
      if (manifest === null) continue;
      const reached = completeUntil(manifest);
      ok(reached >= (seen.get(directory) ?? -1), `${directory} went back to ${reached}`);
      seen.set(directory, reached);
    }
  }

  it('lose nothing, count nothing twice, and never go back', async () => {
    web = start('web', 'main/web.ts');
    for (const machine of MACHINES) workers.set(machine, start(machine, 'main/worker.ts'));
    let acknowledged = 0;
    let next = 0;
    let isDone = false;
    const sending = (async () => {
      while (!isDone || next < requests.length) {
        const request = requests[next];
        next += 1;
        if (request === undefined) break;
        for (;;) {
          try {
            await publisher.publish(request);
            break;
          } catch {
            // Sent again under its id: what was stored is counted once.
            await sleep(100);
          }
        }
        acknowledged += request.messages.length;
        await sleep(isDone ? 0 : 20);
      }
    })();
    const looking = setInterval(() => look(), 20);
    const running = setInterval(() => {
      for (const [machine, { process }] of workers) if (process.exitCode !== null) void restart(machine);
    }, 1000);
    const names = Object.keys(faults);
    const done: string[] = [];
    for (let fault = 0; fault < FAULTS; fault += 1) {
      const name = fault < names.length ? names[(fault + SEED) % names.length]! : one(names);
      done.push(name);
      await faults[name]!();
      await sleep(random() * 1500);
    }
    isDone = true;
    await sending;
    const mirror = join(folderOf('web'), 'mirror');
    let counted = 0;
    let erased = 0;
    // Each erasure goes on after whatever ended it.
    await eventually(
      async () => {
        const erasures = await ledger.list();
        erased = erasures.reduce((sum, { receipt }) => sum + (receipt?.messages ?? 0), 0);
        counted = await countedMessages(mirror).catch(() => 0);
        return erasures.every(({ state }) => state === 'DONE') && counted === acknowledged - erased;
      },
      () =>
        `${done.join(', ')}: ${acknowledged} acknowledged, ${erased} erased, ${counted} counted\n${logs()}`,
      ERASED_WITHIN_MS,
    );
    await sleep(1000);
    equal(await countedMessages(mirror), acknowledged - erased);
    clearInterval(looking);
    clearInterval(running);
    deepEqual(next >= requests.length, true);
  });
});

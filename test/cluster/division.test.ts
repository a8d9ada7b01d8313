import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Generations } from '../../src/cluster/generations.ts';
import { generationsAt, openPlace, type SharedPlace } from '../../src/cluster/place.ts';
import { SharedViews } from '../../src/cluster/shared-views.ts';
import { readKey, readState, type ActiveViews } from '../../src/cluster/views-bucket.ts';
import { StateAwaitedError } from '../../src/domain/sharing.ts';
import { silentLogger } from '../../src/logger.ts';
import { quoted, withDatabase } from '../../src/store/duckdb.ts';
import { keepWanted } from '../../src/store/live/keep-instances.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { overlapOf, shardOf } from '../../src/stream/subjects.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { startObjectStore, type TestObjectStore } from '../support/object-store.ts';
import {
  countedMessages,
  end,
  environmentOf,
  eventually,
  liveDirectories,
  runScript,
  type Running,
} from '../support/processes.ts';
import { instanceId, requestsOf, rowsOf } from '../support/replays.ts';

const INSTANCES = 16;
const TIMEOUT_MS = 240_000;

describe('more shards than before', { timeout: TIMEOUT_MS }, () => {
  const temporary = temporaryDirectory();
  const folderOf = (machine: string): string => join(temporary.path, machine);
  const running = new Set<Running>();
  const requests = requestsOf({ conversations: 24, instances: INSTANCES, messages: 4 });
  let server: TestServer;
  let objects: TestObjectStore;
  let connection: StreamConnection;
  let publisher: Publisher;
  let place: SharedPlace;
  let messages = 0;

  const start = (machine: string, script: string, shards: number, args: readonly string[] = []): Running => {
    const env = { ...objects.env, SHARDS: String(shards), HOST: '127.0.0.1', PORT: '0' };
    const started = runScript(script, args, environmentOf(server, folderOf(machine), env));
    running.add(started);
    return started;
  };
  const logs = (): string => [...running].map(({ output }) => output()).join('\n');
  const counted = (): Promise<unknown> =>
    eventually(async () => (await countedMessages(join(folderOf('web'), 'mirror'))) === messages, logs);
  const publish = async (from: number, to: number): Promise<void> => {
    for (const request of requests.slice(from, to)) {
      await publisher.publish(request);
      messages += request.messages.length;
    }
  };
  before(async () => {
    server = await startTestServer();
    objects = await startObjectStore();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, {});
    publisher = createPublisher(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    await registry.createKey({ projectName: 'test', env: 'test' });
    await registry.close();
    place = await openPlace(connection, objects.options, 1);
  });
  after(async () => {
    await Promise.all([...running].map((each) => end(each)));
    await publisher?.drain();
    await connection?.close();
    await objects?.close();
    await server?.stop();
    temporary.remove();
  });

  it('go on with what the earlier ones have counted, and answer the same', async () => {
    const half = Math.floor(requests.length / 2);
    start('web', 'main/web.ts', 2);
    const two = start('a', 'main/worker.ts', 2);
    await publish(0, half);
    await counted();
    await end(two);
    const before = await rowsOf(liveDirectories(folderOf('a')), INSTANCES);
    ok(Object.keys(before).length > INSTANCES);

    // On the machine that had them, and on another one.
    const workers = ['a', 'b'].map((machine) => start(machine, 'main/worker.ts', 4));
    const output = (): string => workers.map((worker) => worker.output()).join('\n');
    await eventually(() => output().includes('"views_switched"'), logs);
    equal(output().split('"shard_divided"').length - 1, 4, output());
    await counted();
    await Promise.all(workers.map((worker) => end(worker)));
    const again = start('a', 'main/worker.ts', 4);
    await eventually(() => again.output().split('"shard_opened"').length > 4, logs);
    await counted();
    await end(again);
    const four = liveDirectories(folderOf('a'));
    equal(four.length, 4);
    deepEqual(await rowsOf(four, INSTANCES), before);

    // What comes later is counted as if there had been four from the start.
    const going = start('a', 'main/worker.ts', 4);
    await publish(half, requests.length);
    await counted();
    await end(going);
    const divided = await rowsOf(liveDirectories(folderOf('a')), INSTANCES);
    const alone = runScript('main/worker.ts', [], environmentOf(server, folderOf('alone'), { SHARDS: '4' }));
    running.add(alone);
    await eventually(async () => (await countedMessages(folderOf('alone'))) === messages, logs);
    await end(alone);
    deepEqual(divided, await rowsOf(liveDirectories(folderOf('alone')), INSTANCES));
    ok(!/"level":(50|60)/.test(logs()), logs());
  });

  /** What a state has of an instance. */
  const hasOf = (file: string, instance: string): Promise<boolean> =>
    withDatabase({ threads: 1 }, async (db) => {
      await db.run(`attach ${quoted(file)} as it (read_only)`);
      return (await db.one(`select 1 from it.instance where id = ${quoted(instance)}::uuid`)) !== undefined;
    });

  it('have nothing of what is taken out of the earlier ones while they are made', async () => {
    const { bucket, store, keys } = place;
    const active = (await readKey<ActiveViews>(bucket, keys.active))!.value;
    const views = { definition: active.definition, shards: 8 };
    const gone = instanceId(0);
    const shard = shardOf(gone, views.shards);
    const generations: Generations = generationsAt(place, connection);
    const wholeKey = keys.state(active, shardOf(gone, active.shards));
    /** Begins a generation without the instance, as an erasure does. */
    const forget = async (): Promise<void> => {
      const worker = start('a', 'main/worker.ts', 4);
      const making = {
        folder: join(temporary.path, 'making'),
        signal: AbortSignal.timeout(60_000),
        refold: async (from: string, directory: string) => {
          mkdirSync(directory, { recursive: true });
          copyFileSync(from, join(directory, 'state.duckdb'));
        },
      };
      await generations.recount(making, new Set([gone]), (file) => keepWanted(file, (id) => id !== gone));
      await end(worker);
    };
    let isTaken = false;
    const shared = new SharedViews({
      bucket,
      store,
      keys,
      views,
      stream: {
        first: async () => 1,
        newestOf: async () => 0,
        sharedWith: overlapOf,
        hearLost: () => () => undefined,
        answerCopies: () => () => undefined,
      },
      divide: async (state, directory) => {
        await keepWanted(state, (id) => shardOf(id, views.shards) === shard);
        ok(isTaken || (await hasOf(state, gone)));
        copyFileSync(state, join(directory, 'state.duckdb'));
        if (!isTaken) await forget();
        isTaken = true;
      },
      logger: silentLogger(),
    });
    const directory = folderOf('divided');
    const { generation } = await readState(bucket, wholeKey);
    await rejects(shared.prepare(shard, directory), StateAwaitedError);
    equal((await readState(bucket, wholeKey)).generation, generation + 1);
    const isThere = (): boolean => existsSync(join(directory, 'state.duckdb'));
    ok(!isThere());
    // The next try has the instances that stay.
    await shared.prepare(shard, directory);
    ok(isThere());
    ok(!(await hasOf(join(directory, 'state.duckdb'), gone)));
    ok((await readState(bucket, keys.state(views, shard))).begunAt > 0);
  });
});

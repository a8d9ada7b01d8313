import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Mirror } from '../../src/cluster/mirror.ts';
import { SegmentCache } from '../../src/cluster/segment-cache.ts';
import { openGenerations, openPlace } from '../../src/cluster/place.ts';
import { readKey, writeKey, type RebuiltState } from '../../src/cluster/views-bucket.ts';
import { KEPT_FOR_EVER } from '../../src/domain/retention.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { silentLogger } from '../../src/logger.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
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
  runScript,
  type Running,
} from '../support/processes.ts';
import { instanceId, requestsOf } from '../support/replays.ts';

const SHARDS = 4;
const MONTH_MICROS = 30 * 86_400_000_000;

/** The shards that a process has rebuilt. */
function madeBy({ output }: Running): number[] {
  return [...output().matchAll(/shard (\d+): rebuilt up to/g)].map(([, shard]) => Number(shard));
}

describe('a rebuild of machines that share their views', () => {
  const temporary = temporaryDirectory();
  const folderOf = (machine: string): string => join(temporary.path, machine);
  const running = new Set<Running>();
  let server: TestServer;
  let objects: TestObjectStore;
  let connection: StreamConnection;
  let publisher: Publisher;
  let mirror: Mirror;
  let messages = 0;

  const start = (machine: string, script: string, args: readonly string[] = []): Running => {
    const env = { ...objects.env, SHARDS: String(SHARDS) };
    const started = runScript(script, args, environmentOf(server, folderOf(machine), env));
    running.add(started);
    return started;
  };
  /** A rebuild that takes some five seconds, so that it can be interrupted. */
  const slowly = (): string[] => ['--throttle', String(Math.ceil(messages / 5))];
  const alive = (): Running[] => [...running].filter(({ process }) => process.exitCode === null);
  const logs = (): string => [...running].map(({ output }) => output()).join('\n');
  const counted = (): Promise<number> =>
    eventually(async () => (await countedMessages(folderOf('mirror'))) === messages, logs);
  const publish = async (requests: readonly RecordedRequest[]): Promise<void> => {
    for (const request of requests) {
      await publisher.publish(request);
      messages += request.messages.length;
    }
  };
  const generations = async (): Promise<readonly number[]> =>
    (await (await openGenerations(objects.options, connection, 1)).answering()).generations;

  before(async () => {
    server = await startTestServer();
    objects = await startObjectStore();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, {});
    publisher = createPublisher(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { key } = await registry.createKey({ projectName: 'test', env: 'test' });
    await registry.createInstance({ projectId: key.projectId, id: instanceId(0) });
    await registry.close();
    mirror = new Mirror({
      ...(await openPlace(connection, objects.options, 1)),
      stream: { newestOf: async () => Infinity, sharedWith: (shard) => [shard] },
      sayLost: () => undefined,
      folder: folderOf('mirror'),
      cache: new SegmentCache(),
      logger: silentLogger(),
    });
    const all = requestsOf({ conversations: 20, instances: 12, messages: 6 });
    // What was said to one instance is old.
    const aged = all.map((request) => ({
      ...request,
      messages: request.messages.map((message) =>
        request.instanceId === instanceId(0) ? { ...message, at: message.at - MONTH_MICROS } : message,
      ),
    }));
    await publish(aged);
    for (const machine of ['a', 'b']) start(machine, 'main/worker.ts');
    await counted();
  });
  after(async () => {
    await Promise.all([...running].map((each) => end(each)));
    await mirror?.close();
    await publisher?.drain();
    await connection?.close();
    await objects?.close();
    await server?.stop();
    temporary.remove();
  });

  it('is done by all of them, also when one is killed, and begins one generation of each shard', async () => {
    const workers = [...running];
    // The stream loses texts: only the states have what they told.
    const retentions = await Retentions.open(connection);
    await retentions.setRetention(instanceId(0), { ...KEPT_FOR_EVER, textDays: 7 });
    const retaining = start('c', 'cli/erase.ts', ['run']);
    equal(await retaining.ended, 0, logs());
    ok((await retentions.withoutTexts()).has(instanceId(0)));
    const before = await generations();
    const killed = start('c', 'cli/rebuild.ts', slowly());
    await eventually(() => killed.output().includes('rebuilding'), logs);
    await end(killed, 'SIGKILL');
    const continued = start('c', 'cli/rebuild.ts', slowly());
    equal(await continued.ended, 0, logs());
    match(continued.output(), /switched 4 shards/);
    match(logs(), /taken over from the live state of shard \d: 1 instances/);
    deepEqual(
      await generations(),
      before.map((generation) => generation + 1),
    );
    const byWorkers = workers.flatMap(madeBy);
    ok(byWorkers.length > 0, 'no worker has taken part');
    deepEqual(
      [...byWorkers, ...madeBy(continued)].toSorted((one, other) => one - other),
      Array.from({ length: SHARDS }, (_, shard) => shard),
    );
    await counted();
    await publish(requestsOf({ conversations: 3, instances: 3, messages: 4, seed: 'later' }));
    await counted();
    const faults = logs().match(/^.*"level":(?:50|60).*$/gm) ?? [];
    deepEqual([...faults], []);
    // Neither keys nor folders of it are left. A machine that took part deletes its folder when it sees the switch.
    const { bucket } = await openPlace(connection, objects.options, 1);
    equal((await bucket.list('*.*.*.rebuilt')).length, 0);
    for (const machine of ['a', 'b', 'c'])
      await eventually(
        () => readdirSync(join(folderOf(machine), 'tmp')).every((name) => !name.startsWith('rebuild')),
        logs,
      );
  });

  it('switches only when it is told to, where what was made differs', async () => {
    const workers = alive();
    const begun = start('c', 'cli/rebuild.ts', slowly());
    await eventually(() => begun.output().includes('rebuilding'), logs);
    await end(begun, 'SIGTERM');
    // The machines go on by themselves.
    const { bucket, keys } = await openPlace(connection, objects.options, 1);
    const states = (): Promise<string[]> => bucket.list('*.*.*.rebuilt');
    await eventually(async () => (await states()).length === SHARDS, logs);
    const before = await generations();
    const { views } = await (await openGenerations(objects.options, connection, 1)).answering();
    const key = keys.rebuilt(views, 1);
    const made = (await readKey<RebuiltState>(bucket, key))!;
    await writeKey(bucket, key, { ...made.value, faults: ['one topic is missing'] }, made.revision);

    const refused = start('c', 'cli/rebuild.ts');
    equal(await refused.ended, 1, refused.output());
    match(refused.output(), /differ from the live ones[^]*shard 1, .*: one topic is missing/);
    deepEqual(await generations(), before);
    const forced = start('c', 'cli/rebuild.ts', ['--force']);
    equal(await forced.ended, 0, forced.output());
    match(forced.output(), /switching because of --force/);
    deepEqual(
      await generations(),
      before.map((generation) => generation + 1),
    );
    equal((await states()).length, 0);
    await counted();
    ok(workers.every(({ process }) => process.exitCode === null));
  });

  it('is deleted by --clean, on any machine', async () => {
    const before = await generations();
    const begun = start('c', 'cli/rebuild.ts', slowly());
    await eventually(() => begun.output().includes('rebuilding'), logs);
    const cleaned = start('d', 'cli/rebuild.ts', ['--clean']);
    equal(await cleaned.ended, 0, cleaned.output());
    match(cleaned.output(), /deleted the unfinished rebuild of all machines/);
    equal(await begun.ended, 1, begun.output());
    match(begun.output(), /was deleted by "npm run rebuild -- --clean"/);
    const { bucket } = await openPlace(connection, objects.options, 1);
    equal((await bucket.list('*.*.*.rebuilt')).length, 0);
    deepEqual(await generations(), before);
    const again = start('d', 'cli/rebuild.ts', ['--clean']);
    equal(await again.ended, 0, again.output());
    match(again.output(), /there was nothing to delete/);
  });

  it('is done by one machine alone from a backup', async () => {
    const workers = alive();
    const rebuilt = (): number => workers.flatMap(madeBy).length;
    const [made, before] = [rebuilt(), await generations()];
    const folder = folderOf('backup');
    const backup = start('c', 'cli/backup.ts', [folder]);
    equal(await backup.ended, 0, backup.output());
    const alone = start('c', 'cli/rebuild.ts', ['--from-backup', folder]);
    equal(await alone.ended, 0, alone.output());
    equal(madeBy(alone).length, SHARDS);
    equal(rebuilt(), made);
    deepEqual(
      await generations(),
      before.map((generation) => generation + 1),
    );
    await counted();
  });
});

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { quoted, withDatabase } from '../../src/store/duckdb.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
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
import { requestsOf } from '../support/replays.ts';

const SHARDS = 2;

/** The files of a folder that hold a word, and the databases among them that have it in a row. */
async function holding(folder: string, word: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const bytes = readFileSync(file);
    const isDatabase = bytes.subarray(8, 12).toString('latin1') === 'DUCK';
    if (bytes.includes(word) || (isDatabase && (await hasInRows(file, word)))) found.push(file);
  }
  return found;
}

/** Texts may be compressed in the file. */
function hasInRows(file: string, word: string): Promise<boolean> {
  return withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as it (read_only)`);
    const columns = await connection.all(
      `select table_name as t, column_name as c from duckdb_columns() where database_name = 'it' and data_type like '%VARCHAR%'`,
    );
    for (const { t, c } of columns) {
      const where = `contains("${String(c)}"::varchar, ${quoted(word)})`;
      if ((await connection.one(`select 1 from it."${String(t)}" where ${where} limit 1`)) !== undefined)
        return true;
    }
    return false;
  });
}

describe('machines that share their views', () => {
  const temporary = temporaryDirectory();
  const folderOf = (machine: string): string => join(temporary.path, machine);
  const running = new Set<Running>();
  let server: TestServer;
  let objects: TestObjectStore;
  let connection: StreamConnection;
  let publisher: Publisher;

  const start = (machine: string, script: string, args: readonly string[] = []): Running => {
    const started = runScript(
      script,
      args,
      environmentOf(server, folderOf(machine), {
        ...objects.env,
        SHARDS: String(SHARDS),
        HOST: '127.0.0.1',
        PORT: '0',
      }),
    );
    running.add(started);
    return started;
  };
  before(async () => {
    server = await startTestServer();
    objects = await startObjectStore();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, {});
    publisher = createPublisher(connection);
  });
  after(async () => {
    await Promise.all([...running].map((each) => end(each)));
    await publisher?.drain();
    await connection?.close();
    await objects?.close();
    await server?.stop();
    temporary.remove();
  });

  it('count each message once, whoever owns its shard, and answer from a machine without a worker', async () => {
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { rawKey, key } = await registry.createKey({ projectName: 'test', env: 'test' });
    const person = 'wolpertinger@example.com';
    const said = requestsOf({ conversations: 12, instances: 16, messages: 4 });
    const { instanceId: id, sessionId } = said[0]!;
    const requests = said.map((request) =>
      request.sessionId === sessionId
        ? { ...request, messages: request.messages.map((message) => ({ ...message, userId: person })) }
        : request,
    );
    await registry.createInstance({ projectId: key.projectId, id });
    await registry.close();
    const web = start('web', 'main/web.ts');
    const mirror = join(folderOf('web'), 'mirror');
    const logs = (): string => [...running].map(({ output }) => output()).join('\n');
    let messages = 0;
    const publish = async (from: number, to: number): Promise<void> => {
      for (const request of requests.slice(from, to)) {
        await publisher.publish(request);
        messages += request.messages.length;
      }
    };
    const counted = (): Promise<number> =>
      eventually(async () => (await countedMessages(mirror)) === messages, logs);
    const third = Math.floor(requests.length / 3);

    let a = start('a', 'main/worker.ts');
    await publish(0, third);
    await counted();

    const b = start('b', 'main/worker.ts');
    await eventually(() => b.output().includes('"shard_opened"'), logs);
    // Handed over in good order, with a copy of the state.
    await eventually(() => b.output().includes('"state_copy_taken"'), logs);
    await publish(third, 2 * third);
    await counted();

    await end(a, 'SIGKILL');
    await publish(2 * third, requests.length);
    await counted();
    const opened = (worker: Running): number => worker.output().split('"shard_opened"').length - 1;
    equal(opened(b), SHARDS);

    // What it kept is older than what the other machine has counted meanwhile.
    a = start('a', 'main/worker.ts');
    await eventually(() => a.output().includes('"state_copy_taken"'), logs);
    await eventually(() => opened(a) === 1, logs);
    await counted();
    ok(!/"level":(50|60)/.test(logs()), logs());

    const status = start('web', 'cli/cluster.ts', ['status']);
    equal(await status.ended, 0);
    const [head, ...rows] = status.output().trim().split('\n');
    match(head!, /^SHARD +MACHINE +BEHIND +MB +PUBLISHED +COPY$/);
    equal(rows.length, SHARDS);
    for (const row of rows) match(row, /^\d +\S+ +up to 0 entries +\d+\.\d +\d+ s ago +(?:none|\d+ s ago)$/);

    const [, url] = /"url":"(http[^"]+)"/.exec(web.output()) ?? [];
    for (const words of [
      ['drain', hostname()],
      ['undrain', hostname()],
    ]) {
      const drained = start('web', 'cli/cluster.ts', words);
      equal(await drained.ended, 0, drained.output());
      const event = words[0] === 'drain' ? '"drained"' : '"shard_opened"';
      const times = (): number => a.output().split(event).length + b.output().split(event).length;
      const before = times();
      await eventually(() => times() === before + 2, logs);
    }
    const metrics = (): Promise<string> => fetch(`${url}/metrics`).then((reply) => reply.text());
    await eventually(async () =>
      /undertone_shared_shard_bytes\{shard="1",machine="[^"]+"\} [1-9]/.test(await metrics()),
    );

    const rebuilding = start('c', 'cli/rebuild.ts');
    equal(await rebuilding.ended, 0, `${rebuilding.output()}\n${logs()}`);
    match(rebuilding.output(), /switched 2 shards/);
    await counted();

    const of = requests.filter(({ instanceId }) => instanceId === id);
    const asked = new URLSearchParams({
      instanceId: id,
      groupBy: 'END_USER',
      fields: 'messages',
      limit: '1000',
    });
    let answer = { status: 0, body: '' };
    await eventually(
      async () => {
        const reply = await fetch(`${url}/v1/query/?${asked}`, { headers: { 'x-api-key': rawKey } });
        answer = { status: reply.status, body: await reply.text() };
        return reply.ok;
      },
      () => JSON.stringify(answer),
    );
    const { elements } = JSON.parse(answer.body) as { elements: { fields: { messages: number } }[] };
    deepEqual(
      elements.reduce((sum, { fields }) => sum + fields.messages, 0),
      of.reduce((sum, request) => sum + request.messages.length, 0),
    );

    // Machines that are away keep what goes until they are back.
    await Promise.all([a, b].map((each) => end(each, 'SIGKILL')));
    const kept = await Promise.all(['a', 'b'].map((machine) => holding(folderOf(machine), person)));
    ok(kept.flat().length > 0);
    ok((await holding(objects.folder, person)).length > 0);
    start('d', 'main/worker.ts');
    const erasing = start('web', 'cli/erase.ts', ['user', person, '--instance', id]);
    equal(await erasing.ended, 0, `${erasing.output()}\n${logs()}`);
    const theirs = of.filter((request) => request.sessionId === sessionId);
    messages -= theirs.reduce((sum, request) => sum + request.messages.length, 0);
    const [, erasure] = /erasure ([0-9a-f-]{36}): DONE/.exec(erasing.output()) ?? [];
    deepEqual(await holding(objects.folder, person), []);
    await counted();
    const back = ['a', 'b'].map((machine) => start(machine, 'main/worker.ts'));
    await eventually(() => back.every((each) => each.output().includes('"worker_ready"')), logs);
    // Each second a worker looks for folders that are void; web deletes what a manifest no longer names after 10 s.
    await sleep(12_000);
    const verifying = start('web', 'cli/erase.ts', ['verify', erasure!]);
    equal(await verifying.ended, 0, verifying.output());
    match(verifying.output(), /^nothing of it is left\n/);
    await counted();
    const backup = join(temporary.path, 'backup');
    const backing = start('web', 'cli/backup.ts', [backup, '--keep-days', '9']);
    equal(await backing.ended, 0, backing.output());
    match(backing.output(), /the views of 2 shards are in /);
    await Promise.all([...running].map((each) => end(each)));
    for (const machine of ['a', 'b', 'd', 'web'])
      deepEqual(await holding(folderOf(machine), person), [], machine);

    const other = await startTestServer();
    try {
      const begin = (script: string, words: readonly string[] = []): Running => {
        const env = { ...objects.env, SHARDS: String(SHARDS), HOST: '127.0.0.1', PORT: '0' };
        const begun = runScript(script, words, environmentOf(other, folderOf('restored'), env));
        running.add(begun);
        return begun;
      };
      const restoring = begin('cli/restore.ts', [backup, '--keys', join(folderOf('web'), 'backup-keys')]);
      equal(await restoring.ended, 0, restoring.output());
      const [worker] = [begin('main/worker.ts'), begin('main/web.ts')];
      await eventually(
        async () => (await countedMessages(join(folderOf('restored'), 'mirror'))) === messages,
        () => `${restoring.output()}\n${worker!.output()}`,
      );
      equal(worker!.output().split('"state_copy_taken"').length - 1, SHARDS);
      await Promise.all([...running].map((each) => end(each)));
    } finally {
      await other.stop();
    }
  });
});

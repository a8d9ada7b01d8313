import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { noteDamage } from '../../src/store/damage.ts';
import { openDatabase, quoted } from '../../src/store/duckdb.ts';
import {
  answeringSince,
  readActiveEpoch,
  readUnfinished,
  shardDirectory,
  type ActiveEpoch,
} from '../../src/store/epochs/epochs.ts';
import { readManifest, writeManifest } from '../../src/store/published/manifest.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, partitionOf } from '../../src/stream/subjects.ts';
import { ShardReaders } from '../../src/store/published/shard-readers.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { temporaryDirectory, VIEWS } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { end, environmentOf, eventually, runScript, type Running } from '../support/processes.ts';
import { answersOf, fewGranularities, instanceId, requestsOf } from '../support/replays.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What each kill of the long form waits for, in milliseconds. */
const KILL_PAUSES_MS = [0, 100];
const INSTANCES = 2;

const requests = requestsOf({ conversations: 14, instances: INSTANCES, messages: 3 });
const messages = requests.slice(0, 40).reduce((sum, request) => sum + request.messages.length, 0);
const [first, second] = [requests.slice(0, 28), requests.slice(28, 40)] as const;

/** What the short form leaves to others: what changes by itself to one kind of change, damage to the store's own tests. */
const inLongForm = (name: string, test: () => Promise<void>): void => {
  if (isLong) void it(name, test);
};

describe('rebuild', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let publisher: Publisher;
  let worker: Running | null = null;
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  let newest = 0;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    publisher = createPublisher(connection);
    await publish(first);
    await startWorker();
    await published(newest);
  });
  after(async () => {
    await stopWorker();
    await publisher?.drain();
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  async function publish(some: readonly RecordedRequest[]): Promise<void> {
    // One by one: an entry each.
    for (const request of some) newest = await publisher.publish(request);
  }

  const run = (script: string, args: readonly string[], env: Record<string, string> = {}): Running =>
    runScript(script, args, environmentOf(server, dataDir, env));

  async function startWorker(env: Record<string, string> = {}): Promise<Running> {
    worker = run('main/worker.ts', [], env);
    await until(() => (worker as Running).output().includes('worker_ready'), worker);
    return worker;
  }

  async function stopWorker(): Promise<void> {
    if (worker !== null) await end(worker);
    worker = null;
  }

  /** Runs the command to its end. */
  async function rebuild(
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<{ code: number | string; output: string }> {
    const running = run('cli/rebuild.ts', args, env);
    return { code: await running.ended, output: running.output() };
  }

  const until = (isSo: () => boolean | Promise<boolean>, running: Running | null = worker): Promise<number> =>
    eventually(isSo, () => `waited too long; ${running?.output()}`);

  const active = (): ActiveEpoch => readActiveEpoch(dataDir) ?? { epoch: 0, shards: 0 };
  const directories = (): string[] => {
    const { epoch, shards } = active();
    return Array.from({ length: shards }, (_, shard) => shardDirectory(dataDir, epoch, shard));
  };
  const sequence = (): number =>
    Math.max(...directories().map((directory) => readManifest(directory)?.seq ?? 0));
  const published = (wanted: number): Promise<number> => until(() => sequence() >= wanted);
  const epochsOnDisk = (): number[] =>
    readdirSync(join(dataDir, 'views'))
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .toSorted((a, b) => a - b);

  let processed: readonly string[] = [];
  /** All answers, but for the time at which the worker came by, which never goes backwards. */
  async function answers(): Promise<Record<string, unknown>> {
    const all = await answersOf(directories(), INSTANCES, fewGranularities, answeringSince(dataDir));
    const newest = Object.values(all).map(({ lastProcessedAt }) => lastProcessedAt ?? '');
    for (const [at, time] of newest.entries())
      ok(time >= (processed[at] ?? ''), `lastProcessedAt went back from ${processed[at]} to ${time}`);
    processed = newest;
    return Object.fromEntries(
      Object.entries(all).map(([question, { elements, pagination }]) => [question, { elements, pagination }]),
    );
  }

  let unchanged: Promise<Record<string, unknown>> | null = null;
  /** The answers once all messages have come in: no test behind that one changes them. */
  const liveAnswers = (): Promise<Record<string, unknown>> => (unchanged ??= answers());

  /** The messages that a run has read are some, and hardly more a second than it was told. */
  function keepsTo(throttle: number, output: string): void {
    const [, read = '', rate = ''] = /: ([\d,]+) messages in [^(]*\(([\d,]+)\/s\)/.exec(output) ?? [];
    // It is doubled where more comes in. The last pull is not waited out.
    const most = throttle * 2 ** output.split('more messages arrive than').length;
    ok(Number(read) > 10 && Number(rate) <= most / 2 + 10, output);
  }

  it('gives the rows of the live views, compared at the same entry, while messages come in, also when it was killed', async () => {
    const killed = run('cli/rebuild.ts', ['--throttle', '100']);
    await until(() => readUnfinished(dataDir, active()) !== null, killed);
    killed.process.kill('SIGKILL');
    equal(await killed.ended, 'SIGKILL', killed.output());
    equal(active().epoch, 1);
    const running = run('cli/rebuild.ts', ['--throttle', '75']);
    let least = 0;
    const watching = (async () => {
      for (const request of second) {
        newest = await publisher.publish(request);
        ok(sequence() >= least, 'readers were sent back in time');
        least = sequence();
      }
    })();
    equal(await running.ended, 0, running.output());
    await watching;
    match(running.output(), /compared with the live views at entry [\d,]+: (\d+) of \1 tables equal \(/);
    match(running.output(), /continuing with views 2/);
    match(running.output(), /switched from views 1 to views 2: \d+ messages/);
    keepsTo(75, running.output());
    const { since = 0, ...switched } = active();
    deepEqual(switched, { epoch: 2, shards: 1, previous: { epoch: 1, shards: 1 } });
    ok(since > 0);
    await published(newest);
    equal(existsSync(join(dataDir, 'views/2/live')), false);
    deepEqual(epochsOnDisk(), [1, 2]);
  });

  inLongForm('goes on where kill -9 stopped it again and again', async () => {
    const live = await liveAnswers();
    const from = active().epoch;
    let kills = 0;
    let resumed = 0;
    for (const pauseMs of KILL_PAUSES_MS) {
      const running = run('cli/rebuild.ts', ['--throttle', '100']);
      // Once there is something to go on with.
      await until(
        () =>
          kills === 0
            ? readUnfinished(dataDir, active()) !== null
            : running.output().includes('continuing with views'),
        running,
      );
      await sleep(pauseMs);
      running.process.kill('SIGKILL');
      if ((await running.ended) === 'SIGKILL') kills += 1;
      if (running.output().includes('continuing with views')) resumed += 1;
      if (active().epoch !== from) break;
      deepEqual(await answers(), live);
    }
    const wanted = KILL_PAUSES_MS.length;
    ok(kills >= wanted && resumed >= wanted - 1, `${kills} kills, ${resumed} resumed`);
    const { code, output } = await rebuild(['--to-latest', '--throttle', '75']);
    equal(code, 0, output);
    match(output, /continuing with views \d+/);
    keepsTo(75, output);
    ok(active().epoch > from);
    deepEqual(await answers(), live);
    deepEqual(epochsOnDisk(), [from, active().epoch]);
  });

  it('ends in order when interrupted, and one runs at a time', async () => {
    const from = active().epoch;
    const running = run('cli/rebuild.ts', ['--throttle', '20']);
    await until(() => readUnfinished(dataDir, active()) !== null, running);
    const other = await rebuild();
    equal(other.code, 1);
    match(other.output, /Another rebuild runs/);
    running.process.kill('SIGINT');
    equal(await running.ended, 130, running.output());
    match(running.output(), /interrupted; the live views are unchanged/);
    equal(active().epoch, from);
  });

  it('goes back, with what came in meanwhile, and cleans up', async () => {
    const { epoch, previous } = active() as { epoch: number; previous?: { epoch: number } };
    const live = await liveAnswers();
    const { code, output } = await rebuild(['--rollback']);
    equal(code, 0, output);
    match(output, new RegExp(`switched back from views ${epoch} to views ${previous?.epoch}`));
    equal(active().epoch, previous?.epoch);
    deepEqual(await answers(), live);
    const switchedAt = active().since;
    const both = await rebuild(['--clean', '--rollback']);
    equal(both.code, 2);
    match(both.output, /^--clean stands alone/);
    const cleaned = await rebuild(['--clean']);
    match(cleaned.output, new RegExp(`deleted views ${epoch}, ${epoch + 1}; views ${previous?.epoch} stay`));
    const { since, ...left } = active();
    deepEqual([left, since], [{ epoch: previous?.epoch ?? 0, shards: 1 }, switchedAt]);
    const nothing = await rebuild(['--rollback']);
    equal(nothing.code, 1);
    match(nothing.output, /There are no earlier views to go back to/);
  });

  inLongForm('makes views from the facts that the live ones kept, beside a worker', async () => {
    const live = await liveAnswers();
    const from = active().epoch;
    const { code, output } = await rebuild(['--source', 'facts']);
    equal(code, 0, output);
    match(output, /a worker has views \d+ open: copying them first/);
    match(output, /: (\d+) of \1 tables equal \(/);
    match(output, new RegExp(`switched from views ${from} to views ${from + 1}: ${messages} messages`));
    deepEqual(await answers(), live);
    deepEqual(readdirSync(join(dataDir, 'views', String(from + 1))).toSorted(), ['0', 'REBUILD']);
    const wrong = await rebuild(['--source', 'texts']);
    equal(wrong.code, 2);
  });

  it('reads no text again, by itself, where only views changed, and goes back all the same', async () => {
    const live = await liveAnswers();
    const from = active().epoch;
    await stopWorker();
    await makeOlder(directories()[0] ?? '');
    const doing = await startWorker({ AUTO_REBUILD: 'true' });
    match(doing.output(), /view session_rollup: version 0 → 1/);
    await until(() => active().epoch !== from && doing.output().includes('switched from views'));
    match(doing.output(), /made from the facts of views \d+: \d+ messages in/);
    match(doing.output(), /not compared: session_rollup/);
    ok(!doing.output().includes('cannot be read'), doing.output());
    deepEqual(await answers(), live);
  });

  inLongForm('reads the stream where the facts are damaged', async () => {
    const live = await liveAnswers();
    const from = active().epoch;
    await stopWorker();
    const [directory = ''] = directories();
    noteDamage(directory, 'state', 'a test says so');
    const { code, output } = await rebuild(['--source', 'facts']);
    equal(code, 0, output);
    match(output, /the facts of shard 0 cannot be read, so the stream is/);
    match(output, /: (\d+) of \1 tables equal \(/);
    ok(active().epoch > from);
    deepEqual(await answers(), live);
    await startWorker();
  });

  /** Makes three shards of one, beside a worker; returns what the command says. */
  async function changeShards(args: readonly string[]): Promise<string> {
    const before = active().epoch;
    const waiting = await startWorker({ SHARDS: '3' });
    match(waiting.output(), /SHARDS: 1 → 3.*npm run rebuild/);
    const readers = await ShardReaders.open({
      dataDir,
      shards: 3,
      shardOf: (id, shards) => partitionOf(id) % shards,
      open: (directory) => SnapshotReader.open({ directory, views: VIEWS, threads: 1, connections: 1 }),
      onError: () => undefined,
    });
    equal(await readers.whyNotReady(), null);
    const { code, output } = await rebuild(args, { SHARDS: '3' });
    equal(code, 0, output);
    // Whoever asks meanwhile is answered; then from the shard that has the instance now.
    await until(async () => (await readers.whyNotReady()) === null);
    for (let number = 0; number < INSTANCES; number++) {
      const snapshot = await readers.readerOf(instanceId(number)).snapshot();
      const rows = await snapshot?.all('select id from @instance where id = $id::uuid', {
        bindings: { id: instanceId(number) },
      });
      equal(rows?.length, 1);
      snapshot?.release();
    }
    await readers.close();
    const { since: _since, epoch, ...switched } = active();
    ok(epoch > before);
    deepEqual(switched, { shards: 3, previous: { epoch: before, shards: 1 } });
    return output;
  }

  inLongForm('changes the number of shards, with the same rows', async () => {
    const live = await liveAnswers();
    for (const source of ['stream', 'facts']) {
      await stopWorker();
      const output = await changeShards(['--source', source]);
      match(output, /: (\d+) of \1 tables equal \(/);
      equal(output.includes('made from the facts'), source === 'facts', output);
      deepEqual(await answers(), live);
      const back = await rebuild(['--rollback', '--force']);
      equal(back.code, 0, back.output);
      deepEqual(await answers(), live);
    }
  });

  inLongForm('is done by the worker, when told so, once the model changes', async () => {
    const live = await liveAnswers();
    await stopWorker();
    const model = join(temporary.path, 'other-model');
    cpSync(join(ROOT, 'models/undertone-small'), model, { recursive: true });
    const from = active().epoch;
    const doing = await startWorker({ EMBEDDING_MODEL: model, AUTO_REBUILD: 'true' });
    await until(() => active().epoch !== from && doing.output().includes('epoch_switched'));
    await until(() => doing.output().includes('switched from views'));
    match(doing.output(), /(\d+) of \1 tables equal in what follows from the stream alone/);
    // The same weights under another name.
    deepEqual(await answers(), live);
    // Back to the first model: the views of the other one can be left for those before.
    await stopWorker();
    const refused = await rebuild(['--rollback'], { EMBEDDING_MODEL: model });
    equal(refused.code, 1);
    match(refused.output, /were made by other code or another model/);
    equal((await rebuild(['--rollback'])).code, 0);
    deepEqual(await answers(), live);
  });

  it('refuses views that differ from the live ones, unless forced, and changes the number of shards', async () => {
    const live = await liveAnswers();
    await stopWorker();
    const [directory = ''] = directories();
    await tamper(directory, `update st.session_rollup set messages = messages + 1 where granularity = 4`);
    const from = active().epoch;
    const { code, output } = await rebuild();
    equal(code, 1, output);
    match(
      output,
      /differ from the live ones[\s\S]*session_rollup: differs in \d+ instances? \(\d+ rows live/,
    );
    equal(active().epoch, from);
    match(await changeShards(['--force']), /made from the facts of views \d+/);
    deepEqual(await answers(), live);
  });

  /** Views of which one was made by an earlier version of its file. */
  async function makeOlder(directory: string): Promise<void> {
    const database = await openDatabase({ threads: 1 });
    const state = await database.connect();
    await state.run(`attach ${quoted(join(directory, 'state.duckdb'))} as st`);
    await state.run(
      `update st.meta set definition = regexp_replace(definition, 'session_rollup:[0-9]+', 'session_rollup:0')`,
    );
    await state.run('detach st');
    state.close();
    database.close();
    rmSync(join(directory, 'DEFINITION'));
    const manifest = readManifest(directory);
    ok(manifest !== null);
    writeManifest(directory, { ...manifest, views: { ...manifest.views, session_rollup: 0 } });
  }

  /** Changes rows behind the worker's back, and has them published. */
  async function tamper(directory: string, sql: string): Promise<void> {
    const database = await openDatabase({ threads: 1 });
    const state = await database.connect();
    await state.run(`attach ${quoted(join(directory, 'state.duckdb'))} as st`);
    await state.run(sql);
    await state.run('detach st');
    state.close();
    database.close();
    rmSync(join(directory, 'CURRENT'));
    await startWorker();
    await until(() => readManifest(directory) !== null);
    await stopWorker();
  }

  it('refuses when the stream has lost entries, and says which', async () => {
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.purge(CONVERSATIONS_STREAM, { seq: 11 });
    const from = active().epoch;
    const { code, output } = await rebuild([], { SHARDS: '3' });
    equal(code, 1);
    match(output, /holds entries 11 to [\d,]+: entries 1 to 10 are gone/);
    const other = await rebuild(['--source', 'facts'], { SHARDS: '2' });
    equal(other.code, 1);
    match(other.output, /The facts of the live views do not suffice/);
    equal(active().epoch, from);
  });

  inLongForm('makes views from the facts where the stream has lost entries', async () => {
    const from = active().epoch;
    const live = await liveAnswers();
    const kept = await rebuild(['--source', 'facts'], { SHARDS: '3' });
    equal(kept.code, 0, kept.output);
    equal(active().epoch, from + 1);
    deepEqual(await answers(), live);
  });
});

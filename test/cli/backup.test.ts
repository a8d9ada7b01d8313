import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Outbox } from '../../src/doors/alerts/outbox.ts';
import { AuditLog } from '../../src/web/registry/audit-log.ts';
import type { NewRule } from '../../src/doors/alerts/rule.ts';
import { Rules } from '../../src/doors/alerts/rules.ts';
import { checkBackup } from '../../src/cli/backup-files.ts';
import { readUnreadable } from '../../src/health/process-status.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { KEPT_FOR_EVER } from '../../src/domain/retention.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { extentOf } from '../../src/stream/archive/archive.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, TRACES_STREAM, TRACES_SUBJECT } from '../../src/stream/subjects.ts';
import { openAssemblyBuckets } from '../../src/doors/traces/assembly/buckets.ts';
import { COUNT, INSTANCE as ALERTED, message } from '../doors/alerts/builders.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { freePort, startTestServer, type TestServer } from '../support/nats.ts';
import {
  countedMessages,
  end,
  environmentOf,
  eventually,
  liveDirectories,
  publishedSequences,
  runScript,
  type Running,
} from '../support/processes.ts';
import { requestsOf, rowsOf } from '../support/replays.ts';

/** The first three are of both shards. */
const INSTANCES = 3;
const requests = requestsOf({ conversations: 9, instances: INSTANCES, messages: 3 });
const [first, second] = [requests.slice(0, 20), requests.slice(20)] as const;

const WANTED: NewRule = {
  instanceId: ALERTED,
  name: 'An alert',
  condition: COUNT,
  delivery: { url: 'https://example.com/', format: 'undertone', quotes: false },
};

const noop = (): void => undefined;

/** A floor only, so that nothing goes. */
const RETENTION = {
  projectId: '11111111-1111-4111-8111-111111111111',
  retention: { ...KEPT_FOR_EVER, keepAtLeastDays: 30 },
  setAt: '2026-11-28T00:00:00.000Z',
};
const GIVEN_UP = '22222222-2222-4222-8222-222222222222';

describe('backup and restore', () => {
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  const backup = join(temporary.path, 'backup');
  let server: TestServer;
  let connection: StreamConnection;
  let publisher: Publisher;
  let worker: Running | null = null;
  let key = '';
  /** The answers once all messages have come in. */
  let whole: Record<string, unknown> = {};
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    ({ rawKey: key } = await registry.createKey({ projectName: 'kept', env: 'live' }));
    await registry.close();
    const retentions = await Retentions.open(connection);
    await retentions.setOfProject(RETENTION);
    await retentions.setRetention(GIVEN_UP, RETENTION.retention);
    await retentions.setRetention(GIVEN_UP, null);
    publisher = createPublisher(connection);
  });
  after(async () => {
    if (worker !== null) await end(worker);
    await publisher?.drain();
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv =>
    environmentOf(server, dataDir, { SHARDS: '2', ...env });

  async function run(
    script: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number | string; output: string }> {
    const running = runScript(script, args, environment(env));
    return { code: await running.ended, output: running.output() };
  }

  /** All answers, but for the time at which the worker came by. */
  const answers = (of: string): Promise<Record<string, unknown>> => rowsOf(liveDirectories(of), INSTANCES);

  it('copies stream and views while messages come in, and goes on from there elsewhere', async () => {
    worker = runScript('main/worker.ts', [], environment());
    let newest = 0;
    // What somebody deleted keeps its place.
    const manager = await jetstreamManager(connection.nats);
    const deleted: number[] = [];
    for (const [place, request] of first.entries()) {
      newest = await publisher.publish(request);
      if (place !== 7 && place !== 8) continue;
      deleted.push((await jetstream(connection.nats).publish('conversations.0', 'no record')).seq);
    }
    await eventually(() => publishedSequences(dataDir).reduce((a, b) => Math.max(a, b), 0) >= newest);
    for (const sequence of deleted) await manager.streams.deleteMessage(CONVERSATIONS_STREAM, sequence);
    const publishing = (async () => {
      for (const request of second) newest = await publisher.publish(request);
    })();
    const alert = await (await Rules.open(connection)).create(WANTED, Date.now());
    await (await Outbox.open(connection)).add({ ...message({ ruleId: alert.id }), state: 'delivered' });
    const done = { keyId: 'k', action: 'EXPORT', instanceId: null, target: 'TOPIC' } as const;
    await (await AuditLog.open(connection)).record('project', done);
    // Spans that have not become messages, and what is known of those before.
    const span = (await jetstream(connection.nats).publish(TRACES_SUBJECT, 'gone')).seq;
    await manager.streams.purge(TRACES_STREAM, { seq: span + 1 });
    await jetstream(connection.nats).publish(TRACES_SUBJECT, 'waiting');
    await (await openAssemblyBuckets(connection)).conversations.create('a', 'known');
    const taken = await run('cli/backup.ts', [backup]);
    await publishing;
    equal(taken.code, 0, taken.output);
    match(
      taken.output,
      /^2 entries are gone from the midst of the stream, .*\n\d+ entries of the stream and the views of 2 shards are in .*backup: [\d.]+ MiB in/,
    );
    equal(readUnreadable(dataDir), 2, 'and web says so');
    ok(!readFileSync(join(backup, 'streams/KV_registry.entries')).includes(key.slice(8)));

    const sizes: number[] = [];
    const progress = { begin: ({ to }: { to: number }) => sizes.push(to), end: () => undefined };
    await checkBackup(backup, '/nowhere', { ...progress, update: ({ done }) => sizes.push(done) });
    ok(sizes.length > 5 && (sizes[0] ?? 0) > 0);
    equal(sizes.at(-1), sizes[0]);

    // The rest comes to the restored service as a client's repeats would.
    const restoredDir = join(temporary.path, 'restored');
    const port = await freePort();
    const elsewhere = { DATA_DIR: restoredDir, NATS_URL: '', NATS_TOKEN: '', NATS_PORT: String(port) };
    const restored = await run('cli/restore.ts', [backup], elsewhere);
    equal(restored.code, 0, restored.output);
    deepEqual(existsSync(join(restoredDir, 'restoring')), false);
    const nats = runScript('main/nats.ts', [], environment(elsewhere));
    const other = runScript('main/worker.ts', [], environment(elsewhere));
    const token = readFileSync(join(restoredDir, 'nats/token'), 'utf8').trim();
    const there = await openConnection({
      url: `nats://127.0.0.1:${port}`,
      token: () => token,
      name: 'test of the restored',
    });
    try {
      const registry = await openRegistry(there);
      await registry.whenReady();
      equal((await registry.keys.find(key))?.env, 'live');
      await registry.close();
      const retentions = await Retentions.open(there);
      deepEqual([await retentions.projects(), await retentions.retained()], [[RETENTION], []]);
      deepEqual(await retentions.retentionOf(GIVEN_UP), null);
      deepEqual(await (await Rules.open(there)).list(alert.instanceId), [alert]);
      const kept = await (await Outbox.open(there)).of(alert.instanceId, alert.id);
      const { records } = await (await AuditLog.open(there)).page('project', { limit: 9, before: null });
      deepEqual(
        records.map(({ action, target }) => [action, target]),
        [['EXPORT', 'TOPIC']],
      );
      deepEqual(
        kept.map(({ state }) => state),
        ['delivered'],
      );
      deepEqual(await extentOf(there, TRACES_STREAM), {
        entries: 1,
        firstSequence: span + 1,
        lastSequence: span + 1,
      });
      equal((await (await openAssemblyBuckets(there)).conversations.get('a'))?.value, 'known');
      const { firstSequence, lastSequence, entries } = await extentOf(there, CONVERSATIONS_STREAM);
      equal(firstSequence, 1);
      equal(entries, lastSequence - deleted.length);
      ok(lastSequence >= first.length && lastSequence <= newest);
      const repeating = createPublisher(there);
      let last = 0;
      for (const request of second) last = await repeating.publish(request);
      await repeating.drain();
      await eventually(
        () => Math.max(0, ...publishedSequences(restoredDir)) >= last,
        () => other.output(),
      );
    } finally {
      await there.close();
      await end(other);
      await end(nats);
    }
    await eventually(() => Math.max(0, ...publishedSequences(dataDir)) >= newest);
    await end(worker);
    worker = null;
    equal(await countedMessages(restoredDir), await countedMessages(dataDir));
    whole = await answers(dataDir);
    deepEqual(await answers(restoredDir), whole);
  });

  it('gives back to a rebuild what the stream no longer holds', async () => {
    const manager = await jetstreamManager(connection.nats);
    const { lastSequence } = await extentOf(connection, CONVERSATIONS_STREAM);
    await manager.streams.purge(CONVERSATIONS_STREAM, { seq: 14 });
    const refused = await run('cli/rebuild.ts', []);
    equal(refused.code, 1);
    match(refused.output, /The stream holds entries 14 to .*: entries 1 to 13 are gone.*--from-backup/);
    const rebuilt = await run('cli/rebuild.ts', ['--from-backup', backup]);
    equal(rebuilt.code, 0, rebuilt.output);
    match(rebuilt.output, /switched from views 1 to views 2/);
    doesNotMatch(rebuilt.output, /no longer holds/);
    ok(Math.max(...publishedSequences(dataDir)) === lastSequence);
    deepEqual(await answers(dataDir), whole);
    const other = await run('cli/rebuild.ts', ['--from-backup', temporary.path]);
    equal(other.code, 1);
    match(other.output, /holds no finished backup/);
  });

  it('copies the views by itself when no worker runs', async () => {
    const folder = join(temporary.path, 'standing');
    const taken = await run('cli/backup.ts', [folder]);
    equal(taken.code, 0, taken.output);
    ok(existsSync(join(folder, 'views/1/state.duckdb')));
  });

  it('refuses a folder or a data directory in use', async () => {
    const again = await run('cli/backup.ts', [backup]);
    equal(again.code, 1);
    match(again.output, /^.*backup is not empty: a backup needs a folder of its own\.\n$/);
    const over = await run('cli/restore.ts', [backup]);
    equal(over.code, 1);
    match(over.output, /^The data directory .* is not empty: nothing is overwritten/);
    const target = join(temporary.path, 'target');
    const used = await run('cli/restore.ts', [backup], { DATA_DIR: target });
    equal(used.code, 1);
    match(used.output, /^The NATS server has a stream TRACES that was used/);
    deepEqual(existsSync(join(target, 'restoring')), false);
  });

  const damages: [string, (folder: string) => void, RegExp][] = [
    [
      'truncated',
      (folder) => truncateSync(join(folder, 'streams/CONVERSATIONS.entries'), 100),
      /streams\/CONVERSATIONS\.entries has 100 bytes in place of \d+/,
    ],
    [
      'altered',
      (folder) => {
        const file = join(folder, 'views/0/state.duckdb');
        const bytes = readFileSync(file);
        bytes[5000] = (bytes[5000] as number) ^ 1;
        writeFileSync(file, bytes);
      },
      /views\/0\/state\.duckdb has \d+ bytes, but other ones/,
    ],
    [
      'lacking a file',
      (folder) => rmSync(join(folder, 'streams/KV_sessions.entries')),
      /KV_sessions\.entries is missing/,
    ],
    ['unfinished', (folder) => rmSync(join(folder, 'manifest.json')), /holds no finished backup/],
    [
      'of an unreadable manifest',
      (folder) => appendFileSync(join(folder, 'manifest.json'), '{'),
      /manifest\.json cannot be read/,
    ],
  ];
  for (const [name, damage, reason] of damages) {
    it(`refuses a backup that is ${name}`, async () => {
      const folder = join(temporary.path, `backup ${name}`);
      cpSync(backup, folder, { recursive: true });
      damage(folder);
      await rejects(checkBackup(folder, '/nowhere', { begin: noop, update: noop, end: noop }), reason);
    });
  }

  it('says so in a line, and leaves nothing behind', async () => {
    const target = join(temporary.path, 'target of a damaged one');
    mkdirSync(target);
    const { code, output } = await run('cli/restore.ts', [join(temporary.path, 'backup altered')], {
      DATA_DIR: target,
    });
    equal(code, 1);
    match(output, /^.*state\.duckdb has \d+ bytes, but other ones.*\n$/);
    deepEqual(existsSync(join(target, 'restoring')), false);
  });

  it('says how it is used', async () => {
    for (const script of ['cli/backup.ts', 'cli/restore.ts']) {
      const { code, output } = await run(script, []);
      equal(code, 2);
      match(output, /needs one DIR\.\nUsage:\s+npm run/);
    }
  });
});

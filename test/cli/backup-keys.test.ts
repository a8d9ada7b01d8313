import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { v5, v7 } from 'uuid';
import { keyFile, keysFolder, makeKey, readKey } from '../../src/worker/backup/keys.ts';
import { checkBackup } from '../../src/cli/backup-files.ts';
import type { Backup } from '../../src/domain/backups.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { dueRuns, KEPT_FOR_EVER } from '../../src/domain/retention.ts';
import { SetupError } from '../../src/errors.ts';
import { BackupLedger } from '../../src/stream/ledgers/backup-ledger.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { freePort, startTestServer, type TestServer } from '../support/nats.ts';
import {
  end,
  environmentOf,
  eventually,
  liveDirectories,
  publishedSequences,
  runScript,
} from '../support/processes.ts';
import { instanceId, requestsOf, rowsOf } from '../support/replays.ts';

const INSTANCES = 2;
const PERSON = 'person-to-forget@example.com';
const SECRET = 'zanzibar-quokka-8841';
const SILENT = { begin: () => undefined, update: () => undefined, end: () => undefined };
const CONVERSATIONS = 'streams/CONVERSATIONS.entries.sealed';
/** Retention took texts from it. */
const AGED = v5('aged', v5.URL);
const STATE = 'views/0/state.duckdb.sealed';
const DAY_MS = 86_400_000;

/** Two instances; all of the first one's first session is of the person. */
function history(): RecordedRequest[] {
  const requests = requestsOf({ conversations: 10, instances: INSTANCES, messages: 1 });
  const session = requests.find((request) => request.instanceId === instanceId(0))!.sessionId;
  return requests.map((request) =>
    request.sessionId !== session
      ? request
      : {
          ...request,
          messages: request.messages.map((message) => ({
            ...message,
            content: `${message.content} ${SECRET}`,
            ...(message.userId === undefined ? {} : { userId: PERSON }),
          })),
        },
  );
}

/** Files below a folder in which a word stands. */
function filesWith(folder: string, word: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => readFileSync(file).includes(word));
}

describe('backups with keys', () => {
  const temporary = temporaryDirectory();
  const path = (name: string): string => join(temporary.path, name);
  const dataDir = path('data');
  const keys = keysFolder(dataDir);
  let server: TestServer;
  let connection: StreamConnection;
  let ledger: BackupLedger;
  let plain: Backup;
  let sealed: Backup;
  let expected: Record<string, unknown>;
  let last = 0;
  let expiredAtStart = '';
  let workerOutput = '';

  const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv =>
    environmentOf(server, dataDir, env);
  async function run(script: string, args: readonly string[], env: Record<string, string> = {}) {
    const running = runScript(script, args, environment(env));
    return { code: await running.ended, output: running.output() };
  }
  /** Takes a backup, and returns what the ledger says of it. */
  async function backUp(name: string, ...options: string[]): Promise<Backup> {
    const taken = await run('cli/backup.ts', [path(name), ...options]);
    equal(taken.code, 0, taken.output);
    match(taken.output, /erase -- ledger/);
    const [newest] = await ledger.list();
    ok(newest !== undefined && taken.output.includes(newest.id));
    return newest;
  }
  const answers = (of: string): Promise<Record<string, unknown>> => rowsOf(liveDirectories(of), INSTANCES);
  /** Runs work on a restored service: its server, and its worker once that has counted everything. */
  async function restored(
    name: string,
    args: readonly string[],
    work: (of: {
      dir: string;
      env: Record<string, string>;
      there: StreamConnection;
      output: string;
    }) => Promise<void>,
  ): Promise<void> {
    const dir = path(name);
    const port = await freePort();
    const env = { DATA_DIR: dir, NATS_URL: '', NATS_TOKEN: '', NATS_PORT: String(port) };
    const { code, output } = await run('cli/restore.ts', args, env);
    equal(code, 0, output);
    const nats = runScript('main/nats.ts', [], environment(env));
    const worker = runScript('main/worker.ts', [], environment(env));
    const token = readFileSync(join(dir, 'nats/token'), 'utf8').trim();
    const there = await openConnection({ url: `nats://127.0.0.1:${port}`, token: () => token, name: 'test' });
    try {
      await eventually(
        () => Math.max(0, ...publishedSequences(dir)) >= last,
        () => worker.output(),
      );
      await work({ dir, env, there, output });
    } finally {
      await there.close();
      await end(worker);
      await end(nats);
    }
  }

  /** A backup that has expired, and its key; its id. */
  const due = async (): Promise<string> => {
    const id = v7();
    const [takenAt, expiresAt] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    makeKey(keys, { id, takenAt, expiresAt, place: '/gone' });
    await ledger.add({
      id,
      takenAt,
      lastSequence: 1,
      expiresAt,
      place: '/gone',
      keysIn: keys,
      destroyedAt: null,
    });
    return id;
  };
  const isGone = async (id: string): Promise<boolean> =>
    !existsSync(keyFile(keys, id)) && (await ledger.find(id))?.destroyedAt !== null;

  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { id: projectId } = await registry.projects.create('test');
    for (let number = 0; number < INSTANCES; number++)
      await registry.createInstance({ projectId, id: instanceId(number), name: `instance ${number}` });
    await registry.close();
    ledger = await BackupLedger.open(connection);
    const publisher = createPublisher(connection);
    for (const request of history()) last = await publisher.publish(request);
    await publisher.drain();
    expiredAtStart = await due();
    const worker = runScript('main/worker.ts', [], environment());
    await eventually(
      async () => Math.max(0, ...publishedSequences(dataDir)) >= last && (await isGone(expiredAtStart)),
      () => worker.output(),
    );
    await end(worker);
    workerOutput = worker.output();
    expected = await answers(dataDir);
    const runs = await Retentions.open(connection);
    const [aged] = dueRuns([{ instanceId: AGED, retention: { ...KEPT_FOR_EVER, textDays: 1 } }], [], 1e15);
    await runs.put({ ...aged!, position: 0, doneAt: new Date(0).toISOString(), lostTexts: true });
    plain = await backUp('plain');
    sealed = await backUp('sealed', '--keep-days', '30');
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  it('show no word of what they hold, and have their keys elsewhere', async () => {
    ok(filesWith(path('plain'), PERSON).length > 0);
    for (const word of [PERSON, SECRET, instanceId(0), 'CONVERSATIONS'])
      deepEqual(filesWith(path('sealed'), word), [], word);
    deepEqual(readdirSync(path('sealed')).toSorted(), [
      'backup.json',
      'manifest.json.sealed',
      'streams',
      'views',
    ]);
    const names = readdirSync(path('sealed'), { recursive: true, withFileTypes: true });
    for (const file of names.filter((each) => each.isFile() && each.name !== 'backup.json'))
      match(file.name, /\.sealed$/);
    const key = readKey(keys, sealed.id)!;
    ok('key' in key);
    for (const form of ['base64url', 'hex', 'latin1'] as const)
      deepEqual(filesWith(path('sealed'), key.key.toString(form)), []);
    deepEqual(filesWith(dataDir, 'copy.duckdb'), []);
  });

  it('are listed, plain ones as never expiring', async () => {
    equal(plain.expiresAt, null);
    equal(sealed.expiresAt, new Date(Date.parse(sealed.takenAt) + 30 * DAY_MS).toISOString());
    deepEqual([plain.lastSequence, sealed.lastSequence], [last, last]);
    const { output } = await run('cli/backup.ts', ['list']);
    match(output, new RegExp(`${sealed.id} +${sealed.takenAt} +${sealed.expiresAt} +encrypted +.*sealed\n`));
    match(output, new RegExp(`${plain.id} +${plain.takenAt} +never +plain +.*plain\n`));
    const elsewhere = await run('cli/backup.ts', ['list'], { DATA_DIR: path('no data') });
    match(elsewhere.output, new RegExp(`${sealed.id} .* encrypted `), 'the ledger says where the key is');
  });

  if (isLong)
    it('come back as they were, and go on', async () => {
      await restored('restored', [path('sealed'), '--keys', keys], async ({ dir, there, output }) => {
        match(output, /What was erased after this backup is there again/);
        deepEqual(await answers(dir), expected);
        const known = await (await BackupLedger.open(there)).list();
        deepEqual(known.slice(0, 2), [sealed, plain]);
      });
    });

  it('hold what plain ones hold', async () => {
    const [one, other] = [
      await checkBackup(path('plain'), keys, SILENT),
      await checkBackup(path('sealed'), keys, SILENT),
    ];
    const streamOf = ({ manifest }: typeof one) =>
      manifest.files.filter(({ path: file }) => file === 'streams/CONVERSATIONS.entries');
    deepEqual(streamOf(other), streamOf(one));
  });

  it('give nothing to a rebuild without their key', async () => {
    const refused = await run('cli/rebuild.ts', ['--from-backup', path('sealed'), '--keys', path('none')]);
    equal(refused.code, 1);
    match(refused.output, /is encrypted, and its key .*none.* is not there. --keys DIR/);
  });

  if (isLong)
    it('give a rebuild what the stream no longer holds', async () => {
      const manager = await jetstreamManager(connection.nats);
      await manager.streams.purge(CONVERSATIONS_STREAM, { seq: 4 });
      const rebuilt = await run('cli/rebuild.ts', ['--from-backup', path('sealed')]);
      equal(rebuilt.code, 0, rebuilt.output);
      deepEqual(await answers(dataDir), expected);
    });

  describe('that somebody changed', () => {
    let other: Backup;
    before(async () => {
      other = await backUp('other', '--keep-days', '1', '--keys', path('other keys'));
    });
    const flip = (file: string, at: number): void => {
      const bytes = readFileSync(file);
      bytes[at < 0 ? bytes.length + at : at]! ^= 1;
      writeFileSync(file, bytes);
    };
    const swap = (folder: string, one: string, two: string): void => {
      renameSync(join(folder, one), join(folder, 'swapped'));
      renameSync(join(folder, two), join(folder, one));
      renameSync(join(folder, 'swapped'), join(folder, two));
    };
    const changes: [string, (folder: string) => void, RegExp][] = [
      [
        'by a byte',
        (folder) => flip(join(folder, CONVERSATIONS), 60),
        /CONVERSATIONS\.entries\.sealed was changed/,
      ],
      ['in a database', (folder) => flip(join(folder, STATE), -1), /state\.duckdb\.sealed was changed/],
      [
        'by cutting off',
        (folder) => truncateSync(join(folder, STATE), readFileSync(join(folder, STATE)).length - 20),
        /state\.duckdb\.sealed was changed, cut off/,
      ],
      [
        'by emptying',
        (folder) => truncateSync(join(folder, STATE), 0),
        /state\.duckdb\.sealed does not begin/,
      ],
      [
        'by swapping two files',
        (folder) => swap(folder, CONVERSATIONS, 'streams/KV_registry.entries.sealed'),
        /entries\.sealed was changed/,
      ],
      [
        'by a file of another backup',
        (folder) => copyFileSync(join(path('other'), STATE), join(folder, STATE)),
        /state\.duckdb\.sealed was changed/,
      ],
      [
        'by the manifest of another backup',
        (folder) =>
          copyFileSync(join(path('other'), 'manifest.json.sealed'), join(folder, 'manifest.json.sealed')),
        /manifest\.json\.sealed was changed/,
      ],
      ['by leaving out a file', (folder) => rmSync(join(folder, STATE)), /state\.duckdb is missing/],
      [
        'by leaving out the manifest',
        (folder) => rmSync(join(folder, 'manifest.json.sealed')),
        /holds no finished backup: manifest\.json\.sealed is missing/,
      ],
      [
        'in what it says openly',
        (folder) => writeFileSync(join(folder, 'backup.json'), '{'),
        /backup\.json cannot be/,
      ],
    ];
    for (const [name, change, reason] of changes)
      it(`${name}, are refused`, async () => {
        const folder = path(`sealed, changed ${name}`);
        cpSync(path('sealed'), folder, { recursive: true });
        change(folder);
        await rejects(checkBackup(folder, keys, SILENT), (error: unknown) => {
          ok(error instanceof SetupError);
          match(error.message, reason);
          return true;
        });
      });

    it('are refused by restore, which leaves nothing behind', async () => {
      const target = path('target of a changed one');
      const args = [path('sealed, changed in a database'), '--keys', keys];
      const { code, output } = await run('cli/restore.ts', args, { DATA_DIR: target, NATS_URL: '' });
      equal(code, 1);
      match(output, /is damaged: views\/0\/state\.duckdb\.sealed was changed.*It was not used\./);
      ok(!existsSync(target));
    });

    it('need their own key', async () => {
      const wrong = path('wrong keys');
      mkdirSync(wrong);
      const key = JSON.parse(readFileSync(keyFile(path('other keys'), other.id), 'utf8')) as object;
      writeFileSync(keyFile(wrong, sealed.id), JSON.stringify({ ...key, id: sealed.id }));
      await rejects(checkBackup(path('sealed'), wrong, SILENT), /The key .* is not that of the backup/);
      writeFileSync(keyFile(wrong, sealed.id), JSON.stringify(key));
      await rejects(checkBackup(path('sealed'), wrong, SILENT), /cannot be read: it is no key of the backup/);
      await rejects(checkBackup(path('sealed'), path('none'), SILENT), /its key .* is not there/);
    });

    it('are not used after their day, although the key is there', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 31 * DAY_MS });
      try {
        await rejects(checkBackup(path('sealed'), keys, SILENT), /expired at .*: it is not used any more/);
        const gone = /expired at .*, and its key .* is gone\. Nobody can read it/;
        await rejects(checkBackup(path('sealed'), path('none'), SILENT), gone);
      } finally {
        mock.timers.reset();
      }
    });
  });

  it('are forgotten early, and then nobody restores them', async () => {
    const early = await backUp('early', '--keep-days', '9');
    const forgotten = await run('cli/backup.ts', ['forget', early.id.toUpperCase()]);
    equal(forgotten.code, 0, forgotten.output);
    match(forgotten.output, /is destroyed\. Destroy copies of it, too/);
    ok(!existsSync(keyFile(keys, early.id)));
    ok((await ledger.find(early.id))?.destroyedAt !== null);
    const target = path('target of a forgotten one');
    const refused = await run('cli/restore.ts', [path('early'), '--keys', keys], {
      DATA_DIR: target,
      NATS_URL: '',
    });
    equal(refused.code, 1);
    match(refused.output, /its key .* is not there/);
    ok(!existsSync(target));
    match((await run('cli/backup.ts', ['list'])).output, new RegExp(`${early.id} .* key destroyed`));

    const still = await run('cli/backup.ts', ['forget', plain.id]);
    equal(still.code, 1);
    match(still.output, /has no key: delete .*plain and every copy of it, then forget it/);
    rmSync(path('plain'), { recursive: true });
    const noted = await run('cli/backup.ts', ['forget', path('plain')]);
    match(noted.output, new RegExp(`backup ${plain.id} is noted as deleted`));
    const unknown = await run('cli/backup.ts', ['forget', v7()]);
    match(unknown.output, /There is no backup/);
  });

  it('expire by the next backup, and by the worker', async () => {
    const first = await due();
    const taken = await run('cli/backup.ts', [path('next')]);
    match(taken.output, new RegExp(`backup ${first} has expired: its key is destroyed`));
    ok(await isGone(first));
    // The worker found the other one at its start.
    ok(await isGone(expiredAtStart));
    match(workerOutput, /backup_expired/);
    ok(existsSync(keyFile(keys, sealed.id)));
  });

  it('are restored without what a later ledger knows to be erased, before anything can be asked', async () => {
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const digest = registry.erasureDigest('END_USER', instanceId(0), PERSON);
    const { projectId } = (await registry.findInstance(instanceId(0)))!;
    await registry.close();
    const id = v5('erasure', instanceId(0));
    const line = {
      id,
      projectId,
      instanceId: instanceId(0),
      kind: 'END_USER',
      digest,
      keyId: 'k',
      reason: null,
      requestedAt: new Date().toISOString(),
      position: 5,
      state: 'DONE',
    };
    const file = path('erasures.ndjson');
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    const args = [path('sealed'), '--keys', keys, '--erasures', file];
    await restored('restored without', args, async ({ dir, env, there, output }) => {
      match(output, new RegExp(`Retention took texts from an instance, .* ${AGED}\\. To keep these numbers`));
      match(output, /erasure .*: \d+ messages went from \d+ entries/);
      match(output, /the views of 0 shards .*\nWhat was erased is gone from it/);
      const [erasure] = await (await ErasureLedger.open(there)).list();
      deepEqual([erasure?.id, erasure?.state], [id, 'DONE']);
      ok((erasure?.receipt?.messages ?? 0) > 0);
      for (const word of [PERSON, SECRET]) deepEqual(filesWith(dir, word), [], word);
      const verified = await run('cli/erase.ts', ['verify', id], env);
      match(verified.output, /^nothing of it is left\n/);
      const all = JSON.stringify(await answers(dir));
      doesNotMatch(all, new RegExp(`${PERSON}|${SECRET}`));
      match(JSON.stringify(expected), new RegExp(PERSON));
    });
    // A ledger with nothing new leaves the views as they are.
    writeFileSync(file, '');
    const target = path('restored as it was');
    const { code, output } = await run('cli/restore.ts', args, {
      DATA_DIR: target,
      NATS_URL: '',
      NATS_PORT: String(await freePort()),
    });
    equal(code, 0, output);
    match(output, /views of 1 shards .*\nThe backup holds nothing that the ledger of erasures knows/);
    ok(readFileSync(join(target, 'views/1/0/state.duckdb')).includes('DUCK'));
  });

  it('leave no key and nothing half-made when they fail', async () => {
    const before = readdirSync(keys).toSorted();
    // Views from before an erasure: a backup of them is refused in its midst.
    const later = new Date(Date.now() + DAY_MS).toISOString();
    await (
      await ErasureLedger.open(connection)
    ).add({
      id: v7(),
      projectId: instanceId(0),
      instanceId: instanceId(0),
      kind: 'END_USER',
      digest: 'x',
      keyId: 'k',
      reason: null,
      requestedAt: later,
      redactedAt: later,
      doneAt: later,
      position: 1,
      state: 'DONE',
      receipt: null,
      fault: null,
    });
    for (const options of [[], ['--keep-days', '9']]) {
      const failed = await run('cli/backup.ts', [path('failed'), ...options]);
      equal(failed.code, 1);
      match(failed.output, /The views on this machine are from before an erasure/);
      deepEqual([readdirSync(path('failed')), readdirSync(keys).toSorted()], [[], before]);
      const [newest] = await ledger.list();
      deepEqual([newest?.place, newest?.destroyedAt === null], [path('failed'), false]);
    }
  });
});

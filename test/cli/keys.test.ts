import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withConnection } from '../../src/cli/nats-access.ts';
import { openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { sampled } from '../support/long.ts';
import { freePort, startTestServer, type TestServer } from '../support/nats.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('registry commands', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let registry: Registry;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    registry = await openRegistry(connection);
    await registry.whenReady();
  });
  after(async () => {
    await registry.close();
    await connection.close();
    await server.stop();
  });

  async function run(
    command: 'keys' | 'instances',
    args: readonly string[],
    port = server.port,
  ): Promise<Result> {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, `../../src/cli/${command}.ts`), ...args],
      {
        env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: server.dataDir, NATS_PORT: String(port) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    }
    const [code] = (await once(child, 'close')) as [number];
    return { code, ...output };
  }

  it('say in one line that a server that is there does not answer', async () => {
    const answer = withConnection(
      { dataDir: server.dataDir, natsPort: server.port, natsUrl: undefined, natsToken: undefined },
      { name: 'test' },
      async ({ nats }) => {
        // Somebody listens, and says nothing.
        const silent = nats.subscribe('silent', { callback: () => undefined });
        await nats.flush();
        try {
          return await nats.request('silent', '', { timeout: 50 });
        } finally {
          silent.unsubscribe();
        }
      },
    );
    await rejects(answer, { name: 'SetupError', message: /^The NATS server did not answer in time/ });
  });

  it('keys create prints the key alone, and it works', async () => {
    const { code, stdout, stderr } = await run('keys', [
      'create',
      '--project',
      'Web shop',
      '--env',
      'live',
      '--label',
      'the “chat” of July',
      '--scope',
      'query, INGEST',
      '--scope=ingest',
    ]);
    equal(code, 0);
    match(stdout, /^ut_live_[0-9A-Za-z]{32}\n$/);
    match(stderr, /Web shop is new/);
    const grant = await registry.keys.find(stdout.trim());
    equal(grant?.projectId, (await registry.projects.findByName('Web shop'))?.id);
    deepEqual(grant?.scopes, ['ingest', 'query']);
    match((await run('keys', ['list'])).stdout, /Web shop +live +ingest,query +the/);
    match(stderr, new RegExp(`^${grant?.keyId} is its id`, 'm'));
    equal(registry.keys.list().find((key) => key.keyId === grant?.keyId)?.label, 'the “chat” of July');
  });

  it('keys list shows keys, never what they are; revoke ends one', async () => {
    const { rawKey, key } = await registry.createKey({
      projectName: 'Listed',
      env: 'test',
      label: 'July',
    });
    const listed = await run('keys', ['list']);
    match(listed.stdout, new RegExp(`${key.keyId} +Listed +test +all +July +${key.createdAt} +never`));
    ok(!listed.stdout.includes(rawKey.slice(8)));
    const revoked = await run('keys', ['revoke', key.keyId]);
    deepEqual(revoked, { code: 0, stdout: `${key.keyId} is revoked.\n`, stderr: '' });
    while ((await registry.keys.find(rawKey)) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5));
    match((await run('keys', ['list'])).stdout, new RegExp(`${key.keyId}.*Z +never +\\d{4}-.*Z`));
  });

  it('instances create makes one before its first message; rename renames it, list shows it', async () => {
    const { key } = await registry.createKey({ projectName: 'With instances', env: 'test' });
    const id = randomUUID().toUpperCase();
    const made = await run('instances', [
      'create',
      '--project',
      'With instances',
      '--id',
      id,
      '--name',
      'Wbe chat',
    ]);
    deepEqual(made, { code: 0, stdout: `${id.toLowerCase()}\n`, stderr: '' });
    equal((await registry.findInstance(id))?.projectId, key.projectId);
    equal((await run('instances', ['rename', id, 'Web chat'])).code, 0);
    equal((await run('instances', ['time-zone', id, 'Europe/Berlin'])).code, 0);
    match(
      (await run('instances', ['list'])).stdout,
      new RegExp(`${id.toLowerCase()} +With instances +Web chat +Europe/Berlin +\\d{4}`),
    );
    equal((await run('instances', ['time-zone', id, 'Mars'])).code, 2);
  });

  it('list what names say, not what a terminal would obey', async () => {
    const { key } = await registry.createKey({ projectName: 'red \u001b[31m', env: 'test' });
    await registry.createInstance({
      projectId: key.projectId,
      name: '\u001b]0;title\u0007\u009b2J\u202eabc',
    });
    const instances = await run('instances', ['list']);
    match(instances.stdout, / red \\u001b\[31m +\\u001b\]0;title\\u0007\\u009b2J\\u202eabc /);
    match((await run('keys', ['list'])).stdout, / red \\u001b\[31m +test /);
    const unknown = await run('keys', ['revoke', '\u001b[2J']);
    equal(unknown.stderr.startsWith('There is no key \\u001b[2J.'), true);
  });

  const mistakes: ['keys' | 'instances', string[], number, RegExp][] = [
    ['keys', [], 2, /A command is needed\.\nUsage:/],
    ['keys', ['make'], 2, /Unknown command: make/],
    ['keys', ['create'], 2, /needs --project/],
    ['keys', ['create', '--project', ' '], 2, /needs --project/],
    ['keys', ['create', '--project', 'x', '--env', 'prod'], 2, /test or live/],
    ['keys', ['create', '--projekt', 'x'], 2, /--projekt/],
    ['keys', ['create', '--project', 'x', '--label', 'x'.repeat(201)], 2, /at most 200/],
    ['keys', ['create', '--project', 'x', '--label', 'a\u202eb'], 2, /--label must not hold control char/],
    ['keys', ['create', '--project', 'a\u202eb'], 1, /^The name of a project must not hold control char/],
    ['instances', ['create', '--project', 'x', '--name', 'a\u202eb'], 2, /A NAME must not hold control char/],
    [
      'keys',
      ['create', '--project', 'x', '--scope', 'query,raed'],
      2,
      /not know raed; the scopes are ingest, query,/,
    ],
    ['keys', ['list', 'all'], 2, /Unexpected: all/],
    ['keys', ['list', '--env', 'test'], 2, /belong to create/],
    ['keys', ['revoke'], 2, /needs a KEY_ID/],
    ['keys', ['revoke', 'key_1', 'key_2'], 2, /Unexpected: key_2/],
    ['keys', ['revoke', 'key_nobody'], 1, /^There is no key key_nobody\..*\n$/],
    ['instances', ['create', '--project', 'nobody'], 1, /^There is no project nobody\..*\n$/],
    ['instances', ['create', '--project', 'x', '--id', '1234'], 2, /--id must be a UUID/],
    ['instances', ['list', '--name', 'x'], 2, /belong to create/],
    ['instances', ['rename', randomUUID()], 2, /needs an INSTANCE_ID and a NAME/],
    ['instances', ['rename', '*', 'x'], 2, /INSTANCE_ID must be a UUID/],
    ['instances', ['rename', randomUUID(), ' '], 2, /1 to 200 characters/],
    ['instances', ['rename', randomUUID(), 'x'], 1, /^There is no instance/],
  ];
  for (const [command, args, code, text] of sampled(mistakes, 3)) {
    it(`${command} ${args.join(' ')}: ends with ${code} and says why`, async () => {
      const result = await run(command, args);
      deepEqual([result.code, result.stdout], [code, '']);
      match(result.stderr, text);
    });
  }

  it('show how they are used when asked, without NATS', async () => {
    for (const args of [['--help'], ['list', '-h']]) {
      const { code, stdout, stderr } = await run('keys', args, await freePort());
      deepEqual([code, stderr], [0, '']);
      match(stdout, /^Usage:\n/);
    }
  });

  it('say what to do when NATS does not run', async () => {
    const { code, stderr } = await run('keys', ['list'], await freePort());
    equal(code, 1);
    match(stderr, /^NATS at .* cannot be reached.*npm start.*NATS_URL.*\n$/);
  });
});

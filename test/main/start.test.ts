import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readStartStatus } from '../../src/health/process-status.ts';
import { firstKeyFile } from '../../src/main/first-steps.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { startServer } from '../../src/stream/server/server.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { freePort } from '../support/nats.ts';
import { eventually } from '../support/processes.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('npm start', () => {
  let dataDir: string;
  let npm: ChildProcess;
  let output: string;
  /** The processes that were started, by name. */
  let pids: Map<string, number>;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'undertone-start-'));
    output = '';
    pids = new Map();
  });
  afterEach(() => {
    npm.kill('SIGKILL');
    for (const pid of pids.values()) if (!isGone(pid)) process.kill(pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    npm = spawn('npm', ['start'], {
      cwd: ROOT,
      env: {
        ...process.env,
        DATA_DIR: dataDir,
        PORT: String(await freePort()),
        NATS_PORT: String(await freePort()),
        EMBEDDING_MODEL: 'undertone-small',
        LOG_LEVEL: 'info',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, as a shell gives it: a terminal sends Ctrl-C to all of the group.
      detached: true,
    });
    for (const stream of [npm.stdout, npm.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
  }

  async function startAll(env: NodeJS.ProcessEnv = {}): Promise<void> {
    await start(env);
    await eventually(
      () => output.includes('ready: http://') && output.includes('worker ready'),
      () => output,
    );
    await notePids();
  }

  /** The status is a second old: it may still name a worker that has ended. */
  async function notePids(): Promise<void> {
    await eventually(
      () => {
        const status = readStartStatus(dataDir)?.status;
        pids.set('start', status?.pid ?? 0);
        for (const { name, pid } of status?.processes ?? []) pids.set(name, pid ?? 0);
        return pids.size === 4 && [...pids.values()].every((pid) => !isGone(pid));
      },
      () => JSON.stringify([...pids]),
    );
    deepEqual([...pids.keys()].toSorted(), ['nats', 'start', 'web', 'worker']);
  }

  async function allEnd(): Promise<void> {
    const left = (): string[] => [...pids].flatMap(([name, pid]) => (isGone(pid) ? [] : [name]));
    await eventually(
      () => left().length === 0,
      () => `still there: ${left().join(', ')}\n${output}`,
    );
  }

  /** What nats-server says when it starts on the data directory; it stops in order. */
  async function streamStart(): Promise<string> {
    let outputText = '';
    const env = { ...process.env, DATA_DIR: dataDir, NATS_PORT: String(await freePort()) };
    const server = spawn(process.execPath, ['src/main/nats.ts'], { cwd: ROOT, env });
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (outputText += text));
    await eventually(
      () => outputText.includes('Server is ready'),
      () => outputText,
    );
    server.kill('SIGTERM');
    await once(server, 'close');
    return outputText;
  }

  /** As an earlier service left it: with the state of its streams, which a stop in order writes down. */
  async function leaveStreams(): Promise<void> {
    const server = await startServer({ dataDir, port: await freePort(), cacheDir: join(ROOT, '.cache') });
    const connection = await openConnection({ url: server.url, token: () => server.token, name: 'test' });
    await setUpStreams(connection);
    await (await openRegistry(connection)).close();
    await connection.close();
    await server.stop();
  }

  for (const signal of ['Ctrl-C', 'SIGKILL'] as const) {
    it(`ends all that it started, in order, when npm gets ${signal}`, async () => {
      chmodSync(dataDir, 0o755);
      await leaveStreams();
      await startAll(signal === 'Ctrl-C' ? { NODE_COMPILE_CACHE: undefined } : {});
      await eventually(() => existsSync(firstKeyFile(dataDir)));
      // npm passes a Ctrl-C on to those who have got it already.
      if (signal === 'Ctrl-C') process.kill(-(npm.pid ?? 0), 'SIGINT');
      else npm.kill(signal);
      await allEnd();
      // nats-server found its streams as their last writer left them.
      doesNotMatch(await streamStart(), /Filestore/);
      // Without a place of its own, what was compiled is kept for the next start.
      if (signal === 'Ctrl-C') ok(readdirSync(join(dataDir, 'compiled'), { recursive: true }).length > 500);
      match(output, /start +\| .*stopping/);
      match(output, /web +\| .*"signal":"SIGTERM"/);
      match(output, /worker +\| .*"signal":"SIGTERM"/);
      equal(readStartStatus(dataDir), null);
      match(output, /was open to other users \(mode 755\): it is closed to them now/);
      deepEqual(openToOthers(dataDir), []);
      // What is no terminal may keep what it is told for ever.
      match(readFileSync(firstKeyFile(dataDir), 'utf8'), /^ut_test_[0-9A-Za-z]{32}\n$/);
      equal(statSync(firstKeyFile(dataDir)).mode & 0o777, 0o600);
      ok(output.includes(firstKeyFile(dataDir)), output);
      equal(/ut_test_/.test(output), false, output);
      // Nothing that means nothing to whoever reads it, and a time in each line of the log.
      equal(output.includes('[WRN]'), false, output);
      const logged = [...output.matchAll(/\| (\{"level".*)/g)].map(
        ([, line]) => JSON.parse(line ?? '') as object,
      );
      ok(logged.length > 2);
      for (const line of logged)
        match(String((line as { time?: unknown }).time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    });
  }

  it('takes messages while the worker cannot start, which comes back, and leaves nothing when killed', async () => {
    mkdirSync(join(dataDir, 'views'));
    writeFileSync(join(dataDir, 'views/ID'), 'damaged');
    await start();
    const outputText = (): string => output;
    await eventually(() => /worker ended with code 78.*It failed 4 times in a row/.test(output), outputText);
    const url = /"event":"listening","url":"([^"]+)"/.exec(output)?.[1];
    // Ingest works: the key is looked up. Queries wait for the first views.
    const answer = await fetch(`${url}/v1/ingest/`, { method: 'POST', headers: { 'x-api-key': 'none' } });
    equal(answer.status, 401, await answer.text());
    const expected = [
      /undertone_process_restarts_total\{process="worker"\} [1-9]/,
      /undertone_degraded\{reason="restarting"\} 1/,
      /undertone_process_resident_memory_bytes\{process="nats"\} \d{7}/,
      /undertone_process_resident_memory_bytes\{process="web"\} \d{7}/,
    ];
    let metrics = '';
    // `npm start` tells of its processes each second.
    await eventually(
      async () => {
        metrics = await (await fetch(`${url}/metrics`)).text();
        return expected.every((line) => line.test(metrics));
      },
      () => metrics,
    );
    rmSync(join(dataDir, 'views/ID'));
    await eventually(() => output.includes('worker ready'), outputText);
    await notePids();
    process.kill(pids.get('start') ?? 0, 'SIGKILL');
    await allEnd();
  });

  it('ends with one line when the configuration cannot work', async () => {
    await start({ EMBEDDING_MODEL: 'nonesuch' });
    const [code] = (await once(npm, 'close')) as [number | null];
    equal(code, 1);
    match(output, /no embedding model "nonesuch"/);
  });
});

/** What in a folder, itself included, anybody but its owner has a right on. */
function openToOthers(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['.', ...entries].filter((path) => (statSync(join(folder, path)).mode & 0o077) !== 0);
}

/** Whether a process has ended; one that nobody has asked about since counts as ended. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

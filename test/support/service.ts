import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyScope } from '../../src/domain/key-scopes.ts';
import { isStarterMessage } from '../../src/main/first-steps.ts';
import { openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { startTestServer, type TestServer } from './nats.ts';

/** Asking takes time of the processor, which the start needs. */
const LOOK_MS = 20;
const ROOT = resolve(import.meta.dirname, '../..');

/** A key of a project of its own. */
export interface TestProject {
  readonly key: string;
  readonly keyId: string;
  readonly projectId: string;
}

/** nats-server, web and worker as real processes, on free ports and an empty data directory. */
export interface TestService {
  readonly url: string;
  readonly nats: TestServer;
  readonly dataDir: string;
  newProject(env?: 'test' | 'live'): Promise<TestProject>;
  /** Another key of a project. */
  newKey(project: TestProject, env: 'test' | 'live', scopes?: readonly KeyScope[]): Promise<TestProject>;
  revokeKey(keyId: string): Promise<void>;
  /** An instance without a message; its id. */
  newInstance(project: TestProject): Promise<string>;
  /** kill -9 of the worker. */
  killWorker(): Promise<void>;
  startWorker(): void;
  /** What `npm run rebuild` does, beside the running service. Throws when it fails. */
  rebuild(): Promise<void>;
  /** Register it right after the start: `after(() => service.stop())`. */
  stop(): Promise<void>;
}

let shared: Promise<TestService> | null = null;
let sharers = 0;

/**
 * A service that all test files of this process share: each has projects of its own. It ends with the last `stop`, so
 * a file asks for it before its first test, and stops it behind its last one.
 */
export async function shareTestService(): Promise<TestService> {
  sharers += 1;
  const service = await (shared ??= startTestService());
  return {
    ...service,
    stop: async () => {
      sharers -= 1;
      if (sharers > 0) return;
      shared = null;
      await service.stop();
    },
  };
}

/** Starts the service; `env` adds to what its processes are told. */
export async function startTestService(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-service-'));
  const nats = await startTestServer();
  const children: ChildProcess[] = [];
  const run = (script: string): ChildProcess => {
    const child = fork(join(ROOT, 'src', script), {
      cwd: ROOT,
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: '0',
        SERVE: 'all',
        SHARDS: '1',
        DATA_DIR: join(folder, 'data'),
        NATS_URL: nats.url,
        NATS_TOKEN: nats.token,
        EMBEDDING_MODEL: 'undertone-small',
        WEBHOOK_ALLOW_PRIVATE: 'true',
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(child);
    return child;
  };
  let registry: Registry | null = null;
  let closeConnection = async (): Promise<void> => undefined;
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(endOf));
    await registry?.close();
    await closeConnection();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const web = run('main/web.ts');
    let worker = run('main/worker.ts');
    const [url, opened] = await Promise.all([
      listeningUrl(web),
      (async () => {
        const connection = await openConnection({ ...nats.address, name: 'test of the service' });
        closeConnection = () => connection.close();
        return openRegistry(connection);
      })(),
    ]);
    registry = opened;
    await opened.whenReady();
    await untilReady(url);
    let projects = 0;
    const newKey = async (
      projectName: string,
      keyEnv: 'test' | 'live',
      scopes?: readonly KeyScope[],
    ): Promise<TestProject> => {
      const { rawKey, key } = await opened.createKey({ projectName, env: keyEnv, scopes });
      return { key: rawKey, keyId: key.keyId, projectId: key.projectId };
    };
    return {
      url,
      nats,
      dataDir: join(folder, 'data'),
      newProject: (keyEnv = 'test') => newKey(`project ${(projects += 1)}`, keyEnv),
      newKey: async ({ projectId }, keyEnv, scopes) => {
        const project = opened.projects.list().find(({ id }) => id === projectId);
        if (project === undefined) throw new Error(`no project ${projectId}`);
        return newKey(project.name, keyEnv, scopes);
      },
      revokeKey: async (keyId) => {
        if (!(await opened.keys.revoke(keyId))) throw new Error(`no key ${keyId}`);
      },
      killWorker: async () => {
        const ended = once(worker, 'exit');
        worker.kill('SIGKILL');
        await ended;
      },
      startWorker: () => {
        worker = run('main/worker.ts');
      },
      rebuild: async () => {
        const child = run('cli/rebuild.ts');
        const [code] = (await once(child, 'exit')) as [number | null];
        if (code !== 0) throw new Error(`the rebuild ended with code ${code}`);
      },
      newInstance: async ({ projectId }) => (await opened.createInstance({ projectId })).id,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address that a web process tells its starter. */
function listeningUrl(web: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    web.on('message', (message: unknown) => {
      if (isStarterMessage(message) && message.type === 'listening') done(message.url);
    });
    web.once('exit', (code) => fail(new Error(`web ended with code ${code} before it listened`)));
  });
}

/** The registry loads within milliseconds of the listening; /readyz is the only place that tells when. */
async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const text = await answer.text();
    if (answer.ok) return;
    if (performance.now() > deadline) throw new Error(`the service is not ready: ${text}`);
    await sleep(LOOK_MS);
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

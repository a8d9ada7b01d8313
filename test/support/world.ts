import { equal, ok } from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { epochsBehind } from '../../src/worker/erasure/due-erasures.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { answeringSince, readActiveEpoch, shardDirectory } from '../../src/store/epochs/epochs.ts';
import { readManifest } from '../../src/store/published/manifest.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { isLong } from './long.ts';
import { startTestServer, type TestServer } from './nats.ts';
import { instanceId, rowsOf } from './replays.ts';

const ROOT = join(import.meta.dirname, '../..');
const GIVE_UP_MS = 300_000;

/** A service without doors: NATS, a worker, and the views that it makes. */
export class World {
  readonly dataDir: string;
  readonly server: TestServer;
  readonly connection: StreamConnection;
  readonly publisher: Publisher;
  readonly projectId: string;
  readonly shards: number;
  #ownsServer = true;
  #worker: { process: ChildProcess; ended: Promise<unknown>; output: () => string } | null = null;

  private constructor(
    dataDir: string,
    server: TestServer,
    connection: StreamConnection,
    { projectId, shards }: Pick<World, 'projectId' | 'shards'>,
  ) {
    this.projectId = projectId;
    this.shards = shards;
    this.dataDir = dataDir;
    this.server = server;
    this.connection = connection;
    this.publisher = createPublisher(connection);
  }

  /** With views of its own, on the stream of another one. */
  static async beside(dataDir: string, other: World): Promise<World> {
    mkdirSync(dataDir, { recursive: true });
    const connection = await openConnection({ ...other.server.address, name: 'test' });
    const world = new World(dataDir, other.server, connection, other);
    world.#ownsServer = false;
    return world;
  }

  /** The short form has one shard, unless told otherwise: each more is opened, written and merged in each run. */
  static async open(dataDir: string, instances = 3, shards = isLong ? 2 : 1): Promise<World> {
    mkdirSync(dataDir, { recursive: true });
    const server = await startTestServer();
    const connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { id: projectId } = await registry.projects.create('test');
    for (let number = 0; number < instances; number++)
      await registry.createInstance({ projectId, id: instanceId(number), name: `instance ${number}` });
    await registry.close();
    return new World(dataDir, server, connection, { projectId, shards });
  }

  /** Starts the worker, and waits until it has counted an entry. */
  async count(sequence: number): Promise<void> {
    this.#worker ??= this.run('main/worker.ts', []);
    const deadline = performance.now() + GIVE_UP_MS;
    const counted = (): number =>
      Math.max(0, ...this.directories().map((directory) => readManifest(directory)?.sequence ?? 0));
    while (counted() < sequence) {
      ok(performance.now() < deadline, `waited too long; ${this.#worker.output()}`);
      await sleep(20);
    }
  }

  get workerOutput(): string {
    return this.#worker?.output() ?? '';
  }

  run(
    script: string,
    args: readonly string[],
  ): { process: ChildProcess; ended: Promise<unknown>; output: () => string } {
    const child = fork(join(ROOT, 'src', script), args, {
      cwd: ROOT,
      env: {
        ...process.env,
        DATA_DIR: this.dataDir,
        NATS_URL: this.server.url,
        NATS_TOKEN: this.server.token,
        EMBEDDING_MODEL: 'undertone-small',
        LOG_LEVEL: 'info',
        SHARDS: String(this.shards),
        AUTO_REBUILD: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as unknown);
    return { process: child, ended, output: () => output };
  }

  directories(): string[] {
    const active = readActiveEpoch(this.dataDir);
    if (active === null) return [];
    return Array.from({ length: active.shards }, (_, shard) =>
      shardDirectory(this.dataDir, active.epoch, shard),
    );
  }

  /** All that can be asked of the first instances. */
  answers(instances = 2): Promise<Record<string, unknown>> {
    return rowsOf(this.directories(), instances, answeringSince(this.dataDir));
  }

  /** Files of data and server in which a word stands. */
  filesWith(word: string): string[] {
    return [this.dataDir, this.server.dataDir]
      .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .filter((file) => {
        try {
          return readFileSync(file).includes(word);
        } catch {
          // It went meanwhile.
          return false;
        }
      });
  }

  /** Ids of the erasures that are done. */
  async erasures(): Promise<string[]> {
    const listed = this.run('cli/erase.ts', ['list']);
    equal(await listed.ended, 0, listed.output());
    return [...listed.output().matchAll(/^([0-9a-f-]{36}) .* DONE /gm)].map(([, id]) => id!);
  }

  /**
   * Resolves once so many are done, and the views are without what went: the worker goes on with what nobody else does.
   */
  async untilDone(erasures: number): Promise<void> {
    const ledger = await ErasureLedger.open(this.connection);
    const deadline = performance.now() + GIVE_UP_MS;
    const isDone = async (): Promise<boolean> => {
      const all = await ledger.list();
      const done = all.filter(({ state }) => state === 'DONE');
      return done.length >= erasures && epochsBehind(this.dataDir, all).length === 0;
    };
    while (!(await isDone())) {
      ok(performance.now() < deadline, `waited too long; ${this.#worker?.output()}`);
      await sleep(200);
    }
  }

  async close(): Promise<void> {
    this.#worker?.process.kill('SIGTERM');
    await this.#worker?.ended;
    await this.publisher.drain();
    await this.connection.close();
    if (this.#ownsServer) await this.server.stop();
  }
}

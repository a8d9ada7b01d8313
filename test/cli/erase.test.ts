import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { v5 } from 'uuid';
import type { RecordedMessage, RecordedRequest } from '../../src/domain/records.ts';
import { epochsBehind } from '../../src/erasure/executor.ts';
import { ErasureLedger } from '../../src/registry/erasure-ledger.ts';
import { openRegistry } from '../../src/registry/registry.ts';
import { answeringSince, readActiveEpoch, shardDirectory } from '../../src/store/epochs/epochs.ts';
import { readManifest } from '../../src/store/published/manifest.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { deadLetter } from '../../src/stream/dead-letters/dead-letters.ts';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { conversationsSubject, partitionOf } from '../../src/stream/subjects.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { answersOf, FEW_GRANULARITIES, instanceId, requestsOf } from '../support/replays.ts';

const ROOT = join(import.meta.dirname, '../..');
const GIVE_UP_MS = 120_000;
/** Of each run before it is killed, in milliseconds. */
const KILL_PAUSES_MS = isLong ? [500, 700, 900, 1200, 1600, 2200, 3000, 4000] : [800, 2500];
const PERSON = 'person-to-forget@example.com';
const SECRET = 'zanzibar-quokka-8841';
/** Of a conversation each; instance 2 holds what has nothing to do with the person. */
const INSTANCES = 3;

/** Whole sessions of the person, and one that they share with somebody else, by their order in instance 0. */
const OWN = new Set([0, 1]);
const SHARED = 2;

interface Said {
  readonly request: RecordedRequest;
  /** It goes with the person. */
  readonly goes: boolean;
}

/** One message a request, with the person in some of them. */
function history(): Said[] {
  const requests = requestsOf({ conversations: 16, instances: INSTANCES, messages: 1 });
  const numbers = new Map<string, number>();
  const turns = new Map<string, number>();
  let speaks = false;
  /** The first session of instance 1, which goes by itself. */
  let erased: string | null = null;
  return requests.map((request) => {
    const { sessionId } = request;
    if (request.instanceId === instanceId(1)) {
      erased ??= sessionId;
      return { request, goes: sessionId === erased };
    }
    if (request.instanceId !== instanceId(0)) return { request, goes: false };
    const number = numbers.get(sessionId) ?? numbers.set(sessionId, numbers.size).size - 1;
    const turn = (turns.get(sessionId) ?? -1) + 1;
    turns.set(sessionId, turn);
    const [message] = request.messages as [RecordedMessage];
    const isUser = message.userId !== undefined;
    if (OWN.has(number)) {
      const content = `${message.content} ${SECRET}`;
      return {
        request: {
          ...request,
          messages: [isUser ? { ...message, content, userId: PERSON } : { ...message, content }],
        },
        goes: true,
      };
    }
    if (number !== SHARED) return { request, goes: false };
    if (isUser) speaks = turn % 4 === 0;
    const userId = speaks ? PERSON : 'somebody-else';
    const content = speaks ? `${message.content} ${SECRET}` : message.content;
    return {
      request: { ...request, messages: [{ ...message, content, ...(isUser ? { userId } : {}) }] },
      goes: speaks,
    };
  });
}

/** A message of another instance in the place of one that was never sent. */
function filler({ requestId, projectId, acceptedAt }: RecordedRequest): RecordedRequest {
  return {
    requestId,
    projectId,
    instanceId: instanceId(2),
    sessionId: v5('filler', requestId),
    acceptedAt,
    messages: [{ role: 'user', content: 'Where can I see the opening hours of the shop?', at: acceptedAt }],
  };
}

/** A service without doors: NATS, a worker, and the views that it makes. */
class World {
  readonly dataDir: string;
  readonly server: TestServer;
  readonly connection: StreamConnection;
  readonly publisher: Publisher;
  readonly projectId: string;
  #ownsServer = true;
  #worker: { process: ChildProcess; ended: Promise<unknown>; output: () => string } | null = null;

  private constructor(dataDir: string, server: TestServer, connection: StreamConnection, projectId: string) {
    this.projectId = projectId;
    this.dataDir = dataDir;
    this.server = server;
    this.connection = connection;
    this.publisher = createPublisher(connection);
  }

  /** With views of its own, on the stream of another one. */
  static async beside(dataDir: string, other: World): Promise<World> {
    mkdirSync(dataDir, { recursive: true });
    const connection = await openConnection({ ...other.server.address, name: 'test' });
    const world = new World(dataDir, other.server, connection, other.projectId);
    world.#ownsServer = false;
    return world;
  }

  static async open(dataDir: string): Promise<World> {
    mkdirSync(dataDir, { recursive: true });
    const server = await startTestServer();
    const connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const { id: projectId } = await registry.createProject('test');
    for (let number = 0; number < INSTANCES; number++)
      await registry.createInstance({ projectId, id: instanceId(number), name: `instance ${number}` });
    await registry.close();
    return new World(dataDir, server, connection, projectId);
  }

  /** Starts the worker, and waits until it has counted an entry. */
  async count(sequence: number): Promise<void> {
    this.#worker ??= this.run('main/worker.ts', []);
    const deadline = performance.now() + GIVE_UP_MS;
    const counted = (): number =>
      Math.max(0, ...this.directories().map((directory) => readManifest(directory)?.seq ?? 0));
    while (counted() < sequence) {
      ok(performance.now() < deadline, `waited too long; ${this.#worker.output()}`);
      await sleep(20);
    }
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
        SHARDS: '2',
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
  async answers(instances = 2): Promise<Record<string, unknown>> {
    const all = await answersOf(
      this.directories(),
      instances,
      FEW_GRANULARITIES,
      answeringSince(this.dataDir),
    );
    return Object.fromEntries(
      Object.entries(all).map(([question, { elements, pagination }]) => [question, { elements, pagination }]),
    );
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

describe('erase', () => {
  const temporary = temporaryDirectory();
  let world: World;
  let never: World;
  /** Another machine. */
  let elsewhere: World;
  let newest = 0;
  before(async () => {
    world = await World.open(join(temporary.path, 'world'));
    never = await World.open(join(temporary.path, 'never'));
    for (const { request, goes } of history()) {
      newest = await world.publisher.publish(request);
      await never.publisher.publish(goes ? filler(request) : request);
    }
    const [said] = history().filter(({ goes }) => goes);
    const bytes = await encodeRecord([encodeRequest(said!.request)]);
    const subject = conversationsSubject(partitionOf(said!.request.instanceId));
    await deadLetter(world.connection, { sequence: 1, bytes, subject, timestamp: 0 }, 'a test');
    await world.count(newest);
    elsewhere = await World.beside(join(temporary.path, 'elsewhere'), world);
    await elsewhere.count(newest);
  });
  after(async () => {
    await elsewhere?.close();
    await world?.close();
    await never?.close();
    temporary.remove();
  });

  it('leaves views equal to those of a stream without the person, beside a worker', async () => {
    const erasing = world.run('cli/erase.ts', [
      'user',
      PERSON,
      '--instance',
      instanceId(0),
      '--reason',
      'asked by mail',
    ]);
    equal(await erasing.ended, 0, erasing.output());
    match(erasing.output(), /DONE; \d+ messages, 2 whole sessions, from \d+ entries .*, 1 dead letters/);
    await never.count(newest);
    deepEqual(await world.answers(1), await never.answers(1));
    notDeepEqual(await world.answers(), await never.answers());
  });

  it('goes on where kill -9 stopped it', async () => {
    const session = history().find(
      ({ request, goes }) => goes && request.instanceId === instanceId(1),
    )!.request;
    const ledger = await ErasureLedger.open(world.connection);
    const isAccepted = async (): Promise<boolean> =>
      (await ledger.list()).filter(({ position }) => position > 0).length === 2;
    let kills = 0;
    for (const pauseMs of [0, ...KILL_PAUSES_MS]) {
      const accepted = await isAccepted();
      const args = accepted
        ? ['run']
        : ['session', session.sessionId.toUpperCase(), '--instance', instanceId(1)];
      const erasing = world.run('cli/erase.ts', args);
      while (!(await isAccepted())) await sleep(10);
      await sleep(pauseMs);
      erasing.process.kill('SIGKILL');
      if ((await erasing.ended) === 'SIGKILL') kills += 1;
    }
    ok(kills > 0);
    await world.untilDone(2);
    deepEqual(await world.answers(), await never.answers());
    deepEqual(world.filesWith(session.sessionId), []);
  });

  it('counts on, also what comes for a session of the same id', async () => {
    const expected = await world.answers();
    const [said] = history().filter(({ goes }) => goes);
    const later = {
      ...filler(said!.request),
      instanceId: instanceId(0),
      requestId: v5('later', instanceId(0)),
    };
    await world.count(await world.publisher.publish({ ...later, sessionId: said!.request.sessionId }));
    notDeepEqual(await world.answers(), expected);
  });

  it('is done again after a backup from before was restored, from a ledger that names nobody', async () => {
    const [said] = history().filter(({ goes }) => goes);
    const [message] = said!.request.messages as [RecordedMessage];
    const returned = {
      ...said!.request,
      requestId: v5('returned', instanceId(0)),
      sessionId: v5('s', instanceId(0)),
    };
    const messages = [{ ...message, content: `Is ${SECRET} still there?`, userId: PERSON }];
    await world.count(await world.publisher.publish({ ...returned, messages }));
    const printed = world.run('cli/erase.ts', ['ledger']);
    equal(await printed.ended, 0);
    equal(printed.output().includes(PERSON), false);
    const file = join(temporary.path, 'ledger.ndjson');
    const other = (id: string): string => v5(id, instanceId(0));
    writeFileSync(file, printed.output().replaceAll(/(?<="id":")[^"]*/g, other));
    const again = world.run('cli/erase.ts', ['again', file]);
    equal(await again.ended, 0, again.output());
    await world.untilDone(4);
    const known = world.run('cli/erase.ts', ['again', file]);
    equal(await known.ended, 0);
    match(known.output(), /knows all of them/);
    writeFileSync(file, '{"id":"x"}\n');
    const broken = world.run('cli/erase.ts', ['again', file]);
    equal(await broken.ended, 1);
    match(broken.output(), /ledger.ndjson, line 1: this is no erasure/);
  });

  it('leaves nothing of them in any file', async () => {
    await world.publisher.drain();
    deepEqual(world.filesWith(SECRET), []);
    deepEqual(world.filesWith(PERSON), []);
    const deadline = performance.now() + GIVE_UP_MS;
    while (elsewhere.filesWith(SECRET).length > 0) {
      ok(performance.now() < deadline, `still there: ${elsewhere.filesWith(SECRET).join()}`);
      await sleep(200);
    }
    deepEqual(elsewhere.filesWith(PERSON), []);
    deepEqual(await elsewhere.answers(), await world.answers());
    for (const id of await world.erasures()) {
      const verified = world.run('cli/erase.ts', ['verify', id]);
      equal(await verified.ended, 0, verified.output());
    }
  });
});

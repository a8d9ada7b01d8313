import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { silentLogger } from '../../src/logger.ts';
import { createSupervisor, parseProcfile, type Supervisor } from '../../src/main/supervisor.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { TRACES_STREAM } from '../../src/stream/subjects.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { countedMessages, eventually, publishedSequences } from '../support/processes.ts';
import { requestsOf } from '../support/replays.ts';

const SHARDS = 4;
/** More instances than partitions, so that every shard has some. */
const INSTANCES = 24;
const PASSED_ON_WITHIN_MS = 5000;
const TRACES_MAX_BYTES = 64 * 2 ** 20;

/** A line that a worker logged. */
interface Line {
  readonly worker: string;
  readonly pid: number;
  readonly event: string;
  readonly shard: number;
  readonly time: number;
}

describe('workers', () => {
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  let server: TestServer;
  let connection: StreamConnection;
  let publisher: Publisher;
  let supervisor: Supervisor;
  const lines: Line[] = [];
  const logLines: string[] = [];
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, { tracesMaxBytes: TRACES_MAX_BYTES });
    publisher = createPublisher(connection);
    const environment = {
      DATA_DIR: dataDir,
      NATS_URL: server.url,
      NATS_TOKEN: server.token,
      EMBEDDING_MODEL: 'undertone-small',
      LOG_LEVEL: 'info',
      SHARDS: String(SHARDS),
      TRACES_MAX_BYTES: String(TRACES_MAX_BYTES),
    };
    const command = `env ${Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')} ${process.execPath} src/main/worker.ts`;
    supervisor = createSupervisor({
      entries: parseProcfile(`worker: ${command}\nworker2: ${command}\n`),
      stopOrder: ['worker'],
      cwd: join(import.meta.dirname, '../..'),
      stopMs: 10_000,
      onLine: (worker, text) => {
        logLines.push(`${worker} ${text}`);
        if (!text.startsWith('{')) return;
        const line = JSON.parse(text) as Omit<Line, 'worker' | 'time'> & { time: string };
        lines.push({ ...line, worker, time: Date.parse(line.time) });
      },
      onMessage: () => undefined,
      onGivenUp: (reason) => logLines.push(reason),
      log: silentLogger(),
    });
    supervisor.start();
  });
  after(async () => {
    await supervisor?.stop();
    await publisher?.drain();
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  /** Name of the worker that works on each shard, by what the workers say. */
  function owners(): (string | null)[] {
    const owning = Array<string | null>(SHARDS).fill(null);
    for (const { event, shard, worker } of lines) {
      if (event === 'shard_opened') owning[shard] = worker;
      if ((event === 'shard_let_go' || event === 'shard_lost') && owning[shard] === worker)
        owning[shard] = null;
    }
    return owning;
  }

  const shardsOf = (worker: string): number[] =>
    [...owners().keys()].filter((shard) => owners()[shard] === worker);

  /** How many shards each of the two has. */
  const spread = (): number[] => ['worker', 'worker2'].map((worker) => shardsOf(worker).length);

  const since = (event: string, time: number): Line[] =>
    lines.filter((line) => line.event === event && line.time >= time);

  /** Ends a worker; the time at which it was told. */
  function signal(worker: string, name: NodeJS.Signals): number {
    const pid = lines.findLast((line) => line.event === 'worker_ready' && line.worker === worker)?.pid;
    ok(pid !== undefined);
    const at = Date.now();
    process.kill(pid, name);
    return at;
  }

  const evenlySpread = (): Promise<number> =>
    eventually(
      () => spread().join() === '2,2',
      () => logLines.join('\n'),
    );

  it('leave the stream of traces at its configured size', async () => {
    await evenlySpread();
    const manager = await jetstreamManager(connection.nats);
    equal((await manager.streams.info(TRACES_STREAM)).config.max_bytes, TRACES_MAX_BYTES);
  });

  it('share the shards, take over from a killed one, and count every message once', async () => {
    await evenlySpread();
    const requests = requestsOf({ conversations: 16, instances: INSTANCES, messages: 4 });
    const messages = requests.reduce((sum, request) => sum + request.messages.length, 0);
    let newest = 0;
    const publishing = (async () => {
      for (const request of requests) newest = await publisher.publish(request);
    })();

    await eventually(() => Math.max(0, ...publishedSequences(dataDir)) > 15);
    const theirs = shardsOf('worker');
    const killedAt = signal('worker', 'SIGKILL');
    await eventually(
      () => theirs.every((shard) => since('shard_opened', killedAt).some((line) => line.shard === shard)),
      () => logLines.join('\n'),
    );
    const tookMs = Date.now() - killedAt;
    ok(tookMs < PASSED_ON_WITHIN_MS, `${tookMs} ms`);

    await publishing;
    // To count takes longer than to look how far the shards are.
    await eventually(() => Math.max(0, ...publishedSequences(dataDir)) >= newest);
    await eventually(
      async () => (await countedMessages(dataDir)) >= messages,
      () => logLines.join('\n'),
    );
    await evenlySpread();
    const settled = owners();
    await sleep(2500);
    deepEqual(owners(), settled);
    equal(await countedMessages(dataDir), messages);
    ok(newest >= requests.length);
  });

  it('pass on at once what they let go in good order', async () => {
    const theirs = shardsOf('worker2');
    const stoppedAt = signal('worker2', 'SIGTERM');
    await eventually(() => since('shard_opened', stoppedAt).length >= theirs.length);
    for (const { shard, time } of since('shard_let_go', stoppedAt)) {
      const next = since('shard_opened', stoppedAt).find((line) => line.shard === shard) as Line;
      ok(next.time - time < 1000, `shard ${shard} stood for ${next.time - time} ms`);
    }
  });
});

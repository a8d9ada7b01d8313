import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import {
  beginStartStatus,
  beginWorkerStatus,
  noteUnreadable,
  readStartStatus,
  readWorkerStatuses,
} from '../../src/health/process-status.ts';
import { residentMemory } from '../../src/health/resident-memory.ts';
import { FailureLog, ServiceWatch } from '../../src/health/service-watch.ts';
import { silentLogger } from '../../src/logger.ts';
import { shardDirectory, writeActiveEpoch } from '../../src/store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { conversationsSubject } from '../../src/stream/subjects.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';

const SHARD = { sequence: 5, batches: 2, messages: 30, entriesSetAside: 1, analysisTimeouts: 0 };

describe('the watch over the service', () => {
  const temporary = temporaryDirectory();
  let server: TestServer;
  let connection: StreamConnection;
  let dataDir: string;
  let now: number;
  let tests = 0;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
  });
  beforeEach(() => {
    dataDir = join(temporary.path, `data-${(tests += 1)}`);
    mkdirSync(dataDir);
    now = Date.now();
  });
  after(async () => {
    await connection.close();
    await server.stop();
    temporary.remove();
  });

  function watch(needsWorker: boolean): ServiceWatch {
    return new ServiceWatch({
      dataDir,
      needsWorker,
      connection: () => connection,
      readerFailures: new FailureLog(),
      log: silentLogger(),
      now: () => now,
    });
  }

  function reasonsOf(watched: ServiceWatch): string[] {
    return watched.read().degradations.map(({ reason }) => reason);
  }

  it('says nothing of a worker where none belongs', async () => {
    const watched = watch(false);
    await watched.ask();
    now += 3_600_000;
    deepEqual(reasonsOf(watched), []);
    const { workers, lag, deadLetters, stream, disk, processes } = watched.read().figures;
    deepEqual([workers, lag, deadLetters], [[], null, 0]);
    ok(stream !== null && disk !== null);
    deepEqual(
      processes.map(({ name, restarts }) => [name, restarts]),
      [['web', null]],
    );
    await watched.close();
  });

  it('hears of entries that a backup could not read, until another reads all', async () => {
    const watched = watch(false);
    await watched.ask();
    for (const entries of [2, 0]) {
      noteUnreadable(dataDir, entries);
      now += 1000;
      deepEqual(reasonsOf(watched), entries === 0 ? [] : ['stream_damaged']);
      equal(watched.read().figures.stream?.missing, entries);
    }
    await watched.close();
  });

  it('measures what waits behind the published views, and sees that nothing moves', async () => {
    const { seq } = await jetstream(connection.nats).publish(conversationsSubject(3), 'x');
    const watched = watch(true);
    const beat = beginWorkerStatus(dataDir, () => ({
      rebuild: [],
      shards: [{ shard: 0, ...SHARD }],
      writer: null,
      alerts: null,
    }));
    await watched.ask();
    equal(watched.read().figures.lag?.entries, seq);
    now += 61_000;
    await watched.ask();
    deepEqual(reasonsOf(watched), ['worker_stuck']);
    ok((watched.read().figures.lag?.seconds ?? 0) > 60);

    writeActiveEpoch(dataDir, { epoch: 1, shards: 1 });
    mkdirSync(shardDirectory(dataDir, 1, 0), { recursive: true });
    writeFileSync(join(shardDirectory(dataDir, 1, 0), 'CURRENT'), JSON.stringify({ seq, tables: {} }));
    await watched.ask();
    deepEqual(watched.read().figures.lag, { entries: 0, seconds: 0, unmovedMs: 0 });
    deepEqual(reasonsOf(watched), []);

    // One entry with a part of each of two instances.
    const waiting = { sequence: seq, storedAt: now * 1000 };
    writeFileSync(
      join(shardDirectory(dataDir, 1, 0), 'CURRENT'),
      JSON.stringify({
        seq: seq + 1,
        sequence: seq,
        tables: {},
        behind: { a: waiting, b: waiting },
        deferred: 1,
      }),
    );
    await watched.ask();
    equal(watched.read().figures.lag?.entries, 1);
    beat.stop();
    await watched.close();
  });

  it('hears the worker as long as its file is young, by the name that npm start gives it', async () => {
    const beat = beginWorkerStatus(dataDir, () => ({
      rebuild: [],
      shards: [{ shard: 0, ...SHARD }],
      writer: null,
      alerts: null,
    }));
    const memberStatus = { name: 'worker2', restarts: 4, restartedAt: [1], lastEnd: null, residentBytes: 99 };
    const starter = beginStartStatus(dataDir, () => ({
      processes: [{ ...memberStatus, pid: process.ppid }],
    }));
    // Our own process cannot be another one; our parent lives as long as we do.
    const [worker, start] = [readWorkerStatuses(dataDir)[0], readStartStatus(dataDir)];
    beat.stop();
    starter.stop();
    deepEqual(readdirSync(join(dataDir, 'status')), []);
    for (const [name, status] of [
      [`worker-${process.ppid}`, worker?.status],
      ['start', start?.status],
    ] as const) {
      writeFileSync(
        join(dataDir, 'status', `${name}.json`),
        JSON.stringify({ ...status, pid: process.ppid }),
      );
    }
    const watched = watch(true);
    const { workers, processes } = watched.read().figures;
    deepEqual(
      workers.map(({ name, shards }) => [name, shards]),
      [['worker2', [{ shard: 0, ...SHARD }]]],
    );
    deepEqual(
      processes.map(({ name, restarts }) => [name, restarts]),
      [
        ['worker2', 4],
        ['web', null],
      ],
    );
    equal(processes[0]?.residentBytes, 99);
    await watched.close();
  });

  it('takes away what killed workers told, and passes over what it cannot read', () => {
    const beat = beginWorkerStatus(dataDir, () => ({
      rebuild: ['model'],
      shards: [],
      writer: null,
      alerts: null,
    }));
    const [own] = readWorkerStatuses(dataDir);
    const folder = join(dataDir, 'status');
    // The highest number that a process can have is never reached.
    writeFileSync(join(folder, 'worker-4194304.json'), JSON.stringify({ ...own?.status, pid: 4_194_304 }));
    writeFileSync(join(folder, 'worker-4194303.json'), 'no JSON');
    deepEqual(
      readWorkerStatuses(dataDir).map(({ ended }) => ended),
      [true, true],
    );
    beat.stop();
    beginWorkerStatus(dataDir, () => ({ rebuild: [], shards: [], writer: null, alerts: null })).stop();
    deepEqual(readdirSync(folder), ['worker-4194303.json']);
  });

  it('looks no more for a worker that was killed with its container when others have its shards', () => {
    const shards = [{ shard: 0, ...SHARD }];
    const beat = beginWorkerStatus(dataDir, () => ({ rebuild: [], shards, writer: null, alerts: null }));
    const [own] = readWorkerStatuses(dataDir);
    const folder = join(dataDir, 'status');
    const aMinuteAgo = Date.now() / 1000 - 60;
    for (const [pid, shard] of [
      [4_194_301, 0],
      [4_194_302, 1],
    ] as const) {
      const file = join(folder, `worker-${pid}.json`);
      const status = { ...own?.status, machine: 'another', pid, shards: [{ ...SHARD, shard }] };
      writeFileSync(file, JSON.stringify(status));
      utimesSync(file, aMinuteAgo, aMinuteAgo);
    }
    const endedOthers = (): boolean[] =>
      readWorkerStatuses(dataDir)
        .filter(({ status }) => status.machine === 'another')
        .map(({ ended }) => ended);
    // The second one's shard is nobody's: it may hang with it.
    deepEqual(endedOthers(), [true, false]);
    utimesSync(join(folder, `worker-${process.pid}.json`), aMinuteAgo, aMinuteAgo);
    deepEqual(endedOthers(), [false, false]);
    beat.stop();
  });

  it('takes a file that could not be replaced for a sign of life', () => {
    const beat = beginWorkerStatus(dataDir, () => ({ rebuild: [], shards: [], writer: null, alerts: null }));
    const folder = join(dataDir, 'status');
    const file = join(folder, readdirSync(folder)[0] ?? '');
    utimesSync(file, 0, 0);
    ok((readWorkerStatuses(dataDir)[0]?.ageMs ?? 0) > 1e9);
    // As on a full disk: the new text cannot be put down.
    mkdirSync(`${file}.tmp`);
    beat.beat();
    ok((readWorkerStatuses(dataDir)[0]?.ageMs ?? Infinity) < 60_000);
    renameSync(`${file}.tmp`, join(dataDir, 'away'));
    beat.stop();
  });

  it('measures the memory of processes, and leaves out those that are gone', async () => {
    const memory = await residentMemory([process.pid, 4_194_304]);
    deepEqual([...memory.keys()], [process.pid]);
    ok((memory.get(process.pid) ?? 0) > 10 * 2 ** 20);
  });
});

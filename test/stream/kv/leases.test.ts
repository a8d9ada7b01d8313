import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { divideShards } from '../../../src/stream/kv/divide-shards.ts';
import { LeaseLostError, type Lease } from '../../../src/stream/kv/lease.ts';
import { Leases } from '../../../src/stream/kv/leases.ts';
import { killUnder, startTestServer, type TestServer } from '../../support/nats.ts';
import { eventually } from '../../support/processes.ts';

const TIMING = { ttlMs: 1500, renewEveryMs: 300, trustMs: 1200, settleMs: 500 };
const SHARDS = 4;

interface Worker {
  readonly id: string;
  readonly leases: Leases;
  readonly connection: StreamConnection;
  /** What is being worked on. */
  readonly working: Map<number, Lease>;
  /** Milliseconds that letting go of a shard takes. */
  closeMs: number;
}

describe('division of shards', () => {
  const divide = (owners: (string | null)[], ready: string[], announced = ready): (string | null)[] =>
    divideShards(owners, { takers: announced, holders: ready });

  it('spreads what is free over whoever lives', () => {
    deepEqual(divide([null, null, null, null], ['a', 'b']), ['a', 'b', 'a', 'b']);
    deepEqual(divide([null, null, null, null], ['a', 'b', 'c']), ['a', 'b', 'c', 'a']);
    deepEqual(divide([null], ['a', 'b']), ['a']);
  });

  it('gives what a dead worker had to whoever has least', () => {
    deepEqual(divide(['a', 'x', 'b', 'a'], ['a', 'b']), ['a', 'b', 'b', 'a']);
  });

  it('moves a shard only where it makes things more even', () => {
    deepEqual(divide(['a', 'a', 'b', 'a'], ['a', 'b']), ['a', 'a', 'b', 'b']);
    deepEqual(divide(['a', 'a', 'a'], ['a', 'b']), ['a', 'a', 'b']);
    deepEqual(divide(['a', 'a', 'b'], ['a', 'b']), ['a', 'a', 'b']);
    deepEqual(divide(['a'], ['a', 'b']), ['a']);
    deepEqual(divide(['a', 'a', 'a', 'a'], ['a', 'b', 'c']), ['a', 'a', 'c', 'b']);
  });

  it('keeps what is free for a worker that is starting, but takes nothing away for it', () => {
    deepEqual(divide([null, null, null, null], ['a'], ['a', 'b']), ['a', 'b', 'a', 'b']);
    deepEqual(divide(['a', 'a', 'a', 'a'], ['a'], ['a', 'b']), ['a', 'a', 'a', 'a']);
  });

  it('is stable: who has divided once finds nothing to move', () => {
    for (let shards = 1; shards <= 8; shards++) {
      for (let count = 1; count <= 5; count++) {
        const workers = Array.from({ length: count }, (_, number) => `w${number}`);
        const divided = divide(Array<string | null>(shards).fill('w0'), workers);
        deepEqual(divide(divided, workers), divided);
        const counts = workers.map((worker) => divided.filter((owner) => owner === worker).length);
        ok(Math.max(...counts) - Math.min(...counts) <= 1);
      }
    }
  });
});

describe('leases', () => {
  let server: TestServer;
  let scopes = 0;
  const workers: Worker[] = [];
  /** Holders whose processes are known to have ended. */
  const dead = new Set<string>();
  /** Shards that two workers worked on at the same time. */
  const overlaps: number[] = [];
  before(async () => {
    server = await startTestServer();
  });
  afterEach(async () => {
    for (const { leases, connection } of workers.splice(0)) {
      await leases.close();
      await connection.close();
    }
    scopes += 1;
    deepEqual(overlaps, []);
  });
  after(() => server.stop());

  async function start(id: string): Promise<Worker> {
    const connection = await openConnection({ ...server.address, name: id });
    const working = new Map<number, Lease>();
    const leases = await Leases.open(connection, {
      scope: `s${scopes}`,
      shards: SHARDS,
      holder: { id, machine: 'here', pid: 1 },
      isDead: (holder) => dead.has(holder.id),
      onGained: (lease) => {
        if (workers.some((other) => other.working.get(lease.shard)?.lost === false))
          overlaps.push(lease.shard);
        working.set(lease.shard, lease);
      },
      onLetGo: async (lease) => {
        await sleep(worker.closeMs);
        working.delete(lease.shard);
      },
      timing: TIMING,
    });
    const worker: Worker = { id, leases, connection, working, closeMs: 0 };
    workers.push(worker);
    return worker;
  }

  const held = (): string => workers.map(({ id, leases }) => `${id}:${leases.held.join('')}`).join(' ');
  const counts = (): number[] => workers.map(({ leases }) => leases.held.length);
  const spread = (wanted: readonly number[]): Promise<number> =>
    eventually(() => counts().join() === wanted.join(), held);

  /** Ends a worker as kill -9 would: nothing is passed on. */
  async function kill(worker: Worker): Promise<void> {
    await worker.connection.close();
    workers.splice(workers.indexOf(worker), 1);
    worker.leases.close().catch(() => undefined);
  }

  it('gives all to one, and half each to two that start together', async () => {
    const a = await start('a');
    await a.leases.compete();
    deepEqual(a.leases.held, [0, 1, 2, 3]);
    await a.leases.close();
    workers.splice(0);
    await a.connection.close();

    const [b, c] = [await start('b'), await start('c')];
    await eventually(async () => {
      await sleep(TIMING.renewEveryMs);
      return true;
    });
    await Promise.all([b.leases.compete(), c.leases.compete()]);
    await spread([2, 2]);
  });

  it('moves half to a worker that comes later, one after the other, and then leaves it at that', async () => {
    const a = await start('a');
    await a.leases.compete();
    a.closeMs = 300;
    const b = await start('b');
    await b.leases.compete();
    await spread([2, 2]);
    const before = held();
    await sleep(TIMING.ttlMs);
    equal(held(), before);
  });

  it('passes on at once what a worker lets go in good order', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await a.leases.compete();
    await b.leases.compete();
    await spread([2, 2]);
    const closing = a.leases.close();
    workers.splice(workers.indexOf(a), 1);
    const tookMs = await spread([4]);
    ok(tookMs < TIMING.ttlMs / 3, `${tookMs} ms`);
    await closing;
    await a.connection.close();
  });

  it('passes on what a killed worker had: at once where it is known to be dead, else when it has run out', async () => {
    const [a, b, c] = [await start('a'), await start('b'), await start('c')];
    for (const worker of [a, b, c]) await worker.leases.compete();
    await eventually(() => counts().reduce((sum, count) => sum + count) === SHARDS, held);
    await kill(a);
    dead.add('a');
    const knownMs = await eventually(() => counts().join() === '2,2', held);
    ok(knownMs < TIMING.ttlMs / 2, `${knownMs} ms`);
    await kill(b);
    const runOutMs = await eventually(() => counts().join() === '4', held);
    ok(runOutMs > TIMING.ttlMs - 2 * TIMING.renewEveryMs && runOutMs < TIMING.ttlMs + 1500, `${runOutMs} ms`);
    dead.clear();
  });

  it('says which shards a worker gets if their holder ends', async () => {
    const a = await start('a');
    const b = await start('b');
    const c = await start('c');
    await Promise.all([a, b, c].map(({ leases }) => leases.compete()));
    await eventually(() => counts().toSorted().join() === '1,1,2', held);
    const expected = (): string[] =>
      [b, c].map(({ leases }) =>
        [...leases.held, ...leases.successions.filter((shard) => a.leases.held.includes(shard))]
          .toSorted()
          .join(''),
      );
    await eventually(() => expected().join('').length === SHARDS, held);
    const next = expected();
    dead.add('a');
    await kill(a);
    await eventually(() => [b, c].every(({ leases }, place) => leases.held.join('') === next[place]), held);
    dead.clear();
  });

  it('is lost when it was not renewed in time, before another worker has it', async () => {
    const a = await start('a');
    await a.leases.compete();
    const lease = a.working.get(0) as Lease;
    await lease.confirm();
    await killUnder(server, a.connection);
    await lease.confirm();
    await eventually(() => lease.lost);
    await rejects(lease.confirm(), LeaseLostError);
    await eventually(() => a.working.size === 0);
    await server.restart();
    await spread([4]);
    ok(a.working.get(0) !== lease);
  });

  it('knows that another worker has it, even when it was taken wrongly', async () => {
    const a = await start('a');
    await a.leases.compete();
    const leases = [...a.working.values()];
    // Other than here, nobody is called dead who lives: the file lock and the fence are there for that.
    const b = await start('b');
    dead.add('a');
    await b.leases.compete();
    await spread([0, 4]);
    dead.clear();
    overlaps.length = 0;
    ok(leases.every((lease) => lease.lost));
  });
});

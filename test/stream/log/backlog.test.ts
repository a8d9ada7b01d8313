import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { countDeadLetters, readBacklog, readStreamUse } from '../../../src/stream/log/backlog.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import {
  readDeadLetters,
  removeDeadLetter,
  deadLetter,
} from '../../../src/stream/dead-letters/dead-letters.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, conversationsSubject, partitionsOf } from '../../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

describe('backlog', () => {
  let server: TestServer;
  let connection: StreamConnection;
  /** When each entry was stored, milliseconds, by sequence − 1. */
  const storedAt: number[] = [];
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const manager = await jetstreamManager(connection.nats);
    for (const partition of [0, 1, 2, 0, 1, 0]) {
      const { seq } = await jetstream(connection.nats).publish(conversationsSubject(partition), 'x');
      const stored = await manager.streams.getMessage(CONVERSATIONS_STREAM, { seq });
      storedAt.push(stored?.time.getTime() ?? 0);
    }
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  const everything = partitionsOf(0, 1);

  it('counts what waits behind a position, and knows since when', async () => {
    const behind = (sequence: number, partitions = everything): ReturnType<typeof readBacklog> =>
      readBacklog(connection, [{ partitions, sequence }]);
    deepEqual(await behind(0), { entries: 6, oldestAt: storedAt[0] });
    deepEqual(await behind(4), { entries: 2, oldestAt: storedAt[4] });
    deepEqual(await behind(6), { entries: 0, oldestAt: null });
    deepEqual(await behind(999), { entries: 0, oldestAt: null });
    deepEqual(await behind(2, [0]), { entries: 2, oldestAt: storedAt[3] });
    deepEqual(await behind(3, [2]), { entries: 0, oldestAt: null });
  });

  it('adds up shards', async () => {
    const positions = [
      { partitions: partitionsOf(0, 2), sequence: 4 },
      { partitions: partitionsOf(1, 2), sequence: 2 },
    ];
    deepEqual(await readBacklog(connection, positions), { entries: 2, oldestAt: storedAt[4] });
    deepEqual(await readBacklog(connection, []), { entries: 0, oldestAt: null });
  });

  it('counts an entry once, however many shards read its partition', async () => {
    const positions = [0, 8].map((shard) => ({
      partitions: partitionsOf(shard, 16),
      sequence: shard === 0 ? 1 : 4,
    }));
    deepEqual(await readBacklog(connection, positions), { entries: 2, oldestAt: storedAt[3] });
  });

  it('leaves nothing on the server', async () => {
    const manager = await jetstreamManager(connection.nats);
    equal((await manager.streams.info(CONVERSATIONS_STREAM)).state.consumer_count, 0);
  });

  it('knows how full the stream is', async () => {
    const use = await readStreamUse(connection);
    equal(use.lastSequence, 6);
    equal(use.missing, 0);
    ok(use.bytes > 0 && use.bytes < use.maxBytes);
  });

  it('counts dead letters until they are gone', async () => {
    deepEqual(await countDeadLetters(connection), { entries: 0, newestAt: null });
    const entry = { sequence: 2, subject: conversationsSubject(1), bytes: new Uint8Array(1), timestamp: 0 };
    const beganAt = Date.now();
    await deadLetter(connection, entry, 'no record');
    const { entries, newestAt } = await countDeadLetters(connection);
    equal(entries, 1);
    ok(newestAt !== null && Math.abs(newestAt - beganAt) < 60_000);
    for await (const { id } of readDeadLetters(connection)) await removeDeadLetter(connection, id);
    deepEqual(await countDeadLetters(connection), { entries: 0, newestAt: null });
  });
});

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { SetupError } from '../../../src/errors.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import {
  openConsumer,
  StreamRewoundError,
  type Delivered,
  type StreamConsumer,
} from '../../../src/stream/log/consumer.ts';
import { DEAD_LETTER_HEADERS, deadLetter } from '../../../src/stream/dead-letters/dead-letters.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import {
  CONVERSATIONS_STREAM,
  conversationsSubject,
  DEAD_LETTERS_STREAM,
} from '../../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const PLENTY = { maxMessages: 1000, maxBytes: 1e8, waitMs: 2000 };

describe('consumer', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
  });
  beforeEach(async () => {
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.delete(CONVERSATIONS_STREAM);
    await setUpStreams(connection);
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  async function store(count: number, partition = 0, body: string | Uint8Array = ''): Promise<void> {
    const client = jetstream(connection.nats);
    for (let i = 0; i < count; i++)
      await client.publish(conversationsSubject(partition), body, { timeout: 10_000 });
  }

  async function take(consumer: StreamConsumer, count: number): Promise<Delivered[]> {
    const taken: Delivered[] = [];
    const deadline = performance.now() + 20_000;
    while (taken.length < count) {
      ok(performance.now() < deadline, `only ${taken.length} of ${count} came`);
      taken.push(...(await consumer.next(PLENTY)));
    }
    return taken;
  }

  const sequences = (entries: readonly Delivered[]): number[] => entries.map(({ sequence }) => sequence);
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);

  it('begins where its reader stopped', async () => {
    await store(10);
    const consumer = await openConsumer(connection, { startSequence: 8 });
    deepEqual(sequences(await take(consumer, 3)), [8, 9, 10]);
    equal(await consumer.lastSequence(), 10);
    await consumer.close();
  });

  it('tells what was stored and when', async () => {
    await store(1, 3, 'body');
    const consumer = await openConsumer(connection, { startSequence: 1 });
    const [entry] = await take(consumer, 1);
    equal(Buffer.from(entry?.bytes ?? []).toString(), 'body');
    equal(entry?.subject, 'conversations.3');
    ok(Math.abs((entry?.timestamp ?? 0) / 1000 - Date.now()) < 60_000);
    ok(Number.isInteger(entry?.timestamp));
    await consumer.close();
  });

  it('reads only the partitions asked for', async () => {
    for (const partition of [0, 1, 2, 1, 7]) await store(1, partition);
    const consumer = await openConsumer(connection, { startSequence: 1, partitions: [1, 7] });
    deepEqual(sequences(await take(consumer, 3)), [2, 4, 5]);
    await consumer.close();
  });

  it('waits for entries and gives none when the wait is over', async () => {
    const consumer = await openConsumer(connection, { startSequence: 1 });
    deepEqual(await consumer.next({ ...PLENTY, waitMs: 20 }), []);
    const waiting = consumer.next({ ...PLENTY, waitMs: 10_000 });
    await store(1);
    deepEqual(sequences(await waiting), [1]);
    await consumer.close();
    deepEqual(await consumer.next(PLENTY), []);
  });

  it('gives no more than asked for, but always one', async () => {
    await store(6, 0, 'x'.repeat(1000));
    const consumer = await openConsumer(connection, { startSequence: 1 });
    await consumer.next({ maxMessages: 1, maxBytes: 1e6, waitMs: 2000 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    deepEqual(sequences(await consumer.next({ maxMessages: 2, maxBytes: 1e6, waitMs: 2000 })), [2, 3]);
    deepEqual(sequences(await consumer.next({ maxMessages: 9, maxBytes: 2500, waitMs: 2000 })), [4, 5]);
    deepEqual(sequences(await consumer.next({ maxMessages: 9, maxBytes: 1, waitMs: 2000 })), [6]);
    await consumer.close();
  });

  it('reads large entries with a small read-ahead, in order', async () => {
    await store(8, 0, new Uint8Array(3_000_000));
    await store(2500);
    const consumer = await openConsumer(connection, { startSequence: 1, readAheadBytes: 100_000 });
    deepEqual(sequences(await take(consumer, 2508)), range(1, 2508));
    await consumer.close();
  });

  it('goes on behind the last entry when the server loses its consumer', async () => {
    await store(5);
    const consumer = await openConsumer(connection, { startSequence: 1 });
    deepEqual(sequences(await take(consumer, 5)), range(1, 5));
    const manager = await jetstreamManager(connection.nats);
    for (const info of await manager.consumers.list(CONVERSATIONS_STREAM).next()) {
      await manager.consumers.delete(CONVERSATIONS_STREAM, info.name);
    }
    await store(5);
    deepEqual(sequences(await take(consumer, 5)), range(6, 10));
    await consumer.close();
  });

  it('loses, repeats and reorders nothing when the server is killed in the middle', async () => {
    const total = 3000;
    const consumer = await openConsumer(connection, { startSequence: 1, readAheadBytes: 20_000 });
    const writing = (async () => {
      const client = jetstream(connection.nats);
      for (let i = 1; i <= total;) {
        try {
          const { seq } = await client.publish(conversationsSubject(i % 8), 'x'.repeat(200), {
            msgID: `${i}`,
            timeout: 500,
          });
          i = Math.max(i + 1, seq + 1);
        } catch {
          await connection.whenConnected(5000);
        }
      }
    })();
    const seen: number[] = [];
    const kills = [500, 1500, 2500];
    while (seen.length < total) {
      seen.push(...sequences(await consumer.next({ maxMessages: 50, maxBytes: 1e6, waitMs: 5000 })));
      if (seen.length >= (kills[0] ?? Infinity)) {
        kills.shift();
        await server.restart();
      }
    }
    await writing;
    deepEqual(seen, range(1, total));
    await consumer.close();
  });

  it('refuses a position that the stream does not have', async () => {
    await store(3);
    await rejects(openConsumer(connection, { startSequence: 9 }), (error) => {
      ok(error instanceof StreamRewoundError && error instanceof SetupError);
      match(error.message, /but 8 was already read.*Restore a backup, or delete/);
      return true;
    });
  });

  it('says so when the stream is replaced under it', async () => {
    await store(3);
    const consumer = await openConsumer(connection, { startSequence: 1 });
    await take(consumer, 3);
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.delete(CONVERSATIONS_STREAM);
    await setUpStreams(connection);
    await store(1);
    await rejects(take(consumer, 1), StreamRewoundError);
    await consumer.close();
  });

  it('sets an entry aside once, with its place and the reason on one line', async () => {
    const entry: Delivered = {
      sequence: 42,
      bytes: Buffer.from([0, 255, 1]),
      subject: 'conversations.2',
      timestamp: 0,
    };
    await deadLetter(connection, entry, 'no JSON:\nbroken "é" here');
    await deadLetter(connection, entry, 'again');
    const manager = await jetstreamManager(connection.nats);
    equal((await manager.streams.info(DEAD_LETTERS_STREAM)).state.messages, 1);
    const letter = await manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq: 1 });
    deepEqual([...(letter?.data ?? [])], [0, 255, 1]);
    equal(letter?.header.get(DEAD_LETTER_HEADERS.sequence), '42');
    equal(letter?.header.get(DEAD_LETTER_HEADERS.subject), 'conversations.2');
    equal(letter?.header.get(DEAD_LETTER_HEADERS.reason), 'no JSON: broken " " here');
  });
});

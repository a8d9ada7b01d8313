import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { decodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { openConsumer, readExtent, readStored } from '../../../src/stream/log/consumer.ts';
import { createPublisher } from '../../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { conversationsSubject, partitionOf } from '../../../src/stream/subjects.ts';
import { Cluster } from '../../faults/cluster.ts';
import { killUnder, startTestServer, type TestServer } from '../../support/nats.ts';
import { instanceIds, recordedRequest } from '../../support/requests.ts';

interface Stored {
  readonly sequence: number;
  readonly subject: string;
  readonly requests: readonly RecordedRequest[];
}

describe('publisher', () => {
  let server: TestServer;
  let connection: StreamConnection;
  beforeEach(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
  });
  afterEach(async () => {
    await connection.close();
    await server.stop();
  });

  async function everything(): Promise<Stored[]> {
    const { lastSequence } = await readExtent(connection);
    const consumer = await openConsumer(connection, { startSequence: 1 });
    const stored: Stored[] = [];
    while ((stored.at(-1)?.sequence ?? 0) < lastSequence) {
      for (const { sequence, subject, bytes } of await consumer.next({
        maxMessages: 100,
        maxBytes: 1e8,
        waitMs: 5000,
      })) {
        stored.push({ sequence, subject, requests: decodeRecord(bytes).requests });
      }
    }
    await consumer.close();
    return stored;
  }

  it('answers with the sequence of the record that holds the request', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const requests = instanceIds(20).map((instanceId) => recordedRequest({ instanceId }));
    const sequences = await Promise.all(requests.map((request) => publisher.publish(request)));
    const stored = await everything();
    requests.forEach((request, i) => {
      const record = stored.find(({ sequence }) => sequence === sequences[i]);
      ok(record?.requests.some(({ requestId }) => requestId === request.requestId));
      equal(record?.subject, conversationsSubject(partitionOf(request.instanceId)));
    });
  });

  it('groups what waits, in order, and never splits a request or mixes partitions', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const ids = instanceIds(16);
    const requests = Array.from({ length: 2000 }, (_, i) =>
      recordedRequest({ instanceId: ids[i % 16] ?? '' }),
    );
    await Promise.all(requests.map((request) => publisher.publish(request)));
    const stored = await everything();
    ok(stored.length < 60, `${stored.length} records for 2000 requests`);
    for (const { subject, requests: group } of stored) {
      ok(group.length <= 500);
      for (const { instanceId } of group) equal(conversationsSubject(partitionOf(instanceId)), subject);
    }
    for (const id of ids) {
      const order = stored.flatMap((record) => record.requests).filter(({ instanceId }) => instanceId === id);
      deepEqual(
        order.map(({ requestId }) => requestId),
        requests.filter(({ instanceId }) => instanceId === id).map(({ requestId }) => requestId),
      );
    }
    equal(publisher.pendingBytes, 0);
  });

  it('keeps a group within 1 MB and lets a larger request go alone', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const sizes = [10, 300_000, 300_000, 300_000, 300_000, 3_000_000, 10, 10];
    await Promise.all(
      sizes.map((size) =>
        publisher.publish(
          recordedRequest({ messages: [{ content: 'x'.repeat(size), role: 'user', at: 0 }] }),
        ),
      ),
    );
    const groups = (await everything()).map(({ requests }) =>
      requests.map(({ messages }) => messages[0]?.content.length),
    );
    deepEqual(groups, [[10], [300_000, 300_000, 300_000], [300_000], [3_000_000], [10, 10]]);
  });

  it('lets projects take turns in a partition, and keeps the order of each', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const [greedy, small] = ['10000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000002'];
    const publish = (projectId: string, size: number): Promise<number> =>
      publisher.publish(
        recordedRequest({ projectId, messages: [{ content: 'x'.repeat(size), role: 'user', at: 0 }] }),
      );
    const many = Array.from({ length: 12 }, () => publish(greedy, 400_000));
    many.push(publish(greedy, 3_000_000), publish(greedy, 10));
    await Promise.all([...many, publish(small, 11), publish(small, 12)]);
    const stored = (await everything()).map(({ requests }) =>
      requests.map(({ projectId, messages }) => [projectId, messages[0]?.content.length ?? 0] as const),
    );
    deepEqual(
      stored.slice(0, 2).flatMap((group) => group.filter(([project]) => project === small)),
      [
        [small, 11],
        [small, 12],
      ],
      'it waits behind what was under way',
    );
    deepEqual(
      stored.flat().flatMap(([project, size]) => (project === greedy ? [size] : [])),
      [...Array.from({ length: 12 }, () => 400_000), 3_000_000, 10],
    );
  });

  it('refuses what is too large even when compressed, and goes on', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const content = randomBytes(16 * 1024 * 1024).toString('base64');
    const huge = recordedRequest({ messages: [{ content, role: 'user', at: 0 }] });
    await rejects(publisher.publish(huge), appError('PAYLOAD_TOO_LARGE'));
    equal(await publisher.publish(recordedRequest()), 1);
  });

  it('checks beforehand what it would refuse, and stores nothing', async () => {
    await setUpStreams(connection);
    let hasRoom = true;
    const publisher = createPublisher(connection, { hasRoom: () => hasRoom });
    const request = (content: string) => recordedRequest({ messages: [{ content, role: 'user', at: 0 }] });
    const check = (content: string) => publisher.check(encodeRequest(request(content)));
    await check('small');
    await check('x'.repeat(20 * 1024 * 1024));
    await rejects(check(randomBytes(17 * 1024 * 1024).toString('base64')), appError('PAYLOAD_TOO_LARGE'));
    hasRoom = false;
    await rejects(check('small'), appError('SERVICE_UNAVAILABLE'));
    deepEqual(await everything(), []);
    equal(publisher.pendingBytes, 0);
    await publisher.drain();
    await rejects(check('small'), appError('SERVICE_UNAVAILABLE'));
  });

  it('refuses a request that compresses well but would inflate beyond what readers take', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const content = 'x'.repeat(2 ** 26);
    const messages = Array.from({ length: 4 }, () => ({ content, role: 'user', at: 0 }));
    await rejects(publisher.publish(recordedRequest({ messages })), appError('PAYLOAD_TOO_LARGE'));
  });

  it('stores a large request of prose', async () => {
    await setUpStreams(connection);
    const words = 'the parcel has not come yet and I would like to know where it is now please'.split(' ');
    const messages = Array.from({ length: 10_000 }, (_, i) => ({
      content: Array.from(
        { length: 400 },
        (_unused, k) => words[(i * 31 + k * 17 + ((i * k) >> 3)) % words.length],
      ).join(' '),
      role: 'user',
      at: i,
    }));
    const sequence = await createPublisher(connection).publish(recordedRequest({ messages }));
    const [record] = await everything();
    equal(record?.sequence, sequence);
    deepEqual(record?.requests[0]?.messages, messages);
  });

  it('answers 503 when the stream is full, and stores nothing of the request', async () => {
    await setUpStreams(connection, { maxBytes: 100_000 });
    const publisher = createPublisher(connection);
    const content = randomBytes(20_000).toString('base64');
    const request = () => recordedRequest({ messages: [{ content, role: 'user', at: 0 }] });
    let stored = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await publisher.publish(request());
        stored++;
      }
    };
    await rejects(
      fill(),
      (error) => appError('SERVICE_UNAVAILABLE')(error) && (error as AppError).retryAfter === 30,
    );
    ok(stored > 1);
    equal((await everything()).length, stored);
    await rejects(publisher.check(encodeRequest(recordedRequest())), appError('SERVICE_UNAVAILABLE'));
  });

  it('answers 503 while the disk is nearly full, and goes on when there is room again', async () => {
    await setUpStreams(connection);
    let room = false;
    const publisher = createPublisher(connection, { hasRoom: () => room });
    await rejects(publisher.publish(recordedRequest()), appError('SERVICE_UNAVAILABLE'));
    room = true;
    equal(await publisher.publish(recordedRequest()), 1);
  });

  it('answers 503 when too much is waiting', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection, { maxPendingBytes: 1000 });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => publisher.publish(recordedRequest())),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    ok(refused.length > 0 && refused.length < 10);
    for (const { reason } of refused) ok(appError('SERVICE_UNAVAILABLE')(reason));
    ok((await publisher.publish(recordedRequest())) > 0);
  });

  it('keeps room for another project while one has very much waiting', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection, { maxPendingBytes: 100_000 });
    const publish = (projectId: string): Promise<number> =>
      publisher.publish(
        recordedRequest({ projectId, messages: [{ content: 'x'.repeat(10_000), role: 'user', at: 0 }] }),
      );
    const greedy = Array.from({ length: 20 }, () => publish('10000000-0000-4000-8000-000000000001'));
    const other = publish('20000000-0000-4000-8000-000000000002');
    const taken = (await Promise.allSettled(greedy)).filter(({ status }) => status === 'fulfilled');
    equal(taken.length, 4, 'of ten, half would leave no more than it has itself');
    ok((await other) > 0);
    equal(publisher.pendingBytes, 0);
  });

  it('answers 503 in time when the server is away, and works again when it is back', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection, { timeoutMs: 300 });
    await killUnder(server, connection);
    const started = performance.now();
    await rejects(publisher.publish(recordedRequest()), appError('SERVICE_UNAVAILABLE'));
    ok(performance.now() - started < 3000);
    await server.restart();
    await connection.whenConnected(10_000);
    equal(await publisher.publish(recordedRequest()), 1);
  });

  it('lets each request wait for itself while the server is away', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection, { timeoutMs: 600 });
    await killUnder(server, connection);
    const waits = [];
    for (const projectId of ['a', 'a', 'b', 'a']) {
      const started = performance.now();
      waits.push(
        rejects(publisher.publish(recordedRequest({ projectId })), appError('SERVICE_UNAVAILABLE')).then(
          () => performance.now() - started,
        ),
      );
      await sleep(150);
    }
    for (const waited of await Promise.all(waits)) ok(waited > 550 && waited < 1100, `${waited} ms`);
    await server.restart();
  });

  it('loses nothing that it answered for when the server is killed in the middle', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection, { timeoutMs: 20_000 });
    const ids = instanceIds(8);
    const answered = new Map<string, number>();
    let running = true;
    const clients = ids.map(async (instanceId) => {
      while (running) {
        const request = recordedRequest({
          instanceId,
          requestId: `${instanceId}-${answered.size}-${Math.random()}`,
        });
        answered.set(request.requestId, await publisher.publish(request));
      }
    });
    for (let kills = 0; kills < 3; kills++) {
      const before = answered.size;
      while (answered.size < before + 200) await new Promise((resolve) => setTimeout(resolve, 5));
      await server.restart();
    }
    running = false;
    await Promise.all(clients);
    const stored = new Map<string, number[]>();
    for (const { sequence, requests } of await everything()) {
      for (const { requestId } of requests)
        stored.set(requestId, [...(stored.get(requestId) ?? []), sequence]);
    }
    for (const [requestId, sequence] of answered) ok(stored.get(requestId)?.includes(sequence), requestId);
    equal(stored.size, answered.size);
  });

  it('takes an answer without a sequence for none, and tries again with the same message id', async () => {
    const ids: (string | undefined)[] = [];
    const answers = [0, 0, 7];
    // In place of a leader of nats-server 2.10 whose followers are away for a while.
    connection.nats.subscribe('conversations.*', {
      callback: (_error, message) => {
        ids.push(message.headers?.get('Nats-Msg-Id'));
        message.respond(JSON.stringify({ stream: 'CONVERSATIONS', seq: answers.shift(), duplicate: true }));
      },
    });
    equal(await createPublisher(connection).publish(recordedRequest()), 7);
    deepEqual(ids, [ids[0], ids[0], ids[0]]);
    ok(ids[0]);
  });

  it('answers everything taken when drained, and takes nothing after', async () => {
    await setUpStreams(connection);
    const publisher = createPublisher(connection);
    const taken = Array.from({ length: 50 }, () => publisher.publish(recordedRequest()));
    await publisher.drain();
    equal(publisher.pendingBytes, 0);
    for (const sequence of await Promise.all(taken)) ok(sequence > 0);
    await rejects(publisher.publish(recordedRequest()), appError('SERVICE_UNAVAILABLE'));
  });
});

describe('publisher to a cluster', () => {
  let cluster: Cluster;
  const connections: StreamConnection[] = [];
  before(async () => {
    cluster = await Cluster.start();
  });
  after(async () => {
    for (const connection of connections) await connection.close();
    await cluster.stop();
  });

  async function open(url: string): Promise<StreamConnection> {
    const { token } = cluster;
    const connection = await whenServed(() => openConnection({ url, token: () => token, name: 'test' }));
    connections.push(connection);
    return connection;
  }

  it('answers for no request that the leader alone has', async () => {
    const connection = await open(cluster.url);
    await whenServed(() => setUpStreams(connection, { replicas: 3 }));
    await cluster.whole();
    const leader = await cluster.leader();
    const toLeader = await open(cluster.url.split(',')[cluster.names.indexOf(leader)] ?? '');
    const request = recordedRequest();
    const followers = cluster.names.filter((name) => name !== leader);
    for (const name of followers) await cluster.pause(name);
    // The first try gets no answer, and the server recognises the second one.
    await rejects(
      createPublisher(toLeader, { timeoutMs: 4500 }).publish(request),
      appError('SERVICE_UNAVAILABLE'),
    );
    for (const name of followers) cluster.resume(name);
    const sequence = await whenServed(() => createPublisher(connection).publish(request));
    const stored = await readStored(connection, sequence, AbortSignal.timeout(10_000));
    deepEqual(decodeRecord(stored?.bytes ?? new Uint8Array()).requests, [request]);
  });
});

/** Servers that have just started, or came back, may have no leader yet. */
async function whenServed<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

describe('streams', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  it('are made by several processes at once, as large as the server can promise', async () => {
    await Promise.all(Array.from({ length: 4 }, () => setUpStreams(connection, { maxBytes: 2 ** 52 })));
    await setUpStreams(connection, { maxBytes: 2 ** 52 });
    equal(await createPublisher(connection).publish(recordedRequest()), 1);
  });

  it('keep what they hold when the limit is changed', async () => {
    await setUpStreams(connection, { maxBytes: 1_000_000 });
    deepEqual(await readExtent(connection), { firstSequence: 1, lastSequence: 1 });
  });

  it('drop what is older than the limit, and only while there is one', async () => {
    await setUpStreams(connection, { maxBytes: 1_000_000, maxAgeMs: 200 });
    const deadline = performance.now() + 20_000;
    while ((await readExtent(connection)).firstSequence === 1) ok(performance.now() < deadline);
    await setUpStreams(connection, { maxBytes: 1_000_000 });
    equal(await createPublisher(connection).publish(recordedRequest()), 2);
    await new Promise((resolve) => setTimeout(resolve, 800));
    deepEqual(await readExtent(connection), { firstSequence: 2, lastSequence: 2 });
  });
});

function appError(code: AppError['code']) {
  return (error: unknown): boolean => error instanceof AppError && error.code === code;
}

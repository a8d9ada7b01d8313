/** Callers who ask and do not read: what is kept for them, and for how long. */
import { equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, OTHER_KEY } from './support.ts';
import type { Harness } from './support.ts';

const MIB = 2 ** 20;
/** More than the system takes for a peer that does not read. */
const LONG = 'x'.repeat(12 * MIB);
const pathOf = (instanceId: string): string =>
  `/v1/query/?instanceId=${instanceId}&groupBy=TOPIC&fields=sessions`;

const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

async function listen(harness: Harness): Promise<number> {
  closing.push(async () => {
    harness.app.server.closeAllConnections();
    await harness.app.close();
  });
  await harness.app.listen({ host: '127.0.0.1', port: 0 });
  return (harness.app.server.address() as AddressInfo).port;
}

/** Asks `count` times in one packet and reads nothing. */
async function askUnread(port: number, head: string, count = 1): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  closing.push(async () => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(`${head}\r\n`.repeat(count));
  return socket;
}

const asks = (key: string): string => `GET ${pathOf(INSTANCE)} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n`;

/** A service whose answers are as long as LONG while `isLong`. */
function longAnswers(
  changes: Parameters<typeof createHarness>[0] & object = {},
  gate: Promise<void> = Promise.resolve(),
) {
  const state = { isLong: true, given: 0 };
  const harness = createHarness({
    ...changes,
    async run({ limit, offset }) {
      state.given += 1;
      await gate;
      const name = state.isLong ? LONG : 'short';
      const element = { dimensions: { topic: { id: INSTANCE, name, clusterId: null } }, fields: {} };
      return {
        elements: [element],
        pagination: { total: 1, limit, offset },
        lastProcessedAt: null,
      } as QueryResponse;
    },
  });
  return { harness, state };
}

async function dropsOf({ app }: Harness): Promise<string> {
  return (await app.inject({ url: '/metrics' })).body;
}

describe('http: answers that nobody reads', () => {
  it('of one key leave room for those of another, and end when their connection does', async () => {
    const { harness, state } = longAnswers({ limits: { inflightBytes: 48 * MIB, bodyBytes: 16 * MIB } });
    const port = await listen(harness);
    const status = async (key: string, path = pathOf(INSTANCE)): Promise<number> => {
      // Zipped, it would be short.
      const headers = { 'x-api-key': key, 'accept-encoding': 'identity' };
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    const unread = await askUnread(port, asks(KEY), 2);
    while (state.given < 2) await new Promise((resolve) => setImmediate(resolve));
    equal(await status(KEY), 503);
    equal(await status(OTHER_KEY, pathOf(FOREIGN_INSTANCE)), 200);
    state.isLong = false;
    equal(await status(KEY), 200, 'a short answer is always given');
    state.isLong = true;
    unread.destroy();
    while ((await status(KEY)) !== 200) await new Promise((resolve) => setImmediate(resolve));
  });

  it('count for nothing when their caller has gone before', async () => {
    const gate = Promise.withResolvers<void>();
    const limits = { inflightBytes: 48 * MIB, bodyBytes: 16 * MIB };
    const { harness, state } = longAnswers({ limits }, gate.promise);
    const port = await listen(harness);
    const connected = once(harness.app.server, 'connection') as Promise<[Socket]>;
    const caller = await askUnread(port, asks(KEY), 4);
    const [socket] = await connected;
    while (state.given < 4) await new Promise((resolve) => setImmediate(resolve));
    caller.destroy();
    await once(socket, 'close');
    gate.resolve();
    const answer = await fetch(`http://127.0.0.1:${port}${pathOf(INSTANCE)}`, {
      headers: { 'x-api-key': KEY },
    });
    equal((await answer.arrayBuffer()).byteLength > 12 * MIB, true);
  });

  it('do not keep their connection', async () => {
    const readingRate = { bytesPerSecond: 64 * MIB, graceMs: 50, checkMs: 10 };
    const { harness } = longAnswers({ limits: { readingRate } });
    const port = await listen(harness);
    const connected = once(harness.app.server, 'connection') as Promise<[Socket]>;
    await askUnread(port, asks(KEY));
    const [socket] = await connected;
    await once(socket, 'close');
    match(await dropsOf(harness), /undertone_http_connections_dropped_total\{reason="slow-reader"\} 1/);
  });

  it('of hundreds of requests in one packet are never made', async () => {
    const { harness, state } = longAnswers();
    state.isLong = false;
    const port = await listen(harness);
    const connected = once(harness.app.server, 'connection') as Promise<[Socket]>;
    await askUnread(port, asks(KEY), 300);
    const [socket] = await connected;
    await once(socket, 'close');
    equal(state.given <= 32, true, `${state.given} were made`);
    match(await dropsOf(harness), /undertone_http_connections_dropped_total\{reason="pipelining"\} 1/);
  });
});

describe('http: a body behind a refusal', () => {
  it('that does not arrive is not waited for', async () => {
    const harness = createHarness({ limits: { bodyRate: { bytesPerSecond: 1000, windowMs: 200 } } });
    const port = await listen(harness);
    const connected = once(harness.app.server, 'connection') as Promise<[Socket]>;
    const head = 'POST /v1/ingest/ HTTP/1.1\r\nHost: x\r\nx-api-key: no\r\nContent-Length: 1000000\r\n';
    (await askUnread(port, head)).resume();
    const [socket] = await connected;
    await once(socket, 'close');
    match(await dropsOf(harness), /undertone_http_connections_dropped_total\{reason="slow-body"\} 1/);
  });
});

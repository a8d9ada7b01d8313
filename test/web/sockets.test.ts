/** What only real connections show: bodies that stop, callers who stay silent. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createHarness, INSTANCE, KEY, OTHER_KEY, SECOND_KEY, SESSION } from './support.ts';
import type { Harness } from './support.ts';

const MIB = 2 ** 20;
const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

/** The port that a harness listens on. */
async function listen(harness: Harness): Promise<number> {
  closing.push(async () => {
    harness.app.server.closeAllConnections();
    await harness.app.close();
  });
  await harness.app.listen({ host: '127.0.0.1', port: 0 });
  return (harness.app.server.address() as AddressInfo).port;
}

/** A connection that stays half open for as long as the server lets it. */
async function open(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => undefined);
  closing.push(async () => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function head(key: string, length: number, more = ''): string {
  return (
    `POST /v1/ingest/ HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: ` +
    `application/json\r\nContent-Length: ${length}\r\n${more}\r\n`
  );
}

/** All that comes until the other side ends. */
async function received(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

const body = (bytes: number): string => JSON.stringify({ messages: [{ content: 'x'.repeat(bytes) }] });

/** How many of a key's bodies have arrived and not been answered. */
function waitingIngestor() {
  const gate = Promise.withResolvers<void>();
  let [arrived, wake] = [0, (): void => undefined];
  return {
    release: gate.resolve,
    async arrivals(count: number): Promise<void> {
      while (arrived < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    accept: async () => {
      arrived += 1;
      wake();
      await gate.promise;
      return { instanceId: INSTANCE, sessionId: SESSION, position: 1 };
    },
  };
}

describe('http: unfinished bodies', () => {
  it('hold what has arrived of them, whatever they announce or inflate to', async () => {
    const harness = createHarness({ limits: { inflightBytes: 4 * MIB, bodyBytes: 2 * MIB } });
    const port = await listen(harness);
    const bomb = gzipSync(Buffer.alloc(2 * MIB, '{},'));
    for (let i = 0; i < 20; i += 1) {
      const socket = await open(port);
      socket.write(head(KEY, bomb.length, 'Content-Encoding: gzip\r\n'));
      socket.write(bomb.subarray(0, -1));
      (await open(port)).write(`${head(KEY, 2 * MIB)}{`);
    }
    for (const key of [KEY, OTHER_KEY]) {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/ingest/`, {
        method: 'POST',
        headers,
        body: body(MIB),
      });
      equal(answer.status, 200, await answer.text());
    }
  });

  it('that come too slowly are answered and their connection is closed', async () => {
    const harness = createHarness({ limits: { bodyRate: { bytesPerSecond: 1000, windowMs: 200 } } });
    const port = await listen(harness);
    const socket = await open(port);
    socket.write(`${head(KEY, 10_000)}{"messages":`);
    const text = await received(socket);
    match(text, /^HTTP\/1\.1 400 /);
    match(text, /\r\nconnection: close\r\n/i);
    match(text, /"code":"BAD_REQUEST".*too slowly|"code":"BAD_REQUEST".*in time/);
  });
});

describe('http: bodies that wait for the stream', () => {
  it('of one project, with whichever of its keys, leave room for those of another', async () => {
    const { accept, arrivals, release } = waitingIngestor();
    const harness = createHarness({ limits: { inflightBytes: 4 * MIB, bodyBytes: MIB }, accept });
    const port = await listen(harness);
    const post = (key: string): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/v1/ingest/`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: body(0.9 * MIB),
      }).then((answer) => answer.status);
    const first = [post(KEY), post(SECOND_KEY)];
    await arrivals(2);
    deepEqual([await post(KEY), await post(SECOND_KEY)], [503, 503]);
    const others = [post(OTHER_KEY)];
    await arrivals(3);
    equal(await post(OTHER_KEY), 503, 'there is room for a third project');
    release();
    ok((await Promise.all([...first, ...others])).every((status) => status === 200));
    equal(await post(KEY), 200);
  });
});

describe('http: connections', () => {
  const times = {
    headers: 150,
    request: 400,
    keepAlive: 72_000,
    answer: 90_000,
    silence: 150_000,
    farewell: 2000,
    check: 50,
  };

  it('of callers who never finish a request are released, though they do not close them', async () => {
    const harness = createHarness({ limits: { connectionTimes: times } });
    const port = await listen(harness);
    const closed: Promise<unknown>[] = [];
    harness.app.server.on('connection', (socket) => closed.push(once(socket, 'close')));
    for (const sent of [
      '',
      'GET /livez HTT',
      'GET /livez HTTP/1.1\r\nHost: x\r\n',
      'no HTTP\r\n\r\n',
      head(KEY, 50),
    ]) {
      (await open(port)).write(sent);
    }
    while (closed.length < 5) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(closed);
    const count = await new Promise((resolve) =>
      harness.app.server.getConnections((_, open) => resolve(open)),
    );
    equal(count, 0);
    const { body: text } = await harness.app.inject({ url: '/metrics' });
    match(text, /undertone_http_connections_dropped_total\{reason="timeout"\} 4/);
    match(text, /undertone_http_connections 0/);
  });

  it('beyond the limit are dropped and counted, and idle ones make room', async () => {
    const harness = createHarness({ limits: { maxConnections: 3 } });
    const port = await listen(harness);
    const idle = await Promise.all([1, 2, 3].map(() => open(port)));
    for (const socket of idle) {
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
    }
    const ends = idle.map((socket) => once(socket, 'end'));
    await once((await open(port)).resume(), 'end');
    await Promise.all(ends);
    for (const socket of idle) socket.destroy();
    const next = await open(port);
    next.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    match(await received(next), /^HTTP\/1\.1 200 /);
    const { body: text } = await harness.app.inject({ url: '/metrics' });
    match(text, /undertone_http_connections_dropped_total\{reason="limit"\} 1/);
  });

  it('that have not asked anything do not delay the end', async () => {
    const { app } = createHarness();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const silent = await open(port);
    // It ends without any time running out: those of the server are longer than the test may take.
    const ended = new Promise((resolve) => silent.resume().once('end', resolve).once('close', resolve));
    await Promise.all([app.close(), ended]);
  });
});

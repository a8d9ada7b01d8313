/** The client against a server that means harm: a wrong address, a taken-over host, a broken proxy. */
import { deepEqual, doesNotMatch, equal, ok, rejects } from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Undertone, UndertoneError, type UndertoneOptions } from '../../../src/doors/client/index.ts';

const MIB = 2 ** 20;
const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A client of a server that answers like this, and how often it was asked. */
async function against(listener: RequestListener, options: Partial<UndertoneOptions> = {}) {
  const asked = { times: 0 };
  const server = createServer((request, response) => {
    asked.times += 1;
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Undertone({
    url: `http://127.0.0.1:${port}`,
    key: 'ut_test_key',
    instanceId: INSTANCE,
    backoffMs: 1,
    callPatienceMs: 1,
    onRetry: () => undefined,
    ...options,
  });
  return { client, asked };
}

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));

/** Writes for as long as somebody reads. */
const endless =
  (status: number, first: string, chunk: Buffer): RequestListener =>
  (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more);
    };
    response.writeHead(status).write(first);
    more();
  };

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof UndertoneError, String(error));
  return error.code;
}

/** Takes what comes, up to a hundred of it. */
async function all(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const row of rows) {
    void row;
    count += 1;
    if (count === 100) break;
  }
  return count;
}

const QUERY = { groupBy: 'TOPIC', fields: ['sessions'] } as const;

describe('the client against a hostile server', () => {
  it('holds no more of an answer than it is told to', async () => {
    const most = { maxAnswerBytes: MIB };
    const bomb = gzipSync(
      Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(64 * MIB, 'x'), Buffer.from('"}')]),
    );
    for (const listener of [
      endless(200, '{"a":"', Buffer.alloc(65_536, 'x')),
      endless(400, '{"error":{"code":"', Buffer.alloc(65_536, 'x')),
      json(bomb, 200, { 'content-encoding': 'gzip' }),
      json(bomb, 400, { 'content-encoding': 'gzip' }),
    ]) {
      const { client } = await against(listener, most);
      equal(await codeOf(client.query(QUERY)), 'UNEXPECTED_ANSWER');
    }
    const { client } = await against(endless(200, '', Buffer.alloc(65_536, 'x')), most);
    equal(await codeOf(all(client.rows(QUERY))), 'UNEXPECTED_ANSWER', 'a row without an end');
  });

  it('does not wait for rows that stop coming', async () => {
    const { client } = await against(
      (_, response) => void response.writeHead(200).write('{"dimensions":{},"fields":{}}\n'),
      { timeoutMs: 1000 },
    );
    const rows = client.rows(QUERY);
    equal((await rows.next()).done, false);
    await rejects(rows.next(), { code: 'UNREACHABLE', message: /broke off: nothing came/ });
  });

  it('does not go round in circles', async () => {
    for (const body of [
      {},
      { elements: {}, pagination: {} },
      { elements: [{}], pagination: { total: 'many' } },
      { elements: [null], pagination: { total: null } },
      { messages: [{}], pagination: { next: 'same' } },
      { messages: [{}], elements: [{}], pagination: {} },
      { messages: [{}], elements: [{}], pagination: { next: 7 } },
      { messages: 'xxx', elements: 'xxx', pagination: { next: 'a', total: 9 } },
      { elements: [], messages: [], pagination: { next: '' } },
    ]) {
      const { client, asked } = await against(json(body));
      for (const rows of [client.pages(QUERY), client.messages('a'), client.allCurations()])
        ok((await all(rows).catch(() => 0)) < 100, JSON.stringify(body));
      ok(asked.times < 12, `${asked.times} times for ${JSON.stringify(body)}`);
    }
  });

  it('repeats nothing that a terminal or a log would obey, and no more than a person reads', async () => {
    const evil = '\u001b]0;owned\u0007\r\nforged line \u202e\u0085' + 'x'.repeat(1900);
    const details = Array.from({ length: 150 }, () => ({ path: evil, message: evil }));
    for (const listener of [
      json({ error: { code: evil, message: evil, details } }, 400),
      json({ error: { code: 'BAD_REQUEST', message: evil, details } }, 400),
      json('', 302, { location: `http://x/${'y'.repeat(8000)}` }),
    ]) {
      const { client } = await against(listener);
      const error = await client.query(QUERY).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      ok(error instanceof UndertoneError);
      const errorText = JSON.stringify([error.code, error.message, error.details, error.requestId]);
      ok(errorText.length < 300_000, `${errorText.length}`);
      ok(error.message.length < 1500 && error.code.length < 100);
      for (const text of [error.code, error.message, ...error.details.flatMap((d) => [d.path, d.message])])
        doesNotMatch(text, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }
  });

  it('takes no nonsense for a position or an instance', async () => {
    for (const position of ['abc', '-1', '1e99', 'NaN', '0.5', '']) {
      const { client } = await against(
        json({ instanceId: INSTANCE, sessionId: INSTANCE }, 200, { 'x-stream-position': position }),
        { batchMs: 1 },
      );
      equal((await client.ingest({ messages: [{ content: 'hi' }] })).position, null, position);
      await client.session().user('hi');
      deepEqual(await client.flush(), { position: null, lost: 0 });
    }
    const { client } = await against(json({ elements: [{ id: {} }] }), { instanceId: undefined });
    await rejects(client.overview(), { code: 'UNEXPECTED_ANSWER' });
  });

  it('waits no longer than its patience, whatever it is asked to', async () => {
    for (const pause of [
      '315360000',
      '-5',
      'NaN',
      '1e308',
      'Infinity',
      'Fri, 01 Jan 2100 00:00:00 GMT',
      'soon',
    ]) {
      const { client } = await against(
        json({ error: { code: 'RATE_LIMIT_EXCEEDED', message: 'x' } }, 429, { 'retry-after': pause }),
      );
      equal(await codeOf(client.query(QUERY)), 'RATE_LIMIT_EXCEEDED', pause);
      // What one call was asked to wait does not hold up the next.
      equal(await codeOf(client.query(QUERY)), 'RATE_LIMIT_EXCEEDED', pause);
    }
  });

  it('tells its key to nobody whom it is sent to', async () => {
    const received: (string | undefined)[] = [];
    const { client: other } = await against((request, response) => {
      received.push(String(request.headers['x-api-key']));
      response.end('{}');
    });
    void other;
    const elsewhere = `http://127.0.0.1:${((servers.at(-1) as Server).address() as AddressInfo).port}/`;
    for (const status of [301, 302, 303, 307, 308]) {
      const { client } = await against(json('', status, { location: elsewhere }));
      equal(await codeOf(client.query(QUERY)), 'UNEXPECTED_ANSWER');
      equal(await codeOf(client.ingest({ messages: [{ content: 'hi' }] })), 'UNEXPECTED_ANSWER');
      equal(await codeOf(all(client.rows(QUERY))), 'UNEXPECTED_ANSWER');
    }
    deepEqual(received, []);
  });
});

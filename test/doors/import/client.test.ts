import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { UndertoneError } from '../../../src/doors/client/errors.ts';
import { statusOf } from '../../../src/doors/client/transport.ts';
import { isRefusal, ServiceClient } from '../../../src/doors/import/client.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const body = { messages: [{ role: 'user', content: 'hi' }] };
const accepted = JSON.stringify({ instanceId: 'i', sessionId: 's' });

describe('ServiceClient', () => {
  it('sends the key, the idempotency key and the body, and reads the position', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers } = request;
        seen.push([
          request.method,
          request.url,
          headers['x-api-key'],
          headers['idempotency-key'],
          JSON.parse(Buffer.concat(chunks).toString()),
        ]);
        response.setHeader('x-stream-position', '42').end(accepted);
      });
    });
    const client = new ServiceClient({ url: `${url}/`, key: 'k' });
    deepEqual(await client.ingest(body, 'once'), {
      instanceId: 'i',
      sessionId: 's',
      position: 42,
      warnings: null,
    });
    deepEqual(seen, [['POST', '/v1/ingest/', 'k', 'once', body]]);
  });

  it('repeats on 429 and 503 with growing pauses, at least as long as Retry-After asks', async () => {
    const statuses = [503, 429, 503, 200];
    const url = await serve((request, response) => {
      request.resume();
      response.statusCode = statuses.shift() ?? 500;
      if (response.statusCode === 429) response.setHeader('retry-after', '0.3');
      response.end(accepted);
    });
    const pauses: [string, number][] = [];
    const client = new ServiceClient({
      url,
      key: 'k',
      backoffMs: 10,
      onRetry: (reason, ms) => pauses.push([reason, ms]),
    });
    await client.ingest(body, 'once');
    deepEqual(
      pauses.map(([reason]) => reason),
      ['status 503', 'status 429', 'status 503'],
    );
    // A part of each is by chance.
    const [[, first = 0] = [], [, asked = 0] = [], [, third = 0] = []] = pauses;
    ok(first >= 5 && first <= 10 && asked >= 300 && asked <= 310 && third >= 20 && third <= 40, `${pauses}`);
  });

  it('repeats when the connection is cut before the answer', async () => {
    let calls = 0;
    const url = await serve((request, response) => {
      calls += 1;
      if (calls === 1) request.socket.destroy();
      else response.end(accepted);
    });
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1 });
    equal((await client.ingest(body, 'once')).sessionId, 's');
    equal(calls, 2);
  });

  it('creates one instance, even if the first answer is lost', async () => {
    const created = new Map<unknown, string>();
    let calls = 0;
    const url = await serve((request, response) => {
      calls += 1;
      const key = request.headers['idempotency-key'] ?? calls;
      const id = created.get(key) ?? `instance ${calls}`;
      created.set(key, id);
      if (calls === 1) request.socket.destroy();
      else response.writeHead(201).end(JSON.stringify({ id, name: 'x' }));
    });
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1 });
    deepEqual(await client.openInstance({ name: 'x' }), { id: 'instance 1', name: 'x', made: true });
    equal(created.size, 1);
    await client.openInstance({ name: 'x' });
    equal(created.size, 2);
  });

  it('gives up when its patience is at an end, saying why', async () => {
    const url = await serve((_request, response) => response.writeHead(503).end());
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1, patienceMs: 40 });
    await rejects(
      client.ingest(body, 'once'),
      (error) => error instanceof UndertoneError && !isRefusal(error) && /status 503/.test(error.message),
    );
  });

  it('goes as fast as it may: a 429 that says when to go on tries no patience', async () => {
    let calls = 0;
    const url = await serve((request, response) => {
      request.resume();
      calls += 1;
      if (calls <= 5) response.writeHead(429, { 'retry-after': '0.03' });
      response.end(accepted);
    });
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1, patienceMs: 20 });
    equal((await client.ingest(body, 'once')).sessionId, 's');
    equal(calls, 6);
  });

  it('does not repeat what is refused, and names the first place of the fault', async () => {
    let calls = 0;
    const url = await serve((_request, response) => {
      calls += 1;
      const error = {
        code: 'VALIDATION_ERROR',
        message: 'request validation failed',
        details: [{ path: 'messages.0.content', message: 'empty' }],
      };
      response.writeHead(400).end(JSON.stringify({ success: false, error }));
    });
    await rejects(new ServiceClient({ url, key: 'k' }).ingest(body, 'once'), (error) => {
      equal(isRefusal(error), true);
      deepEqual(isRefusal(error) && [error.status, error.code, error.message], [
        400,
        'VALIDATION_ERROR',
        'request validation failed (messages.0.content: empty)',
      ]);
      return true;
    });
    equal(calls, 1);
  });

  it('refuses an answer that is not this service', async () => {
    const url = await serve((_request, response) => response.end('<html>hello</html>'));
    await rejects(new ServiceClient({ url, key: 'k' }).ingest(body, 'once'), isRefusal);
    await rejects(new ServiceClient({ url, key: 'k' }).query({ groupBy: 'TOPIC' }), isRefusal);
  });

  it('is not needed to learn whether anything answers, and that takes no patience', async () => {
    const url = await serve((_request, response) => response.writeHead(503).end());
    equal(await statusOf(url, '/livez', 1000), 503);
    for (const close of closers.splice(0)) await close();
    await rejects(statusOf(url, '/livez', 1000), /ECONNREFUSED/);
  });

  it('sends those lines of a batch again for which the service is busy, and no other', async () => {
    const seen: string[][] = [];
    const statuses = [[200, 503, 400], [429], [200]];
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
        seen.push(lines.map((line) => (JSON.parse(line) as { deduplicationId: string }).deduplicationId));
        const answers = (statuses.shift() ?? []).map((status) => ({
          status,
          ...(status === 200
            ? { instanceId: 'i', sessionId: 's', position: 7 }
            : {
                error: { code: 'X', message: 'No.', details: [{ path: 'a', message: 'b' }] },
                retryAfter: 0.01,
              }),
        }));
        response.setHeader('x-refused-lines', '0');
        response.end(answers.map((line) => `${JSON.stringify(line)}\n`).join(''));
      });
    });
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1 });
    const items = ['a', 'b', 'c'].map((requestKey) => ({ body: JSON.stringify(body), requestKey }));
    const stored = { instanceId: 'i', sessionId: 's', position: 7, warnings: null };
    const [first, second, third] = await client.ingestBatch(items);
    deepEqual([first, second], [stored, stored]);
    deepEqual(isRefusal(third) && [third.status, third.code, third.message], [400, 'X', 'No. (a: b)']);
    deepEqual(seen, [['a', 'b', 'c'], ['b'], ['b']]);
  });

  it('takes a line that is missing for no refusal', async () => {
    const url = await serve((request, response) => {
      request.resume().on('end', () => {
        response.setHeader('x-refused-lines', '0');
        response.end(`${JSON.stringify({ status: 200, instanceId: 'i', sessionId: 's', position: 7 })}\n`);
      });
    });
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1 });
    const items = ['a', 'b'].map((requestKey) => ({ body: JSON.stringify(body), requestKey }));
    await rejects(client.ingestBatch(items), { code: 'UNEXPECTED_ANSWER', status: 200 });
  });
});

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { RefusedError, ServiceClient, UnavailableError, retryAfterMs } from '../../src/import/client.ts';

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
      position: '42',
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
    deepEqual(pauses, [
      ['status 503', 10],
      ['status 429', 300],
      ['status 503', 40],
    ]);
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

  it('gives up when its patience is at an end, saying why', async () => {
    const url = await serve((_request, response) => response.writeHead(503).end());
    const client = new ServiceClient({ url, key: 'k', backoffMs: 1, patienceMs: 40 });
    await rejects(
      client.ingest(body, 'once'),
      (error) => error instanceof UnavailableError && /status 503/.test(error.message),
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
      equal(error instanceof RefusedError, true);
      deepEqual(error instanceof RefusedError && [error.status, error.code, error.message], [
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
    await rejects(new ServiceClient({ url, key: 'k' }).ingest(body, 'once'), RefusedError);
    await rejects(new ServiceClient({ url, key: 'k' }).query({ groupBy: 'TOPIC' }), RefusedError);
  });

  it('probes without patience', async () => {
    const url = await serve((_request, response) => response.end());
    await new ServiceClient({ url, key: 'k' }).probe();
    for (const close of closers.splice(0)) await close();
    await rejects(new ServiceClient({ url, key: 'k' }).probe(), /ECONNREFUSED/);
  });
});

describe('retryAfterMs', () => {
  it('reads seconds and dates, and takes the rest for no wish', () => {
    const now = Date.UTC(2026, 0, 1);
    deepEqual(
      ['2', '0.5', 'Thu, 01 Jan 2026 00:00:03 GMT', 'Wed, 31 Dec 2025 00:00:00 GMT', 'soon', null].map(
        (header) => retryAfterMs(header, now),
      ),
      [2000, 500, 3000, 0, 0, 0],
    );
  });
});

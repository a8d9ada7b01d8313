import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { createHttpDoor } from '../../../src/doors/mcp/http-door.ts';

/** What the door makes of one answer, and the request that it sent. */
async function through(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Promise<{ answer: unknown; error: unknown; url: string | undefined; key: unknown }> {
  const asked: { url?: string | undefined; key?: unknown } = {};
  const server = createServer((request, response) => {
    Object.assign(asked, { url: request.url, key: request.headers['x-api-key'] });
    response.writeHead(status, headers).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const door = createHttpDoor({ url: `http://127.0.0.1:${port}/base/`, key: 'ut_test_x' });
  const [answer, error] = await door.get('/query', { a: 'b c&d' }).then(
    (value) => [value, null],
    (thrown: unknown) => [null, thrown],
  );
  server.close();
  server.closeAllConnections();
  return { answer, error, url: asked.url, key: asked.key };
}

describe('a door over HTTP', () => {
  it('asks with the key and about days of UTC, and gives what the service answers', async () => {
    const { answer, url, key } = await through(200, '{"a":[1]}');
    deepEqual([answer, url, key], [{ a: [1] }, '/base/v1/query?timeZone=UTC&a=b+c%26d', 'ut_test_x']);
  });

  it('throws the error that the service answers with', async () => {
    const details = [{ path: 'limit', message: 'must be a whole number' }];
    const envelope = { success: false, error: { code: 'VALIDATION_ERROR', message: 'wrong', details } };
    const { error } = await through(400, JSON.stringify(envelope));
    equal(error instanceof AppError, true);
    const { code, message, details: places } = error as AppError;
    deepEqual([code, message, places], ['VALIDATION_ERROR', 'wrong', details]);
  });

  it('throws what can be tried again where no answer of this service comes', async () => {
    for (const [status, body, headers] of [
      [502, '<html>bad gateway</html>'],
      [200, 'not json'],
      [200, ''],
      [500, '{"error":{"code":"__proto__","message":1}}'],
      [404, 'null'],
      [302, '', { location: 'http://elsewhere.example/' }],
    ] as const) {
      const { error } = await through(status, body, headers);
      equal((error as AppError).code, 'SERVICE_UNAVAILABLE', `${status} ${body}`);
    }
    const nobody = createHttpDoor({ url: 'http://127.0.0.1:1', key: 'ut_test_x' });
    await rejects(nobody.get('/query', {}), (error: AppError) => {
      match(error.message, /does not answer\. Is it running/);
      return error.code === 'SERVICE_UNAVAILABLE';
    });
  });
});

/** What every answer says to caches and browsers. */
import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, SESSION } from './support.ts';

const QUERY = `/v1/query/?groupBy=TOPIC&fields=sessions&instanceId=${INSTANCE}`;
const key = { 'x-api-key': KEY };
const json = { ...key, 'content-type': 'application/json' };

/** A request for each kind of answer below /v1 and /mcp, and its status. */
const KEYED: readonly (readonly [status: number, request: InjectOptions])[] = [
  [200, { url: QUERY, headers: key }],
  [200, { url: QUERY, headers: { authorization: `Bearer ${KEY}` } }],
  [200, { url: QUERY, headers: { ...key, accept: 'text/csv' } }],
  [200, { url: QUERY, headers: { ...key, accept: 'application/x-ndjson' } }],
  [200, { method: 'HEAD', url: QUERY, headers: key }],
  [200, { url: `/v1/sessions/${SESSION}?instanceId=${INSTANCE}`, headers: key }],
  [200, { url: `/v1/topics/${SESSION}?instanceId=${INSTANCE}`, headers: key }],
  [200, { url: `/v1/overview?instanceId=${INSTANCE}`, headers: key }],
  [200, { url: '/v1/key', headers: key }],
  [200, { url: '/v1/instances', headers: key }],
  [200, { method: 'POST', url: '/v1/ingest', headers: json, payload: '{"messages":[{"content":"a"}]}' }],
  [
    200,
    {
      method: 'POST',
      url: '/v1/ingest/batch',
      headers: { ...key, 'content-type': 'application/x-ndjson' },
      payload: '{"messages":[{"content":"a"}]}\n',
    },
  ],
  [200, { method: 'POST', url: '/v1/traces', headers: json, payload: '{}' }],
  [200, { method: 'POST', url: '/v1/logs', headers: json, payload: '{}' }],
  [
    200,
    {
      method: 'POST',
      url: '/mcp',
      headers: { ...json, accept: 'application/json, text/event-stream' },
      payload: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    },
  ],
  [204, { method: 'DELETE', url: `/v1/alerts/${SESSION}?instanceId=${INSTANCE}`, headers: key }],
  [400, { url: '/v1/query', headers: key }],
  [400, { url: '/v1/%zz', headers: key }],
  [400, { method: 'POST', url: '/v1/ingest', headers: json, payload: '{' }],
  [400, { method: 'POST', url: '/mcp', headers: json, payload: '{' }],
  [401, { url: QUERY }],
  [401, { url: QUERY, headers: { 'x-api-key': 'no' } }],
  [401, { method: 'POST', url: '/mcp', payload: '{}' }],
  [404, { url: '/v1/nothing', headers: key }],
  [404, { url: QUERY.replace(INSTANCE, FOREIGN_INSTANCE), headers: key }],
  [405, { url: '/mcp', headers: key }],
];

describe('an answer', () => {
  it('for a key is kept by no cache, told apart by key and never sniffed', async () => {
    const { app, errors } = createHarness();
    for (const [status, request] of KEYED) {
      const { statusCode, headers, body } = await app.inject(request);
      const name = `${request.method ?? 'GET'} ${String(request.url)}: ${body.slice(0, 100)}`;
      equal(statusCode, status, name);
      deepEqual(
        [headers['cache-control'], headers['x-content-type-options'], headers['vary']],
        ['no-store', 'nosniff', 'x-api-key, Authorization'],
        name,
      );
    }
    deepEqual(errors, []);
  });

  it('of too many requests and of our own faults says the same', async () => {
    const limited = createHarness({ limits: { requestsPerSecond: 1 } });
    const broken = createHarness({ run: () => Promise.reject(new Error('broke')) });
    await limited.app.inject({ url: QUERY, headers: key });
    for (const [status, { app }] of [
      [429, limited],
      [500, broken],
    ] as const) {
      const { statusCode, headers } = await app.inject({ url: QUERY, headers: key });
      deepEqual(
        [statusCode, headers['cache-control'], headers['x-content-type-options'], headers['vary']],
        [status, 'no-store', 'nosniff', 'x-api-key, Authorization'],
      );
    }
  });

  it('without a key is kept by no cache either, unless it is a file', async () => {
    const { app } = createHarness();
    for (const url of ['/livez', '/readyz', '/metrics', '/nothing', '/docs/nothing', '/%zz']) {
      const { headers } = await app.inject({ url });
      deepEqual([headers['cache-control'], headers['x-content-type-options']], ['no-store', 'nosniff'], url);
    }
  });

  it('to what is no HTTP says so, too', async () => {
    const { app } = createHarness();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('nonsense\r\n\r\n');
    const answer = await text(socket);
    const lines = answer.split('\r\n');
    equal(lines.includes('Cache-Control: no-store'), true, answer);
    equal(lines.includes('X-Content-Type-Options: nosniff'), true, answer);
    await app.close();
  });
});

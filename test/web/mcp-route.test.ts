import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY } from './support.ts';

const { version: packageVersion } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string };
const HEADERS = {
  'x-api-key': KEY,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

function post(body: unknown, headers: Record<string, string> = {}): InjectOptions {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', url: '/mcp', headers: { ...HEADERS, ...headers }, payload };
}

function call(name: string, args: unknown): InjectOptions {
  return post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
}

interface Called {
  readonly result: { readonly content: readonly { readonly text: string }[]; readonly isError?: boolean };
}

describe('POST /mcp', () => {
  it('answers each request by itself, with JSON and without a session', async () => {
    const { app } = createHarness();
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const first = await app.inject(post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
    equal(first.statusCode, 200);
    match(String(first.headers['content-type']), /^application\/json/);
    equal(first.headers['mcp-session-id'], undefined);
    const { instructions, serverInfo } = first.json<{
      result: { instructions: string; serverInfo: { version: string } };
    }>().result;
    match(instructions, /never follow instructions/);
    equal(serverInfo.version, packageVersion);
    const notified = await app.inject(post({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    deepEqual([notified.statusCode, notified.body], [202, '']);
    const listed = await app.inject(post({ jsonrpc: '2.0', id: 'b', method: 'tools/list' }));
    const { tools } = listed.json<{ result: { tools: { name: string; annotations: object }[] } }>().result;
    deepEqual(
      tools.map(({ name }) => name),
      ['overview', 'topics', 'why', 'conversations', 'transcript', 'changes', 'effects'],
    );
    for (const { annotations } of tools) ok('readOnlyHint' in annotations);
  });

  it('takes a key with the scope query, as a header of ours or as a bearer token', async () => {
    const bearer = { authorization: `Bearer ${KEY}`, 'x-api-key': '' };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    equal((await createHarness().app.inject(post(list, bearer))).statusCode, 200);
    const none = await createHarness().app.inject(post(list, { 'x-api-key': '' }));
    deepEqual([none.statusCode, none.headers['www-authenticate']], [401, 'Bearer realm="undertone"']);
    const other = await createHarness({ scopes: ['ingest'] }).app.inject(post('not read'));
    equal(other.statusCode, 403);
    match(String(other.headers['www-authenticate']), /error="insufficient_scope", scope="query"/);
  });

  it('counts against the limit of the key', async () => {
    const { app } = createHarness({ limits: { requestsPerSecond: 1 } });
    const list = post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    equal((await app.inject(list)).statusCode, 200);
    const refused = await app.inject(list);
    deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '1']);
  });

  it('counts what a tool asks as so many requests', async () => {
    const { app, asked } = createHarness({ limits: { requestsPerSecond: 100 } });
    const { headers } = await app.inject(call('topics', { instance: INSTANCE }));
    ok(asked.length > 1);
    equal(headers['x-ratelimit-remaining'], String(100 - asked.length));

    const strict = createHarness({ limits: { requestsPerSecond: 1 } });
    const answer = await strict.app.inject(call('topics', { instance: INSTANCE }));
    const { result } = answer.json<Called>();
    deepEqual([answer.statusCode, result.isError, strict.asked.length], [200, true, 1]);
    match(result.content[0]?.text ?? '', /More than 1 requests in one second/);
  });

  it('refuses pages of other sites and takes those of this machine', async () => {
    const { app } = createHarness();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example:80', 'nonsense'])
      equal((await app.inject(post(list, { origin }))).statusCode, 403, origin);
    for (const origin of [
      'http://localhost:6274',
      'http://127.0.0.1',
      'http://[::1]:3000',
      'http://app.localhost',
      'vscode-file://vscode-app',
    ])
      equal((await app.inject(post(list, { origin }))).statusCode, 200, origin);
  });

  it('has no stream and no session to end', async () => {
    const { app } = createHarness();
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const answer = await app.inject({ method, url: '/mcp', headers: HEADERS });
      deepEqual([answer.statusCode, answer.headers['allow']], [405, 'POST'], method);
    }
  });

  it('is counted like every route', async () => {
    const { app } = createHarness();
    await app.inject(call('overview', {}));
    const { body } = await app.inject({ url: '/metrics' });
    match(body, /undertone_http_requests_total\{method="POST",route="\/mcp",status="200"\} 1/);
  });

  it('is not there where queries are not served', async () => {
    equal((await createHarness({ serve: 'ingest' }).app.inject(call('overview', {}))).statusCode, 404);
  });

  it('answers a wrong argument, and an instance of another project, as an error of the tool', async () => {
    const { app } = createHarness();
    const rows: readonly (readonly [name: string, args: unknown, expected: RegExp])[] = [
      [
        'topics',
        { instance: INSTANCE, kinds: 'gaps' },
        /kinds is not an argument of topics.*Arguments of topics: kind/,
      ],
      ['topics', { instance: INSTANCE, limit: 1000 }, /limit must be a whole number from 1 to 100/],
      ['topics', { instance: INSTANCE, kind: 'x' }, /kind must be one of topics, clusters/],
      ['topics', { instance: INSTANCE, period: 'soon' }, /period must be like/],
      ['topics', 7, /arguments must be an object/],
      ['overview', { instance: FOREIGN_INSTANCE }, /There is no instance/],
      ['overview', {}, /has no instance/],
      ['transcript', { instance: INSTANCE, conversation: 'x' }, /conversation must be an id/],
      ['transcript', { instance: INSTANCE, conversation: FOREIGN_INSTANCE }, /There is no session/],
    ];
    for (const [name, args, expected] of rows) {
      const answer = await app.inject(call(name, args));
      equal(answer.statusCode, 200);
      if (typeof args !== 'object') continue;
      const { result } = answer.json<Called>();
      equal(result.isError, true, name);
      match(result.content[0]?.text ?? '', expected);
    }
    const unknown = await app.inject(call('erase', {}));
    equal(unknown.json<{ error: { code: number } }>().error.code, -32_602);
  });

  it('tells nothing of a failure in the service but that there is one', async () => {
    const harness = createHarness({ run: () => Promise.reject(new Error('secret detail')) });
    const answer = await harness.app.inject(call('topics', { instance: INSTANCE }));
    equal(answer.json<{ error: { code: number } }>().error.code, -32_603);
    ok(!answer.body.includes('secret'));
    equal(harness.errors.length, 1);
  });
});

describe('fuzzed, /mcp', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const meta = (version: string) => ({
    ...list,
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  });
  const bodies: readonly unknown[] = [
    '',
    '{',
    'null',
    '1',
    '"text"',
    '[]',
    [list, list],
    Array.from({ length: 200 }, () => list),
    {},
    { jsonrpc: '1.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', id: { a: 1 }, method: 'tools/list' },
    { jsonrpc: '2.0', id: null, method: 'tools/list' },
    { jsonrpc: '2.0', id: 1e308, method: 'tools/list' },
    { jsonrpc: '2.0', id: 1, method: 7 },
    { jsonrpc: '2.0', id: 1, method: 'no/such' },
    { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} },
    { jsonrpc: '2.0', id: 1, method: 'initialize' },
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 'x' } },
    { jsonrpc: '2.0', id: 1, method: 'tools/call' },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7, arguments: [] } },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__', arguments: {} } },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topics","arguments":${nested(60)}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topics","arguments":${nested(5000)}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topics","arguments":{"name":"${'x'.repeat(100_000)}"}}}`,
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{"x":1}}',
    meta('2026-07-28'),
    meta('2099-01-01'),
    meta(''),
    { ...meta('2026-07-28'), method: 'subscriptions/listen' },
  ];
  const headers: readonly Record<string, string>[] = [
    {},
    { 'mcp-protocol-version': '2025-06-18' },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    { 'mcp-protocol-version': '9999', 'mcp-session-id': 'x' },
    { accept: 'text/html' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
  ];

  it('answers everything with a status below 500, and what is no answer with an error', async () => {
    const { app, errors } = createHarness();
    for (const body of bodies) {
      for (const more of headers) {
        const answer = await app.inject(post(body, more));
        const what = `${JSON.stringify(more)} ${JSON.stringify(body).slice(0, 200)}: ${answer.body.slice(0, 300)}`;
        ok(answer.statusCode < 500, what);
        if (answer.statusCode === 202) continue;
        const json = answer.json<{ error?: unknown; result?: unknown }>();
        ok(answer.statusCode === 200 || json.error !== undefined, what);
        ok(json.error !== undefined || json.result !== undefined, what);
      }
    }
    deepEqual(errors, []);
  });
});

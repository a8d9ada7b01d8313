/** What routes without a key cost: bytes that are kept, and so many requests of an address. */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { LightMyRequestResponse } from 'fastify';
import { networkOf } from '../../src/web/address.ts';
import { createHarness, INSTANCE, KEY, type Harness } from './support.ts';

const FILES = [
  ['/', 'text/html; charset=utf-8'],
  ['/dashboard/page.js', 'text/javascript; charset=utf-8'],
  ['/dashboard/page.css', 'text/css; charset=utf-8'],
  ['/dashboard/icon.svg', 'image/svg+xml'],
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/', 'text/html; charset=utf-8'],
  ['/docs/json', 'application/json; charset=utf-8'],
  ['/docs/yaml', 'application/x-yaml'],
  ['/docs/static/swagger-ui-bundle.js', 'application/javascript; charset=utf-8'],
  ['/docs/static/swagger-initializer.js', 'application/javascript; charset=utf-8'],
  ['/docs/static/swagger-ui.css', 'text/css; charset=utf-8'],
] as const;

const QUERY = `/v1/query/?groupBy=TOPIC&fields=sessions&instanceId=${INSTANCE}`;

describe('files without a key', () => {
  const { app } = createHarness();
  const get = (url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
    app.inject({ url, headers });

  for (const [url, type] of FILES) {
    it(`${url} has a tag, and whoever has it gets 304`, async () => {
      const plain = await get(url);
      const zipped = await get(url, { 'accept-encoding': 'br, gzip;q=0.5' });
      equal(plain.headers['content-type'], type);
      equal(zipped.headers['content-encoding'], 'gzip');
      deepEqual(gunzipSync(zipped.rawPayload), plain.rawPayload);
      const tags = [plain, zipped].map(({ headers }) => String(headers['etag']));
      notEqual(tags[0], tags[1]);
      for (const { headers } of [plain, zipped]) {
        equal(headers['cache-control'], 'no-cache');
        equal(headers['vary'], 'Accept-Encoding');
        equal(headers['x-content-type-options'], 'nosniff');
      }
      for (const given of [tags[0], `"other", W/${tags[0]}`, '*']) {
        const answer = await get(url, { 'if-none-match': String(given) });
        deepEqual([answer.statusCode, answer.body, answer.headers['etag']], [304, '', tags[0]]);
      }
      const other = await get(url, { 'if-none-match': String(tags[1]) });
      equal(other.statusCode, 200);
      equal((await get(url, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined);
      const head = await app.inject({ method: 'HEAD', url });
      deepEqual([head.statusCode, head.body, head.headers['etag']], [200, '', tags[0]]);
    });
  }

  it('are made once: the same answer every time', async () => {
    for (const [url] of FILES) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => get(url)));
      equal(new Set(answers.map(({ headers }) => headers['etag'])).size, 1, url);
    }
  });
});

describe('requests without a key', () => {
  const statuses = async (harness: Harness, url: string, times: number, more = {}): Promise<number[]> => {
    const found: number[] = [];
    for (let i = 0; i < times; i += 1) found.push((await harness.app.inject({ url, ...more })).statusCode);
    return found;
  };

  it('are limited by address, and say so as those with a key do', async () => {
    const harness = createHarness({ limits: { openRequestsPerSecond: 3 } });
    deepEqual(await statuses(harness, '/openapi.json', 2), [200, 200]);
    deepEqual(await statuses(harness, '/nothing', 1), [404]);
    const refused = await harness.app.inject({ url: '/' });
    deepEqual(
      [refused.statusCode, refused.json().error.code, refused.headers['retry-after']],
      [429, 'RATE_LIMIT_EXCEEDED', '1'],
    );
    deepEqual([refused.headers['x-ratelimit-limit'], refused.headers['x-ratelimit-remaining']], ['3', '0']);
    deepEqual(await statuses(harness, '/docs/static/../x', 2), [429, 429]);
    deepEqual(await statuses(harness, '/', 1, { remoteAddress: '10.0.0.9' }), [200]);
    harness.time += 1000;
    deepEqual(await statuses(harness, '/', 1), [200]);
  });

  it('leave keys alone: who has one may ask as before', async () => {
    const harness = createHarness({ limits: { openRequestsPerSecond: 1 } });
    deepEqual(await statuses(harness, '/', 2), [200, 429]);
    deepEqual(await statuses(harness, QUERY, 3, { headers: { 'x-api-key': KEY } }), [200, 200, 200]);
    deepEqual(await statuses(harness, QUERY, 3), [401, 401, 401]);
  });

  it('of a probe are never refused, and those for metrics count apart from pages', async () => {
    const harness = createHarness({ limits: { openRequestsPerSecond: 2 } });
    deepEqual(await statuses(harness, '/', 3), [200, 200, 429]);
    for (const probe of ['/livez', '/readyz', '/livez?a', '/readyz/'])
      deepEqual(new Set(await statuses(harness, probe, 50)), new Set([200]));
    deepEqual(await statuses(harness, '/metrics', 3), [200, 200, 429]);
  });

  it('count for the address that a trusted proxy names, and for nobody else', async () => {
    const limits = { openRequestsPerSecond: 1, trustedProxies: ['10.0.0.0/8', '::1'] };
    const harness = createHarness({ limits });
    const from = (remoteAddress: string, forwarded: string): Promise<number[]> =>
      statuses(harness, '/', 1, { remoteAddress, headers: { 'x-forwarded-for': forwarded } });
    deepEqual(await from('10.1.2.3', '203.0.113.1'), [200]);
    deepEqual(await from('10.1.2.3', '203.0.113.2'), [200]);
    deepEqual(await from('::1', '198.51.100.7, 203.0.113.1, 10.9.9.9'), [429]);
    deepEqual(await from('192.0.2.1', '203.0.113.3'), [200]);
    deepEqual(await from('192.0.2.1', '203.0.113.4'), [429]);
    const untrusting = createHarness({ limits: { openRequestsPerSecond: 1 } });
    const more = { remoteAddress: '10.1.2.3', headers: { 'x-forwarded-for': '203.0.113.1' } };
    deepEqual(await statuses(untrusting, '/', 1, more), [200]);
    deepEqual(
      await statuses(untrusting, '/', 1, { ...more, headers: { 'x-forwarded-for': '203.0.113.2' } }),
      [429],
    );
  });

  it('of one IPv6 network count together', () => {
    for (const [ip, network] of [
      ['203.0.113.1', '203.0.113.1'],
      ['::ffff:203.0.113.1', '203.0.113.1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::', '2001:db8:1:2::/64'],
      ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['a::b:c:d:e:f:1', 'a:0:b:c::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['not an address', 'not an address'],
    ] as const)
      equal(networkOf(ip), network);
    ok(networkOf('2001:db8:1:3::1') !== networkOf('2001:db8:1:2::1'));
  });
});

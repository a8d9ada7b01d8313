import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { createHarness, INSTANCE, KEY } from '../support.ts';

const URL = '/dashboard/session';
const PAGE = { 'x-undertone-page': '1', host: 'example.com:8080' };

/** `name=value` of the cookie that an answer sets. */
const cookieOf = ({ headers }: LightMyRequestResponse): string =>
  String(headers['set-cookie']).split(';', 1)[0] ?? '';

describe('signing in to the page', () => {
  it('gives a cookie that no script and no other site can use, and that opens what the key opens', async () => {
    const { app } = createHarness();
    const opened = await app.inject({ method: 'POST', url: URL, headers: { ...PAGE, 'x-api-key': KEY } });
    equal(opened.statusCode, 200);
    match(
      String(opened.headers['set-cookie']),
      /^undertone8080=token-0; Path=\/; HttpOnly; SameSite=Strict; Expires=Sat, 01 Mar 2025 13:00:00 GMT$/,
    );
    ok(!opened.body.includes('token-0'));
    const cookie = `other=1; ${cookieOf(opened)}`;
    const key = await app.inject({ url: '/v1/key', headers: { ...PAGE, cookie } });
    equal(key.statusCode, 200);
    equal(key.json<{ keyId: string }>().keyId, `id of ${KEY}`);
  });

  it('is only over HTTPS where the page came over HTTPS', async () => {
    const { app } = createHarness({ limits: { trustedProxies: ['127.0.0.1'] } });
    const headers = { ...PAGE, 'x-api-key': KEY, 'x-forwarded-proto': 'https' };
    const opened = await app.inject({ method: 'POST', url: URL, headers });
    match(String(opened.headers['set-cookie']), /; Secure$/);
  });

  it('needs a key that is valid: a token that somebody else chose opens nothing', async () => {
    const { app, signedIn } = createHarness();
    const tries: Record<string, string>[] = [
      PAGE,
      { ...PAGE, 'x-api-key': `ut_test_${'x'.repeat(32)}` },
      { ...PAGE, cookie: 'undertone8080=chosen' },
    ];
    for (const headers of tries) {
      const answer = await app.inject({ method: 'POST', url: URL, headers });
      equal(answer.statusCode, 401, JSON.stringify(headers));
      equal(answer.headers['set-cookie'], undefined);
    }
    equal(signedIn.size, 0);
  });

  it('opens no second one with the cookie alone', async () => {
    const { app, signedIn } = createHarness();
    const opened = await app.inject({ method: 'POST', url: URL, headers: { ...PAGE, 'x-api-key': KEY } });
    const headers = { ...PAGE, cookie: cookieOf(opened) };
    equal((await app.inject({ method: 'POST', url: URL, headers })).statusCode, 401);
    equal(signedIn.size, 1);
  });

  it('does nothing for requests that the page did not make: links, images and forms of other sites', async () => {
    const { app, curated, asked } = createHarness();
    const opened = await app.inject({ method: 'POST', url: URL, headers: { ...PAGE, 'x-api-key': KEY } });
    const headers = { host: PAGE.host, cookie: cookieOf(opened) };
    const routes = [
      ['GET', `/v1/query?instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`],
      ['POST', '/v1/ingest'],
      ['POST', '/v1/curations'],
      ['POST', '/v1/topics'],
      ['POST', '/v1/alerts'],
      ['PATCH', `/v1/instances/${INSTANCE}`],
      ['DELETE', URL],
      ['POST', '/mcp'],
    ] as const;
    for (const [method, url] of routes)
      equal((await app.inject({ method, url, headers })).statusCode, 401, `${method} ${url}`);
    deepEqual([curated, asked], [[], []]);
    // A page of another site may not send the header: the service allows no other origin.
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: URL,
      headers: {
        ...headers,
        origin: 'https://example.org',
        'access-control-request-headers': 'x-undertone-page',
      },
    });
    equal(preflight.headers['access-control-allow-origin'], undefined);
    equal(preflight.headers['access-control-allow-headers'], undefined);
  });

  it('ends for ever', async () => {
    const { app } = createHarness();
    const opened = await app.inject({ method: 'POST', url: URL, headers: { ...PAGE, 'x-api-key': KEY } });
    const headers = { ...PAGE, cookie: cookieOf(opened) };
    const closed = await app.inject({ method: 'DELETE', url: URL, headers });
    equal(closed.statusCode, 204);
    match(String(closed.headers['set-cookie']), /^undertone8080=; .*Expires=Thu, 01 Jan 1970 00:00:00 GMT$/);
    const after = await app.inject({ url: '/v1/key', headers });
    equal(after.statusCode, 401);
    match(after.body, /no longer signed in/);
  });
});

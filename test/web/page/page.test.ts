import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createHarness } from '../support.ts';

describe('the dashboard', () => {
  it('loads everything from this server, and lets nothing else in', async () => {
    const { app } = createHarness();
    const page = await app.inject({ url: '/' });
    equal(page.statusCode, 200);
    const policy = String(page.headers['content-security-policy']);
    ok(
      policy.startsWith("default-src 'none'") && !policy.includes('unsafe') && !policy.includes('http'),
      policy,
    );
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
    deepEqual(sources, ['/dashboard/icon.svg', '/dashboard/page.css', '/dashboard/page.js']);
    for (const url of sources) {
      const answer = await app.inject({ url });
      equal(answer.statusCode, 200, url);
      // Of example.com the page only writes.
      ok(!/https?:\/\/(?!www\.w3\.org|example\.com\/)/.test(answer.body), `${url} names another host`);
    }
    equal((await app.inject({ url: '/dashboard/other.js' })).statusCode, 404);
  });

  it('weighs at most 150 KB compressed', async () => {
    const { app } = createHarness();
    let weight = 0;
    for (const url of ['/', '/dashboard/icon.svg', '/dashboard/page.css', '/dashboard/page.js']) {
      const answer = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } });
      equal(answer.headers['content-encoding'], 'gzip', url);
      ok(gunzipSync(answer.rawPayload).length > 0);
      weight += answer.rawPayload.length;
    }
    ok(weight < 150_000, `${weight} bytes`);
  });

  it('is not served where nothing can be read', async () => {
    equal((await createHarness({ serve: 'ingest' }).app.inject({ url: '/' })).statusCode, 404);
  });
});

import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DamagedObjectError,
  ObjectStore,
  ObjectStoreError,
} from '../../../src/store/objects/object-store.ts';
import { placeIn } from '../../../src/domain/object-place.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { startObjectStore, type TestObjectStore } from '../../support/object-store.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('an object store', () => {
  let server: TestObjectStore;
  const folder = temporaryDirectory();
  const file = (name: string): string => join(folder.path, name);
  before(async () => {
    server = await startObjectStore();
  });
  after(async () => {
    await server.close();
    folder.remove();
  });

  it('gives back what was written, also of some megabytes and under odd names', async () => {
    for (const [name, bytes] of [
      ['0/a', Buffer.from('one')],
      ['0/empty', Buffer.alloc(0)],
      ['1/b c é', Buffer.alloc(5_000_000, 'x')],
    ] as const) {
      writeFileSync(file('in'), bytes);
      await server.store.upload(name, file('in'));
      ok(await server.store.download(name, file('out'), sha256(bytes)));
      deepEqual(readFileSync(file('out')), bytes);
    }
    const listed = await server.store.list('1/');
    deepEqual(listed, ['1/b c é']);
    await server.store.remove('1/b c é');
    await server.store.remove('1/never was');
    deepEqual(await server.store.list('1/'), []);
    equal(await server.store.download('1/b c é', file('gone'), ''), false);
    ok(!existsSync(file('gone')));
  });

  it('lists all pages, and reads names as XML writes them', async () => {
    const asked: string[] = [];
    const page = (keys: readonly string[], token: string | null): string =>
      `<ListBucketResult>${keys
        .map(
          (key) =>
            `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`,
        )
        .join('')}<IsTruncated>${token !== null}</IsTruncated>${
        token === null ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`
      }</ListBucketResult>`;
    const pages = createServer(({ url = '' }, reply) => {
      asked.push(new URL(url, 'http://localhost').searchParams.get('continuation-token') ?? '');
      reply.end(
        asked.length === 1
          ? page(['views/a', 'views/b &amp; &lt;c&gt;'], 'x&amp;y=')
          : page(['views/d'], null),
      );
    });
    await new Promise<void>((listening) => pages.listen(0, '127.0.0.1', listening));
    const endpoint = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const listed = await new ObjectStore({ ...server.options, endpoint }).list('');
    deepEqual(listed, ['a', 'b & <c>', 'd']);
    deepEqual(asked, ['', 'x&y=']);
    pages.removeAllListeners('request');
    pages.on('request', (_, reply) => reply.end('<r><IsTruncated>true</IsTruncated></r>'));
    await rejects(new ObjectStore({ ...server.options, endpoint }).list(''), /does not end/);
    // What is written goes to no other place.
    pages.removeAllListeners('request');
    pages.on('request', (_, reply) =>
      reply.writeHead(307, { location: `${server.options.endpoint}/x` }).end(),
    );
    writeFileSync(file('in'), 'x');
    const before = server.requests.length;
    await rejects(
      new ObjectStore({ ...server.options, endpoint }).upload('0/x', file('in')),
      ObjectStoreError,
    );
    equal(server.requests.length, before);
    pages.closeAllConnections();
    pages.close();
  });

  it('leaves no file of an object with other content', async () => {
    writeFileSync(file('in'), 'content');
    await server.store.upload('0/other', file('in'));
    await rejects(
      server.store.download('0/other', file('other'), sha256(Buffer.from('else'))),
      DamagedObjectError,
    );
    ok(!readdirSync(folder.path).some((name) => name.startsWith('other')));
  });

  it('asks again after 500 and 429, and says what it gave up', async () => {
    writeFileSync(file('in'), 'again');
    const faults = [500, 429, 503];
    server.fault = () => faults.shift() ?? null;
    await server.store.upload('0/again', file('in'));
    server.fault = null;
    ok(await server.store.download('0/again', file('out'), sha256(Buffer.from('again'))));
    const stranger = new ObjectStore({ ...server.options, secretAccessKey: 'other' });
    await rejects(
      stranger.upload('0/refused', file('in')),
      (error) =>
        error instanceof ObjectStoreError && error.status === 403 && /PUT .*refused/.test(error.message),
    );
    const away = new ObjectStore({ ...server.options, endpoint: 'http://127.0.0.1:9' });
    await rejects(away.list(''), (error) => error instanceof ObjectStoreError && error.status === null);
  });

  it('does not answer where the content of an object breaks off', async () => {
    const breaking = createServer((_, reply) => {
      reply.writeHead(200, { 'content-length': '10' });
      reply.write('abc', () => reply.destroy());
    });
    await new Promise<void>((listening) => breaking.listen(0, '127.0.0.1', listening));
    const endpoint = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}`;
    const store = new ObjectStore({ ...server.options, endpoint });
    try {
      const read = store.download('a', file('broken'), sha256(Buffer.from('abc')));
      await rejects(read, (error) => error instanceof ObjectStoreError && error.status === null);
      equal(existsSync(file('broken')), false);
    } finally {
      breaking.closeAllConnections();
      breaking.close();
    }
  });

  it('waits for slow content, but not for content that comes no further', async () => {
    const quietMs = 300;
    const slow = createServer(async ({ url = '' }, reply) => {
      reply.writeHead(200, { 'content-length': '9' });
      for (const part of ['abc', 'def', 'ghi']) {
        reply.write(part);
        if (!url.endsWith('slow')) return;
        await sleep(quietMs / 2);
      }
      reply.end();
    });
    await new Promise<void>((listening) => slow.listen(0, '127.0.0.1', listening));
    const endpoint = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const store = new ObjectStore({ ...server.options, endpoint }, { quietMs });
    const digest = sha256(Buffer.from('abcdefghi'));
    const isNoAnswer = (error: unknown): boolean =>
      error instanceof ObjectStoreError && error.status === null && /in time/.test(String(error.cause));
    try {
      ok(await store.download('slow', file('slow'), digest));
      equal(readFileSync(file('slow'), 'utf8'), 'abcdefghi');
      await rejects(store.download('quiet', file('quiet'), digest), isNoAnswer);
      await rejects(store.list(''), isNoAnswer);
      const patient = new ObjectStore({ ...server.options, endpoint });
      const ending = new AbortController();
      const read = patient.download('quiet', file('quiet'), digest, ending.signal);
      setTimeout(() => ending.abort(new Error('given up')), quietMs);
      const startedAt = performance.now();
      await rejects(read);
      ok(performance.now() - startedAt < 10_000);
      deepEqual(
        readdirSync(folder.path).filter((name) => name.startsWith('quiet')),
        [],
      );
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  it('has a place that names a bucket and a prefix', () => {
    deepEqual(placeIn('s3://bucket/a/b/'), { bucket: 'bucket', prefix: 'a/b/' });
    deepEqual(placeIn('s3://bucket'), { bucket: 'bucket', prefix: '' });
    for (const url of ['http://bucket', 's3://', 's3://B', 's3:/bucket/x'])
      throws(() => placeIn(url), RangeError);
  });
});

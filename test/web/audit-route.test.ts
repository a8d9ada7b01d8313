import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AuditLog } from '../../src/web/registry/audit-log.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import { createHarness, INSTANCE, KEY, OTHER_KEY } from './support.ts';

const PAGE = { host: 'localhost:8080', 'x-undertone-page': '1' };

function harness() {
  const bucket = new MemoryBucket();
  return { bucket, ...createHarness({ audit: new AuditLog(bucket, () => new Date()) }) };
}

interface Answer {
  readonly elements: readonly {
    readonly action: string;
    readonly instanceId: string | null;
    readonly target: string | null;
  }[];
  readonly pagination: { readonly limit: number; readonly next: string | null };
}

describe('GET /v1/audit', () => {
  it('tells who signed in, exported and decided, the newest first, to the project alone', async () => {
    const { app } = harness();
    const headers = { 'x-api-key': KEY };
    await app.inject({ method: 'POST', url: '/dashboard/session', headers: { ...PAGE, ...headers } });
    const query = `/v1/query?instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`;
    await app.inject({ url: query, headers });
    await app.inject({ url: query, headers: { ...headers, accept: 'text/csv' } });
    const curation = { instanceId: INSTANCE, action: 'HIDE', topicId: INSTANCE };
    const decided = await app.inject({ method: 'POST', url: '/v1/curations', headers, payload: curation });
    equal(decided.statusCode, 201, decided.body);
    const answer = await app.inject({ url: '/v1/audit', headers });
    const { elements, pagination } = answer.json<Answer>();
    deepEqual(
      elements.map(({ action, instanceId, target }) => [action, instanceId, target]),
      [
        ['CURATE', INSTANCE, decided.json<{ curationId: string }>().curationId],
        ['EXPORT', INSTANCE, 'TOPIC'],
        ['SIGN_IN', null, null],
      ],
    );
    deepEqual(pagination, { limit: 50, next: null });
    const other = await app.inject({ url: '/v1/audit', headers: { 'x-api-key': OTHER_KEY } });
    deepEqual(other.json<Answer>().elements, []);
  });

  it('goes on behind a page, and refuses what is no cursor', async () => {
    const { app } = harness();
    const headers = { 'x-api-key': KEY };
    for (let time = 0; time < 3; time += 1)
      await app.inject({ method: 'POST', url: '/dashboard/session', headers: { ...PAGE, ...headers } });
    const read = async (more: string) => app.inject({ url: `/v1/audit?limit=2${more}`, headers });
    const first = (await read('')).json<Answer>();
    equal(first.elements.length, 2);
    const last = (await read(`&cursor=${first.pagination.next}`)).json<Answer>();
    deepEqual([last.elements.length, last.pagination.next], [1, null]);
    for (const wrong of ['&cursor=7', '&cursor=', '&more=1', '0000'])
      equal((await read(wrong)).statusCode, 400, wrong);
  });

  it('keeps a decision once, however often it is sent under one key', async () => {
    const { app } = harness();
    const headers = { 'x-api-key': KEY, 'idempotency-key': 'once' };
    const payload = { instanceId: INSTANCE, action: 'HIDE', topicId: INSTANCE };
    for (let time = 0; time < 2; time += 1)
      equal((await app.inject({ method: 'POST', url: '/v1/curations', headers, payload })).statusCode, 201);
    const { elements } = (await app.inject({ url: '/v1/audit', headers })).json<Answer>();
    equal(new Set(elements.map(({ target }) => target)).size, elements.length);
  });

  it('lets no export, sign-in or deletion happen that it cannot keep, and a decision is done all the same', async () => {
    const { app, bucket, errors } = harness();
    bucket.broken = true;
    const headers = { 'x-api-key': KEY, accept: 'text/csv' };
    const url = `/v1/query?instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`;
    const answer = await app.inject({ url, headers });
    deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '1']);
    const signIn = { method: 'POST', url: '/dashboard/session', headers: { ...PAGE, ...headers } } as const;
    equal((await app.inject(signIn)).statusCode, 503);
    const payload = { instanceId: INSTANCE, action: 'HIDE', topicId: INSTANCE };
    equal((await app.inject({ method: 'POST', url: '/v1/curations', headers, payload })).statusCode, 201);
    equal(
      errors.some((entry) => JSON.stringify(entry).includes('audit_not_recorded')),
      true,
    );
  });
});

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { AppError } from '../../src/errors.ts';
import { subjectLineSchema, type SubjectLine } from '../../src/query/subject-schema.ts';
import { AuditLog } from '../../src/web/registry/audit-log.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, SESSION, type Harness } from './support.ts';

const HEADERS = { 'x-api-key': KEY };
const UNKNOWN = '0192f0a0-0000-7000-8000-00000000000e';

const urlOf = (externalId: string, instanceId = INSTANCE): string =>
  `/v1/subjects/${encodeURIComponent(externalId)}/export?instanceId=${instanceId}`;
const get = async ({ app }: Pick<Harness, 'app'>, url: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers: { ...HEADERS, ...headers } });

interface Audited {
  readonly elements: readonly { action: string; instanceId: string; target: string }[];
}
const auditOf = async (harness: Harness) => (await get(harness, '/v1/audit')).json<Audited>().elements;

const END_USER: SubjectLine = {
  kind: 'END_USER',
  id: SESSION,
  externalId: 'ana',
  createdAt: null,
  lastActiveAt: null,
  sessions: 0,
  messages: 0,
  metadata: {},
};

/** A reader that remembers whether it was closed. */
function watched(rest: () => AsyncGenerator<readonly SubjectLine[]>) {
  const seen = { closed: 0 };
  const subjects = {
    async *read() {
      try {
        yield [END_USER];
        yield* rest();
      } finally {
        seen.closed += 1;
      }
    },
    digest: () => 'digest',
  };
  return { seen, subjects };
}

describe('http: exports of end users', () => {
  it('are lines, and are audited by a digest that names nobody', async () => {
    const harness = createHarness();
    const answer = await get(harness, urlOf('ana', INSTANCE.toUpperCase()), { 'x-wait-for-position': '7' });
    equal(answer.statusCode, 200, answer.body);
    equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8');
    equal(answer.headers['content-disposition'], 'attachment; filename="end-user.ndjson"');
    equal(answer.headers['cache-control'], 'no-store');
    equal(answer.headers['x-wait-result'], 'reached');
    ok(answer.body.endsWith('\n'));
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => subjectLineSchema.parse(JSON.parse(line)));
    deepEqual(
      lines.map((line) => [line.kind, line.kind === 'END' && line.lines]),
      [
        ['END_USER', false],
        ['END', 1],
      ],
    );
    const [done, ...others] = await auditOf(harness);
    deepEqual([done?.action, done?.instanceId, others], ['EXPORT_SUBJECT', INSTANCE, []]);
    ok(done !== undefined && done.target.length > 20 && !done.target.includes('ana'));
    await get(harness, urlOf('ana'));
    equal((await auditOf(harness))[0]?.target, done.target);
  });

  it('take any id that a message may have, percent-encoded', async () => {
    const asked: string[] = [];
    const harness = createHarness({ knows: (_, name) => asked.push(name) > 0 });
    const names = [
      'a/b/../c d',
      'Zoë 🧑‍🚀',
      '%2F%25',
      'x?y#z&w=1',
      'a+b;c,d:e@f',
      '/',
      ' ',
      '*',
      ':name',
      'ä'.repeat(512),
      'a\u0000b',
      'export',
    ];
    for (const name of names) {
      const answer = await get(harness, urlOf(name));
      deepEqual([answer.statusCode, JSON.parse(answer.body.split('\n')[0] ?? '').externalId], [200, name]);
    }
    deepEqual(asked, names);
    for (const [name, status] of [
      ['ä'.repeat(513), 400],
      ['x'.repeat(1025), 400],
      ['', 400],
    ] as const) {
      const answer = await get(harness, urlOf(name));
      equal(answer.statusCode, status, answer.body);
      deepEqual(
        errorEnvelopeSchema.parse(answer.json()).error.details?.map(({ path }) => path),
        ['externalId'],
      );
    }
    equal((await get(harness, `/v1/subjects/%ff/export?instanceId=${INSTANCE}`)).statusCode, 400);
    equal((await get(harness, '/v1/subjects/ana/export')).statusCode, 400);
    equal((await get(harness, `${urlOf('ana')}&limit=5`)).statusCode, 400);
  });

  it('of whom nobody knows, and in instances of others, are not found and not audited', async () => {
    const harness = createHarness();
    for (const url of [urlOf('Ana'), urlOf('ana', FOREIGN_INSTANCE), urlOf('ana', UNKNOWN)]) {
      const answer = await get(harness, url);
      equal(answer.statusCode, 404, url);
      ok(!answer.body.includes('Ana'), answer.body);
    }
    deepEqual(await auditOf(harness), []);
  });

  it('do not begin where they cannot be recorded', async () => {
    const bucket = new MemoryBucket();
    bucket.broken = true;
    const { seen, subjects } = watched(async function* () {});
    const harness = createHarness({ subjects, audit: new AuditLog(bucket, () => new Date()) });
    equal((await get(harness, urlOf('ana'))).statusCode, 503);
    equal(seen.closed, 1);
  });

  it('are broken off when they fail, and closed when their reader leaves', async () => {
    const failing = watched(async function* () {
      yield [END_USER];
      await sleep(5);
      throw new AppError('SERVICE_UNAVAILABLE', 'The stream cannot be read.');
    });
    const endless = watched(async function* () {
      for (;;) yield Array.from({ length: 100 }, () => END_USER);
    });
    for (const { subjects, seen } of [failing, endless]) {
      const { app } = createHarness({ subjects });
      const url = await app.listen({ port: 0 });
      try {
        const answer = await fetch(url + urlOf('ana'), { headers: HEADERS });
        equal(answer.status, 200);
        if (seen === failing.seen) await rejects(answer.text());
        else await answer.body?.cancel();
        for (let looks = 0; looks < 500 && seen.closed === 0; looks += 1) await sleep(10);
        equal(seen.closed, 1);
      } finally {
        await app.close();
      }
    }
  });
});

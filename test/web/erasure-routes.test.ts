import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { erasureListSchema, erasureSchema } from '../../src/contract/erasures.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { erasureRecord } from '../../src/domain/erasure-record.ts';
import { createPeople } from '../../src/web/people.ts';
import { AuditLog } from '../../src/web/registry/audit-log.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import {
  createHarness,
  FOREIGN_INSTANCE,
  INSTANCE,
  KEY,
  OTHER_KEY,
  PROJECT,
  readableDigest,
  SESSION,
  type Harness,
} from './support.ts';

const UNKNOWN = '0192f0a0-0000-7000-8000-00000000000e';
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };

const post = async ({ app }: Harness, body: unknown, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v1/erasures/',
    headers: { ...HEADERS, ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
const get = async ({ app }: Harness, path: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/v1/erasures${path}`, headers: { ...HEADERS, ...headers } });
const erasureIn = (answer: { json: () => unknown }) => erasureSchema.parse(answer.json());
/** A moment later. */
async function accepted(harness: Harness, body: unknown, headers: Record<string, string> = {}) {
  harness.time += 5;
  const answer = await post(harness, body, headers);
  equal(answer.statusCode, 202, answer.body);
  return erasureIn(answer);
}

describe('http: erasures', () => {
  it('are accepted once they are in the ledger and on the stream, and name nobody', async () => {
    const harness = createHarness();
    const targets = [
      [{ sessionId: SESSION.toUpperCase() }, 'SESSION', SESSION],
      [{ externalId: 'ana', reason: ' Request\n 4711 ' }, 'END_USER', 'ana'],
      [{ everything: true }, 'INSTANCE', INSTANCE],
      [{ messages: [9, 4, 9] }, 'MESSAGES', '4,9'],
    ] as const;
    for (const [body, kind, name] of targets) {
      const answer = await post(harness, { instanceId: INSTANCE.toUpperCase(), ...body });
      equal(answer.statusCode, 202, answer.body);
      const erasure = erasureIn(answer);
      deepEqual(erasure, {
        id: erasure.id,
        instanceId: INSTANCE,
        kind,
        state: 'ACCEPTED',
        reason: 'reason' in body ? 'Request 4711' : null,
        requestedBy: `id of ${KEY}`,
        requestedAt: new Date(harness.time).toISOString(),
        doneAt: null,
        receipt: null,
        fault: null,
        backups: [],
      });
      const kept = await harness.ledger.find(PROJECT, erasure.id);
      equal(kept?.digest, readableDigest(kind, INSTANCE, name));
      equal(answer.headers['x-stream-position'], String(kept.position));
      deepEqual(harness.erased.at(-1), erasureRecord(kept));
      ok(!answer.body.includes('digest'));
    }
    equal(harness.erased.length, 4);
  });

  it('take exactly one session, end user or everything', async () => {
    const harness = createHarness();
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'sessionId'],
      [{ sessionId: SESSION, externalId: 'ana' }, 'externalId'],
      [{ externalId: 'ana', everything: true }, 'everything'],
      [{ everything: false }, 'everything'],
      [{ sessionId: 'ana' }, 'sessionId'],
      [{ externalId: '' }, 'externalId'],
      [{ externalId: 'ä'.repeat(513) }, 'externalId'],
      [{ externalId: 'ana', reason: 'x'.repeat(501) }, 'reason'],
      [{ externalId: 'ana', reason: 'a\u202eb' }, 'reason'],
      [{ externalId: 'ana', instanceId: 'shop' }, 'instanceId'],
      [{ externalId: 'ana', more: 1 }, 'more'],
      [{ messages: [] }, 'messages'],
      [{ messages: [0] }, 'messages.0'],
      [{ messages: [1.5] }, 'messages.0'],
      [{ messages: [1], externalId: 'ana' }, 'messages'],
      [{ messages: Array.from({ length: 1001 }, (_, at) => at + 1) }, 'messages'],
    ];
    for (const [body, path] of wrong) {
      const answer = await post(harness, { instanceId: INSTANCE, ...body });
      const { code, details } = errorEnvelopeSchema.parse(answer.json()).error;
      deepEqual([code, details?.[0]?.path], ['VALIDATION_ERROR', path], answer.body);
    }
    for (const body of ['null', '[]', '{']) equal((await post(harness, body)).statusCode, 400, body);
    deepEqual([harness.erased, await harness.ledger.list()], [[], []]);
    await accepted(harness, { instanceId: INSTANCE, externalId: 'ana', reason: 'x'.repeat(500) });
  });

  it('are refused where nothing of it is known, and in instances of others', async () => {
    const harness = createHarness();
    for (const body of [
      { instanceId: INSTANCE, sessionId: UNKNOWN },
      { instanceId: INSTANCE, externalId: 'Ana' },
      { instanceId: UNKNOWN, everything: true },
      { instanceId: FOREIGN_INSTANCE, everything: true },
      { instanceId: FOREIGN_INSTANCE, sessionId: SESSION },
    ])
      equal((await post(harness, body)).statusCode, 404, JSON.stringify(body));
    deepEqual([harness.erased, await harness.ledger.list()], [[], []]);
    const audit = await harness.app.inject({ url: '/v1/audit', headers: HEADERS });
    deepEqual(audit.json<{ elements: unknown[] }>().elements, []);
  });

  it('wait for a position first, where one is given', async () => {
    const harness = createHarness();
    const body = { instanceId: INSTANCE, sessionId: SESSION };
    const answer = await post(harness, body, { 'x-wait-for-position': '7' });
    deepEqual([answer.statusCode, answer.headers['x-wait-result']], [202, 'reached']);
    deepEqual(harness.asked, [{ instanceId: INSTANCE, position: 7, timeoutMs: 5000 }]);
  });

  it('are one for one Idempotency-Key, also when nothing is left to be known', async () => {
    let isThere = true;
    const harness = createHarness({ knows: (_, name) => name === 'bo' && isThere });
    const body = { instanceId: INSTANCE, externalId: 'bo', reason: 'Asked by mail' };
    const once = { 'idempotency-key': 'once' };
    const first = await accepted(harness, body, once);
    await harness.ledger.change({ projectId: PROJECT, id: first.id }, { state: 'DONE' });
    isThere = false;
    deepEqual(await accepted(harness, body, once), { ...first, state: 'DONE' });
    equal(harness.erased.length, 1);
    equal((await post(harness, { ...body, externalId: 'ana' }, once)).statusCode, 409);
    equal((await post(harness, { ...body, reason: 'Another' }, once)).statusCode, 409);
    equal((await post(harness, body)).statusCode, 404);
    const { elements } = (await harness.app.inject({ url: '/v1/audit', headers: HEADERS })).json<{
      elements: { action: string; instanceId: string; target: string }[];
    }>();
    deepEqual(
      elements.map(({ action, instanceId, target }) => [action, instanceId, target]),
      [['ERASE', INSTANCE, first.id]],
    );
    ok(!JSON.stringify(elements).includes('bo"'));
  });

  it('do not begin where they cannot be recorded', async () => {
    const bucket = new MemoryBucket();
    bucket.broken = true;
    const harness = createHarness({ audit: new AuditLog(bucket, () => new Date()) });
    const answer = await post(harness, { instanceId: INSTANCE, everything: true });
    equal(answer.statusCode, 503);
    deepEqual([harness.erased, await harness.ledger.list()], [[], []]);
  });

  it('draw from the budget of messages', async () => {
    const harness = createHarness({ limits: { messagesPerSecond: 40 } });
    const body = { instanceId: INSTANCE, everything: true };
    deepEqual([(await post(harness, body)).statusCode, (await post(harness, body)).statusCode], [202, 429]);
  });

  it('are listed page by page and read one by one, by their project alone', async () => {
    const harness = createHarness();
    const made = [];
    for (let time = 0; time < 3; time += 1)
      made.unshift(await accepted(harness, { instanceId: INSTANCE, externalId: 'ana' }));
    const receipt = {
      messages: 4,
      sessions: 1,
      entries: 2,
      bytes: 900,
      deadLetters: 0,
      unreadableDeadLetters: 0,
      madeFrom: 'FACTS' as const,
    };
    const done = { state: 'DONE', doneAt: new Date(harness.time).toISOString(), receipt } as const;
    await harness.ledger.change({ projectId: PROJECT, id: made[0]!.id }, done);
    made[0] = { ...made[0]!, ...done };
    const list = async (search = '', headers = {}) =>
      erasureListSchema.parse((await get(harness, search, headers)).json());
    deepEqual(await list(), { elements: made, pagination: { limit: 50, next: null } });
    const page = await list('?limit=2');
    deepEqual(page, { elements: made.slice(0, 2), pagination: { limit: 2, next: made[1]?.id } });
    const rest = await list(`?limit=2&cursor=${page.pagination.next?.toUpperCase()}`);
    deepEqual(rest, { elements: made.slice(2), pagination: { limit: 2, next: null } });
    for (const erasure of made)
      deepEqual(erasureIn(await get(harness, `/${erasure.id.toUpperCase()}`)), erasure);

    for (const wrong of ['?limit=0', '?limit=1001', '?cursor=x', '?more=1', '/x', `/${UNKNOWN}?more=1`])
      equal((await get(harness, wrong)).statusCode, 400, wrong);
    const foreign = { 'x-api-key': OTHER_KEY };
    deepEqual((await list('', foreign)).elements, []);
    const unknown = await get(harness, `/${UNKNOWN}`);
    equal(unknown.statusCode, 404);
    match(unknown.body, new RegExp(`There is no erasure ${UNKNOWN}`));
    equal((await get(harness, `/${made[0].id}`, foreign)).statusCode, 404);
  });

  it('name the backups that still hold them, as of now', async () => {
    const harness = createHarness();
    const backup = (id: string, minutes: number, expiresAt: string | null = null) => ({
      id: `0192f0a0-0000-7000-8000-0000000000b${id}`,
      takenAt: new Date(harness.time + minutes * 60_000).toISOString(),
      lastSequence: 7,
      expiresAt,
      place: '/backups/secret-place',
      keysIn: expiresAt === null ? null : '/keys',
      destroyedAt: null,
    });
    const expiring = backup('1', -5, '2027-01-01T00:00:00.000Z');
    const forEver = backup('2', -9);
    const gone = backup('3', -7);
    for (const each of [expiring, forEver, gone]) await harness.backups.add(each);
    await harness.backups.destroyed(gone.id, new Date(harness.time));
    const publicPart = ({ id, takenAt, expiresAt }: typeof expiring) => ({ id, takenAt, expiresAt });
    const made = await accepted(harness, { instanceId: INSTANCE, externalId: 'ana' });
    deepEqual(made.backups, [publicPart(forEver), publicPart(expiring)]);

    // While it is open, a new backup holds it; afterwards, it does not.
    const meanwhile = backup('4', 1, '2027-01-02T00:00:00.000Z');
    await harness.backups.add(meanwhile);
    const readAgain = async () => {
      const answer = await get(harness, `/${made.id}`);
      ok(!answer.body.includes('secret-place'));
      const [listed] = erasureListSchema.parse((await get(harness, '')).json()).elements;
      deepEqual(listed, erasureIn(answer));
      return erasureIn(answer).backups.map(({ id }) => id);
    };
    deepEqual(await readAgain(), [forEver.id, expiring.id, meanwhile.id]);
    const doneAt = new Date(harness.time + 120_000).toISOString();
    await harness.ledger.change({ projectId: PROJECT, id: made.id }, { state: 'DONE', doneAt });
    await harness.backups.add(backup('5', 3));
    await harness.backups.destroyed(expiring.id, new Date(harness.time));
    deepEqual(await readAgain(), [forEver.id, meanwhile.id]);
  });

  it('are shown to whoever sees their instance', async () => {
    const people = createPeople({
      header: 'x-forwarded-email',
      groupsHeader: 'x-forwarded-groups',
      from: ['10.1.2.3'],
      scopes: new Map([['*', ['erase']]]),
      instances: new Map([
        ['a', new Set([INSTANCE])],
        ['b', new Set([UNKNOWN])],
      ]),
      projectId: async () => PROJECT,
    });
    const harness = createHarness({ people });
    const { id } = await accepted(harness, { instanceId: INSTANCE, everything: true });
    const seen = async (group: string) => {
      const headers = {
        'x-undertone-page': '1',
        'x-forwarded-email': 'ada@example.com',
        'x-forwarded-groups': group,
      };
      const ask = async (url: string) => harness.app.inject({ url, headers, remoteAddress: '10.1.2.3' });
      const { elements } = erasureListSchema.parse((await ask('/v1/erasures')).json());
      return [elements.length, (await ask(`/v1/erasures/${id}`)).statusCode];
    };
    deepEqual(
      [await seen('a'), await seen('b')],
      [
        [1, 200],
        [0, 404],
      ],
    );
  });
});

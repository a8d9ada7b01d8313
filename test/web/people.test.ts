import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { createPeople } from '../../src/web/people.ts';
import { createHarness, INSTANCE, KEY, OTHER_PROJECT, PROJECT } from './support.ts';

const PROXY = '10.1.2.3';
const ADA = { 'x-undertone-page': '1', 'x-forwarded-email': 'ada@example.com' };
const ADMIN = { ...ADA, 'x-forwarded-groups': 'staff, admins' };
const CURATION = { instanceId: INSTANCE, action: 'HIDE', topicId: INSTANCE };

function harness(project: string | null = PROJECT) {
  const people = createPeople({
    header: 'x-forwarded-email',
    groupsHeader: 'x-forwarded-groups',
    from: ['10.1.0.0/16', '::1'],
    scopes: new Map([
      ['*', ['query']],
      ['admins', ['query', 'curate']],
    ]),
    projectId: async () => project,
  });
  const made = createHarness({ people });
  const ask = async (options: InjectOptions): Promise<[number, Record<string, unknown>]> => {
    const answer = await made.app.inject({ remoteAddress: PROXY, ...options });
    return [answer.statusCode, answer.json()];
  };
  return { ...made, ask };
}

/** As Node reads what a proxy writes. */
const sent = (name: string): string => Buffer.from(name, 'utf8').toString('latin1');
const statusOf = ([status]: [number, unknown]): number => status;

describe('people whom a proxy has signed in', () => {
  it('may do what their groups may, under their name', async () => {
    const { ask, curated } = harness();
    deepEqual(await ask({ url: '/v1/key', headers: ADA }), [
      200,
      { keyId: 'ada@example.com', projectId: PROJECT, scopes: ['query'], drafts: true },
    ]);
    const decide = (headers: Record<string, string>) =>
      ask({ method: 'POST', url: '/v1/curations', headers, payload: CURATION });
    equal(statusOf(await decide(ADA)), 403);
    equal(statusOf(await decide(ADMIN)), 201);
    deepEqual(
      curated.map(({ keyId, projectId }) => [keyId, projectId]),
      [['ada@example.com', PROJECT]],
    );
    const [, audit] = await ask({ url: '/v1/audit', headers: ADA });
    equal((audit['elements'] as { keyId: string }[])[0]?.keyId, 'ada@example.com');
  });

  it('are nobody to any other address, whatever its headers say', async () => {
    const { ask } = harness();
    for (const remoteAddress of ['10.2.0.1', '127.0.0.1', '::2', '::ffff:10.2.0.1'])
      for (const more of [{}, { 'x-forwarded-for': PROXY }, { forwarded: `for=${PROXY}` }])
        equal(
          statusOf(await ask({ url: '/v1/key', headers: { ...ADMIN, ...more }, remoteAddress })),
          401,
          remoteAddress,
        );
    for (const remoteAddress of [PROXY, '::1', `::ffff:${PROXY}`])
      equal(statusOf(await ask({ url: '/v1/key', headers: ADMIN, remoteAddress })), 200, remoteAddress);
  });

  it('are not whom a page of another site asks for', async () => {
    const { ask, curated } = harness();
    const { 'x-undertone-page': _, ...headers } = ADMIN;
    equal(statusOf(await ask({ url: '/v1/key', headers })), 401);
    equal(statusOf(await ask({ method: 'POST', url: '/v1/curations', headers, payload: CURATION })), 401);
    deepEqual(curated, []);
  });

  it('have one plain name, and a project that is there', async () => {
    const { ask } = harness();
    for (const name of ['', ' ', 'ada, bob', 'a'.repeat(201), 'ada\u202emoc'])
      equal(
        statusOf(await ask({ url: '/v1/key', headers: { ...ADA, 'x-forwarded-email': sent(name) } })),
        401,
        name,
      );
    equal(statusOf(await harness(null).ask({ url: '/v1/key', headers: ADA })), 401);
    const [, other] = await harness(OTHER_PROJECT).ask({ url: '/v1/key', headers: ADA });
    equal(other['projectId'], OTHER_PROJECT);
    equal(
      statusOf(
        await harness(OTHER_PROJECT).ask({
          url: `/v1/query?instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`,
          headers: ADA,
        }),
      ),
      404,
    );
  });

  it('may have names of any script, but no name of a key', async () => {
    const { ask } = harness();
    const named = async (name: string): Promise<unknown> => {
      const [status, key] = await ask({
        url: '/v1/key',
        headers: { ...ADA, 'x-forwarded-email': sent(name) },
      });
      return status === 200 ? key['keyId'] : status;
    };
    deepEqual(
      [
        await named('Änne'),
        await named('jürgen@example.com'),
        await named('佐藤'),
        await named('key_0123456789abcdef'),
      ],
      ['Änne', 'jürgen@example.com', '佐藤', 401],
    );
  });

  it('are let in whatever a sign-in or a token of the proxy says that is no longer one of ours', async () => {
    const { ask } = harness();
    const host = 'localhost:8080';
    const cookie = `undertone8080=${'a'.repeat(43)}`;
    equal(statusOf(await ask({ url: '/v1/key', headers: { ...ADA, host, cookie } })), 200);
    equal(
      statusOf(await ask({ url: '/v1/key', headers: { ...ADA, authorization: 'Bearer eyJhbGciOi' } })),
      200,
    );
  });

  it('give way to a key of the request', async () => {
    const { ask } = harness();
    const [, key] = await ask({ url: '/v1/key', headers: { ...ADA, 'x-api-key': KEY } });
    equal(key['keyId'] === 'ada@example.com', false);
    equal(statusOf(await ask({ url: '/v1/key', headers: { ...ADA, 'x-api-key': 'ut_test_wrong' } })), 401);
  });
});

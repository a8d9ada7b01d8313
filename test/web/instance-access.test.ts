import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { ROUTES } from '../../src/contract/routes.ts';
import type { Route } from '../../src/contract/route.ts';
import { createPeople } from '../../src/web/people.ts';
import type { Instance } from '../../src/web/registry/registry.ts';
import { createHarness, INSTANCE, NOON, PROJECT, SESSION } from './support.ts';

const PROXY = '10.1.2.3';
/** Of the same project as INSTANCE; only group `b` sees it. */
const HIDDEN = '0192f0a0-0000-7000-8000-0000000000bb';
const UNKNOWN = '0192f0a0-0000-7000-8000-0000000000cc';
const PAGE = { 'x-undertone-page': '1', 'x-forwarded-email': 'ada@example.com' };
const GROUP_A = { ...PAGE, 'x-forwarded-groups': 'a' };

const instanceOf = (id: string, number: number): Instance => ({
  id,
  number,
  projectId: PROJECT,
  name: id,
  createdAt: new Date(NOON + number).toISOString(),
});
const ALL = [instanceOf(INSTANCE, 1), instanceOf(HIDDEN, 2)];

function harness() {
  const people = createPeople({
    header: 'x-forwarded-email',
    groupsHeader: 'x-forwarded-groups',
    from: [PROXY],
    scopes: new Map([['*', ['ingest', 'query', 'curate', 'erase']]]),
    instances: new Map([
      ['a', new Set([INSTANCE])],
      ['b', new Set([HIDDEN])],
      ['admins', null],
    ]),
    projectId: async () => PROJECT,
  });
  const made = createHarness({
    people,
    instances: {
      findInstance: async (id) => ALL.find((instance) => instance.id === id) ?? null,
      instancesOf: async (_, { limit, offset }) => ({
        instances: ALL.slice(offset, offset + limit),
        total: ALL.length,
      }),
      findDefaultInstance: async () => ALL[1] ?? null,
      createInstance: () => Promise.reject(new Error('an instance was made')),
      defaultInstance: () => Promise.reject(new Error('an instance was made')),
      changeInstance: async ({ id }) => ALL.find((instance) => instance.id === id) ?? null,
      issueSessionIds: async () => [SESSION],
    },
    projectOf: async (id) => (ALL.some((instance) => instance.id === id) ? PROJECT : null),
  });
  const ask = async (options: InjectOptions) => made.app.inject({ remoteAddress: PROXY, ...options });
  return { ...made, ask };
}

const ONES = [...ROUTES.ingest, ...ROUTES.query, ...ROUTES.always];

/** A request to a route about an instance, with all that the route needs. */
function requestTo({ method, path, instance, body, examples = {} }: Route, id: string): InjectOptions {
  const url = `/v1${path.replace('{instanceId}', id).replace(/\{\w+\}/, SESSION)}`;
  const example = Object.values(body?.content ?? {})[0]?.example as object | undefined;
  const payload = { ...example, ...(instance === 'body' ? { instanceId: id } : {}) };
  const sent = body === undefined ? {} : { payload };
  if (instance !== 'parameters') return { method, url, ...sent };
  const query = new URLSearchParams(
    Object.entries(examples).map(([name, value]): [string, string] => [name, String(value)]),
  );
  query.set('instanceId', id);
  return { method, url: `${url}?${query}`, ...sent };
}

const envelopeOf = (body: string, id: string): unknown => JSON.parse(body.replaceAll(id, 'ID'));

describe('the instances that somebody sees', () => {
  const named = ONES.filter(({ instance }) => instance !== undefined && instance !== 'own');

  it('are the only ones of every route that names one: the others are as unknown as one that is not there', async () => {
    const { ask } = harness();
    ok(named.length >= 20);
    for (const route of named) {
      const name = `${route.method} ${route.path}`;
      const seen = await ask({ ...requestTo(route, INSTANCE), headers: GROUP_A });
      ok(seen.statusCode < 300, `${name} ${seen.body}`);
      const refusals = [];
      for (const id of [HIDDEN, UNKNOWN]) {
        const { statusCode, body } = await ask({ ...requestTo(route, id), headers: GROUP_A });
        refusals.push([statusCode, envelopeOf(body, id)]);
      }
      deepEqual(refusals[0], [
        404,
        { error: { code: 'NOT_FOUND', message: 'There is no instance ID.' }, success: false },
      ]);
      deepEqual(refusals[0], refusals[1], name);
      const upper = await ask({ ...requestTo(route, HIDDEN.toUpperCase()), headers: GROUP_A });
      equal(upper.statusCode, 404, name);
    }
  });

  it('are all for members of a group that sees all, and none for whoever is in no group of the table', async () => {
    const { ask } = harness();
    for (const route of named) {
      const asked = requestTo(route, HIDDEN);
      const { statusCode } = await ask({ ...asked, headers: { ...PAGE, 'x-forwarded-groups': 'a, admins' } });
      ok(statusCode < 300, `${route.method} ${route.path}`);
      for (const headers of [PAGE, { ...PAGE, 'x-forwarded-groups': 'c,,A' }])
        equal((await ask({ ...requestTo(route, INSTANCE), headers })).statusCode, 404);
    }
  });

  it('close every route that does not say which instance it is about', async () => {
    const { ask, accepted } = harness();
    for (const { method, path } of ONES.filter(({ instance }) => instance === undefined)) {
      const sent = { payload: { messages: [{ role: 'user', content: 'a' }] } };
      const answer = await ask({ method, url: `/v1${path}`, ...sent, headers: GROUP_A });
      equal(answer.statusCode, 403, `${method} ${path} ${answer.body}`);
    }
    deepEqual(accepted, []);
  });

  it('are held in exports and in files', async () => {
    const { ask, asked } = harness();
    const query = ONES.find(({ path }) => path === '/query')!;
    for (const accept of ['text/csv', 'application/x-ndjson']) {
      const headers = { ...GROUP_A, accept };
      equal((await ask({ ...requestTo(query, HIDDEN), headers })).statusCode, 404);
      equal((await ask({ ...requestTo(query, INSTANCE), headers })).statusCode, 200);
    }
    deepEqual(new Set(asked.map(({ instanceId }) => instanceId)), new Set([INSTANCE]));
  });

  it('are the ones that are listed', async () => {
    const { ask } = harness();
    const list = async (groups: string, more = '') => {
      const headers = { ...PAGE, 'x-forwarded-groups': groups };
      const answer = (await ask({ url: `/v1/instances?limit=10${more}`, headers })).json<{
        elements: { id: string }[];
        pagination: { total: number };
      }>();
      return [answer.elements.map(({ id }) => id), answer.pagination.total];
    };
    deepEqual(await list('a'), [[INSTANCE], 1]);
    deepEqual(await list('b'), [[HIDDEN], 1]);
    deepEqual(await list('b', '&offset=1'), [[], 1]);
    deepEqual(await list('a,b'), [[INSTANCE, HIDDEN], 2]);
    deepEqual(await list('admins'), [[INSTANCE, HIDDEN], 2]);
    deepEqual(await list('none'), [[], 0]);
    deepEqual(await list('a', '&default=true'), [[], 0]);
    deepEqual(await list('b', '&default=true'), [[HIDDEN], 1]);
  });

  it('are those of the audit, beside what somebody did', async () => {
    const { ask } = harness();
    const bob = { ...PAGE, 'x-forwarded-email': 'bob@example.com', 'x-forwarded-groups': 'admins' };
    const hide = (instanceId: string): InjectOptions => ({
      method: 'POST',
      url: '/v1/curations',
      headers: bob,
      payload: { instanceId, action: 'HIDE', topicId: instanceId },
    });
    for (const id of [INSTANCE, HIDDEN]) equal((await ask(hide(id))).statusCode, 201);
    const read = async (headers: Record<string, string>): Promise<unknown> =>
      (await ask({ url: '/v1/audit', headers }))
        .json<{ elements: { instanceId: string }[] }>()
        .elements.map(({ instanceId }) => instanceId);
    deepEqual(await read(GROUP_A), [INSTANCE]);
    deepEqual(await read(PAGE), []);
  });

  it('are those of MCP', async () => {
    const { ask } = harness();
    const call = async (groups: string, name: string, given: object): Promise<string> =>
      (
        await ask({
          method: 'POST',
          url: '/mcp',
          headers: {
            ...PAGE,
            'x-forwarded-groups': groups,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
          },
          payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
        })
      ).body;
    const choices = await call('a', 'overview', { instance: 'nothing of this name' });
    deepEqual([choices.includes(INSTANCE), choices.includes(HIDDEN)], [true, false], choices);
    for (const instance of [HIDDEN, UNKNOWN]) {
      const refused = await call('a', 'overview', { instance });
      ok(refused.includes(`There is no instance ${instance}`), refused);
    }
    for (const groups of ['b', 'admins'])
      ok(!(await call(groups, 'overview', { instance: HIDDEN })).includes('There is no instance'));
  });
});

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEY_SCOPES, type KeyScope } from '../../src/domain/key-scopes.ts';
import { keySchema } from '../../src/contract/instances.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { createHarness, INSTANCE, KEY, PROJECT } from './support.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Every route below `/v1`, and the scope that it needs. */
const ROUTES: readonly (readonly [method: Method, path: string, scope: KeyScope])[] = [
  ['POST', '/v1/ingest', 'ingest'],
  ['POST', '/v1/ingest/batch', 'ingest'],
  ['POST', '/v1/feedback', 'ingest'],
  ['POST', '/v1/traces', 'ingest'],
  ['POST', '/v1/logs', 'ingest'],
  ['POST', '/v1/instances', 'ingest'],
  ['PATCH', `/v1/instances/${INSTANCE}`, 'ingest'],
  ['POST', `/v1/instances/${INSTANCE}/session-ids`, 'ingest'],
  ['POST', '/v1/curations', 'curate'],
  ['POST', '/v1/topics', 'curate'],
  ['POST', '/v1/labels', 'curate'],
  ['POST', '/v1/checks', 'curate'],
  ['GET', '/v1/checks', 'query'],
  ['POST', '/v1/alerts', 'curate'],
  ['GET', '/v1/alerts', 'query'],
  ['GET', `/v1/alerts/${INSTANCE}`, 'query'],
  ['DELETE', `/v1/alerts/${INSTANCE}`, 'curate'],
  ['POST', `/v1/alerts/${INSTANCE}/test`, 'curate'],
  ['POST', '/v1/erasures', 'erase'],
  ['GET', `/v1/instances/${INSTANCE}/masking`, 'erase'],
  ['PUT', `/v1/instances/${INSTANCE}/masking`, 'erase'],
  ['GET', '/v1/erasures', 'erase'],
  ['GET', `/v1/erasures/${INSTANCE}`, 'erase'],
  ['GET', `/v1/instances/${INSTANCE}/retention`, 'erase'],
  ['PUT', `/v1/instances/${INSTANCE}/retention`, 'erase'],
  ['DELETE', `/v1/instances/${INSTANCE}/retention`, 'erase'],
  ['GET', '/v1/retention', 'erase'],
  ['PUT', '/v1/retention', 'erase'],
  ['GET', '/v1/curations', 'query'],
  ['GET', `/v1/subjects/${INSTANCE}/export`, 'query'],
  ['GET', '/v1/instances', 'query'],
  ['GET', '/v1/query', 'query'],
  ['GET', '/v1/sessions', 'query'],
  ['GET', '/v1/overview', 'query'],
  ['GET', '/v1/digest', 'query'],
  ['GET', '/v1/audit', 'query'],
  ['GET', '/v1/links', 'query'],
  ['POST', '/v1/links', 'query'],
  ['DELETE', `/v1/links/${INSTANCE}`, 'query'],
  ['GET', '/v1/changes', 'query'],
  ['GET', '/v1/attributes', 'query'],
  ['GET', '/v1/differences', 'query'],
  ['GET', '/v1/effects', 'query'],
  ['GET', `/v1/gaps/${INSTANCE}/brief`, 'query'],
  ['POST', `/v1/gaps/${INSTANCE}/draft`, 'query'],
  ...['sessions', 'topics', 'topic-clusters', 'gaps', 'repeated-requests', 'labels', 'end-users'].map(
    (path) => ['GET', `/v1/${path}/${INSTANCE}`, 'query'] as const,
  ),
];

describe('the scopes of a key', () => {
  it('let it use the routes of theirs, and no other: 403 before parameters and body are read', async () => {
    for (const own of KEY_SCOPES) {
      const { app } = createHarness({ scopes: [own] });
      for (const [method, url, needed] of ROUTES) {
        // Neither the body nor the parameters would be accepted.
        const type = { 'content-type': 'text/plain' };
        const sent = method === 'GET' ? {} : { payload: 'no json', headers: type };
        const headers = { 'x-api-key': KEY, ...sent.headers };
        const answer = await app.inject({ method, ...sent, headers, url: `${url}?nonsense=1` });
        const { code, message } = errorEnvelopeSchema.parse(answer.json()).error;
        ok(answer.headers['x-ratelimit-limit']);
        if (own === needed) equal(answer.statusCode, 400, `${method} ${url} ${answer.body}`);
        else {
          deepEqual([answer.statusCode, code], [403, 'FORBIDDEN'], `${method} ${url} with ${own}`);
          equal(message, `The API key lacks the scope ${needed}; it has ${own}. Use a key with this scope.`);
        }
      }
    }
  });

  it('are of every operation of the document', async () => {
    const { paths } = (await createHarness().app.inject({ url: '/openapi.json' })).json<{
      paths: Readonly<
        Record<string, Readonly<Record<string, { responses: Readonly<Record<string, unknown>> }>>>
      >;
    }>();
    const tried = new Set(ROUTES.map(([method, url]) => `${method} ${url.replace(INSTANCE, 'ID')}`));
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        ok(operation.responses['403'], path);
        const name = `${method.toUpperCase()} ${path.replace(/\/$/, '').replace(/\{\w+\}/, 'ID')}`;
        ok(tried.has(name) || ['GET /v1/key', 'GET /v1/link'].includes(name), `${name} is not tried`);
      }
    }
  });

  it('are told by GET /v1/key, which needs none', async () => {
    for (const scopes of [KEY_SCOPES, ['query'], []] as const) {
      const { app } = createHarness({ scopes });
      const answer = await app.inject({ url: '/v1/key/', headers: { 'x-api-key': KEY } });
      deepEqual(keySchema.parse(answer.json()), {
        keyId: `id of ${KEY}`,
        projectId: PROJECT,
        scopes: [...scopes],
        drafts: true,
      });
      equal((await app.inject({ url: '/v1/key' })).statusCode, 401);
    }
    const none = createHarness({ scopes: [] }).app;
    const refused = await none.inject({ url: '/v1/query', headers: { 'x-api-key': KEY } });
    match(refused.body, /lacks the scope query; it has none that is known/);
    const unknown = await none.inject({ url: '/v1/nothing', headers: { 'x-api-key': KEY } });
    equal(unknown.statusCode, 404);
    const wrong = await none.inject({ url: '/v1/key?x=1', headers: { 'x-api-key': KEY } });
    equal(wrong.statusCode, 400);
  });

  it('are those of a key that comes as a bearer token, whatever the case of the word', async () => {
    const { app } = createHarness({ scopes: ['ingest'] });
    const ask = (headers: Record<string, string>) => app.inject({ url: '/v1/key', headers });
    for (const scheme of ['Bearer', 'bearer ', 'BEARER']) {
      const { keyId } = (await ask({ authorization: `${scheme} ${KEY}` })).json<{ keyId: string }>();
      equal(keyId, `id of ${KEY}`);
    }
    const wrong = { 'x-api-key': 'no', authorization: `Bearer ${KEY}` };
    equal((await ask(wrong)).statusCode, 401, 'x-api-key counts where there are both');
    for (const authorization of ['Bearer', `Basic ${KEY}`, KEY, `Bearer ${KEY} more`]) {
      const { error } = errorEnvelopeSchema.parse((await ask({ authorization })).json());
      equal(error.code, 'MISSING_API_KEY', authorization);
    }
  });

  it('are named in WWW-Authenticate where a key is refused', async () => {
    const { app } = createHarness({ scopes: ['ingest'] });
    const challenge = async (headers: Record<string, string>): Promise<unknown> =>
      (await app.inject({ url: '/v1/instances', headers })).headers['www-authenticate'];
    equal(await challenge({}), 'Bearer realm="undertone"');
    equal(await challenge({ 'x-api-key': 'no' }), 'Bearer realm="undertone", error="invalid_token"');
    equal(
      await challenge({ 'x-api-key': KEY }),
      'Bearer realm="undertone", error="insufficient_scope", scope="query"',
    );
  });
});

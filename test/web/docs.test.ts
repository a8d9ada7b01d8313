import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queryParameterSchemas } from '../../src/query/parameters.ts';
import { createHarness } from './support.ts';

const WHY = ['topics', 'topic-clusters', 'gaps', 'repeated-requests', 'labels', 'end-users'];

interface Operation {
  readonly parameters: readonly {
    name: string;
    in: string;
    required?: boolean;
    explode?: boolean;
    schema: { type: string };
  }[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly openapi: string;
  readonly webhooks?: Readonly<Record<string, { readonly post: Operation }>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: Record<string, unknown>; required: string[] }>>;
  };
}

async function documentOf(serve: 'all' | 'ingest' | 'query' = 'all'): Promise<Document> {
  const answer = await createHarness({ serve }).app.inject({ url: '/openapi.json' });
  equal(answer.statusCode, 200);
  return answer.json();
}

describe('OpenAPI document', () => {
  it('is version 3.1 with every operation, and with those that are served where not all are', async () => {
    const document = await documentOf();
    const always = [
      '/v1/instances/',
      '/v1/instances/{instanceId}/',
      '/v1/instances/{instanceId}/masking/',
      '/v1/instances/{instanceId}/session-ids/',
      '/v1/key/',
      '/v1/audit/',
    ];
    equal(document.openapi, '3.1.0');
    const reading = [
      '/v1/query/',
      '/v1/sessions/',
      '/v1/sessions/{sessionId}/',
      ...WHY.map((path) => `/v1/${path}/{id}/`),
      '/v1/changes/',
      '/v1/overview/',
      '/v1/attributes/',
      '/v1/differences/',
      '/v1/effects/',
      '/v1/gaps/{id}/brief/',
      '/v1/gaps/{id}/draft/',
      '/v1/digest/',
      '/v1/curations/',
      '/v1/topics/',
      '/v1/labels/',
      '/v1/checks/',
      '/v1/alerts/',
      '/v1/alerts/{id}/',
      '/v1/alerts/{id}/test/',
      '/v1/links/',
      '/v1/links/{id}/',
      '/v1/link/',
      '/v1/erasures/',
      '/v1/erasures/{id}/',
      '/v1/subjects/{externalId}/export/',
      '/v1/instances/{instanceId}/retention/',
      '/v1/retention/',
    ];
    const ingest = ['/v1/ingest/', '/v1/ingest/batch/', '/v1/feedback/', '/v1/traces/', '/v1/logs/'];
    deepEqual(Object.keys(document.paths), [...ingest, ...reading, ...always]);
    deepEqual(Object.keys((await documentOf('ingest')).paths), [...ingest, ...always]);
    deepEqual(Object.keys((await documentOf('query')).paths), [...reading, ...always]);
  });

  it('describes what instances are listed, made and renamed by', async () => {
    const { paths, components } = await documentOf();
    const list = paths['/v1/instances/']?.['get']?.parameters ?? [];
    deepEqual(
      list.map(({ name, schema }) => [name, schema.type]),
      [
        ['limit', 'integer'],
        ['offset', 'integer'],
        ['default', 'string'],
      ],
    );
    deepEqual(Object.keys(paths['/v1/instances/']?.['post']?.responses ?? {}).slice(0, 2), ['200', '201']);
    deepEqual(Object.keys(components.schemas['InstanceChange']?.properties ?? {}), [
      'name',
      'timeZone',
      'leaveOut',
    ]);
    deepEqual(components.schemas['Instance']?.required, ['id', 'name', 'timeZone', 'leaveOut', 'createdAt']);
  });

  it('has every query parameter that is validated, and no other', async () => {
    const parameters = (await documentOf()).paths['/v1/query/']?.['get']?.parameters ?? [];
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    deepEqual(names, Object.keys(queryParameterSchemas.shape));
    deepEqual(
      parameters.filter(({ required }) => required === true).map(({ name }) => name),
      ['groupBy', 'instanceId', 'fields'],
    );
    for (const { schema, explode } of parameters) if (schema.type === 'array') equal(explode, false);
  });

  it('describes the ingest body by the schema that validates', async () => {
    const schema = (await documentOf()).components.schemas['IngestRequest'];
    deepEqual(Object.keys(schema?.properties ?? {}), [
      'messages',
      'projectId',
      'instanceId',
      'sessionId',
      'metadata',
    ]);
    deepEqual(schema?.required, ['messages']);
  });

  it('describes what alerts post, by the schemas of the bodies', async () => {
    const { webhooks = {}, components } = await documentOf();
    deepEqual(Object.keys(webhooks), ['alert.fired', 'alert.held_back', 'alert.test', 'digest.weekly']);
    for (const { post } of Object.values(webhooks))
      deepEqual(
        post.parameters.map(({ name }) => name),
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      );
    deepEqual(components.schemas['AlertFired']?.required, ['type', 'timestamp', 'data']);
    equal((await documentOf('ingest')).webhooks, undefined);
  });

  it('resolves every reference within itself', async () => {
    const document = await documentOf();
    const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? [];
    ok(references.length > 0);
    for (const reference of references) {
      const name = /#\/components\/schemas\/(\w+)"/.exec(reference)?.[1] ?? '';
      ok(document.components.schemas[name] !== undefined, reference);
    }
  });
});

describe('documentation page', () => {
  it('loads everything from this server', async () => {
    const { app } = createHarness();
    const page = await app.inject({ url: '/docs' });
    equal(page.statusCode, 200);
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
    ok(sources.length >= 4);
    for (const source of sources) {
      ok(!/^(?:[a-z]+:)?\/\//i.test(source), source);
      const url = new URL(source, 'http://localhost/docs').pathname;
      equal((await app.inject({ url })).statusCode, 200, source);
    }
    const policy = String(page.headers['content-security-policy']);
    ok(policy.startsWith("default-src 'self'") && !policy.includes('http'), policy);
  });

  it('asks no validator on another host about the document', async () => {
    const script = await createHarness().app.inject({ url: '/docs/static/swagger-initializer.js' });
    ok(/validatorUrl: null/.test(script.body));
  });
});

/** That the document of the interface explains itself, and that its examples work. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { erasureSchema } from '../../src/contract/erasures.ts';
import { madeLinkSchema } from '../../src/contract/links.ts';
import { z } from 'zod';
import { createHarness, INSTANCE, KEY, PROJECT, SESSION } from './support.ts';

type Json = Readonly<Record<string, unknown>>;
const json = z.record(z.string(), z.unknown());

const parameterSchema = z.looseObject({
  name: z.string(),
  in: z.string(),
  description: z.string().optional(),
  required: z.boolean().optional(),
  example: z.unknown().optional(),
});
const operationSchema = z.looseObject({
  parameters: z.array(parameterSchema).default([]),
  requestBody: z
    .looseObject({
      content: z.record(z.string(), z.looseObject({ schema: json, example: z.unknown().optional() })),
    })
    .optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), headers: z.record(z.string(), json).default({}) }),
  ),
});
const documentSchema = z.looseObject({
  info: z.looseObject({ version: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ schemas: z.record(z.string(), json) }),
});

const answer = await createHarness().app.inject({ url: '/openapi.json' });
const document = documentSchema.parse(answer.json());
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Paths of members without a description. */
function undescribed(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const members = (schema as { properties?: Json }).properties ?? {};
  const own = Object.entries(members).flatMap(([name, member]) => {
    const text = (member as { description?: unknown }).description;
    return typeof text === 'string' && text.length > 0 ? [] : [`${path}.${name}`];
  });
  const inner = Object.entries(schema).flatMap(([name, value]) =>
    name === 'properties'
      ? Object.entries(members).flatMap(([member, part]) => undescribed(part, `${path}.${member}`))
      : undescribed(value, path),
  );
  return [...own, ...inner];
}

const MADE = {
  id: INSTANCE,
  number: 1,
  projectId: PROJECT,
  name: 'Shop',
  createdAt: '2026-03-02T09:30:00.000Z',
};

/** Makes and renames, as the registry would. */
const instances = {
  findInstance: async () => MADE,
  instancesOf: async () => ({ instances: [MADE], total: 1 }),
  findDefaultInstance: async () => MADE,
  createInstance: async () => MADE,
  defaultInstance: async () => ({ instance: MADE, made: false }),
  changeInstance: async () => MADE,
  issueSessionIds: async () => [],
};

describe('the description of the interface', () => {
  it('describes every member of every schema', () => {
    const missing = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      undescribed(schema, name),
    );
    deepEqual(missing, []);
  });

  it('describes every parameter, answer and header', () => {
    for (const { path, operation } of operations) {
      for (const { name, description } of operation.parameters) ok(description, `${path} ${name}`);
      for (const [status, { description, headers }] of Object.entries(operation.responses)) {
        ok(description.length > 5, `${path} ${status}`);
        for (const [name, header] of Object.entries(headers)) ok(header['description'], `${path} ${name}`);
        for (const name of ['Limit', 'Remaining', 'Reset']) ok(headers[`X-RateLimit-${name}`]);
      }
    }
    const headersOf = (path: string, method: string): string[] =>
      Object.keys(document.paths[path]?.[method]?.responses['200']?.headers ?? {});
    for (const name of ['X-Stream-Position', 'X-Warnings'])
      ok(headersOf('/v1/ingest/', 'post').includes(name));
    ok(headersOf('/v1/query/', 'get').includes('X-Wait-Result'));
  });

  it('says what each metric counts, its unit, and when it is null', () => {
    const schema = document.components.schemas['QueryResponse'];
    const text = JSON.stringify(schema);
    match(text, /Percent: \(sat - dsat\) \/ messages \* 100\..* Null without messages/);
    match(text, /Seconds from the first to the last message .* Null with fewer than two/);
    match(text, /A message may have several; each counts/);
  });

  it('tells its own version from that of the service', () => {
    equal(document.info.version, '1.0.0');
    match(document.info.description, /interface is at version 1\.0\.0; .* Undertone \d+\.\d+\.\d+\./);
  });

  it('has examples that the service takes as they are', async () => {
    const tried: string[] = [];
    for (const { path, method, operation } of operations) {
      const query = new URLSearchParams();
      for (const { name, in: place, required, example } of operation.parameters) {
        // The ids of one's own project are the only thing to fill in.
        const value = name === 'instanceId' ? INSTANCE : example;
        if (place !== 'query' || value === undefined) {
          ok(place !== 'query' || required !== true, `${path} ${name} has no example`);
          continue;
        }
        query.set(name, Array.isArray(value) ? value.join(',') : String(value));
      }
      const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {});
      const given = media?.example as Json | string | undefined;
      const example =
        typeof given === 'object' && 'instanceId' in given ? { ...given, instanceId: INSTANCE } : given;
      ok(operation.requestBody === undefined || example !== undefined, `${path} has no example`);
      const { app } = createHarness({ instances });
      const link = path.startsWith('/v1/link') ? await makeLink(app) : null;
      const id = link?.id ?? (path === '/v1/erasures/{id}/' ? await makeErasure(app) : SESSION);
      const result = await app.inject({
        method: method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
        url: `${path.replace('{instanceId}', INSTANCE).replace(/\{(?:sessionId|externalId|id)\}/, id)}?${query.toString()}`,
        headers: {
          'x-api-key': KEY,
          ...(path === '/v1/link/' && link !== null ? { 'x-undertone-link': link.token } : {}),
          ...(example === undefined ? {} : { 'content-type': type }),
        },
        ...(example === undefined
          ? {}
          : { payload: typeof example === 'string' ? example : JSON.stringify(example) }),
      });
      ok(result.statusCode >= 200 && result.statusCode < 300, `${method} ${path}: ${result.body}`);
      tried.push(`${method} ${path}`);
    }
    deepEqual(tried.slice(0, 2), ['post /v1/ingest/', 'post /v1/ingest/batch/']);
  });
});

/** For the route that names an erasure. */
async function makeErasure(app: FastifyInstance): Promise<string> {
  const made = await app.inject({
    method: 'POST',
    url: '/v1/erasures',
    headers: { 'x-api-key': KEY },
    payload: { instanceId: INSTANCE, everything: true },
  });
  return erasureSchema.parse(made.json()).id;
}

/** For the routes that name a link, or show one. */
async function makeLink(app: FastifyInstance): Promise<{ readonly id: string; readonly token: string }> {
  const made = await app.inject({
    method: 'POST',
    url: '/v1/links',
    headers: { 'x-api-key': KEY },
    payload: { instanceId: INSTANCE, view: 'view=overview' },
  });
  const { link, token } = madeLinkSchema.parse(made.json());
  return { id: link.id, token };
}

describe('the page', () => {
  it('shows our own name, and nothing of its maker', async () => {
    const { app } = createHarness();
    const page = await app.inject({ url: '/docs/' });
    equal(page.statusCode, 200);
    const script = (await app.inject({ url: '/docs/static/swagger-initializer.js' })).body;
    match(script, /data:image\/svg\+xml;base64|logo\.svg|PHN2Zy/);
    ok(!/favicon-\d+x\d+\.png/.test(page.body), 'no foreign favicon');
  });
});

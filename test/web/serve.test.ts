import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { declare, json, type Route } from '../../src/contract/route.ts';
import { ROUTES } from '../../src/contract/routes.ts';
import { serve } from '../../src/web/serve.ts';
import { AppError } from '../../src/errors.ts';
import { createHarness } from './support.ts';

const ID = '0190a000-0000-7000-8000-00000000000a';

const READ_THING = declare({
  method: 'GET',
  path: '/things/{thingId}',
  operationId: 'readThing',
  summary: 'Read a thing',
  description: 'A thing.',
  tag: 'Query',
  scope: 'query',
  id: 'The thing.',
  parameters: z.strictObject({ times: z.string().transform(Number) }),
  answer: { status: 202, description: 'The thing.', content: json('Thing', z.strictObject({})) },
  fails: [404],
});

function serving(answer: Parameters<typeof serve<typeof parameters>>[2]): FastifyInstance {
  const app = fastify();
  app.setErrorHandler((error, _, reply) =>
    reply
      .code(error instanceof AppError ? 400 : 500)
      .send(error instanceof AppError ? error.details : String(error)),
  );
  serve(app, READ_THING, answer);
  return app;
}
const { parameters } = READ_THING as { readonly parameters: NonNullable<typeof READ_THING.parameters> };

describe('serve', () => {
  it('gives id and parameters as the declaration reads them, and answers under its status', async () => {
    const app = serving(async ({ id, parameters: { times } }) => ({ id, twice: times * 2 }));
    const answer = await app.inject({ url: `/things/${ID.toUpperCase()}?times=21` });
    deepEqual([answer.statusCode, answer.json()], [202, { id: ID, twice: 42 }]);
  });

  it('asks nobody about what the declaration does not allow, and names the place', async () => {
    let asked = 0;
    const app = serving(async () => ({ asked: (asked += 1) }));
    for (const [url, path] of [
      ['/things/7?times=1', 'thingId'],
      [`/things/${ID}`, 'times'],
      [`/things/${ID}?times=1&times=2`, 'times'],
      [`/things/${ID}?times=1&more=2`, 'more'],
    ] as const) {
      const answer = await app.inject({ url });
      deepEqual([answer.statusCode, answer.json()[0].path], [400, path], url);
    }
    equal(asked, 0);
  });

  it('serves every declared route under its method, and no other one below /v1', async () => {
    const { app } = createHarness();
    const served = new Set<string>();
    app.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat())
        if (one !== 'HEAD' && url.startsWith('/v1/')) served.add(`${one} ${url}`);
    });
    await app.ready();
    const declared = Object.values(ROUTES)
      .flat()
      .map(({ method, path }) => `${method} /v1${path.replace('{', ':').replace('}', '')}`);
    deepEqual([...served].toSorted(), declared.toSorted());
  });

  it('has each operation once', () => {
    const names = Object.values(ROUTES)
      .flat()
      .flatMap((route) => [route.operationId, nameOf(route)]);
    equal(new Set(names).size, names.length);
  });
});

function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

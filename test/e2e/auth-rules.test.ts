/** Keys, the error envelope, methods, and the routes that need no key; one rule per row. */
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { queryParameterSchemas } from '../../src/query/parameters.ts';
import { Client, faultOf, idsOf, toSearch, type Answer } from '../support/client.ts';
import { curlRequest, fencedBlocks, shellCommands } from '../support/readme.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;
let instanceId: string;

const BODY = { messages: [{ role: 'user', userId: 'ada', content: 'Hello' }] };

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  ({ instanceId } = await client.ingest(BODY));
});
after(() => service?.stop());

const search = (): string => toSearch({ instanceId, groupBy: 'SESSION', fields: 'messages' });

/** Sends headers that `fetch` would not: repeated, or with a name in a case of its own. */
function rawAnswer(path: string, headers: string[], method = 'GET', body = ''): Promise<Answer> {
  return new Promise((done, fail) => {
    const all = ['host', new URL(service.url).host, ...headers];
    const sent = httpRequest(`${service.url}${path}`, { method, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
        done({
          status: response.statusCode ?? 0,
          headers: received,
          body: text === '' ? null : (JSON.parse(text) as unknown),
        });
      });
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

/** Writes bytes to the port and reads to the end. */
function rawBytes(bytes: string): Promise<string> {
  return new Promise((done, fail) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => done(text));
    socket.on('error', fail);
  });
}

const envelopeIn = (response: string): string =>
  errorEnvelopeSchema.parse(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).error.code;

const KEYS: readonly (readonly [rule: string, key: () => string, code: string])[] = [
  ['an empty key is a missing key', () => '', 'MISSING_API_KEY'],
  ['a blank key is a missing key', () => '  ', 'MISSING_API_KEY'],
  ['an unknown key is invalid', () => `ut_test_${'0'.repeat(32)}`, 'INVALID_API_KEY'],
  ['a key of another form is invalid', () => 'sk-123', 'INVALID_API_KEY'],
  ['a key in another case is invalid', () => project.key.toUpperCase(), 'INVALID_API_KEY'],
  ['a key that is cut off is invalid', () => project.key.slice(0, -1), 'INVALID_API_KEY'],
  ['a key with more behind it is invalid', () => `${project.key}0`, 'INVALID_API_KEY'],
  [
    'a test key said to be a live one is invalid',
    () => project.key.replace('test', 'live'),
    'INVALID_API_KEY',
  ],
  ['a key of 10,000 characters is invalid', () => 'k'.repeat(10_000), 'INVALID_API_KEY'],
  ['a key beyond ASCII is invalid', () => 'clé', 'INVALID_API_KEY'],
  ['two keys, separated by a comma, are invalid', () => `${project.key}, ${project.key}`, 'INVALID_API_KEY'],
  ["a key's digest is no key", () => project.keyId, 'INVALID_API_KEY'],
];

describe('authentication', { concurrency: 8 }, () => {
  for (const [rule, key, code] of KEYS) {
    it(`${rule}, for ingest and query`, async () => {
      const headers = { 'x-api-key': key() };
      faultOf(await client.post(BODY, headers), 401, code);
      faultOf(await client.send(`/v1/query/?${search()}`, { headers }), 401, code);
    });
  }

  const RULES: readonly (readonly [rule: string, check: () => Promise<void>])[] = [
    [
      'no key is MISSING_API_KEY and says that the x-api-key header is required',
      async () => {
        const fault = faultOf(await rawAnswer(`/v1/query/?${search()}`, []), 401, 'MISSING_API_KEY');
        match(fault.message, /x-api-key.*required/i);
      },
    ],
    [
      'a wrong key is INVALID_API_KEY and says invalid or inactive',
      async () => {
        const answer = await client.post(BODY, { 'x-api-key': 'ut_test_wrong' });
        match(faultOf(answer, 401, 'INVALID_API_KEY').message, /invalid or inactive/i);
      },
    ],
    [
      'keys look like ut_test_ or ut_live_ and 32 base-62 characters',
      async () => {
        match(project.key, /^ut_test_[0-9A-Za-z]{32}$/);
        match((await service.newKey(project, 'live')).key, /^ut_live_[0-9A-Za-z]{32}$/);
      },
    ],
    [
      'live and test keys of a project see the same',
      async () => {
        const live = new Client(service.url, (await service.newKey(project, 'live')).key);
        deepEqual(
          (await live.send(`/v1/query/?${search()}`)).body,
          (await client.send(`/v1/query/?${search()}`)).body,
        );
      },
    ],
    [
      'a new key works at once',
      async () => {
        for (let round = 0; round < 10; round += 1) {
          await new Client(service.url, (await service.newKey(project, 'test')).key).ingest(BODY);
        }
      },
    ],
    [
      'a revoked key stops working, and other keys of the project go on',
      async () => {
        const leaving = await service.newKey(project, 'test');
        const former = new Client(service.url, leaving.key);
        await former.ingest(BODY);
        await service.revokeKey(leaving.keyId);
        let answer = await former.post(BODY);
        const deadline = performance.now() + 5000;
        while (answer.status === 200 && performance.now() < deadline) answer = await former.post(BODY);
        faultOf(answer, 401, 'INVALID_API_KEY');
        await client.ingest(BODY);
      },
    ],
    [
      'the name of the header is of any case',
      async () => equal((await rawAnswer(`/v1/query/?${search()}`, ['X-API-KEY', project.key])).status, 200),
    ],
    [
      'two x-api-key headers are invalid',
      async () => {
        const headers = ['x-api-key', project.key, 'x-api-key', project.key];
        faultOf(await rawAnswer(`/v1/query/?${search()}`, headers), 401, 'INVALID_API_KEY');
      },
    ],
    [
      'a bearer token is a key where there is none in x-api-key',
      async () => {
        const bearer = ['Authorization', `Bearer ${project.key}`];
        equal((await rawAnswer(`/v1/query/?${search()}`, bearer)).status, 200);
        const both = await rawAnswer(`/v1/query/?${search()}`, [...bearer, 'x-api-key', 'ut_test_wrong']);
        faultOf(both, 401, 'INVALID_API_KEY');
        const basic = await rawAnswer(`/v1/query/?${search()}`, ['Authorization', `Basic ${project.key}`]);
        faultOf(basic, 401, 'MISSING_API_KEY');
      },
    ],
    [
      'a key in the address is no key',
      async () => {
        const answer = await rawAnswer(`/v1/query/?${search()}&x-api-key=${project.key}`, []);
        faultOf(answer, 401, 'MISSING_API_KEY');
      },
    ],
    [
      'the key is checked before the body is parsed',
      async () => {
        for (const body of ['{', '', '{"messages":[]}']) {
          const headers = ['content-type', 'text/plain'];
          faultOf(await rawAnswer('/v1/ingest/', headers, 'POST', body), 401, 'MISSING_API_KEY');
        }
      },
    ],
    [
      'the key is checked before the parameters are',
      async () => void faultOf(await rawAnswer('/v1/query/?x=1', []), 401, 'MISSING_API_KEY'),
    ],
    [
      'the key is checked before the route is known',
      async () => {
        faultOf(await rawAnswer('/v1/nothing', []), 401, 'MISSING_API_KEY');
        faultOf(await client.send('/v1/nothing'), 404, 'NOT_FOUND');
        faultOf(await client.send('/v1'), 404, 'NOT_FOUND');
        faultOf(await client.send('/v1/'), 404, 'NOT_FOUND');
      },
    ],
    [
      'one project does not see the instances of another, in either direction',
      async () => {
        const other = new Client(service.url, (await service.newProject()).key);
        const { instanceId: theirs } = await other.ingest(BODY);
        faultOf(await other.send(`/v1/query/?${search()}`), 404, 'NOT_FOUND');
        faultOf(
          await client.get({ instanceId: theirs, groupBy: 'TOPIC', fields: 'users' }),
          404,
          'NOT_FOUND',
        );
        equal((await other.get({ instanceId: theirs, groupBy: 'TOPIC', fields: 'users' })).status, 200);
      },
    ],
  ];
  for (const [rule, check] of RULES) it(rule, check);
});

describe('errors', { concurrency: 8 }, () => {
  for (const [method, path] of [
    ['GET', '/v1/ingest/'],
    ['PUT', '/v1/ingest/'],
    ['PATCH', '/v1/ingest'],
    ['DELETE', '/v1/ingest/'],
    ['OPTIONS', '/v1/ingest/'],
    ['POST', '/v1/query/'],
    ['PUT', '/v1/query'],
    ['DELETE', '/v1/query/'],
    ['OPTIONS', '/v1/query/'],
    ['GET', '/v1/ingest/more'],
    ['GET', '/v1/%69ngest%2f'],
    ['GET', '/v2/query/'],
    ['GET', '/v1query'],
    ['GET', '/V1/query/'],
    ['GET', '/../etc/passwd'],
    ['GET', '/%00'],
    ['POST', '/livez'],
  ] as const) {
    it(`${method} ${path} is NOT_FOUND in the envelope`, async () => {
      const fault = faultOf(await client.send(path, { method }), 404, 'NOT_FOUND');
      ok(fault.message.length > 10);
    });
  }

  it('HEAD of a route that is not there has no body', async () => {
    const answer = await client.send('/v1/ingest/', { method: 'HEAD' });
    deepEqual([answer.status, answer.body], [404, null]);
  });

  it('an address that cannot be decoded is BAD_REQUEST in the envelope, with rate limits under /v1', async () => {
    faultOf(await client.send('/%zz'), 400, 'BAD_REQUEST');
    faultOf(await client.send('/v1/%zz'), 400, 'BAD_REQUEST');
  });

  it('a query string that cannot be decoded is no reason to fail', async () => {
    faultOf(await client.send('/v1/query/?groupBy=%zz&instanceId=%ff'), 400, 'VALIDATION_ERROR');
  });

  it('what is no HTTP is BAD_REQUEST in the envelope', async () => {
    equal(envelopeIn(await rawBytes('HELLO\r\n\r\n')), 'BAD_REQUEST');
  });

  it('headers beyond every limit are BAD_REQUEST in the envelope', async () => {
    const header = `x-long: ${'x'.repeat(100_000)}`;
    equal(envelopeIn(await rawBytes(`GET /livez HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`)), 'BAD_REQUEST');
  });

  it('a request without Host is BAD_REQUEST in the envelope', async () => {
    for (const path of ['/livez', '/v1/query/']) {
      const head = `GET ${path} HTTP/1.1\r\nx-api-key: ${project.key}\r\nconnection: close\r\n\r\n`;
      const answer = await rawBytes(head);
      match(answer, /^HTTP\/1\.1 400 /);
      equal(envelopeIn(answer), 'BAD_REQUEST');
      equal(/x-ratelimit-reset/i.test(answer), path.startsWith('/v1'));
    }
  });

  it('an expectation that is not known is ignored', async () => {
    const head = 'GET /livez HTTP/1.1\r\nhost: x\r\nexpect: the-best\r\nconnection: close\r\n\r\n';
    match(await rawBytes(head), /^HTTP\/1\.1 200 /);
  });

  it('100-continue is answered, and the body taken', async () => {
    const body = JSON.stringify(BODY);
    const head =
      `POST /v1/ingest/ HTTP/1.1\r\nhost: x\r\nx-api-key: ${project.key}\r\ncontent-type: ` +
      `application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\nconnection: ` +
      'close\r\n\r\n';
    const answer = await rawBytes(head + body);
    match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it('a caller who goes away in the middle of a body harms nobody', async () => {
    await new Promise<void>((done) => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname, () => {
        const head =
          `POST /v1/ingest/ HTTP/1.1\r\nHost: x\r\nx-api-key: ${project.key}\r\ncontent-type: ` +
          'application/json\r\ncontent-length: 1000\r\n\r\n{"messages":';
        socket.write(head, () => socket.destroy());
      });
      socket.on('close', () => done());
    });
    await client.ingest(BODY);
  });

  it('messages of errors do not tell what the server is made of', async () => {
    for (const answer of [
      await client.post(null),
      await client.send('/v1/query/?groupBy=SESSION'),
      await client.post({ ...BODY, instanceId: randomUUID() }),
    ]) {
      ok(!/zod|fastify|duckdb|nats|\.ts\b|node_modules/i.test(JSON.stringify(answer.body)));
    }
  });

  it('each answer has a request id of its own', async () => {
    const ids = [await client.send('/livez'), await client.send('/livez')].map(({ headers }) =>
      headers.get('x-request-id'),
    );
    notEqual(ids[0], ids[1]);
  });

  it('X-RateLimit-Reset is a Unix timestamp in seconds', async () => {
    const answer = await client.post(BODY);
    idsOf(answer);
    const ahead = Number(answer.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    ok(ahead > -60 && ahead <= 1, `${ahead} seconds ahead`);
    equal(answer.headers.get('x-ratelimit-limit'), '1000');
  });
});

async function plain(path: string): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${service.url}${path}`);
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

type Json = { readonly [name: string]: Json } & readonly Json[] & string;

/** Every `$ref` of a document. */
function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' ? [String(member)] : refsIn(member),
  );
}

describe('routes without a key', { concurrency: 8 }, () => {
  it('/livez and /readyz answer 200', async () => {
    for (const path of ['/livez', '/readyz', '/livez/', '/readyz/']) {
      const { status, type } = await plain(path);
      deepEqual([status, type.split(';')[0]], [200, 'application/json'], path);
    }
  });

  it('/metrics is in the Prometheus format and counts requests by route and status', async () => {
    await client.ingest(BODY);
    const { status, type, text } = await plain('/metrics');
    equal(status, 200);
    match(type, /^text\/plain; version=0\.0\.4/);
    match(text, /^undertone_http_requests_total\{method="POST",route="\/v1\/ingest",status="200"\} \d+$/m);
    for (const line of text.split('\n').filter((content) => content !== ''))
      match(line, /^(?:# (?:HELP|TYPE) \S+ .+|[a-z_]\w*(?:\{.*\})? \S+)$/);
    ok(!text.includes(project.key));
    ok(!text.includes(instanceId));
  });

  it('/docs is a page that loads nothing from elsewhere', async () => {
    for (const path of ['/docs', '/docs/']) {
      const { status, type, text } = await plain(path);
      equal(status, 200);
      match(type, /^text\/html/);
      ok(!/(?:src|href)="(?:https?:)?\/\//.test(text));
      for (const [, asset = ''] of text.matchAll(/(?:src|href)="([^"#]+)"/g)) {
        const answer = await fetch(new URL(asset, `${service.url}/docs/`));
        equal(answer.status, 200, asset);
        await answer.arrayBuffer();
      }
    }
  });

  it('/openapi.json is OpenAPI 3.1: its references lead somewhere, its operations have ids and answers', async () => {
    const { status, type, text } = await plain('/openapi.json');
    equal(status, 200);
    match(type, /^application\/json/);
    const document = JSON.parse(text) as Json;
    match(document['openapi'] ?? '', /^3\.1\.\d+$/);
    equal(document['info']?.['version'], '1.0.0');
    for (const ref of refsIn(document)) {
      let target: Json | undefined = document;
      for (const name of ref.replace(/^#\//, '').split('/')) target = target?.[name];
      ok(target, ref);
    }
    const operations = [
      document['paths']?.['/v1/ingest/']?.['post'],
      document['paths']?.['/v1/query/']?.['get'],
    ];
    for (const operation of operations) {
      ok(operation?.['operationId']);
      for (const code of ['200', '400', '401', '404', '500'])
        ok(operation['responses']?.[code]?.['description']);
    }
    equal(document['components']?.['securitySchemes']?.['apiKey']?.['name'], 'x-api-key');
  });

  it('/openapi.json lists exactly the parameters that query takes', async () => {
    const document = JSON.parse((await plain('/openapi.json')).text) as Json;
    const parameters = document['paths']?.['/v1/query/']?.['get']?.['parameters'] ?? [];
    const inQuery = [...parameters].filter((parameter) => parameter['in'] === 'query');
    deepEqual(
      inQuery.map((parameter) => parameter['name']).sort(),
      Object.keys(queryParameterSchemas.shape).sort(),
    );
    deepEqual(
      inQuery.filter((parameter) => Boolean(parameter['required'])).map((parameter) => parameter['name']),
      ['groupBy', 'instanceId', 'fields'],
    );
  });
});

describe('docs/errors.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');
  const sections = page.split(/^### /m).slice(1);

  // The others need a service with other settings: limits-rules.test.ts holds them.
  for (const code of [
    'VALIDATION_ERROR',
    'BAD_REQUEST',
    'MISSING_API_KEY',
    'INVALID_API_KEY',
    'FORBIDDEN',
    'NOT_FOUND',
    'CONFLICT',
  ]) {
    it(`shows what the service answers with ${code}`, async () => {
      const section = sections.find((text) => text.startsWith(`${code}\n`)) ?? '';
      const [commands, outputs] = fencedBlocks(section);
      const variables = { URL: service.url, KEY: project.key, OTHER: instanceId };
      let last: unknown = null;
      for (const words of shellCommands(commands?.text ?? '', variables)) {
        last = await (await fetch(curlRequest(words))).json();
      }
      deepEqual(last, JSON.parse(outputs?.text ?? ''));
    });
  }
});

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { AppError } from '../../src/errors.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import {
  createHarness,
  FOREIGN_INSTANCE,
  INSTANCE,
  KEY,
  NOON,
  OTHER_KEY,
  PROJECT,
  SESSION,
} from './support.ts';
import type { Harness } from './support.ts';

const BODY = JSON.stringify({ messages: [{ content: 'hello' }] });
const QUERY = `/v1/query/?groupBy=TOPIC&fields=sessions&instanceId=${INSTANCE}`;

function post(
  changes: { headers?: Record<string, string | undefined>; body?: string | Buffer; url?: string } = {},
): InjectOptions {
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json', ...changes.headers };
  return {
    method: 'POST',
    url: changes.url ?? '/v1/ingest/',
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    payload: changes.body ?? BODY,
  };
}

function get(url: string, headers: Record<string, string> = { 'x-api-key': KEY }): InjectOptions {
  return { method: 'GET', url, headers };
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly details: readonly { path: string; message: string }[];
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends a request; an answer from 400 on must be a valid envelope. */
async function send(harness: Harness, request: InjectOptions): Promise<Answer> {
  const answer = await harness.app.inject(request);
  const { statusCode: status, headers, body: text } = answer;
  if (status < 400) return { status, code: undefined, message: '', details: [], headers, text };
  match(String(headers['content-type']), /^application\/json/);
  const { error } = errorEnvelopeSchema.parse(JSON.parse(text));
  return { status, code: error.code, message: error.message, details: error.details ?? [], headers, text };
}

describe('http: which error answers what', () => {
  const small = { limits: { bodyBytes: 1024 } };
  const deep = `{"messages":${'['.repeat(200)}${']'.repeat(200)}}`;
  const rows: [
    rule: string,
    request: InjectOptions,
    expected: [status: number, code: string],
    options?: Parameters<typeof createHarness>[0],
  ][] = [
    ['no key', post({ headers: { 'x-api-key': undefined } }), [401, 'MISSING_API_KEY']],
    ['an empty key is a missing one', post({ headers: { 'x-api-key': '' } }), [401, 'MISSING_API_KEY']],
    ['an unknown key', post({ headers: { 'x-api-key': 'ut_test_x' } }), [401, 'INVALID_API_KEY']],
    [
      'the key is checked before the body',
      post({ headers: { 'x-api-key': 'no' }, body: '{' }),
      [401, 'INVALID_API_KEY'],
    ],
    [
      'the key is checked before the size',
      post({ headers: { 'x-api-key': 'no' }, body: 'x'.repeat(5000) }),
      [401, 'INVALID_API_KEY'],
      small,
    ],
    ['no key on a query', get(QUERY, {}), [401, 'MISSING_API_KEY']],
    ['not JSON', post({ body: '{"messages":' }), [400, 'BAD_REQUEST']],
    ['no body', post({ body: '' }), [400, 'BAD_REQUEST']],
    ['no body and no type', post({ body: '', headers: { 'content-type': undefined } }), [400, 'BAD_REQUEST']],
    ['wrong content type', post({ headers: { 'content-type': 'text/plain' } }), [400, 'BAD_REQUEST']],
    ['malformed content type', post({ headers: { 'content-type': 'json' } }), [400, 'BAD_REQUEST']],
    [
      'another charset',
      post({ headers: { 'content-type': 'application/json; charset=latin1' } }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'bad UTF-8',
      post({ body: Buffer.from('{"messages":[{"content":"\xe9"}]}', 'latin1') }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'a lone surrogate in UTF-8',
      post({ body: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'a __proto__ member',
      post({ body: '{"messages":[{"content":"a","metadata":{"__proto__":{"x":1}}}]}' }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'an escaped __proto__ member',
      post({ body: '{"messages":[{"content":"a","metadata":{"\\u005f_proto__":{}}}]}' }),
      [400, 'BAD_REQUEST'],
    ],
    ['great depth', post({ body: deep }), [400, 'VALIDATION_ERROR']],
    ['JSON of another shape', post({ body: '[]' }), [400, 'VALIDATION_ERROR']],
    ['JSON null', post({ body: 'null' }), [400, 'VALIDATION_ERROR']],
    [
      'too large',
      post({ body: JSON.stringify({ messages: [{ content: 'x'.repeat(2000) }] }) }),
      [413, 'PAYLOAD_TOO_LARGE'],
      small,
    ],
    [
      'too large once inflated (gzip)',
      post({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(2 ** 20)) }),
      [413, 'PAYLOAD_TOO_LARGE'],
      small,
    ],
    [
      'too large once inflated (br)',
      post({ headers: { 'content-encoding': 'br' }, body: brotliCompressSync(Buffer.alloc(2 ** 20)) }),
      [413, 'PAYLOAD_TOO_LARGE'],
      small,
    ],
    [
      'too large once inflated (zstd)',
      post({ headers: { 'content-encoding': 'zstd' }, body: zstdCompressSync(Buffer.alloc(2 ** 20)) }),
      [413, 'PAYLOAD_TOO_LARGE'],
      small,
    ],
    ['damaged gzip', post({ headers: { 'content-encoding': 'gzip' } }), [400, 'BAD_REQUEST']],
    [
      'gzip cut short',
      post({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(BODY).subarray(0, -6) }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'br cut short',
      post({ headers: { 'content-encoding': 'br' }, body: brotliCompressSync(BODY).subarray(0, -6) }),
      [400, 'BAD_REQUEST'],
    ],
    [
      'zstd cut short',
      post({ headers: { 'content-encoding': 'zstd' }, body: zstdCompressSync(BODY).subarray(0, -6) }),
      [400, 'BAD_REQUEST'],
    ],
    ['unknown encoding', post({ headers: { 'content-encoding': 'deflate' } }), [400, 'BAD_REQUEST']],
    ['two encodings', post({ headers: { 'content-encoding': 'gzip, gzip' } }), [400, 'BAD_REQUEST']],
    ['unknown route', get('/v1/nothing'), [404, 'NOT_FOUND']],
    ['unknown route outside /v1, without a key', get('/nothing', {}), [404, 'NOT_FOUND']],
    ['unknown route with a bad body', post({ url: '/v1/nothing', body: '{' }), [404, 'NOT_FOUND']],
    ['wrong method on ingest', get('/v1/ingest/'), [404, 'NOT_FOUND']],
    ['wrong method on query', post({ url: QUERY }), [404, 'NOT_FOUND']],
    ['malformed path', get('/v1/%zz'), [400, 'BAD_REQUEST']],
    ['query not served', get(QUERY), [404, 'NOT_FOUND'], { serve: 'ingest' }],
    ['ingest not served', post(), [404, 'NOT_FOUND'], { serve: 'query' }],
    ['an unknown instance', get(QUERY.replace(INSTANCE, SESSION)), [404, 'NOT_FOUND']],
    ['an instance of another project', get(QUERY.replace(INSTANCE, FOREIGN_INSTANCE)), [404, 'NOT_FOUND']],
    ['an invalid query', get('/v1/query/'), [400, 'VALIDATION_ERROR']],
  ];
  for (const [rule, request, [status, code], options] of rows) {
    it(rule, async () => {
      const harness = createHarness(options);
      const answer = await send(harness, request);
      deepEqual([answer.status, answer.code], [status, code], answer.text);
      deepEqual([harness.accepted, harness.errors], [[], []]);
      if (request.url?.toString().startsWith('/v1') === true) {
        equal(answer.headers['x-ratelimit-limit'], '1000');
        equal(answer.headers['x-ratelimit-remaining'], '999');
        equal(answer.headers['x-ratelimit-reset'], String(Math.floor(NOON / 1000) + 1));
      }
      await harness.app.close();
    });
  }

  it('answers an unknown instance and one of another project alike', async () => {
    const harness = createHarness();
    const unknown = await send(harness, get(QUERY.replace(INSTANCE, SESSION)));
    const foreign = await send(harness, get(QUERY.replace(INSTANCE, FOREIGN_INSTANCE)));
    equal(foreign.text.replace(FOREIGN_INSTANCE, SESSION), unknown.text);
  });

  it('hides what went wrong inside, and logs it with the id that it answers', async () => {
    const harness = createHarness({ accept: () => Promise.reject(new Error('secret at /home/x')) });
    const answer = await send(harness, post());
    deepEqual([answer.status, answer.code], [500, 'INTERNAL_ERROR']);
    ok(!answer.text.includes('secret') && !answer.text.includes('.ts'), answer.text);
    const [logged] = harness.errors as { requestId: string; err: Error }[];
    equal(logged?.err.message, 'secret at /home/x');
    ok(answer.message.includes(logged?.requestId ?? '-'));
    equal(answer.headers['x-request-id'], logged?.requestId);
  });

  it('passes on the code, details and Retry-After of an AppError', async () => {
    const error = new AppError('SERVICE_UNAVAILABLE', 'full', {
      retryAfter: 2.5,
      details: [{ path: 'a', message: 'b' }],
    });
    const answer = await send(createHarness({ accept: () => Promise.reject(error) }), post());
    deepEqual(
      [answer.status, answer.headers['retry-after'], answer.details],
      [503, '3', [{ path: 'a', message: 'b' }]],
    );
  });
});

describe('http: ingest', () => {
  it('answers the ids and the stream position', async () => {
    const harness = createHarness();
    const answer = await send(harness, post());
    equal(answer.status, 200);
    deepEqual(JSON.parse(answer.text), { instanceId: INSTANCE, sessionId: SESSION });
    equal(answer.headers['x-stream-position'], '42');
    deepEqual(harness.accepted, [{ projectId: PROJECT, contents: ['hello'], idempotencyKey: undefined }]);
  });

  const encodings: [string, string | undefined, Buffer][] = [
    ['plain', undefined, Buffer.from(BODY)],
    ['gzip', 'gzip', gzipSync(BODY)],
    ['gzip in upper case', 'GZIP', gzipSync(BODY)],
    ['br', 'br', brotliCompressSync(BODY)],
    ['zstd', 'zstd', zstdCompressSync(BODY)],
    ['identity', 'identity', Buffer.from(BODY)],
    ['with a byte order mark', undefined, Buffer.from(`\ufeff${BODY}`)],
  ];
  for (const [name, encoding, body] of encodings) {
    it(`reads a body: ${name}`, async () => {
      for (const inlineBytes of [2 ** 16, 0]) {
        const harness = createHarness({ inlineBytes });
        const answer = await send(harness, post({ headers: { 'content-encoding': encoding }, body }));
        equal(answer.status, 200, answer.text);
        deepEqual(harness.accepted[0]?.contents, ['hello']);
        await harness.app.close();
      }
    });
  }

  for (const type of [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
  ]) {
    it(`takes the content type ${type}`, async () => {
      equal((await send(createHarness(), post({ headers: { 'content-type': type } }))).status, 200);
    });
  }

  it('is the same with and without the trailing slash', async () => {
    equal((await send(createHarness(), post({ url: '/v1/ingest' }))).status, 200);
  });

  it('takes a text that speaks of __proto__', async () => {
    const body = JSON.stringify({ messages: [{ content: '"__proto__": 1' }] });
    equal((await send(createHarness(), post({ body }))).status, 200);
  });

  it('hands on the Idempotency-Key', async () => {
    const harness = createHarness();
    await send(harness, post({ headers: { 'idempotency-key': 'k'.repeat(255) } }));
    equal(harness.accepted[0]?.idempotencyKey, 'k'.repeat(255));
  });

  for (const [name, key] of [
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['not printable', 'a\tb'],
    ['not ASCII', 'é'],
  ] as const) {
    it(`refuses an Idempotency-Key that is ${name}`, async () => {
      const answer = await send(createHarness(), post({ headers: { 'idempotency-key': key } }));
      deepEqual([answer.code, answer.details[0]?.path], ['VALIDATION_ERROR', 'Idempotency-Key']);
    });
  }

  it('names what it ignores and what it does not analyse, and counts both', async () => {
    const harness = createHarness();
    const body = JSON.stringify({
      messages: [
        { content: 'a', timestamp: 1, role: 'moderator' },
        { content: 'b', timestamp: 2, 'x"\u001b': 1, role: 'Client' },
      ],
    });
    const answer = await send(harness, post({ body }));
    equal(
      answer.headers['x-warnings'],
      'unknown-member "messages.timestamp" in 2 messages: ignored; ' +
        'unknown-member "messages.x\\"\\u001b" in 1 message: ignored; ' +
        'unknown-role "moderator" in 1 message: counted, not analysed',
    );
    const { text } = await send(harness, get('/metrics', {}));
    match(text, /undertone_ingest_warnings_total\{kind="unknown-member"\} 3/);
    match(text, /undertone_ingest_warnings_total\{kind="unknown-role"\} 1/);
    equal((await send(harness, post())).headers['x-warnings'], undefined);
  });

  it('answers 503 when the bodies being held reach their limit, and recovers', async () => {
    const gate = Promise.withResolvers<void>();
    const harness = createHarness({
      limits: { bodyBytes: 2048, inflightBytes: 3000 },
      accept: async () => {
        await gate.promise;
        return { instanceId: INSTANCE, sessionId: SESSION, position: 1 };
      },
    });
    const body = JSON.stringify({ messages: [{ content: 'x'.repeat(1800) }] });
    const first = send(harness, post({ body }));
    await new Promise((resolve) => setImmediate(resolve));
    const second = await send(harness, post({ body }));
    deepEqual([second.status, second.code, second.headers['retry-after']], [503, 'SERVICE_UNAVAILABLE', '1']);
    gate.resolve();
    equal((await first).status, 200);
    equal((await send(harness, post({ body }))).status, 200);
  });
});

describe('http: what an error repeats of a request', () => {
  it('is cut and has no control characters, however long the names', async () => {
    const harness = createHarness();
    const long = 'x'.repeat(8_000_000);
    const bodies = [
      { messages: [{ content: 'a' }], [long]: 1 },
      {
        messages: [{ content: 'a' }],
        ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}${'y'.repeat(20_000)}`, 1])),
      },
      { messages: [{ content: 'a', metadata: { [long]: JSON.parse('['.repeat(80) + ']'.repeat(80)) } }] },
      { messages: [{ content: 'a' }], '\u001b[31mred\u0007\u202e\ud800': 1 },
    ];
    for (const body of bodies) {
      const answer = await send(harness, post({ body: JSON.stringify(body) }));
      equal(answer.code, 'VALIDATION_ERROR');
      ok(answer.text.length < 100_000, `${answer.text.length} characters`);
      for (const { path } of answer.details) ok(path.length <= 200, `${path.length} characters of a path`);
      ok(answer.message.length <= 1000);
      doesNotMatch(`${answer.message}${answer.details[0]?.path}`, /[\p{C}]/u);
    }
    const query = await send(harness, get(`${QUERY}&${'z'.repeat(30_000)}=1&%1b%5b31m=2`));
    ok(query.text.length < 3000, `${query.text.length} characters`);
    doesNotMatch(`${query.message}${query.details.map(({ path }) => path).join()}`, /[\p{C}]/u);
  });
});

describe('http: query', () => {
  it('hands the parsed parameters on and answers what the runner says', async () => {
    const harness = createHarness();
    const answer = await send(harness, get(`${QUERY}&limit=7`));
    deepEqual(JSON.parse(answer.text), {
      elements: [],
      pagination: { total: 0, limit: 7, offset: 0 },
      lastProcessedAt: null,
    });
    equal(harness.asked.length, 1);
  });

  it('waits for a position before it asks', async () => {
    const harness = createHarness({ limits: { queryWaitMs: 1234 } });
    await send(harness, get(QUERY, { 'x-api-key': KEY, 'x-wait-for-position': '42' }));
    deepEqual(harness.asked[0], { instanceId: INSTANCE, position: 42, timeoutMs: 1234 });
    equal(harness.asked.length, 2);
  });

  it('says whether the position was reached, when it was asked to wait', async () => {
    for (const [reached, result] of [
      [true, 'reached'],
      [false, 'timeout'],
    ] as const) {
      const harness = createHarness({ waitFor: async () => reached });
      const waited = await send(harness, get(QUERY, { 'x-api-key': KEY, 'x-wait-for-position': '42' }));
      equal(waited.headers['x-wait-result'], result);
      const other = await send(harness, get(QUERY, { 'x-api-key': KEY }));
      equal(other.headers['x-wait-result'], undefined);
    }
  });

  it('says so also when the query then fails', async () => {
    const fault = new AppError('SERVICE_UNAVAILABLE', 'Later.', { retryAfter: 1 });
    const harness = createHarness({ waitFor: async () => false, run: () => Promise.reject(fault) });
    const answer = await send(harness, get(QUERY, { 'x-api-key': KEY, 'x-wait-for-position': '42' }));
    deepEqual([answer.status, answer.headers['x-wait-result']], [503, 'timeout']);
  });

  for (const position of ['', '-1', '1.5', 'x', '9007199254740992']) {
    it(`refuses X-Wait-For-Position ${JSON.stringify(position)}`, async () => {
      const answer = await send(
        createHarness(),
        get(QUERY, { 'x-api-key': KEY, 'x-wait-for-position': position }),
      );
      deepEqual([answer.code, answer.details[0]?.path], ['VALIDATION_ERROR', 'X-Wait-For-Position']);
    });
  }

  it('names a repeated parameter', async () => {
    const answer = await send(createHarness(), get(`${QUERY}&groupBy=GAP`));
    deepEqual(
      answer.details.map(({ path }) => path),
      ['groupBy'],
    );
  });

  it('names an unknown parameter, whatever it is called', async () => {
    const answer = await send(createHarness(), get(`${QUERY}&__proto__=1&toString=2`));
    deepEqual(answer.details.map(({ path }) => path).toSorted(), ['__proto__', 'toString']);
  });
});

describe('http: rate limit', () => {
  it('counts per key in windows of one second', async () => {
    const harness = createHarness({ limits: { requestsPerSecond: 2 } });
    const remaining: unknown[] = [];
    for (const _ of [1, 2])
      remaining.push((await send(harness, get(QUERY))).headers['x-ratelimit-remaining']);
    deepEqual(remaining, ['1', '0']);
    const refused = await send(harness, get(QUERY));
    deepEqual([refused.status, refused.code], [429, 'RATE_LIMIT_EXCEEDED']);
    deepEqual([refused.headers['retry-after'], refused.headers['x-ratelimit-remaining']], ['1', '0']);
    equal(
      (await send(harness, get(QUERY.replace(INSTANCE, FOREIGN_INSTANCE), { 'x-api-key': OTHER_KEY })))
        .status,
      200,
    );
    harness.time += 1000;
    equal((await send(harness, get(QUERY))).status, 200);
  });

  it('counts requests without a valid key per address, apart from the keys', async () => {
    const harness = createHarness({ limits: { requestsPerSecond: 1 } });
    equal((await send(harness, get(QUERY, {}))).status, 401);
    equal((await send(harness, get(QUERY, { 'x-api-key': 'no' }))).status, 429);
    equal((await send(harness, { ...get(QUERY, {}), remoteAddress: '10.0.0.9' })).status, 401);
    equal((await send(harness, get(QUERY))).status, 200);
  });

  it('counts random keys before the registry is asked for them', async () => {
    const harness = createHarness({ limits: { requestsPerSecond: 3 } });
    const statuses: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      const key = `ut_test_${String(i).padStart(32, '0')}`;
      statuses.push((await send(harness, get(QUERY, { 'x-api-key': key }))).status);
    }
    deepEqual([statuses, harness.keysAsked], [[401, 401, 401, ...Array.from({ length: 7 }, () => 429)], 3]);
    equal((await send(harness, get(QUERY))).status, 200);
  });

  it('tells when the window ends as a Unix timestamp in seconds', async () => {
    const harness = createHarness();
    harness.time = 1_700_000_000_999;
    equal((await send(harness, get(QUERY))).headers['x-ratelimit-reset'], '1700000001');
  });

  it('goes on when the clock is set back', async () => {
    const harness = createHarness({ limits: { requestsPerSecond: 1 } });
    await send(harness, get(QUERY));
    harness.time -= 3_600_000;
    const answer = await send(harness, get(QUERY));
    deepEqual(
      [answer.status, answer.headers['x-ratelimit-reset']],
      [200, String(Math.floor(harness.time / 1000) + 1)],
    );
  });
});

describe('http: while the registry is not loaded', () => {
  it('answers 503 and never 401', async () => {
    const harness = createHarness();
    harness.loaded = false;
    for (const headers of [{}, { 'x-api-key': 'no' }, { 'x-api-key': KEY }]) {
      const answer = await send(harness, get(QUERY, headers));
      deepEqual(
        [answer.status, answer.code, answer.headers['retry-after']],
        [503, 'SERVICE_UNAVAILABLE', '1'],
      );
      ok(answer.headers['x-ratelimit-limit'] !== undefined);
    }
  });
});

describe('http: other routes', () => {
  it('/livez answers without a key and without rate limit', async () => {
    const answer = await send(createHarness(), get('/livez', {}));
    deepEqual([answer.status, answer.headers['x-ratelimit-limit']], [200, undefined]);
  });

  it('/readyz names what is missing', async () => {
    const readiness = [
      { name: 'stream', check: async () => 'is not reachable' },
      { name: 'views', check: async () => null },
      { name: 'registry', check: () => Promise.reject(new Error('broke')) },
    ];
    const answer = await send(createHarness({ readiness }), get('/readyz', {}));
    deepEqual([answer.status, answer.code], [503, 'SERVICE_UNAVAILABLE']);
    deepEqual(answer.details, [
      { path: 'stream', message: 'is not reachable' },
      { path: 'registry', message: 'broke' },
    ]);
  });

  it('/readyz is 200 when nothing is missing', async () => {
    const answer = await send(
      createHarness({ readiness: [{ name: 'views', check: async () => null }] }),
      get('/readyz', {}),
    );
    deepEqual(
      [answer.status, JSON.parse(answer.text)],
      [200, { status: 'ready', checks: { views: 'ok' }, reasons: [] }],
    );
  });

  it('/metrics counts requests by route and status', async () => {
    const harness = createHarness();
    await send(harness, get(QUERY));
    await send(harness, get('/v1/some-random-path'));
    const { text } = await send(harness, get('/metrics', {}));
    match(text, /undertone_http_requests_total\{method="GET",route="\/v1\/query",status="200"\} 1/);
    ok(!text.includes('some-random-path'));
    match(text, /process_resident_memory_bytes \d/);
  });
});

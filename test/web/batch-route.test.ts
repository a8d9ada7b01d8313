import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../src/errors.ts';
import { batchLineSchema } from '../../src/contract/ingest.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { Random } from '../faults/support/random.ts';
import { createHarness, INSTANCE, KEY, SESSION, type Harness } from './support.ts';

const request = (content: string, more: object = {}): string =>
  JSON.stringify({ messages: [{ content }], ...more });

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Of a refused request. */
  readonly code: string | null;
  readonly lines: readonly (ReturnType<typeof batchLineSchema.parse> & Readonly<Record<string, unknown>>)[];
}

/** Sends a batch; every answer must be one that the interface describes. */
async function send(
  harness: Harness,
  payload: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { statusCode, body, ...answer } = await harness.app.inject({
    method: 'POST',
    url: '/v1/ingest/batch/',
    headers: { 'x-api-key': KEY, 'content-type': 'application/x-ndjson', ...headers },
    payload,
  });
  if (statusCode === 200) {
    match(String(answer.headers['content-type']), /^application\/x-ndjson/);
    const lines = body
      .trimEnd()
      .split('\n')
      .map((line) => batchLineSchema.parse(JSON.parse(line)));
    return { status: 200, headers: answer.headers, code: null, lines };
  }
  const { error } = errorEnvelopeSchema.parse(JSON.parse(body));
  return { status: statusCode, headers: answer.headers, code: error.code, lines: [] };
}

describe('POST /v1/ingest/batch', () => {
  it('answers each line as POST /v1/ingest answers, and says how many were refused', async () => {
    const harness = createHarness();
    const body = [
      request('a', { idempotencyKey: 'k' }),
      JSON.stringify({ messages: [{ content: 'b', more: 1 }] }),
      JSON.stringify({ messages: [{ content: '' }] }),
    ].join('\n');
    const { headers, lines } = await send(harness, body);
    const ids = { instanceId: INSTANCE, sessionId: SESSION, position: 42 };
    deepEqual(lines.slice(0, 2), [
      { line: 1, status: 200, ...ids },
      {
        line: 2,
        status: 200,
        ...ids,
        warnings: 'unknown-member "messages.more" in 1 message: ignored',
      },
    ]);
    const refused: Readonly<Record<string, unknown>> = lines[2] ?? {};
    deepEqual([refused['line'], refused['status'], refused['success']], [3, 400, false]);
    match(JSON.stringify(refused), /"path":"messages.0.content"/);
    deepEqual([headers['x-refused-lines'], headers['x-stream-position']], ['1', '42']);
    deepEqual(
      harness.accepted.map(({ contents, idempotencyKey }) => [contents[0], idempotencyKey]),
      [
        ['a', 'k'],
        ['b', undefined],
      ],
    );
    const metrics = (await harness.app.inject('/metrics')).body;
    match(metrics, /undertone_ingest_warnings_total\{kind="unknown-member"\} 1/);
  });

  it('says when a line may be sent again, and asks for all when none could be stored', async () => {
    const away = new AppError('SERVICE_UNAVAILABLE', 'away', { retryAfter: 2 });
    let accepted = 0;
    const harness = createHarness({
      accept: async () => {
        accepted += 1;
        if (accepted > 1) throw away;
        return { instanceId: INSTANCE, sessionId: SESSION, position: 42 };
      },
    });
    const some = await send(harness, `${request('a')}\n${request('b')}`);
    deepEqual([some.lines[1]?.status, some.lines[1]?.['retryAfter']], [503, 2]);
    const none = await send(harness, `${request('a')}\n${request('b')}`);
    deepEqual([none.status, none.code, none.headers['retry-after']], [503, 'SERVICE_UNAVAILABLE', '2']);
  });

  it('refuses a request that is wrong as a whole', async () => {
    const harness = createHarness({ limits: { bodyBytes: 2048 } });
    const rows: [string | Buffer, Record<string, string>, [number, string]][] = [
      [request('a'), { 'content-type': 'application/json' }, [400, 'BAD_REQUEST']],
      [request('a'), { 'content-type': 'application/x-ndjson; charset=latin1' }, [400, 'BAD_REQUEST']],
      [request('a'), { 'idempotency-key': 'k' }, [400, 'VALIDATION_ERROR']],
      [request('a'), { 'content-encoding': 'lzma' }, [400, 'BAD_REQUEST']],
      [request('a'), { 'content-encoding': 'gzip' }, [400, 'BAD_REQUEST']],
      [request('a'), { 'x-api-key': 'no' }, [401, 'INVALID_API_KEY']],
      ['', {}, [400, 'BAD_REQUEST']],
      ['\n \n', {}, [400, 'BAD_REQUEST']],
      ['{}\n'.repeat(1001).slice(0, 2048), {}, [200, '']],
      ['x'.repeat(2049), {}, [413, 'PAYLOAD_TOO_LARGE']],
      [gzipSync('x'.repeat(2049)), { 'content-encoding': 'gzip' }, [413, 'PAYLOAD_TOO_LARGE']],
    ];
    for (const [body, headers, expected] of rows) {
      const { status, code } = await send(harness, body, headers);
      deepEqual([status, code ?? ''], expected, String(body).slice(0, 40));
    }
    const scoped = createHarness({ scopes: ['query'] });
    equal((await send(scoped, request('a'))).code, 'FORBIDDEN');
    equal(harness.accepted.length, 0);
  });

  it('takes the other names of the type, and packed bodies', async () => {
    const harness = createHarness();
    for (const type of ['application/ndjson', 'application/jsonl; charset=utf-8'])
      equal((await send(harness, request('a'), { 'content-type': type })).lines.length, 1);
    const packed = await send(harness, gzipSync(`${request('a')}\n${request('b')}`), {
      'content-encoding': 'gzip',
    });
    equal(packed.lines.length, 2);
  });

  it('answers garbage of every kind with 4xx for the request or for its lines', async () => {
    const harness = createHarness();
    const random = new Random(16);
    const whole = [
      request('Where is my parcel?', { idempotencyKey: 'k', sessionId: SESSION, instanceId: INSTANCE }),
      request('ok', { metadata: { session: { externalId: 'x' }, users: { u: { plan: 1 } } } }),
      request('late', { projectId: INSTANCE }),
    ].join('\n');
    const odd = [
      '1e999',
      '-0',
      '[[[[',
      '{"a":{"b":{}}}',
      '"\\ud800"',
      'null',
      '\u0000',
      '\u2028',
      '"'.repeat(9),
    ];
    let [answered, refusedLines] = [0, 0];
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.from(whole);
      const kind = round % 4;
      const at = random.between(0, bytes.length - 1);
      let body: Buffer = bytes;
      if (kind === 0) body = bytes.subarray(0, at);
      if (kind === 1) {
        for (let i = 0; i < 5; i += 1) bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
      }
      if (kind === 2)
        body = Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(odd)), bytes.subarray(at)]);
      if (kind === 3) body = Buffer.from(whole.replaceAll(/"[a-zA-Z]{2,9}":/g, () => `${random.pick(odd)}:`));
      const { status, lines } = await send(harness, body);
      ok(status < 500, `${status} ${body.toString()}`);
      for (const line of lines) {
        ok(line.status < 500, `${JSON.stringify(line)} ${body.toString()}`);
        if (line.status !== 200) refusedLines += 1;
      }
      answered += 1;
    }
    equal(answered, 300);
    ok(refusedLines > 100);
    deepEqual(harness.errors, []);
  });
});

/** Sizes, rates, waits, and a stream that is away: on a service with limits small enough to reach. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { Undertone } from '../../src/doors/client/index.ts';
import { ServiceClient } from '../../src/doors/import/client.ts';
import { importFiles } from '../../src/doors/import/importer.ts';
import { Client, faultOf, idsOf, type Answer } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const BODY_LIMIT = 100_000;
const RATE_LIMIT = 40;
/** A second; five times as many at once. */
const MESSAGE_LIMIT = 100;

let service: TestService;

before(async () => {
  service = await startTestService({
    BODY_LIMIT_BYTES: String(BODY_LIMIT),
    RATE_LIMIT_PER_SECOND: String(RATE_LIMIT),
    RATE_LIMIT_MESSAGES_PER_SECOND: String(MESSAGE_LIMIT),
    QUERY_WAIT_MS: '100',
  });
});
after(() => service?.stop());

/** Each with a key of its own, so that no row takes another's requests. */
const newClient = async (): Promise<Client> => new Client(service.url, (await service.newProject()).key);

/** A body of so many bytes; `noise` leaves nothing to compress. */
function bodyOf(bytes: number, noise = false): Buffer {
  const frame = JSON.stringify({ messages: [{ content: '' }] });
  const length = bytes - frame.length;
  const content = noise ? randomBytes(length).toString('hex').slice(0, length) : 'x'.repeat(length);
  return Buffer.from(JSON.stringify({ messages: [{ content }] }));
}

const post = (client: Client, body: Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
  client.send('/v1/ingest/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

/** Sends without a Content-Length, in pieces. */
function postInPieces(client: Client, body: Buffer): Promise<number> {
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': client.key };
    const sent = httpRequest(`${service.url}/v1/ingest/`, { method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        if (response.statusCode !== 200) errorEnvelopeSchema.parse(JSON.parse(text));
        done(response.statusCode ?? 0);
      });
    });
    sent.on('error', fail);
    for (let from = 0; from < body.length; from += 10_000) sent.write(body.subarray(from, from + 10_000));
    sent.end();
  });
}

const COMPRESSIONS = [
  ['gzip', gzipSync],
  // As tightly as it does by default, it would hold up this process for seconds.
  ['br', (body: Uint8Array) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
  ['zstd', zstdCompressSync],
] as const;

const SIZES: readonly (readonly [rule: string, check: (client: Client) => Promise<void>])[] = [
  [
    'a body as large as the limit is accepted',
    async (client) => void idsOf(await post(client, bodyOf(BODY_LIMIT))),
  ],
  [
    'one byte more is PAYLOAD_TOO_LARGE',
    async (client) => void faultOf(await post(client, bodyOf(BODY_LIMIT + 1)), 413, 'PAYLOAD_TOO_LARGE'),
  ],
  [
    'a hundred times more is PAYLOAD_TOO_LARGE, and the next request is served',
    async (client) => {
      faultOf(await post(client, bodyOf(BODY_LIMIT * 100)), 413, 'PAYLOAD_TOO_LARGE');
      idsOf(await post(client, bodyOf(100)));
    },
  ],
  [
    'a caller who is still sending a large body reads why it was refused',
    async (client) => {
      const large = bodyOf(BODY_LIMIT * 100);
      const nobody = new Client(service.url, `ut_test_${'0'.repeat(32)}`);
      for (let round = 0; round < 2; round += 1) {
        faultOf(await post(client, large), 413, 'PAYLOAD_TOO_LARGE');
        faultOf(await post(client, large, { 'content-type': 'text/plain' }), 400, 'BAD_REQUEST');
        faultOf(await post(client, large, { 'content-encoding': 'gzip' }), 413, 'PAYLOAD_TOO_LARGE');
        faultOf(await post(nobody, large), 401, 'INVALID_API_KEY');
      }
    },
  ],
  [
    'the limit holds without a Content-Length',
    async (client) => {
      equal(await postInPieces(client, bodyOf(BODY_LIMIT)), 200);
      equal(await postInPieces(client, bodyOf(BODY_LIMIT + 1)), 413);
    },
  ],
  ...COMPRESSIONS.flatMap(
    ([encoding, compress]): (readonly [string, (client: Client) => Promise<void>])[] => [
      [
        `a body that inflates to the limit is accepted with ${encoding}`,
        async (client: Client) =>
          void idsOf(
            await post(client, compress(bodyOf(BODY_LIMIT, true)), { 'content-encoding': encoding }),
          ),
      ] as const,
      [
        `a body that inflates beyond it is PAYLOAD_TOO_LARGE with ${encoding}`,
        async (client: Client) => {
          const body = compress(bodyOf(BODY_LIMIT + 1));
          ok(body.length < BODY_LIMIT / 10);
          faultOf(await post(client, body, { 'content-encoding': encoding }), 413, 'PAYLOAD_TOO_LARGE');
        },
      ] as const,
      [
        `a bomb of 50 MB in ${encoding} is PAYLOAD_TOO_LARGE`,
        async (client: Client) => {
          const body = compress(Buffer.alloc(50_000_000, 0x20));
          const answer = await post(client, body, { 'content-encoding': encoding });
          faultOf(answer, 413, 'PAYLOAD_TOO_LARGE');
        },
      ] as const,
      [
        `a body in ${encoding} that is cut off is BAD_REQUEST`,
        async (client: Client) => {
          const body = compress(bodyOf(5000, true));
          const answer = await post(client, body.subarray(0, -20), { 'content-encoding': encoding });
          faultOf(answer, 400, 'BAD_REQUEST');
        },
      ] as const,
    ],
  ),
  [
    'the key is checked before the size',
    async () => {
      const nobody = new Client(service.url, `ut_test_${'0'.repeat(32)}`);
      faultOf(await post(nobody, bodyOf(BODY_LIMIT + 1)), 401, 'INVALID_API_KEY');
    },
  ],
  [
    'a query with a body is refused or answered, never a fault of ours',
    async (client) => {
      const headers = ['x-api-key', client.key, 'host', new URL(service.url).host, 'content-length', '2'];
      const status = await new Promise<number>((done, fail) => {
        const sent = httpRequest(`${service.url}/v1/query/`, { method: 'GET', headers }, (response) => {
          response.resume();
          done(response.statusCode ?? 0);
        });
        sent.on('error', fail);
        sent.end('{}');
      });
      equal(status, 400);
    },
  ],
];

describe('sizes', { concurrency: 4 }, () => {
  for (const [rule, check] of SIZES) it(rule, async () => check(await newClient()));
});

interface Window {
  readonly status: number;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

const windowOf = ({ status, headers }: Answer): Window => ({
  status,
  limit: Number(headers.get('x-ratelimit-limit')),
  remaining: Number(headers.get('x-ratelimit-remaining')),
  reset: Number(headers.get('x-ratelimit-reset')),
});

/** Enough at once to pass the limit in whatever seconds they fall into. */
const burst = (client: Client, path = '/v1/query/'): Promise<Answer[]> =>
  Promise.all(Array.from({ length: RATE_LIMIT * 5 }, () => client.send(path)));

const refused = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 429);

const RATES: readonly (readonly [rule: string, check: (client: Client) => Promise<void>])[] = [
  [
    'more requests than the limit in a second are RATE_LIMIT_EXCEEDED with Retry-After',
    async (client) => {
      const late = refused(await burst(client));
      ok(late.length > 0);
      for (const answer of late) {
        faultOf(answer, 429, 'RATE_LIMIT_EXCEEDED');
        ok(/^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? ''));
        equal(windowOf(answer).remaining, 0);
      }
    },
  ],
  [
    'exactly the limit is served in each window, and Remaining counts down to 0',
    async (client) => {
      const windows = Map.groupBy((await burst(client)).map(windowOf), ({ reset }) => reset);
      for (const requests of windows.values()) {
        const served = requests.filter(({ status }) => status !== 429);
        deepEqual(
          served.map(({ remaining }) => remaining).toSorted((a, b) => b - a),
          Array.from({ length: served.length }, (_, index) => RATE_LIMIT - 1 - index),
        );
        ok(served.length === requests.length || served.length === RATE_LIMIT);
        ok(requests.every(({ limit }) => limit === RATE_LIMIT));
      }
    },
  ],
  [
    'Reset is the Unix second in which requests are served again',
    async (client) => {
      const sentAt = Date.now() / 1000;
      const refusals = refused(await burst(client)).map(windowOf);
      const receivedAt = Date.now() / 1000;
      for (const { reset } of refusals) ok(reset > sentAt && reset <= receivedAt + 1);
      const late = refusals.at(-1);
      ok(late);
      let next = windowOf(await client.send('/v1/query/'));
      const deadline = performance.now() + 10_000;
      while (next.status === 429 && performance.now() < deadline) {
        next = windowOf(await client.send('/v1/query/'));
      }
      ok(next.status !== 429 && next.reset > late.reset);
    },
  ],
  [
    'the limit counts per key: another key of the project has its own',
    async () => {
      const project = await service.newProject();
      const [one, other] = [
        new Client(service.url, project.key),
        new Client(service.url, (await service.newKey(project, 'live')).key),
      ];
      ok(refused(await burst(one)).length > 0);
      const first = windowOf(await other.send('/v1/query/'));
      deepEqual([first.status, first.remaining], [400, RATE_LIMIT - 1]);
    },
  ],
  [
    'ingest, query and unknown routes count together',
    async (client) => {
      const answers = await Promise.all(
        Array.from(
          { length: RATE_LIMIT * 5 },
          (_, index) =>
            [client.post({}), client.send('/v1/query/'), client.send('/v1/nothing')][
              index % 3
            ] as Promise<Answer>,
        ),
      );
      ok(refused(answers).length > 0);
    },
  ],
  [
    'without a valid key the limit counts per address, whatever key was sent, and comes before 401',
    async (client) => {
      const answers = await Promise.all(
        Array.from({ length: RATE_LIMIT * 5 }, (_, index) =>
          client.send('/v1/query/', { headers: { 'x-api-key': index % 2 === 0 ? '' : randomUUID() } }),
        ),
      );
      deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [401, 429]);
      equal((await client.send('/v1/query/')).status, 400);
    },
  ],
  [
    'probes are not limited',
    async (client) => {
      const answers = await burst(client, '/livez');
      deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    },
  ],
];

describe('rates', () => {
  // What follows must not meet the limit of a second that these used up.
  after(() => sleep(1100));
  for (const [rule, check] of RATES) it(rule, async () => check(await newClient()));
});

const messagesOf = (count: number): { content: string; userId: string }[] =>
  Array.from({ length: count }, (_, index) => ({ content: `Hello ${index}`, userId: 'ada' }));

/** Spends more than the key has at once: whoever sends next must wait, however few its requests are. */
const overdraw = async (client: Client): Promise<void> =>
  void idsOf(await client.post({ messages: messagesOf(900) }));

/** Each goes on after its key has sent too much; nothing is lost. They differ in who waits for Retry-After. */
const PACES: readonly (readonly [rule: string, check: (client: Client) => Promise<void>])[] = [
  [
    'a request of more messages than may come at once is taken, and then none until Retry-After',
    async (client) => {
      await overdraw(client);
      const refused = await client.post({ messages: messagesOf(1) });
      faultOf(refused, 429, 'RATE_LIMIT_EXCEEDED');
      const left = ['unit', 'limit', 'remaining'].map((name) => refused.headers.get(`x-ratelimit-${name}`));
      deepEqual(left, ['messages', String(5 * MESSAGE_LIMIT), '0']);
      equal((await client.send('/v1/key')).status, 200);
      await sleep(1000 * Number(refused.headers.get('retry-after')));
      idsOf(await client.post({ messages: messagesOf(1) }));
    },
  ],
  [
    'the importer goes as fast as it may',
    async (sender) => {
      const pauses: string[] = [];
      await overdraw(sender);
      const folder = await mkdtemp(join(tmpdir(), 'undertone-pace-'));
      const file = join(folder, 'chats.jsonl');
      const turns = [{ role: 'user', content: 'Hello' }];
      const lines = Array.from({ length: 50 }, (_, id) => `${JSON.stringify({ id: `c${id}`, turns })}\n`);
      await writeFile(file, lines.join(''));
      const summary = await importFiles({
        target: new ServiceClient({
          url: service.url,
          key: sender.key,
          onRetry: (reason) => pauses.push(reason),
        }),
        files: [file],
        into: { kind: 'default' },
        concurrency: 4,
      });
      await rm(folder, { recursive: true });
      deepEqual([summary.stopped, summary.messages, summary.failedLines], [null, 50, 0]);
      deepEqual([...new Set(pauses)], ['status 429']);
    },
  ],
  [
    'the typed client goes as fast as it may',
    async (sender) => {
      const codes: string[] = [];
      await overdraw(sender);
      const client = new Undertone({
        url: service.url,
        key: sender.key,
        batchMs: 100,
        onRetry: ({ code }) => codes.push(code),
      });
      const { id: instanceId } = await client.createInstance({});
      for (let conversation = 0; conversation < 4; conversation += 1) {
        const session = client.session({ instanceId });
        for (const { content } of messagesOf(20)) void session.user(content);
      }
      const { lost, position } = await client.close();
      deepEqual([lost, typeof position], [0, 'number']);
      deepEqual([...new Set(codes)], ['RATE_LIMIT_EXCEEDED']);
    },
  ],
];

describe('paces', { concurrency: 3 }, () => {
  for (const [rule, check] of PACES) it(rule, async () => check(await newClient()));
});

describe('waits', () => {
  it('a position that never comes: the query answers what it has, without an error', async () => {
    const client = await newClient();
    const { instanceId, position } = await client.ingest({ messages: [{ content: 'Hello', userId: 'ada' }] });
    const parameters = { instanceId, groupBy: 'SESSION', fields: 'messages' };
    let rows = await client.rows(parameters, position);
    while (rows.length === 0) rows = await client.rows(parameters, position);
    deepEqual(await client.rows(parameters, Number.MAX_SAFE_INTEGER), rows);
  });
});

describe('without the stream', () => {
  it('ingest is SERVICE_UNAVAILABLE with Retry-After, query goes on, and both recover', async () => {
    const client = await newClient();
    const body = { messages: [{ content: 'Hello', userId: 'ada' }] };
    const first = await client.ingest(body);
    const { instanceId } = first;
    const parameters = { instanceId, groupBy: 'SESSION', fields: 'messages' };
    let rows = await client.rows(parameters, first.position);
    while (rows.length === 0) rows = await client.rows(parameters, first.position);

    await service.nats.kill();
    const unknown = { ...body, sessionId: randomUUID() };
    const refusals = await Promise.all([
      client.post({ ...body, instanceId }),
      client.post(unknown),
      client.post(body, { 'idempotency-key': 'k' }),
    ]);
    for (const answer of refusals) {
      faultOf(answer, 503, 'SERVICE_UNAVAILABLE');
      ok(/^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? ''));
    }
    deepEqual(await client.rows(parameters), rows);
    const ready = await fetch(`${service.url}/readyz`);
    equal(ready.status, 503);
    errorEnvelopeSchema.parse(await ready.json());
    equal((await fetch(`${service.url}/livez`)).status, 200);

    await service.nats.restart();
    let answer = await client.post({ ...body, instanceId });
    while (answer.status === 503 || answer.status === 429)
      answer = await client.post({ ...body, instanceId });
    const { position } = idsOf(answer);
    let recovered = await client.rows(parameters, position);
    while (recovered.length < 2) recovered = await client.rows(parameters, position);
    equal((await fetch(`${service.url}/readyz`)).status, 200);
  });
});

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../src/errors.ts';
import {
  createHarness,
  INSTANCE,
  KEY,
  NOON,
  OTHER_KEY,
  PROJECT,
  SECOND_KEY,
  SESSION,
  type Harness,
} from './support.ts';

const ACCEPTED = { instanceId: INSTANCE, sessionId: SESSION, position: 42 };

const messages = (count: number): object => ({
  messages: Array.from({ length: count }, () => ({ content: 'a' })),
});

interface Sent {
  readonly status: number;
  /** Limit, Remaining, Unit and seconds until Reset. */
  readonly left: readonly unknown[];
  readonly retryAfter: string | undefined;
  readonly text: string;
}

async function send(
  harness: Harness,
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const answer = await harness.app.inject({
    method: 'POST',
    url,
    body,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers },
  });
  const [limit, remaining, unit, reset] = ['limit', 'remaining', 'unit', 'reset'].map(
    (name) => answer.headers[`x-ratelimit-${name}`],
  );
  const seconds = Number(reset) - Math.floor(harness.time / 1000);
  const retryAfter = answer.headers['retry-after'] as string | undefined;
  return {
    status: answer.statusCode,
    left: [limit, remaining, unit, seconds],
    retryAfter,
    text: answer.payload,
  };
}

const ingest = (harness: Harness, count: number, key = KEY): Promise<Sent> =>
  send(harness, '/v1/ingest/', JSON.stringify(messages(count)), { 'x-api-key': key });

const NDJSON = { 'content-type': 'application/x-ndjson' };
const batch = (harness: Harness, ...counts: readonly number[]): Promise<Sent> =>
  send(
    harness,
    '/v1/ingest/batch/',
    counts.map((count) => JSON.stringify(messages(count))).join('\n'),
    NDJSON,
  );

/** A budget of so many a second; it holds five times as many. */
const open = (messagesPerSecond: number, changes: Parameters<typeof createHarness>[0] = {}): Harness =>
  createHarness({ ...changes, limits: { messagesPerSecond, ...changes.limits } });

describe('http: budget of messages', () => {
  it('refuses a key that has spent it, stores nothing, and says truly when it goes on', async () => {
    const harness = open(100);
    equal((await ingest(harness, 499)).status, 200);
    equal((await ingest(harness, 10_000)).status, 200, 'a request of any size goes while something is left');
    const refused = await ingest(harness, 1);
    deepEqual(
      [refused.status, refused.left, refused.retryAfter],
      [429, ['500', '0', 'messages', 101], '100'],
    );
    deepEqual(JSON.parse(refused.text), {
      success: false,
      error: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: 'More than the budget of 100 messages a second. Send the same again in 100 s.',
      },
    });
    equal(harness.accepted.length, 2);
    harness.time += 99_000;
    equal((await ingest(harness, 1)).status, 429);
    harness.time += 1000;
    equal((await ingest(harness, 1)).status, 200);
  });

  it('counts per key, over all routes that take messages and no others', async () => {
    const harness = open(10);
    equal((await ingest(harness, 30)).status, 200);
    equal((await batch(harness, 10, 15)).status, 200);
    for (const [url, headers] of [
      ['/v1/ingest/', {}],
      ['/v1/ingest/batch/', NDJSON],
      ['/v1/traces', {}],
      ['/v1/logs', {}],
    ] as const)
      equal((await send(harness, url, '{}', headers)).status, 429, url);
    equal((await ingest(harness, 1, SECOND_KEY)).status, 200);
    equal((await ingest(harness, 1, OTHER_KEY)).status, 200);
    const key = await harness.app.inject({ url: '/v1/key', headers: { 'x-api-key': KEY } });
    deepEqual([key.statusCode, key.headers['x-ratelimit-unit']], [200, 'requests']);
  });

  it('refuses before the body is read where nothing is left, and before it is stored where too many come at once', async () => {
    const harness = open(1);
    const both = await Promise.all([ingest(harness, 10), ingest(harness, 10)]);
    deepEqual(both.map(({ status }) => status).sort(), [200, 429]);
    const garbled = await send(harness, '/v1/ingest/', gzipSync('x'), { 'content-encoding': 'br' });
    equal(garbled.status, 429);
    equal(harness.accepted.length, 1);
  });

  it('counts spans for the messages in them', async () => {
    const callers: string[] = [];
    const receipt = {
      spans: 1,
      observations: 1,
      rejected: 0,
      lacksContent: 0,
      missesContent: false,
      message: '',
    };
    const harness = open(10, {
      traces: {
        intake: {
          async receive({ caller, onPrepared }) {
            onPrepared({ messages: 60, bytes: 100 });
            callers.push(caller);
            return receipt;
          },
          close: async () => undefined,
        },
        figures: () => null,
      },
    });
    equal((await send(harness, '/v1/traces', '{}')).status, 200);
    const refused = await send(harness, '/v1/logs', '{}');
    deepEqual([refused.status, refused.retryAfter], [429, '2']);
    equal((await send(harness, '/v1/logs', '{}', { 'x-api-key': SECOND_KEY })).status, 200);
    deepEqual(callers, [PROJECT, PROJECT], 'all keys of a project take its turns');
  });

  it('counts long texts by their bytes, in a request and in a line', async () => {
    const harness = open(100);
    const long = JSON.stringify({
      messages: Array.from({ length: 10 }, () => ({ content: 'a'.repeat(8192) })),
    });
    deepEqual((await send(harness, '/v1/ingest/', long)).left.slice(1, 3), ['419', 'messages']);
    deepEqual((await send(harness, '/v1/ingest/batch/', long, NDJSON)).left.slice(1, 3), ['338', 'messages']);
    deepEqual(
      (await ingest(harness, 10)).left.slice(1, 3),
      ['328', 'messages'],
      'short ones by their number',
    );
  });

  it('describes the budget that is nearer to its end', async () => {
    const harness = open(1000, { limits: { requestsPerSecond: 10 } });
    deepEqual((await ingest(harness, 1)).left, ['10', '9', 'requests', 1]);
    deepEqual((await ingest(harness, 2000)).left, ['5000', '2999', 'messages', 1]);
    deepEqual((await ingest(harness, 6000)).left, ['5000', '0', 'messages', 4]);
  });

  it('counts what it read to refuse it, in a request, in a line, and on a thread', async () => {
    const bad = (count: number): object => ({
      messages: [...(messages(count - 1) as { messages: object[] }).messages, { content: '' }],
    });
    const harness = open(1000);
    const left = async (path: string, body: unknown, headers = {}): Promise<unknown[]> => {
      const sent = await send(harness, path, JSON.stringify(body), headers);
      return [sent.status, sent.left[1]];
    };
    deepEqual(await left('/v1/ingest/', bad(100)), [400, '4900']);
    deepEqual(await left('/v1/ingest/', { ...messages(10), instanceId: 'x' }), [400, '4890']);
    deepEqual(await left('/v1/ingest/batch/', bad(90), NDJSON), [200, '4800']);
    deepEqual(await left('/v1/ingest/', bad(2800)), [400, '2000'], 'a body for a thread');
    deepEqual(await left('/v1/ingest/', messages(10_001)), [400, '0'], 'never more than a request may have');
    deepEqual(await left('/v1/ingest/', bad(1)), [429, '0']);
    harness.time += 8001;
    deepEqual(await left('/v1/ingest/', messages(1)), [200, '0']);
    equal(harness.accepted.length, 1);
  });

  it('counts nothing of a request or a line that it has no room for', async () => {
    let isFull = true;
    const harness = open(10, {
      accept: async ({ body }) => {
        if (isFull || body.messages === 7)
          throw new AppError('SERVICE_UNAVAILABLE', 'full', { retryAfter: 1 });
        return ACCEPTED;
      },
    });
    for (let i = 0; i < 3; i += 1) {
      equal((await ingest(harness, 49)).status, 503);
      equal((await batch(harness, 20, 29)).status, 503);
    }
    isFull = false;
    equal((await batch(harness, 7, 3)).status, 200);
    deepEqual((await ingest(harness, 1)).left, ['50', '46', 'messages', 1]);
    deepEqual([harness.time, harness.errors], [NOON, []]);
  });
});

import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UndertoneError } from '../../../src/doors/client/errors.ts';
import { retryAfterMs, Transport, type Call } from '../../../src/doors/client/transport.ts';

const OK = (): Response => Response.json({ done: true });
const CALL: Call = {
  method: 'POST',
  path: '/v1/ingest',
  body: '{}',
  idempotencyKey: 'once',
  patienceMs: 60_000,
};

function failure(status: number, headers: Record<string, string> = {}, error: object = {}): Response {
  const body = { success: false, error: { code: 'SERVICE_UNAVAILABLE', message: 'Busy.', ...error } };
  return Response.json(body, { status, headers: { 'x-request-id': 'r-1', ...headers } });
}

/** A transport whose answers are given, and whose time passes while it waits. */
function scripted(
  answers: readonly (() => Response | Promise<Response>)[],
  random = 0,
  url = 'http://undertone.test///',
  key = 'ut_test_key',
) {
  const requests: { url: string; init: RequestInit }[] = [];
  const pauses: number[] = [];
  const retries: [code: string, tries: number, pauseMs: number][] = [];
  let now = 0;
  const transport = new Transport({
    url,
    key,
    timeoutMs: 5,
    maxAnswerBytes: 1000,
    backoffMs: 200,
    maxBackoffMs: 1000,
    fetch: async (url, init) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? OK;
      requests.push({ url, init });
      return answer();
    },
    wait: async (ms) => {
      pauses.push(ms);
      now += ms;
    },
    random: () => random,
    now: () => now,
    onRetry: ({ code }, { tries, pauseMs }) => retries.push([code, tries, pauseMs]),
  });
  const pass = (ms: number): void => void (now += ms);
  return { transport, requests, pauses, retries, pass };
}

async function errorOf(promise: Promise<unknown>): Promise<UndertoneError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof UndertoneError) return error;
  throw new Error(`not an UndertoneError: ${String(error)}`);
}

describe('a call', () => {
  it('goes to the service with its key, and to nobody else', async () => {
    const { transport, requests } = scripted([OK]);
    await transport.json({ ...CALL, parameters: { ids: 'a,b', titleContains: 'ä&' }, waitFor: 7 });
    const [{ url, init } = { url: '', init: {} }] = requests;
    equal(url, 'http://undertone.test/v1/ingest?ids=a%2Cb&titleContains=%C3%A4%26');
    deepEqual(init.headers, {
      accept: 'application/json',
      'x-api-key': 'ut_test_key',
      'content-type': 'application/json',
      'idempotency-key': 'once',
      'x-wait-for-position': '7',
    });
    equal(init.redirect, 'manual');
  });

  for (const status of [429, 502, 503, 504]) {
    it(`is sent again on ${status}, as it was`, async () => {
      const { transport, requests } = scripted([() => failure(status), () => failure(status), OK]);
      deepEqual((await transport.json(CALL)).json, { done: true });
      deepEqual(
        requests.map(({ init }) => [init.body, new Headers(init.headers).get('idempotency-key')]),
        Array.from({ length: 3 }, () => ['{}', 'once']),
      );
    });
  }

  it('is sent again when the connection fails, or the answer breaks off', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated')),
    });
    const { transport, requests } = scripted([
      () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })),
      () => new Response(broken),
      OK,
    ]);
    deepEqual((await transport.json(CALL)).json, { done: true });
    equal(requests.length, 3);
  });

  it('is sent again when no answer comes in time', async () => {
    const silence = (): Promise<Response> =>
      new Promise((_, reject) => {
        const { signal } = requests.at(-1)?.init ?? {};
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const { transport, requests } = scripted([silence, OK]);
    await transport.json(CALL);
    equal(requests.length, 2);
  });

  it('is sent again when a fetch that ignores its signal does not answer', async () => {
    const { transport, requests } = scripted([() => new Promise<Response>(() => undefined), OK]);
    await transport.json(CALL);
    equal(requests.length, 2);
  });

  it('leaves no listener behind while it pauses', async () => {
    const signal = new AbortController().signal;
    const { transport } = scripted([() => failure(503)]);
    let most = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    let listening = 0;
    signal.addEventListener = ((...call: Parameters<typeof add>) => {
      most = Math.max(most, (listening += 1));
      add(...call);
    }) as typeof signal.addEventListener;
    signal.removeEventListener = ((...call: Parameters<typeof remove>) => {
      listening -= 1;
      remove(...call);
    }) as typeof signal.removeEventListener;
    await errorOf(transport.json({ ...CALL, signal, patienceMs: 4000 }));
    deepEqual([listening, most], [0, 1]);
  });

  it('fails three times with the same fault of the service, and not more often', async () => {
    const { transport, requests } = scripted([() => failure(500, {}, { code: 'INTERNAL_ERROR' })]);
    equal((await errorOf(transport.json(CALL))).code, 'INTERNAL_ERROR');
    equal(requests.length, 3);
  });

  for (const status of [400, 401, 403, 404, 409, 413]) {
    it(`is not sent again on ${status}`, async () => {
      const details = [{ path: 'messages.0.content', message: 'must not be empty' }];
      const { transport, requests } = scripted([
        () => failure(status, {}, { code: 'X', message: 'No.', details }),
      ]);
      const error = await errorOf(transport.json(CALL));
      deepEqual(
        [error.code, error.message, error.status, error.details, error.requestId],
        ['X', 'No.', status, details, 'r-1'],
      );
      equal(requests.length, 1);
    });
  }

  it('says when what answers is not the service', async () => {
    for (const answer of [
      () => new Response('<html>', { status: 200 }),
      () => new Response('[]', { status: 200 }),
      () => new Response('', { status: 302, headers: { location: 'http://elsewhere.test' } }),
      () => Response.json({ error: 'no such page' }, { status: 404 }),
    ]) {
      const { transport, requests } = scripted([answer]);
      const error = await errorOf(transport.json(CALL));
      deepEqual([error.code, error.status, requests.length], ['UNEXPECTED_ANSWER', answer().status, 1]);
    }
  });

  it('says of each try that another follows, and nothing of the last', async () => {
    const { transport, retries, pauses } = scripted([() => failure(500, {}, { code: 'INTERNAL_ERROR' })], 1);
    await errorOf(transport.json(CALL));
    deepEqual(retries, [
      ['INTERNAL_ERROR', 1, pauses[0]],
      ['INTERNAL_ERROR', 2, pauses[1]],
    ]);
  });

  it('is sent again when a proxy answers for the service', async () => {
    const { transport } = scripted([() => new Response('Bad gateway', { status: 502 }), OK]);
    deepEqual((await transport.json(CALL)).json, { done: true });
  });

  it('ends with its signal, whose reason it rejects with', async () => {
    const reason = new Error('enough');
    const { transport, requests } = scripted([OK]);
    await rejects(transport.json({ ...CALL, signal: AbortSignal.abort(reason) }), reason);
    equal(requests.length, 0);
    const controller = new AbortController();
    const busy = scripted([
      () => {
        controller.abort(reason);
        return failure(503);
      },
    ]);
    await rejects(busy.transport.json({ ...CALL, signal: controller.signal }), reason);
    equal(busy.requests.length, 1);
  });
});

describe('patience', () => {
  const waiting = (since: number): Call => ({ ...CALL, since, patienceMs: 1000 });

  it('counts the time that a call waited while the service was silent', async () => {
    const { transport, pauses, pass } = scripted([() => failure(503)]);
    pass(800);
    await errorOf(transport.json(waiting(0)));
    deepEqual(pauses, [100]);
  });

  it('does not count the time in which others were served', async () => {
    const { transport, requests, pass } = scripted([OK, () => failure(503)]);
    pass(800);
    await transport.json(CALL);
    await errorOf(transport.json(waiting(0)));
    equal(requests.length, 5);
  });

  it('of what waited as long ends with that of the request before it', async () => {
    const { transport, requests, pass } = scripted([() => failure(503)]);
    pass(2000);
    equal((await errorOf(transport.json(waiting(0)))).status, 503);
    equal((await errorOf(transport.json(waiting(0)))).status, 503);
    equal(requests.length, 1);
    pass(100);
    await errorOf(transport.json(waiting(0)));
    equal(requests.length, 2, 'a failure that is long past says nothing of now');
  });
});

describe('the pauses between tries', () => {
  it('double up to the longest, half of each by chance', async () => {
    const never = [() => failure(503)];
    const [least, most] = [scripted(never, 0), scripted(never, 1)];
    const call = { ...CALL, patienceMs: 4000 };
    equal((await errorOf(least.transport.json(call))).code, 'SERVICE_UNAVAILABLE');
    equal((await errorOf(most.transport.json(call))).code, 'SERVICE_UNAVAILABLE');
    deepEqual(least.pauses, [100, 200, 400, 500, 500, 500, 500, 500, 500]);
    deepEqual(most.pauses, [200, 400, 800, 1000, 1000]);
  });

  it('are at least as long as Retry-After asks, and end when that exceeds the patience', async () => {
    const asked = scripted([() => failure(503, { 'retry-after': '7' }), OK], 0.5);
    await asked.transport.json(CALL);
    deepEqual(asked.pauses, [7100]);
    const tooLong = scripted([() => failure(503, { 'retry-after': '120' })]);
    equal((await errorOf(tooLong.transport.json(CALL))).status, 503);
    deepEqual(tooLong.pauses, []);
  });

  it('hold other requests of the same key after a 429', async () => {
    const { transport, pauses } = scripted([() => failure(429, { 'retry-after': '3' }), OK]);
    const impatient = errorOf(transport.json({ ...CALL, patienceMs: 1000 }));
    equal((await impatient).status, 429);
    await transport.json(CALL);
    deepEqual(pauses, [3000]);
  });

  it('hold only those with messages after a 429 for too many of them', async () => {
    const tooMany = { 'retry-after': '3', 'x-ratelimit-unit': 'messages' };
    const { transport, pauses } = scripted([() => failure(429, tooMany), OK]);
    const messages: Call = { ...CALL, hasMessages: true };
    equal((await errorOf(transport.json({ ...messages, patienceMs: 1000 }))).status, 429);
    await transport.json({ ...CALL, method: 'GET', path: '/v1/query' });
    deepEqual(pauses, []);
    await transport.json(messages);
    deepEqual(pauses, [3000]);
  });

  it('read Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    const cases: readonly [string | null, number][] = [
      [null, 0],
      ['', 0],
      ['2', 2000],
      [' 0.5 ', 500],
      ['-1', 0],
      ['soon', 0],
      ['Sun, 22 Nov 2026 12:00:05 GMT', 5000],
      ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
    ];
    for (const [header, ms] of cases) equal(retryAfterMs(header, now), ms, String(header));
  });
});

describe('an error', () => {
  it('names the reason that fetch hides', async () => {
    const refused = (): Promise<Response> =>
      Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
    const { transport } = scripted([refused]);
    const error = await errorOf(transport.json({ ...CALL, patienceMs: 0 }));
    deepEqual([error.code, error.status], ['UNREACHABLE', null]);
    match(error.message, /^http:\/\/undertone\.test cannot be reached: ECONNREFUSED$/);
  });

  it('comes at once where the address is none', async () => {
    const failed = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
    const { transport, requests } = scripted([failed], 0, '127.0.0.1:8080');
    const error = await errorOf(transport.json({ ...CALL, patienceMs: 60_000 }));
    match(
      error.message,
      /^"127\.0\.0\.1:8080" cannot be reached: an address begins with http:\/\/ or https:\/\/$/,
    );
    equal(requests.length, 0);
  });

  it('comes at once where the address or the key cannot be right, and repeats no secret', async () => {
    for (const [url, key, code] of [
      ['http://ana:secret@undertone.test', 'k', 'UNREACHABLE'],
      ['http://undertone.test?token=secret#x', 'k', 'UNREACHABLE'],
      ['http://', 'k', 'UNREACHABLE'],
      ['http://undertone.test', 'secret\nsecret', 'INVALID_API_KEY'],
      ['http://undertone.test', 'sécret', 'INVALID_API_KEY'],
    ] as const) {
      const { transport, requests } = scripted([OK], 0, url, key);
      const error = await errorOf(transport.json(CALL));
      deepEqual([error.code, requests.length], [code, 0], url);
      doesNotMatch(`${error.message} ${String(error.cause)}`, /secret|sécret/);
    }
    const { transport } = scripted([OK], 0, 'http://undertone.test', ' ut_test_key\n');
    await transport.json(CALL);
  });

  it('of an answer that points elsewhere says where', async () => {
    const moved = () =>
      new Response(null, { status: 308, headers: { location: 'https://undertone.test/v1' } });
    const error = await errorOf(scripted([moved]).transport.json(CALL));
    match(error.message, /^Status 308 points to https:\/\/undertone\.test\/v1: /);
  });
});

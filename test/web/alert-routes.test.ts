/** The routes about alerts: what they take, and what they refuse. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { alertDetailSchema, newAlertSchema } from '../../src/doors/alerts/service.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, SESSION } from './support.ts';

const { app } = createHarness({ limits: { requestsPerSecond: 1_000_000 } });
const BODY = {
  instanceId: INSTANCE,
  name: 'Many cancellations',
  condition: { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 3 },
  delivery: { url: 'https://example.com/hook', format: 'slack' },
};

async function send(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { statusCode, body: text } = await app.inject({
    method,
    url: `/v1/alerts${path}`,
    headers: {
      'x-api-key': KEY,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: statusCode, body: text === '' ? null : JSON.parse(text) };
}

function codeOf(body: unknown): string {
  return errorEnvelopeSchema.parse(body).error.code;
}

describe('the routes about alerts', () => {
  it('make, list, read, test and delete', async () => {
    const made = await send('POST', '', BODY);
    equal(made.status, 201);
    equal(newAlertSchema.parse(made.body).alert.name, BODY.name);
    deepEqual((await send('GET', `?instanceId=${INSTANCE}`)).body, { elements: [] });
    const { status, body } = await send('GET', `/${SESSION.toUpperCase()}/?instanceId=${INSTANCE}`);
    deepEqual([status, alertDetailSchema.parse(body).alert.id], [200, SESSION]);
    deepEqual(await send('POST', `/${SESSION}/test?instanceId=${INSTANCE}`), {
      status: 202,
      body: { deliveryId: SESSION },
    });
    deepEqual(await send('DELETE', `/${SESSION}?instanceId=${INSTANCE}`), { status: 204, body: null });
  });

  it('take a client that names a type of body where it sends none', async () => {
    const headers = { 'content-type': 'application/json' };
    const path = `${SESSION}?instanceId=${INSTANCE}`;
    const test = `/${SESSION}/test?instanceId=${INSTANCE}`;
    equal((await send('POST', test, undefined, headers)).status, 202);
    equal((await send('DELETE', `/${path}`, undefined, headers)).status, 204);
    equal((await send('POST', '', undefined, headers)).status, 400);
  });

  it('take the time zone of the instance, unless the alert names one', async () => {
    const harness = createHarness();
    const zoneOf = async (more: object): Promise<string> => {
      const answer = await harness.app.inject({
        method: 'POST',
        url: '/v1/alerts',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        payload: JSON.stringify({ ...BODY, ...more }),
      });
      if (answer.statusCode !== 201) return errorEnvelopeSchema.parse(answer.json()).error.message;
      return newAlertSchema.parse(answer.json()).alert.timeZone;
    };
    equal(await zoneOf({}), 'UTC');
    harness.timeZone = 'Europe/Berlin';
    equal(await zoneOf({}), 'Europe/Berlin');
    equal(await zoneOf({ timeZone: 'Asia/Kolkata' }), 'Asia/Kolkata');
    for (const timeZone of ['Berlin', 7, null]) ok((await zoneOf({ timeZone })).includes('timeZone'));
  });

  it('know only the instances of the key, and only ids', async () => {
    for (const [method, path, body] of [
      ['POST', '', { ...BODY, instanceId: FOREIGN_INSTANCE }],
      ['GET', `?instanceId=${FOREIGN_INSTANCE}`],
      ['GET', `/${SESSION}?instanceId=${FOREIGN_INSTANCE}`],
      ['DELETE', `/${SESSION}?instanceId=${FOREIGN_INSTANCE}`],
      ['POST', `/${SESSION}/test?instanceId=${FOREIGN_INSTANCE}`],
    ] as const) {
      const answer = await send(method, path, body);
      deepEqual([answer.status, codeOf(answer.body)], [404, 'NOT_FOUND'], `${method} ${path}`);
    }
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?instanceId=x'],
      ['GET', `?instanceId=${INSTANCE}&more=1`],
      ['GET', `/x?instanceId=${INSTANCE}`],
      ['DELETE', `/${SESSION}`],
      ['POST', `/x/test?instanceId=${INSTANCE}`],
    ] as const) {
      const answer = await send(method, path);
      deepEqual([answer.status, codeOf(answer.body)], [400, 'VALIDATION_ERROR'], `${method} ${path}`);
    }
  });

  it('refuse a receiver that only the server can reach, and say what an operator can do', async () => {
    const { status, body } = await send('POST', '', {
      ...BODY,
      delivery: { url: 'http://169.254.169.254/' },
    });
    const { error } = errorEnvelopeSchema.parse(body);
    equal(status, 400);
    equal(error.details?.[0]?.path, 'delivery.url');
    ok(error.message.includes('WEBHOOK_ALLOW_PRIVATE=true'), error.message);
  });

  it('answer 400 to whatever is no alert', async () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('count', 'DAY', 'TOPIC', INSTANCE, 'http://10.0.0.1'));
    const value = fc.oneof(
      fc.jsonValue(),
      text,
      fc.double(),
      fc.constantFrom(1e308, -1, [], {}, null, '__proto__', 'a'.repeat(5000)),
    );
    const places = [
      'instanceId',
      'name',
      'condition',
      'delivery',
      'more',
      'condition.kind',
      'condition.atLeast',
    ];
    const more = ['condition.ids', 'condition.window', 'delivery.url', 'delivery.secret', 'delivery.format'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places, ...more), value, async (place, wrong) => {
        const body = structuredClone(BODY) as Record<string, unknown>;
        const [first = '', second] = place.split('.');
        if (second === undefined) body[first] = wrong;
        else (body[first] as Record<string, unknown>)[second] = wrong;
        const { status } = await send('POST', '', body);
        ok([201, 400, 404, 413].includes(status), `${place} ${JSON.stringify(wrong)}: ${status}`);
      }),
      { numRuns: 300 },
    );
    const whole = JSON.stringify(BODY);
    for (let length = 0; length < whole.length; length += 7) {
      const { status } = await send('POST', '', whole.slice(0, length));
      equal(status, 400);
    }
    equal((await send('POST', '', `${'['.repeat(5000)}${']'.repeat(5000)}`)).status, 400);
    equal((await send('POST', '', BODY, { 'idempotency-key': 'ä' })).status, 400);
    equal((await send('POST', '', BODY, { 'content-type': 'text/plain' })).status, 400);
  });
});

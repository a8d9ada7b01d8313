import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { curatedSchema, newTopicAnswerSchema } from '../../src/contract/steering.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, PROJECT, SESSION } from './support.ts';

const TOPIC = '0192f0a0-0000-7000-8000-00000000000e';

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const harness = createHarness();
  const answer = await harness.app.inject({
    method: 'POST',
    url: path,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { ...harness, answer };
}

async function codeOf(...given: Parameters<typeof post>): Promise<string> {
  const { answer, curated } = await post(...given);
  equal(curated.length, 0);
  return errorEnvelopeSchema.parse(answer.json()).error.code;
}

describe('http: steering', () => {
  it('hands on what is asked for, whose key it is, and answers where it is stored', async () => {
    const body = {
      instanceId: INSTANCE.toUpperCase(),
      action: 'MOVE',
      topicId: TOPIC,
      newClusterName: 'Gifts',
    };
    const { answer, curated, asked } = await post('/v1/curations/', body, {
      'idempotency-key': 'once',
      'x-wait-for-position': '7',
    });
    equal(answer.statusCode, 201);
    deepEqual(curatedSchema.parse(answer.json()), { curationId: SESSION, topicClusterId: INSTANCE });
    deepEqual([answer.headers['x-stream-position'], answer.headers['x-wait-result']], ['43', 'reached']);
    deepEqual(asked, [{ instanceId: INSTANCE, position: 7, timeoutMs: 5000 }]);
    deepEqual(
      curated.map((request) => ({ ...request, check: null })),
      [
        {
          instanceId: INSTANCE,
          projectId: PROJECT,
          keyId: `id of ${KEY}`,
          check: null,
          messages: 300,
          idempotencyKey: 'once',
          asked: { kind: 'MOVE', id: TOPIC, cluster: null, clusterName: 'Gifts' },
        },
      ],
    );
    const hidden = await post('/v1/curations', { instanceId: INSTANCE, action: 'HIDE', topicId: TOPIC });
    deepEqual(hidden.answer.json(), { curationId: SESSION });
  });

  it('draws from the budget of messages, and is refused where nothing is left', async () => {
    const harness = createHarness({ limits: { messagesPerSecond: 100 } });
    const ask = (): Promise<{ statusCode: number; headers: Record<string, unknown> }> =>
      harness.app.inject({
        method: 'POST',
        url: '/v1/curations',
        headers: { 'x-api-key': KEY },
        payload: { instanceId: INSTANCE, action: 'HIDE', topicId: TOPIC },
      });
    const answers = [await ask(), await ask(), await ask()];
    deepEqual(
      answers.map(({ statusCode, headers }) => [statusCode, headers['x-ratelimit-remaining']]),
      [
        [201, '200'],
        [201, '0'],
        [429, '0'],
      ],
    );
    equal(harness.curated.length, 2);
  });

  it('takes topics of people with fifty examples in any script', async () => {
    const examples = Array.from({ length: 50 }, () => '漢'.repeat(500));
    const { answer } = await post('/v1/topics/', { instanceId: INSTANCE, name: 'Gifts', examples });
    equal(answer.statusCode, 201, answer.body);
    deepEqual(newTopicAnswerSchema.parse(answer.json()), { topicId: INSTANCE, curationId: SESSION });
    const large = { instanceId: INSTANCE, name: 'x'.repeat(300_000), examples };
    equal(await codeOf('/v1/topics', large), 'PAYLOAD_TOO_LARGE');
    equal(await codeOf('/v1/curations', large), 'PAYLOAD_TOO_LARGE');
  });

  it('refuses instances of others, keys that cannot be read, and what is no JSON', async () => {
    const hide = { action: 'HIDE', topicId: TOPIC };
    for (const instanceId of [FOREIGN_INSTANCE, TOPIC]) {
      equal(await codeOf('/v1/curations', { instanceId, ...hide }), 'NOT_FOUND');
      equal(await codeOf('/v1/topics', { instanceId, name: 'x', examples: ['y'] }), 'NOT_FOUND');
    }
    const own = { instanceId: INSTANCE, ...hide };
    equal(await codeOf('/v1/curations', own, { 'idempotency-key': 'é' }), 'VALIDATION_ERROR');
    equal(await codeOf('/v1/curations', own, { 'content-type': 'text/plain' }), 'BAD_REQUEST');
    for (const path of ['/v1/curations', '/v1/topics']) {
      equal(await codeOf(path, '{'), 'BAD_REQUEST');
      equal(await codeOf(path, '{"__proto__":{}}'), 'BAD_REQUEST');
      equal(await codeOf(path, '[1,2]'), 'VALIDATION_ERROR');
      equal(await codeOf(path, 'null'), 'VALIDATION_ERROR');
    }
  });

  it('never fails in the service, whatever a body holds', async () => {
    // Members of valid bodies, each in the place of another: every pair of member and value.
    const values = [null, true, 0, -1e300, '', 'x', '\ud800', TOPIC, [], [[]], {}, { a: 1 }, ['x', null]];
    const members = [
      'action',
      'instanceId',
      'topicId',
      'topicClusterId',
      'gapId',
      'intoTopicId',
      'curationId',
    ];
    const valid = { instanceId: INSTANCE, topicId: TOPIC, name: 'x', examples: ['y'] };
    const { app, errors } = createHarness({ limits: { requestsPerSecond: 1_000_000 } });
    for (const action of ['RENAME', 'PIN', 'MERGE', 'MOVE', 'HIDE', 'UNDO']) {
      for (const member of [
        ...members,
        'name',
        'newClusterName',
        'description',
        'examples',
        'fromBeginning',
      ]) {
        for (const value of values) {
          const { name: _, examples: __, ...curation } = valid;
          for (const [url, body] of [
            ['/v1/curations', { ...curation, action, [member]: value }],
            ...(action === 'UNDO' ? [['/v1/topics', { ...valid, [member]: value }] as const] : []),
          ] as const) {
            const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
            const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) });
            if (answer.statusCode !== 201)
              equal(Math.floor(answer.statusCode / 100), 4, `${url} ${JSON.stringify(body)}: ${answer.body}`);
          }
        }
      }
    }
    deepEqual(errors, []);
  });

  it('lists curations page by page', async () => {
    const { app } = createHarness();
    const get = (search: string) =>
      app.inject({ url: `/v1/curations?${search}`, headers: { 'x-api-key': KEY } });
    const page = await get(`instanceId=${INSTANCE}&limit=3&cursor=12`);
    equal(page.statusCode, 200, page.body);
    for (const wrong of ['limit=0', 'limit=1001', 'cursor=x', 'cursor=-1', 'topicId=1'])
      equal((await get(`instanceId=${INSTANCE}&${wrong}`)).statusCode, 400, wrong);
    equal((await get(`instanceId=${FOREIGN_INSTANCE}`)).statusCode, 404);
    equal((await get('')).statusCode, 400);
  });
});

/** POST /v1/traces and /v1/logs on a real service: from an exporter's bytes to the session. */
import { deepEqual, equal, match } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { v5 } from 'uuid';
import { Client } from '../support/client.ts';
import { Random } from '../faults/support/random.ts';
import { badExport } from '../support/otlp-fuzz.ts';
import { exportJson, exportRequest, spanIdOf, traceIdOf, type SpanDraft } from '../support/otlp.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const FUZZ_RUNS = Number(process.env['OTLP_FUZZ_RUNS'] ?? 100);
const START = Date.parse('2026-02-03T09:00:00Z');
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

describe('OTLP', () => {
  let service: TestService;
  let project: TestProject;
  let client: Client;
  let instanceId: string;

  before(async () => {
    service = await shareTestService();
    project = await service.newProject();
    client = new Client(service.url, project.key);
    instanceId = await service.newInstance(project);
  });
  after(() => service?.stop());

  async function export_(drafts: readonly SpanDraft[]): Promise<void> {
    const { headers, ...request } = exportRequest(drafts);
    const response = await fetch(`${service.url}/v1/traces`, {
      ...request,
      headers: {
        ...(headers as Record<string, string>),
        authorization: `Bearer ${client.key}`,
        'x-instance-id': instanceId,
      },
    });
    equal(response.status, 200, await response.text());
    equal(response.headers.get('content-type'), 'application/x-protobuf');
  }

  /** Messages of the instance, by session. */
  async function bySession(): Promise<Map<string, number>> {
    const rows = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'messages', limit: 1000 });
    return new Map(
      rows.map(({ dimensions, fields }) => [dimensions.session?.id ?? '', fields.messages ?? 0]),
    );
  }

  const sumOf = (counts: ReadonlyMap<string, number>): number =>
    [...counts.values()].reduce((sum, count) => sum + count, 0);

  /** The same, once there are as many. */
  async function counted(messages: number): Promise<Map<string, number>> {
    for (const deadline = performance.now() + 20_000; ; await sleep(200)) {
      const counts = await bySession();
      if (sumOf(counts) < messages && performance.now() < deadline) continue;
      equal(sumOf(counts), messages);
      return counts;
    }
  }

  const turns: SpanDraft[] = [
    {
      trace: 'first',
      span: 'first call',
      parent: 'first agent',
      operation: 'chat',
      startedAt: START + 10,
      endedAt: START + 900,
      asked: [{ role: 'system', content: 'Be kind.' }, user('Where is my parcel?')],
      answered: [assistant('It is on its way.')],
    },
    {
      trace: 'first',
      span: 'first agent',
      operation: 'invoke_agent',
      startedAt: START,
      endedAt: START + 1000,
      conversationId: 'chat 17',
      userId: 'ada',
      asked: [user('Where is my parcel?')],
      answered: [assistant('It is on its way.')],
    },
    {
      trace: 'second',
      span: 'second call',
      operation: 'chat',
      startedAt: START + 60_000,
      endedAt: START + 61_000,
      conversationId: 'chat 17',
      userId: 'ada',
      asked: [user('Where is my parcel?'), assistant('It is on its way.'), user('When does it come?')],
      answered: [assistant('On Friday.')],
    },
  ];

  it('makes sessions of spans, each message once, however often they are exported', async () => {
    await export_(turns);
    const session = v5('chat 17', instanceId);
    deepEqual(await counted(4), new Map([[session, 4]]));
    await export_(turns);
    await export_([
      {
        trace: 'other',
        span: 'other',
        operation: 'chat',
        startedAt: START,
        endedAt: START + 5,
        asked: [user('Can I pay later?')],
        answered: [assistant('Yes, within 30 days.')],
      },
    ]);
    const sessions = await counted(6);
    equal(sessions.get(session), 4);
    const transcript = await client.session(session, { instanceId });
    deepEqual(
      transcript.messages.map(({ role, content, createdAt, externalId }) => [
        role,
        content,
        createdAt,
        externalId,
      ]),
      [
        ['user', 'Where is my parcel?', '2026-02-03T09:00:00.000Z', 'ada'],
        ['assistant', 'It is on its way.', '2026-02-03T09:00:01.000Z', null],
        ['user', 'When does it come?', '2026-02-03T09:01:00.000Z', 'ada'],
        ['assistant', 'On Friday.', '2026-02-03T09:01:01.000Z', null],
      ],
    );
  });

  it('tells of conversations what their spans tell: version, model, metadata, and what they took', async () => {
    const other = await service.newInstance(project);
    const say = (trace: string, more: Readonly<Record<string, string>>): SpanDraft => ({
      trace,
      span: trace,
      operation: 'chat',
      startedAt: START,
      endedAt: START + 5,
      conversationId: trace,
      instanceId: other,
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
      more,
    });
    const sent = [
      say('by small', { 'gen_ai.request.model': 'small', 'langfuse.trace.metadata.plan': 'pro' }),
      say('by large', {
        'gen_ai.request.model': 'large',
        'service.version': '2.5.0',
        'langfuse.observation.usage_details': '{"input": 812, "output": 64}',
        'langfuse.observation.cost_details': '{"total": 0.00125}',
      }),
    ];
    const response = await fetch(`${service.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': client.key },
      body: JSON.stringify(exportJson(sent)),
    });
    equal(response.status, 200, await response.text());
    const rowsOf = (more: Readonly<Record<string, string>>) =>
      client.rows({ instanceId: other, groupBy: 'SESSION', fields: 'messages', limit: 10, ...more });
    for (const deadline = performance.now() + 20_000; (await rowsOf({})).length < 2; await sleep(200))
      if (performance.now() > deadline) break;
    const named = async (more: Readonly<Record<string, string>>) =>
      (await rowsOf({ dimensionFields: 'externalId', ...more })).map(
        ({ dimensions }) => dimensions.session?.externalId,
      );
    deepEqual(await named({ 'segment.model': 'small' }), ['by small']);
    deepEqual(await named({ 'segment.plan': 'pro' }), ['by small']);
    deepEqual(await named({ 'segment.service.version': '2.5.0' }), ['by large']);
    const fields = 'inputTokens,outputTokens,costUsd';
    const took = await rowsOf({ 'segment.model': 'large', fields });
    deepEqual(
      took.map((row) => row.fields),
      [{ inputTokens: 812, outputTokens: 64, costUsd: 0.00125 }],
    );
  });

  it('takes the thumb of an end user to the reply that it is on, after the trace as before', async () => {
    const other = await service.newInstance(project);
    const json = { 'content-type': 'application/json', 'x-api-key': client.key, 'x-instance-id': other };
    const post = async (path: string, body: object): Promise<void> => {
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(body),
      });
      equal(response.status, 200);
      deepEqual(await response.json(), {});
    };
    const agent = {
      trace: 'rated',
      span: 'rated agent',
      operation: 'invoke_agent',
      startedAt: START,
      endedAt: START + 7,
      asked: [user('Where is my parcel?')],
      answered: [assistant('On its way.')],
    } as const;
    const inner = { ...agent, span: 'rated call', parent: agent.span, operation: 'chat' } as const;
    await post('/v1/traces', exportJson([inner, agent]));
    const rowsOf = (groupBy: string, more: Readonly<Record<string, string>>) =>
      client.rows({ instanceId: other, groupBy, fields: 'messages', limit: 10, ...more });
    const [deadline, given] = [performance.now() + 20_000, { signalSource: 'GIVEN' }];
    while ((await rowsOf('SESSION', {})).length < 1 && performance.now() < deadline) await sleep(200);
    const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const thumb = (evaluation: string, label: string) => ({
      timeUnixNano: `${START + 60_000}000000`,
      eventName: 'gen_ai.evaluation.result',
      traceId: traceIdOf('rated'),
      spanId: spanIdOf('rated call'),
      attributes: [
        attribute('gen_ai.evaluation.name', evaluation),
        attribute('gen_ai.evaluation.score.label', label),
      ],
    });
    const logRecords = [thumb('user_feedback', 'up'), thumb('Relevance', 'bad')];
    await post('/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    while ((await rowsOf('CSAT_DSAT', given)).length < 1 && performance.now() < deadline) await sleep(200);
    const found = await rowsOf('CSAT_DSAT', given);
    deepEqual(
      found.map(({ dimensions, fields }) => [dimensions.csatDsatSignal?.name, fields.messages]),
      [['Thumbs up', 1]],
    );
  });

  it('leaves out what ingest refuses for good, and goes on with the rest', async () => {
    const other = await service.newInstance(project);
    const taken = randomUUID();
    const hello = [{ role: 'user', content: 'Hello' }];
    await client.ingest({ instanceId: other, sessionId: taken, messages: hello });
    const before = sumOf(await counted(6));
    const call = {
      operation: 'chat',
      startedAt: START,
      endedAt: START + 5,
      answered: [assistant('Yes.')],
    } as const;
    await export_([
      { ...call, trace: 'bad', span: 'bad', conversationId: taken, asked: [user('Is it open?')] },
    ]);
    await export_([{ ...call, trace: 'good', span: 'good', asked: [user('Is the shop open?')] }]);
    await counted(before + 2);
  });

  it('answers garbage with 4xx, in the encoding of the request', async () => {
    const headers = { 'x-api-key': client.key };
    const bodies = [
      '',
      '\u0000',
      '\n\u00ff\u00ff\u00ff\u00ff\u00ff',
      '[]',
      '{"resourceSpans":5}',
      '{'.repeat(5000),
      'x'.repeat(99),
    ];
    for (const type of ['application/x-protobuf', 'application/json', 'text/plain']) {
      for (const body of bodies) {
        const init = { method: 'POST', headers: { ...headers, 'content-type': type }, body };
        const response = await fetch(`${service.url}/v1/traces`, init);
        const isFine = response.status === 200 || (response.status >= 400 && response.status < 500);
        equal(isFine, true, `${response.status} for ${body.slice(0, 20)}`);
        if (type === 'application/x-protobuf') equal(response.headers.get('content-type'), type);
        await response.arrayBuffer();
      }
    }
  });

  it('answers real exports with faults in them with 4xx or a partial success, and goes on', async () => {
    const own = new Client(service.url, (await service.newProject()).key);
    const random = new Random(20);
    for (let run = 0; run < FUZZ_RUNS; run += 1) {
      const { name, path, headers, body } = badExport(random);
      const response = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': own.key },
        body: new Uint8Array(body),
      });
      await response.arrayBuffer();
      const isAnswer = response.status === 200 || (response.status >= 400 && response.status < 500);
      equal(isAnswer, true, `${response.status} for run ${run}: ${name}`);
    }
    const before = sumOf(await bySession());
    const exchange = { asked: [user('Is it still open?')], answered: [assistant('It is.')] };
    const call = {
      operation: 'chat',
      startedAt: START,
      endedAt: START + 5,
      conversationId: 'still',
    } as const;
    await export_([{ ...call, ...exchange, trace: 'still', span: 'still' }]);
    await counted(before + 2);
  });

  it('says that content is missing, and which switch brings it, unless it comes as log records', async () => {
    const own = new Client(service.url, (await service.newProject()).key);
    const send = async (path: string, body: object): Promise<unknown> => {
      const answer = await own.send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      equal(answer.status, 200);
      return answer.body;
    };
    const bare = exportJson([
      { trace: 'bare', span: 'bare', operation: 'chat', startedAt: START, endedAt: START },
    ]);
    const { partialSuccess } = (await send('/v1/traces', bare)) as {
      partialSuccess: { errorMessage: string; rejectedSpans?: string };
    };
    match(
      partialSuccess.errorMessage,
      /^1 call of a model .*OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT/,
    );
    equal(partialSuccess.rejectedSpans, undefined);
    const record = {
      timeUnixNano: String(START * 1e6),
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      eventName: 'gen_ai.user.message',
      body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'Where is my parcel?' } }] } },
    };
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] };
    deepEqual(await send('/v1/logs', logs), {});
    deepEqual(await send('/v1/traces', bare), {});
  });
});

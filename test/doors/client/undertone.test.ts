/** The client against a server that behaves as the service does, and as networks do. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  Undertone,
  UndertoneError,
  type Lost,
  type UndertoneOptions,
} from '../../../src/doors/client/index.ts';
import { FakeService, type Disturbance } from '../import/fake-service.ts';

let service: FakeService;
let url: string;
const clients: Undertone[] = [];

beforeEach(async () => {
  service = new FakeService();
  url = await service.listen();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close({ timeoutMs: 0 })));
  await service.close();
});

function clientOf(options: Partial<UndertoneOptions> = {}): {
  undertone: Undertone;
  lost: (Lost & { code: string })[];
} {
  const lost: (Lost & { code: string })[] = [];
  const undertone = new Undertone({
    url,
    key: service.key,
    batchMs: 1,
    backoffMs: 1,
    onError: (error, what) => lost.push({ ...what, code: error.code }),
    ...options,
  });
  clients.push(undertone);
  return { undertone, lost };
}

const contentsOf = (sessionId: string): string[] | undefined =>
  service.sessions.get(sessionId)?.messages.map(({ content }) => content);

describe('logged messages', () => {
  it('are stored once and in order, whatever happens to requests', async () => {
    const { undertone, lost } = clientOf({ batchMessages: 3, timeoutMs: 200, concurrency: 4 });
    // Each request meets another fault first; the same request then meets none, so that it ends.
    const faults: readonly (Disturbance | null)[] = [
      { kind: 'lose' },
      { kind: 503 },
      null,
      { kind: 'reset' },
      { kind: 429, retryAfter: '0' },
      { kind: 'hang' },
      { kind: 502 },
      null,
      { kind: 504 },
    ];
    const met = new Set<string>();
    service.disturb = (body, count) => {
      const request = JSON.stringify(body);
      if (met.has(request)) return null;
      met.add(request);
      return faults[count % faults.length] ?? null;
    };
    const sessions = Array.from({ length: 6 }, () => undertone.session());
    const contents = Array.from({ length: 12 }, (_, at) => `message ${at}`);
    for (const content of contents) for (const session of sessions) await session.user(content);
    equal((await undertone.flush()).lost, 0);
    for (const { id } of sessions) deepEqual(contentsOf(id), contents);
    deepEqual(lost, []);
    equal(undertone.pending, 0);
    ok(service.mostInFlight <= 4);
    // They are all in one instance: the default one of the project.
    equal(service.instances.size, 1);
  });

  it('wait while the service is away, and are reported when it does not come back', async () => {
    service.disturb = () => ({ kind: 503 });
    const { undertone, lost } = clientOf({ patienceMs: 250 });
    const session = undertone.session();
    await session.user('Hi');
    deepEqual(await undertone.flush(), { position: null, lost: 1 });
    deepEqual(
      lost.map(({ code, sessionId, messages }) => [code, sessionId, messages.map(({ content }) => content)]),
      [['SERVICE_UNAVAILABLE', session.id, ['Hi']]],
    );
    service.disturb = () => null;
    await session.user('Again');
    await undertone.flush();
    deepEqual(contentsOf(session.id), ['Again']);
  });

  it('say on the console that the service is away, once a minute, or tell the hook', async (context) => {
    const reported: string[] = [];
    context.mock.method(console, 'warn', (text: string) => reported.push(text));
    service.disturb = (_, count) => (count <= 6 ? { kind: 503 } : null);
    const { undertone } = clientOf();
    await undertone.session().user('Hi');
    await undertone.flush();
    deepEqual(reported, [
      'undertone: no success after 5 tries, trying again. SERVICE_UNAVAILABLE: try again later',
    ]);
    let requests = 0;
    service.disturb = () => ((requests += 1) <= 2 ? { kind: 503 } : null);
    const retries: number[] = [];
    const onRetry = (_: UndertoneError, { tries }: { readonly tries: number }): never => {
      retries.push(tries);
      throw new Error('hook');
    };
    const { undertone: other } = clientOf({ onRetry });
    await other.session().user('Hi');
    equal((await other.flush()).lost, 0);
    deepEqual([retries, reported.length], [[1, 2], 1]);
  });

  it('do not go with one that is refused', async () => {
    const { undertone, lost } = clientOf();
    const session = undertone.session();
    await session.log(['1', '', '2', 'REFUSE ME', '3'].map((content) => ({ content })));
    equal((await undertone.flush()).lost, 2);
    deepEqual(contentsOf(session.id), ['1', '2', '3']);
    deepEqual(
      lost.map(({ messages }) => messages.map(({ content }) => content)),
      [[''], ['REFUSE ME']],
    );
  });

  it('bring no error into the chat: not with a wrong key, not without a service, not with a hook that throws', async () => {
    const hook = (): never => {
      throw new Error('hook');
    };
    const cases: Partial<UndertoneOptions>[] = [
      { key: 'wrong' },
      { url: 'http://127.0.0.1:1', patienceMs: 3 },
      { url: 'no url', patienceMs: 3 },
      { key: 'no\nheader', patienceMs: 3 },
      { key: 'wrong', onError: hook },
      { key: 'wrong', onError: async () => hook() },
    ];
    for (const options of cases) {
      const { undertone } = clientOf(options);
      await undertone.session().user('Hi');
      equal((await undertone.flush()).lost, 1, JSON.stringify(options));
    }
    service.warnings = () => 'ignored members of messages: colour';
    const { undertone } = clientOf({ onWarning: hook });
    await undertone.session().user('Hi');
    equal((await undertone.flush()).lost, 0);
  });

  it('are told of what has no effect', async () => {
    const warnings: string[][] = [];
    const { undertone } = clientOf({ onWarning: (...warning) => warnings.push(warning) });
    service.warnings = () => 'ignored members of messages: colour';
    const session = undertone.session();
    await session.user('Hi');
    await undertone.flush();
    deepEqual(warnings, [['ignored members of messages: colour', session.id]]);
  });

  it('are stored at the end of the block', async () => {
    let id: string;
    {
      await using undertone = new Undertone({ url, key: service.key });
      const session = undertone.session();
      id = session.id;
      await session.user('Hi');
    }
    deepEqual(contentsOf(id), ['Hi']);
  });
});

describe('a program', () => {
  const run = (mode: string) => fork(join(import.meta.dirname, 'program.ts'), [url, service.key, mode]);
  const CONTENTS = ['Where is my parcel?', 'It arrives tomorrow.'];

  it('ends after its last batch, by itself or closed, even if the service is away for a moment', async () => {
    service.disturb = (_, count) => (count % 2 === 1 ? { kind: 503 } : null);
    const ends = await Promise.all(['end', 'close'].map((mode) => once(run(mode), 'exit')));
    deepEqual(
      ends.map(([code]) => code as unknown),
      [0, 0],
    );
    deepEqual(
      [...service.sessions.values()].map(({ messages }) => messages.map(({ content }) => content)),
      [CONTENTS, CONTENTS],
    );
  });

  it('that is killed has stored what it sent, each message once', async () => {
    const enough = Promise.withResolvers<void>();
    service.disturb = (_, count) => {
      if (count === 20) enough.resolve();
      return count % 3 === 0 ? { kind: 'lose' } : null;
    };
    const program = run('forever');
    await enough.promise;
    program.kill('SIGKILL');
    await once(program, 'exit');
    const [session] = [...service.sessions.values()];
    const contents = session?.messages.map(({ content }) => content) ?? [];
    ok(contents.length > 0);
    deepEqual(
      contents,
      contents.map((_, at) => `message ${at + 1}`),
    );
  });
});

describe('one request', () => {
  it('answers with ids and position, and stores once however often it is tried', async () => {
    const { undertone } = clientOf();
    service.disturb = (_, count) => (count === 1 ? { kind: 'lose' } : null);
    const { position, sessionId, instanceId, warnings } = await undertone.ingest({
      messages: [{ content: 'Hi' }],
    });
    deepEqual([position, warnings, instanceId], [1, null, service.defaultInstance]);
    deepEqual(contentsOf(sessionId), ['Hi']);
  });

  it('rejects', async () => {
    const { undertone } = clientOf();
    const body = { messages: [{ content: 'REFUSE ME' }] };
    await rejects(
      undertone.ingest(body),
      (error) => error instanceof UndertoneError && error.details[0]?.path.startsWith('messages.0') === true,
    );
  });
});

describe('reading', () => {
  let answer: RequestListener;
  const asked: URL[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://localhost'));
    answer(request, response);
  });
  let reader: Undertone;
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const callPatienceMs = 0;
    reader = new Undertone({ url: `http://127.0.0.1:${port}`, key: 'k', instanceId: 'shop', callPatienceMs });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => asked.splice(0));

  it('writes parameters as the service reads them', async () => {
    answer = (_, response) => response.setHeader('x-wait-result', 'timeout').end('{"elements":[]}');
    const page = await reader.query({
      groupBy: 'SESSION',
      fields: ['messages', 'sat'],
      dimensionFields: [],
      dateRange: { start: new Date(0), end: '2026-11-01' },
      timeGranularity: 'DAY',
      sort: { field: 'createdAt', order: 'ASC' },
      topicIds: ['t1', 't2'],
      titleContains: 'a & b',
      externalId: undefined,
      minMessages: 2,
      limit: 10,
    });
    equal(page.waitResult, 'timeout');
    deepEqual(Object.fromEntries(asked[0]?.searchParams ?? []), {
      instanceId: 'shop',
      groupBy: 'SESSION',
      fields: 'messages,sat',
      'dateRange.start': '1970-01-01T00:00:00.000Z',
      'dateRange.end': '2026-11-01',
      timeGranularity: 'DAY',
      'sort.field': 'createdAt',
      'sort.order': 'ASC',
      topicIds: 't1,t2',
      titleContains: 'a & b',
      minMessages: '2',
      limit: '10',
    });
  });

  it('goes through pages until the last, however many rows there are meanwhile', async () => {
    answer = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      const offset = Number(searchParams.get('offset'));
      const elements = Array.from({ length: Math.max(0, Math.min(2, 5 - offset)) }, (_, at) => offset + at);
      response.end(JSON.stringify({ elements, pagination: { total: offset < 4 ? 7 : 5, limit: 2, offset } }));
    };
    const rows: unknown[] = [];
    for await (const page of reader.pages({ groupBy: 'TOPIC', fields: ['sessions'], limit: 2 }))
      rows.push(...page.elements);
    deepEqual(rows, [0, 1, 2, 3, 4]);
    equal(asked.length, 3);
  });

  it('reads rows as they come, over the borders of chunks and characters', async () => {
    const lines = ['{"name":"Ü"}', '{"name":"😀"}', '{"name":"c"}'];
    answer = async (_, response) => {
      for (const byte of Buffer.from(`${lines.join('\n')}\n`)) response.write(Buffer.of(byte));
      response.end();
    };
    const rows: unknown[] = [];
    for await (const row of reader.rows({ groupBy: 'TOPIC', fields: ['sessions'] })) rows.push(row);
    deepEqual(
      rows,
      lines.map((line) => JSON.parse(line) as unknown),
    );
  });

  it('rejects when rows break off, and ends the request when the caller stops', async () => {
    answer = (_, response) => response.write('{"n":1}\n', () => response.destroy());
    const read = async (): Promise<void> => {
      for await (const row of reader.rows({ groupBy: 'TOPIC', fields: ['sessions'] })) ok(row);
    };
    await rejects(read(), { name: 'UndertoneError', code: 'UNREACHABLE' });
    answer = (_, response) => response.end('{"n":1}\n{"n"');
    await rejects(read(), { name: 'UndertoneError', code: 'UNREACHABLE' });
    const closed = Promise.withResolvers<void>();
    answer = (_, response) => response.once('close', closed.resolve).write('{"n":1}\n');
    for await (const row of reader.rows({ groupBy: 'TOPIC', fields: ['sessions'] })) if (row) break;
    await closed.promise;
    const controller = new AbortController();
    const aborted = async (): Promise<void> => {
      const { signal } = controller;
      for await (const row of reader.rows({ groupBy: 'TOPIC', fields: ['sessions'], signal }))
        if (row) controller.abort(new Error('enough'));
    };
    await rejects(aborted(), /enough/);
  });
});

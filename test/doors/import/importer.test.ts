import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import { v5 } from 'uuid';
import { ServiceClient } from '../../../src/doors/import/client.ts';
import { importFiles } from '../../../src/doors/import/importer.ts';
import { partsOf } from '../../../src/doors/import/sender.ts';
import { earlierSessionIdsOf, sessionIdOf } from '../../../src/doors/import/session-lookup.ts';
import type { Finding, ImportOptions, ImportSummary } from '../../../src/doors/import/contract.ts';
import { FakeService, issuedId } from './fake-service.ts';

let folder: string;
let service: FakeService;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-'));
  service = new FakeService();
  url = await service.listen();
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function dialogue(id: string, messages = 4): Record<string, unknown> {
  const turns = Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${id} says ${index}`,
  }));
  return { id, source: 'shop', turns };
}

async function fileOf(
  lines: readonly (string | Record<string, unknown>)[],
  name = 'chats.jsonl',
): Promise<string> {
  const path = join(folder, name);
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

async function run(
  files: string | readonly string[],
  { instanceId, ...options }: Partial<Omit<ImportOptions, 'plans'>> & { readonly instanceId?: string } = {},
): Promise<ImportSummary> {
  return await importFiles({
    files: typeof files === 'string' ? [files] : files,
    target: new ServiceClient({ url, key: service.key, backoffMs: 1, maxBackoffMs: 5, patienceMs: 2_000 }),
    concurrency: 8,
    into: { kind: 'default' },
    ...(instanceId === undefined ? {} : { into: { kind: 'named', instanceId } }),
    ...options,
  });
}

/** The session of a dialogue. */
function sessionOf(instanceId: string | null, id: string): string {
  return issuedId(instanceId ?? '', sessionIdOf(instanceId ?? '', 'shop', id));
}

const hundred = Array.from({ length: 100 }, (_, index) => dialogue(`d${index}`, 2 + (index % 7)));
const hundredMessages = hundred.reduce((sum, line) => sum + (line['turns'] as unknown[]).length, 0);

describe('importFiles', () => {
  it('sends every conversation of plain and gzip files into the one default instance', async () => {
    const files = [await fileOf(hundred.slice(0, 30)), await fileOf(hundred.slice(30), 'more.jsonl.gz')];
    const announced: string[] = [];
    const summary = await run(files, { observer: { instance: (id) => announced.push(id) } });
    deepEqual(service.countOf(), { sessions: 100, messages: hundredMessages, users: 100 });
    equal(service.instances.size, 1);
    deepEqual(announced, [...service.instances]);
    deepEqual(
      [
        summary.instanceId,
        summary.conversations,
        summary.messages,
        summary.users,
        summary.failedLines,
        summary.stopped,
      ],
      [announced[0], 100, hundredMessages, 100, 0, null],
    );
  });

  it('gives the feedback of a table after its messages, the same in every import', async () => {
    const path = await fileOf(
      [
        'conversation,role,text,time,user,thumbs',
        'a,user,Hello,2026-03-01T09:00:00Z,ana,',
        'a,assistant,Hi,2026-03-01T09:00:05Z,ana,up',
        'a,assistant,Bye,2026-03-01T09:00:09Z,,down',
        'b,user,Hello,,bo,',
        'b,assistant,First,,,up',
        'b,assistant,Last,,,down',
        'c,user,Hello,2026-03-01,,',
        'c,assistant,First,2026-03-01,,up',
        'c,assistant,Second,2026-03-01,,down',
        'c,user,Bye,2026-03-02,,',
      ],
      'table.csv',
    );
    const expected = (instanceId: string | null, sessions: readonly string[]) => [
      { instanceId, sessionId: sessions[0], at: '2026-03-01T09:00:05Z', value: 1, userId: 'ana' },
      { instanceId, sessionId: sessions[0], at: '2026-03-01T09:00:09Z', value: -1 },
      { instanceId, sessionId: sessions[1], value: -1 },
      // Of one time, the service takes the first answer. The last one needs no time.
      { instanceId, sessionId: sessions[2], at: '2026-03-01T00:00:00.000Z', value: 1 },
      { instanceId, sessionId: sessions[2], value: -1 },
    ];
    const first = await run(path);
    deepEqual([first.feedback, first.failedLines, first.stopped], [5, 0, null]);
    deepEqual(Object.fromEntries(first.leftOut), {
      'feedback on a message without a time of its own that is not the last of the assistant': 1,
    });
    const sessions = [...service.sessions.keys()];
    const { instanceId } = first;
    const given = () =>
      service.feedback.toSorted(
        (one, other) =>
          sessions.indexOf(String(one['sessionId'])) - sessions.indexOf(String(other['sessionId'])),
      );
    deepEqual(given(), expected(instanceId, sessions));
    const again = await run(path);
    deepEqual([again.conversations, again.alreadyThere, again.feedback], [0, 3, 5]);
    deepEqual(given(), expected(instanceId, sessions), 'a repeat is the same request');
  });

  it('gives feedback without a time on the last answer, unless the session went on', async () => {
    const path = await fileOf(['question,answer,rating', 'Hello,Hi,5', 'Where?,There,1'], 'faq.csv');
    const { feedback } = await run(path);
    deepEqual(
      [feedback, service.feedback.map(({ value, rating, at }) => [value, rating, at])],
      [
        2,
        [
          [1, 5, undefined],
          [-1, 1, undefined],
        ],
      ],
    );
    for (const [id, { messages }] of service.sessions) service.counted.set(id, messages.length + 1);
    deepEqual((await run(path)).feedback, 0);
  });

  it('reports feedback that is refused, and imports the rest', async () => {
    const path = await fileOf(['question,answer,thumbs', 'Hello,Hi,up', 'Where?,There,down'], 'faq.csv');
    service.older = true;
    const failures: string[] = [];
    const summary = await run(path, { observer: { failure: ({ message }) => failures.push(message) } });
    deepEqual(
      [summary.conversations, summary.feedback, summary.failedLines, summary.stopped],
      [2, 0, 2, null],
    );
    deepEqual(failures, Array(2).fill('its feedback: no such route'));
  });

  it('gives feedback in lists, and of a refused list all but the pieces that are wrong', async () => {
    const chat = (id: number, userId?: string) => ({
      id: `c${id}`,
      turns: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi', feedback: { value: 1, userId: userId ?? `u${id}` } },
      ],
    });
    const wrong = new Set([3, 150, 151, 152, 249]);
    const chats = Array.from({ length: 260 }, (_, id) => chat(id, wrong.has(id) ? 'REFUSE ME' : undefined));
    const path = await fileOf(chats);
    const failures: [number, string][] = [];
    const summary = await run(path, {
      concurrency: 1,
      observer: { failure: ({ line, message }) => failures.push([line, message]) },
    });
    deepEqual([summary.conversations, summary.feedback, summary.failedLines], [260, 255, 5]);
    deepEqual(
      failures,
      [3, 150, 151, 152, 249].map((id) => [
        id + 1,
        'VALIDATION_ERROR: refused (turns.1.feedback.userId: must not be longer)',
      ]),
    );
    // Groups of 250 conversations; this service names two faults at once.
    deepEqual(service.feedbackLists, [100, 99, 100, 98, 97, 50, 49, 10]);
    const given = service.feedback.map(({ userId }) => userId);
    deepEqual(
      given,
      chats.flatMap((_, id) => (wrong.has(id) ? [] : [`u${id}`])),
      'each once, in the order of the file',
    );
    equal((await run(path, { concurrency: 1 })).feedback, 255);
    equal(service.feedback.length, 255, 'a repeat is the same requests');
  });

  it('divides a list that is too large for whoever is before the service', async () => {
    const path = await fileOf(
      ['question,answer,thumbs', ...Array.from({ length: 10 }, (_, row) => `Hello ${row},Hi,up`)],
      'faq.csv',
    );
    service.mostLines = 3;
    const summary = await run(path);
    deepEqual([summary.feedback, summary.failedLines, service.feedback.length], [10, 0, 10]);
    ok(service.feedbackLists.filter((pieces) => pieces <= 3).length === 4);
    service.mostLines = 0;
    const failures: string[] = [];
    await run(path, { observer: { failure: ({ message }) => failures.push(message) } });
    deepEqual(failures, Array(10).fill('PAYLOAD_TOO_LARGE: refused (turns.1.feedback: too large)'));
  });

  it('keeps several requests in flight, never more than asked for', async () => {
    const thousand = Array.from({ length: 1000 }, (_, index) => dialogue(`d${index}`, 2));
    service.awaited = 2;
    await run(await fileOf(thousand), { concurrency: 3 });
    deepEqual([service.mostInFlight > 1, service.mostInFlight <= 3], [true, true]);
    equal(service.countOf().sessions, 1000);
  });

  it('sends one conversation a request to an older service, and goes on in its sessions when it is newer', async () => {
    const file = await fileOf(hundred);
    service.older = true;
    const first = await run(file, { concurrency: 4 });
    equal(service.mostInFlight > 1 && service.mostInFlight <= 4, true);
    deepEqual([first.conversations, first.stopped], [100, null]);
    for (const id of service.sessions.keys()) service.unprocessed.add(id);
    deepEqual([(await run(file)).conversations, service.countOf().messages], [100, hundredMessages]);
    service.unprocessed.clear();
    service.older = false;
    const longer = await fileOf([...hundred.slice(1), dialogue('d0', 12), dialogue('new', 2)]);
    const again = await run(longer);
    deepEqual([again.conversations, again.alreadyThere, again.failedLines], [2, 99, 0]);
    deepEqual(
      new Set(service.requests.map(({ path }) => path)),
      new Set(['/v1/ingest/', '/v1/ingest/batch/']),
    );
    deepEqual(service.countOf(), { sessions: 101, messages: hundredMessages + 12, users: 101 });
  });

  it('divides what is too large for whoever is before the service, and counts it once', async () => {
    service.mostLines = 7;
    const summary = await run(await fileOf(hundred));
    deepEqual([summary.conversations, summary.stopped, summary.failedLines], [100, null, 0]);
    equal(service.countOf().messages, hundredMessages);
    service.mostLines = 0;
    const refused = await run(await fileOf([dialogue('more', 2)], 'more.jsonl'));
    equal(refused.failedLines, 1);
  });

  it('waits, when told so, while the service is too far behind with counting', async () => {
    const thousand = Array.from({ length: 1000 }, (_, index) => dialogue(`d${index}`, 2));
    service.processed = 0;
    const waits: { readonly wanted: number; readonly sessions: number }[] = [];
    service.onWait = (wanted) => {
      waits.push({ wanted, sessions: service.sessions.size });
      if (waits.length === 3) service.processed = Infinity;
    };
    const summary = await run(await fileOf(thousand), { concurrency: 1, maxLagMs: 0 });
    deepEqual([summary.conversations, summary.stopped], [1000, null]);
    // The first group is out; nothing more goes until it is counted.
    deepEqual(
      waits.slice(0, 3).map(({ sessions }) => sessions),
      [250, 250, 250],
    );
    ok(waits.every(({ wanted, sessions }) => wanted <= sessions));
    service.onWait = () => equal('a wait', 'none');
    equal(
      (await run(await fileOf(thousand.slice(0, 300), 'more.jsonl'), { maxLagMs: 60_000 })).stopped,
      null,
    );
  });

  it('counts nothing twice when repeated without naming the instance', async () => {
    const file = await fileOf(hundred);
    const first = await run(file);
    const second = await run(file);
    equal(second.instanceId, first.instanceId);
    deepEqual(service.countOf(), { sessions: 100, messages: hundredMessages, users: 100 });
    deepEqual([second.alreadyThere, second.users], [100, 100]);
  });

  it('counts nothing twice when repeated with --instance after the idempotency keys are forgotten', async () => {
    const file = await fileOf(hundred);
    const { instanceId } = await run(file);
    service.claims.clear();
    const again = await run(file, { instanceId: instanceId ?? '' });
    deepEqual(
      [again.alreadyThere, again.conversations, again.messagesAlreadyThere],
      [100, 0, hundredMessages],
    );
    equal(service.countOf().messages, hundredMessages);
  });

  it('counts nothing twice when repeated before the worker has processed the first run', async () => {
    const file = await fileOf(hundred);
    const instanceId = service.addInstance();
    await run(file, { instanceId });
    for (const id of service.sessions.keys()) service.unprocessed.add(id);
    const again = await run(file, { instanceId });
    equal(again.conversations, 100);
    equal(service.countOf().messages, hundredMessages);
  });

  it('goes into one default instance, file after file, unless a new one is asked for', async () => {
    const received: unknown[] = [];
    const observer = {
      instance: (id: string, opened: { name: string | null; made: boolean } | null) =>
        void received.push([id, opened?.name, opened?.made]),
    };
    const one = await run(await fileOf([dialogue('a')]), { observer });
    const two = await run(await fileOf([dialogue('b')], 'more.jsonl'), { observer });
    const three = await run(await fileOf([dialogue('c')]), { observer, into: { kind: 'new' } });
    equal(two.instanceId, one.instanceId);
    notEqual(three.instanceId, one.instanceId);
    deepEqual(received, [
      [one.instanceId, 'default', true],
      [one.instanceId, 'default', false],
      [three.instanceId, null, true],
    ]);
    deepEqual(service.countOf(one.instanceId ?? ''), { sessions: 2, messages: 8, users: 2 });
  });

  it('opens no instance when no line can be sent', async () => {
    const summary = await run(await fileOf(['no JSON', '{}']));
    deepEqual([summary.instanceId, summary.failedLines, service.instances.size], [null, 2, 0]);
  });

  it('goes on in the sessions that an earlier version of it opened', async () => {
    const instanceId = service.addInstance();
    const [own = '', first = ''] = earlierSessionIdsOf(instanceId, 'shop', 'a');
    const client = new ServiceClient({ url, key: service.key });
    const messages = Array.from({ length: 3 }, (_, index) => ({ role: 'user', content: `a says ${index}` }));
    await client.ingest({ instanceId, sessionId: first, messages }, '1');
    const [ownB = ''] = earlierSessionIdsOf(instanceId, 'shop', 'b');
    await client.ingest({ instanceId, sessionId: ownB, messages }, '2');
    const summary = await run(await fileOf([dialogue('a', 5), dialogue('b', 3), dialogue('c', 1)]), {
      instanceId,
    });
    deepEqual([summary.messages, summary.alreadyThere], [3, 1]);
    equal(service.sessions.get(first)?.messages.length, 5);
    deepEqual([service.sessions.has(own), service.sessions.size], [false, 3]);
  });

  it('sends the ids as they were written, and derives sessions from them alone when told so', async () => {
    const file = await fileOf([
      { id: 'ticket-123', turns: [{ role: 'user', content: 'hello' }] },
      { id: 7, source: 'phone', turns: [{ role: 'user', content: 'hello' }] },
      { turns: [{ role: 'user', content: 'hello' }] },
    ]);
    const instanceId = service.addInstance();
    const failures: Finding[] = [];
    const summary = await run(file, {
      instanceId,
      source: '',
      observer: { failure: (finding) => failures.push(finding) },
    });
    equal(summary.conversations, 2);
    match(failures[0]?.message ?? '', /^id: missing/);
    // As any language's UUIDv5 of the id in the namespace of the instance.
    const ticket = service.sessions.get(v5('ticket-123', instanceId));
    deepEqual(ticket?.metadata, { externalId: 'ticket-123', id: 'ticket-123' });
    const phone = service.sessions.get(issuedId(instanceId, sessionIdOf(instanceId, 'phone', '7')));
    deepEqual(phone?.metadata, { externalId: '7', source: 'phone', id: '7' });
    const again = await run(file, { instanceId });
    deepEqual([again.conversations, again.alreadyThere], [2, 1]);
  });

  it('says each warning of the service once, with its line, and adds them up', async () => {
    service.warnings = ({ messages }) =>
      `unknown-member "messages.a; \\"b" in ${messages.length} messages: ignored; and 4 more; ` +
      `unknown-role "x" in 1 message: counted, not analysed`;
    const received: Finding[] = [];
    const file = await fileOf([dialogue('a', 4), dialogue('b', 2)]);
    const summary = await run(file, {
      concurrency: 1,
      observer: { warning: (finding) => received.push(finding) },
    });
    const member = 'unknown-member "messages.a; \\"b": ignored';
    const role = 'unknown-role "x": counted, not analysed';
    deepEqual(
      received.map(({ line, message }) => [line, message]),
      [
        [1, member],
        [1, 'and more names'],
        [1, role],
      ],
    );
    deepEqual(summary.warnings, [
      { text: member, messages: 6 },
      { text: 'and more names', messages: 0 },
      { text: role, messages: 2 },
    ]);
  });

  it('imports the same file into a second instance, whole and repeatably', async () => {
    const file = await fileOf(hundred);
    const { instanceId: first } = await run(file);
    const second = service.addInstance();
    await run(file, { instanceId: second });
    service.claims.clear();
    const again = await run(file, { instanceId: second });
    equal(again.alreadyThere, 100);
    deepEqual(service.countOf(second), { sessions: 100, messages: hundredMessages, users: 100 });
    deepEqual(service.countOf(first ?? ''), { sessions: 100, messages: hundredMessages, users: 100 });
    notEqual(first, second);
  });

  it('sends only what a conversation has gained since the last import', async () => {
    const { instanceId } = await run(await fileOf([dialogue('a', 4), dialogue('b', 2)]));
    const summary = await run(await fileOf([dialogue('a', 7), dialogue('b', 2)]), {
      instanceId: instanceId ?? '',
    });
    deepEqual([summary.messages, summary.alreadyThere], [3, 1]);
    deepEqual(
      service.sessions.get(sessionOf(instanceId, 'a'))?.messages.map(({ content }) => content),
      Array.from({ length: 7 }, (_, index) => `a says ${index}`),
    );
  });

  it('continues a conversation that stands in two files, though queries do not show it yet', async () => {
    const files = [
      await fileOf([dialogue('a', 4)]),
      await fileOf([dialogue('a', 7), dialogue('b', 2)], 'more.jsonl'),
    ];
    service.disturb = () => {
      for (const id of service.sessions.keys()) service.unprocessed.add(id);
      return null;
    };
    const summary = await run(files);
    deepEqual([summary.conversations, summary.messages, service.countOf().messages], [3, 9, 9]);
    equal(summary.messagesAlreadyThere, 4);
  });

  it('sends conversations of many small files together', async () => {
    const files: string[] = [];
    for (const [index, line] of hundred.entries()) files.push(await fileOf([line], `one-${index}.jsonl`));
    const target = new ServiceClient({ url, key: service.key });
    const sent = mock.method(target, 'ingestBatch');
    const summary = await run(files, { target });
    deepEqual([summary.conversations, service.countOf().messages], [100, hundredMessages]);
    equal(sent.mock.callCount() < 10, true, String(sent.mock.callCount()));
    const again = await run(files);
    deepEqual([again.conversations, again.alreadyThere], [0, 100]);
  });

  it('keeps what it imported of a chat that is edited afterwards, and adds what lies behind', async () => {
    const node = (id: string, parent: string | null, role: string): [string, object] => {
      const message = {
        author: { role },
        content: { content_type: 'text', parts: [`says ${id}`] },
        weight: 1,
      };
      return [id, { id, parent, children: [], message }];
    };
    const chat = (current: string, nodes: [string, object][]): string =>
      JSON.stringify([{ conversation_id: 'c1', current_node: current, mapping: Object.fromEntries(nodes) }]);
    const asked = [node('u1', null, 'user'), node('a1', 'u1', 'assistant')];
    const first = [...asked, node('u2', 'a1', 'user'), node('a2', 'u2', 'assistant')];
    // The second question was edited: another branch was shown last.
    const edited = [...first, node('u2b', 'a1', 'user'), node('a2b', 'u2b', 'assistant')];
    const longer = [...edited, node('u3', 'a2b', 'user')];
    const sentTexts = (): string[] =>
      [...service.sessions.values()].flatMap(({ messages }) => messages.map(({ content }) => content));
    await run(await fileOf([chat('a2', first)], 'conversations.json'));
    const second = await run(await fileOf([chat('a2b', edited)], 'conversations.json'));
    deepEqual([second.conversations, second.alreadyThere], [0, 1]);
    deepEqual(sentTexts(), ['says u1', 'says a1', 'says u2', 'says a2']);
    await run(await fileOf([chat('u3', longer)], 'conversations.json'));
    deepEqual(sentTexts(), ['says u1', 'says a1', 'says u2', 'says a2', 'says u3']);
  });

  it('reads the parts of a session in several files as one', async () => {
    const row = (id: string, at: string, question: string): string =>
      JSON.stringify({
        id,
        trace_id: `t-${id}`,
        session_id: 's',
        type: 'GENERATION',
        parent_observation_id: null,
        start_time: `2026-03-01 ${at}:00.000000`,
        input: question,
        output: `To ${question}`,
      });
    const files = [
      await fileOf([row('2', '10:00', 'the second')], 'a.jsonl'),
      await fileOf([row('1', '09:00', 'the first'), '{'], 'b.jsonl.gz'),
    ];
    const failures: Finding[] = [];
    const summary = await run(files, { observer: { failure: (finding) => failures.push(finding) } });
    deepEqual(
      [...service.sessions.values()].map(({ messages }) => messages.map(({ content }) => content)),
      [['the first', 'To the first', 'the second', 'To the second']],
    );
    deepEqual([summary.messages, failures.map(({ file, line }) => [file, line])], [4, [[files[1], 2]]]);
  });

  it('stores each message once although answers are lost and the service is busy', async () => {
    service.disturb = (_body, count) => {
      if (count % 5 === 0) return { kind: 'lose' };
      if (count % 7 === 0) return { kind: 429, retryAfter: '0' };
      return count % 11 === 0 ? { kind: 503 } : null;
    };
    const summary = await run(await fileOf(hundred));
    equal(summary.stopped, null);
    deepEqual(service.countOf(), { sessions: 100, messages: hundredMessages, users: 100 });
  });

  it('can be resumed after the service went away in the middle', async () => {
    service.disturb = (_body, count) => (count > 40 ? { kind: 503 } : null);
    const file = await fileOf(hundred);
    const target = new ServiceClient({ url, key: service.key, backoffMs: 1, patienceMs: 30 });
    const broken = await run(file, { target });
    match(broken.stopped?.message ?? '', /stayed unavailable/);
    equal(service.countOf().sessions, 40);
    service.disturb = () => null;
    const resumed = await run(file, { instanceId: broken.instanceId ?? '' });
    equal(resumed.stopped, null);
    deepEqual(service.countOf(), { sessions: 100, messages: hundredMessages, users: 100 });
  });

  it('finishes what is in flight when interrupted, and can be resumed', async () => {
    const stop = new AbortController();
    service.disturb = (_body, count) => {
      if (count === 20) stop.abort();
      return null;
    };
    const file = await fileOf(Array.from({ length: 1000 }, (_, index) => dialogue(`d${index}`, 2)));
    const broken = await run(file, { signal: stop.signal, concurrency: 1 });
    equal(broken.interrupted, true);
    equal(service.countOf().messages, broken.messages);
    equal(service.countOf().sessions < 600, true);
    service.disturb = () => null;
    await run(file, { instanceId: broken.instanceId ?? '' });
    equal(service.countOf().messages, 2000);
  });

  it('reports bad lines and empty turns with their line numbers and imports the rest', async () => {
    const failures: Finding[] = [];
    const notices: Finding[] = [];
    const file = await fileOf([
      '{"id": ',
      dialogue('a'),
      '',
      {
        id: 'b',
        source: 'shop',
        turns: [
          { role: 'user', content: '' },
          { role: 'user', content: 'REFUSE ME' },
        ],
      },
      { id: 'c', source: 'shop' },
      dialogue('d'),
    ]);
    const summary = await run(file, {
      observer: { failure: (finding) => failures.push(finding), notice: (finding) => notices.push(finding) },
    });
    deepEqual(failures.map(({ line }) => line).toSorted(), [1, 4, 5]);
    match(
      failures.find(({ line }) => line === 4)?.message ?? '',
      /^VALIDATION_ERROR: refused \(turns\.1\.createdAt: must not be ahead\)$/,
    );
    deepEqual(notices, [{ file, line: 4, message: 'empty turn left out: 0' }]);
    deepEqual([summary.failedLines, summary.emptyTurns, summary.conversations], [3, 1, 2]);
    deepEqual(service.countOf(), { sessions: 2, messages: 8, users: 2 });
  });

  it('cuts a conversation into requests that are shown as a whole, in order, and resumes between the cuts', async () => {
    const file = await fileOf([dialogue('first'), dialogue('long', 25_001)]);
    service.disturb = (body) => (body.messages[0]?.content === 'long says 10000' ? { kind: 503 } : null);
    const target = new ServiceClient({ url, key: service.key, backoffMs: 1, patienceMs: 20 });
    const broken = await run(file, { target });
    equal(service.countOf().messages, 10_004);
    service.disturb = () => null;
    const resumed = await run(file, { instanceId: broken.instanceId ?? '' });
    equal(resumed.messages, 15_001);
    deepEqual(
      service.sessions.get(sessionOf(broken.instanceId, 'long'))?.messages.map(({ content }) => content),
      Array.from({ length: 25_001 }, (_, index) => `long says ${index}`),
    );
    equal(
      service.requests.every(({ messages }) => messages <= 500),
      true,
    );
  });

  it('counts a part once that was accepted and is not shown, however the rest is cut this time', async () => {
    const file = await fileOf([dialogue('long', 12_000)]);
    const { instanceId } = await run(file);
    equal(service.countOf().messages, 12_000);
    service.counted.set(sessionOf(instanceId, 'long'), 10_000);
    const again = await run(file, { instanceId: instanceId ?? '' });
    deepEqual([again.stopped, again.failedLines], [null, 0]);
    equal(service.countOf().messages, 12_000);
  });

  it('stops where somebody before the service knows none of its routes, and counts nothing twice', async () => {
    const file = await fileOf(hundred);
    const { instanceId } = await run(file);
    for (const path of ['/session-ids/', '/v1/ingest/batch/']) {
      service.lostPath = path;
      for (const id of service.sessions.keys()) service.unprocessed.add(id);
      const lost = await run(file, { instanceId: instanceId ?? '' });
      match(lost.stopped?.message ?? '', /404/);
      deepEqual([lost.conversations, service.countOf().messages], [0, hundredMessages]);
    }
    service.lostPath = null;
    equal((await run(file, { instanceId: instanceId ?? '' })).stopped, null);
    equal(service.countOf().messages, hundredMessages);
  });

  it('keeps two lines with the same id apart, on every run', async () => {
    const file = await fileOf([dialogue('a'), dialogue('a'), dialogue('a', 2)]);
    const { instanceId } = await run(file);
    await run(file, { instanceId: instanceId ?? '' });
    deepEqual(service.countOf(), { sessions: 3, messages: 10, users: 3 });
  });

  it('stops with the reason when the key or the instance is refused', async () => {
    const file = await fileOf(hundred);
    const keyless = await run(file, { target: new ServiceClient({ url, key: 'wrong' }) });
    match(keyless.stopped?.message ?? '', /invalid or inactive/);
    const lost = await run(file, { instanceId: '00000000-0000-0000-0000-000000000000' });
    match(lost.stopped?.message ?? '', /no such instance/);
    equal(service.countOf().messages, 0);
  });

  it('imports what a cut-off gzip file still holds, then says what is wrong', async () => {
    const path = join(folder, 'cut.jsonl.gz');
    const whole = gzipSync(
      hundred
        .map((line) => JSON.stringify({ ...line, note: Math.sin(Number(String(line['id']).slice(1))) }))
        .join('\n'),
    );
    await writeFile(path, whole.subarray(0, Math.floor(whole.length * 0.7)));
    const summary = await run(path);
    equal(summary.stopped, null);
    deepEqual(summary.brokenFiles, [{ name: path, message: 'unexpected end of file' }]);
    equal(service.countOf().sessions, summary.conversations);
    equal(summary.conversations > 10, true);
  });

  it('names the file that is not there', async () => {
    const summary = await run(join(folder, 'absent.jsonl'));
    match(summary.stopped?.message ?? '', /absent\.jsonl/);
  });
});

describe('partsOf', () => {
  it('cuts before a request grows too large in bytes, at the same places from any cut on', () => {
    const messages = Array.from({ length: 9 }, (_, index) => ({
      role: 'user',
      content: String(index),
      metadata: { note: 'a'.repeat(3_000_000) },
    }));
    const parts = partsOf(messages);
    deepEqual(
      parts.map(({ offset, messages: { length } }) => [offset, length]),
      [
        [0, 2],
        [2, 2],
        [4, 2],
        [6, 2],
        [8, 1],
      ],
    );
    deepEqual(partsOf(messages, 4), parts.slice(2));
  });

  it('cuts before its texts grow too long to be shown as a whole', () => {
    const messages = Array.from({ length: 5 }, () => ({ role: 'user', content: 'a'.repeat(90_000) }));
    deepEqual(
      partsOf(messages).map(({ offset }) => offset),
      [0, 2, 4],
    );
  });
});

describe('sessionIdOf', () => {
  it('is a UUIDv5 that depends on source, id and instance, each on its own', () => {
    const [one, two] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-00000000000A'];
    const ids = [
      sessionIdOf(one, 'a', 'bc'),
      sessionIdOf(one, 'ab', 'c'),
      sessionIdOf(two, 'a', 'bc'),
      sessionIdOf(one, '', 'bc'),
    ];
    equal(new Set(ids).size, 4);
    equal(
      ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab]/.test(id)),
      true,
    );
    equal(sessionIdOf(two.toLowerCase(), 'a', 'bc'), ids[2]);
    // Python: uuid.uuid5(uuid.UUID('01900000-0000-7000-8000-000000000001'), 'bc')
    equal(ids[3], '4d29b19b-b72f-5a89-a675-bb4025078bf9');
  });
});

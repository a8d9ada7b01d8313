/** /mcp and `npm run mcp`, asked by the official clients of both generations. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { KINDS } from '../../src/doors/mcp/kinds.ts';
import { Client } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  PASSWORD,
  THANKS,
  user,
  type Filled,
} from '../support/conversations.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const INFO = { name: 'test', version: '1.0.0' };
const PERIOD = '2025-03-01/2025-03-31';

interface Called {
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
  /** The fence of each answer has a name of its own: here they all have the same. */
  readonly text: string;
}

interface Asker {
  readonly names: readonly string[];
  call(name: string, args: Record<string, unknown>): Promise<Called>;
  close(): Promise<void>;
}

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  close(): Promise<void>;
}

async function askerOf(client: AnyClient): Promise<Asker> {
  const { tools } = await client.listTools();
  return {
    names: tools.map(({ name }) => name),
    async call(name, args) {
      // The client checks structured content against the schema that the tool has.
      const result = (await client.callTool({ name, arguments: args })) as {
        readonly isError?: boolean;
        readonly structuredContent?: Readonly<Record<string, unknown>>;
        readonly content: readonly { readonly text: string }[];
      };
      const text = (result.content[0]?.text ?? '').replaceAll(/data-[0-9a-f]{16}/g, 'data-X');
      return { isError: result.isError === true, structured: result.structuredContent, text };
    },
    close: () => client.close(),
  };
}

let service: TestService;
let project: TestProject;
let api: Client;
let shop: Filled;

const url = (): URL => new URL(`${service.url}/mcp`);

async function overHttp(key: string): Promise<Asker> {
  const client = new McpClient(INFO);
  const requestInit = { headers: { 'x-api-key': key } };
  await client.connect(new StreamableHTTPClientTransport(url(), { requestInit }) as never);
  return askerOf(client as unknown as AnyClient);
}

async function overModernHttp(key: string): Promise<Asker> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new ModernTransport(url(), { requestInit }));
  equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  match(client.getInstructions() ?? '', /never follow instructions/);
  return askerOf(client as unknown as AnyClient);
}

async function overStdio(key: string): Promise<Asker> {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [, file = ''] = /^node (\S+)$/.exec(scripts['mcp'] ?? '') ?? [];
  const client = new McpClient(INFO);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [file, '--url', service.url],
    cwd: ROOT,
    env: { UT_KEY: key, PATH: process.env['PATH'] ?? '' },
  });
  await client.connect(transport);
  return askerOf(client as unknown as AnyClient);
}

const ways: { readonly name: string; readonly open: (key: string) => Promise<Asker> }[] = [
  { name: 'HTTP, first generation', open: overHttp },
  { name: 'HTTP, revision 2026-07-28', open: overModernHttp },
  { name: 'standard input and output', open: overStdio },
];
const askers: Asker[] = [];

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  api = new Client(service.url, project.key);
  shop = await fill(api, [
    [
      user(CANCEL[0], '2025-03-03T10:00:00Z'),
      assistant(DONE, '2025-03-03T10:01:00Z'),
      user(THANKS, '2025-03-03T10:02:00Z'),
    ],
    [
      user(CANCEL[1], '2025-03-04T10:00:00Z', 'bob'),
      assistant(CANNOT, '2025-03-04T10:01:00Z'),
      user(CANCEL[1], '2025-03-04T10:02:00Z', 'bob'),
      assistant(CANNOT, '2025-03-04T10:03:00Z'),
      user(COMPLAINT, '2025-03-04T10:04:00Z', 'bob'),
    ],
    [user(CANCEL[2], '2025-03-11T10:00:00Z'), assistant(DONE, '2025-03-11T10:01:00Z')],
    [user(PASSWORD[0], '2025-02-12T10:00:00Z', 'eve'), assistant(DONE, '2025-02-12T10:01:00Z')],
    [user(PASSWORD[1], '2025-03-13T10:00:00Z', 'eve')],
    [user(PASSWORD[2], '2025-03-14T10:00:00Z', 'bob')],
  ]);
  await api.query({ groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId }, shop.position);
  for (const { open } of ways) askers.push(await open(project.key));
});
after(async () => {
  for (const asker of askers) await asker.close();
  await service.stop();
});

/** What every way answers, and the same. */
async function ask(name: string, args: Record<string, unknown> = {}): Promise<Called> {
  const [first, ...others] = await Promise.all(askers.map((asker) => asker.call(name, args)));
  ok(first);
  for (const other of others) deepEqual(other, first);
  return first;
}

/** A list in an answer. */
function listOf<Item>({ structured }: Called, member: string): readonly Item[] {
  return (structured?.[member] ?? []) as readonly Item[];
}

/** A member of an answer that is an object of numbers. */
function numbersOf({ structured }: Called, member: string): Readonly<Record<string, number>> {
  return (structured?.[member] ?? {}) as Readonly<Record<string, number>>;
}

describe('the tools for language models', () => {
  it('are the same six over HTTP and standard input and output', () => {
    for (const { names } of askers)
      deepEqual(names, ['overview', 'topics', 'why', 'conversations', 'transcript', 'changes', 'effects']);
  });

  it('give the numbers that the routes give', async () => {
    const { instanceId } = shop;
    const rows = await api.rows({
      instanceId,
      groupBy: 'TOPIC',
      fields: KINDS.topics.metrics.join(','),
      'dateRange.start': '2025-03-01',
      'dateRange.end': '2025-04-01',
      'sort.field': 'sessions',
    });
    const { structured, text } = await ask('topics', { period: PERIOD });
    deepEqual(
      structured?.['rows'],
      rows.map(({ dimensions: { topic }, fields }) => ({
        id: topic?.id,
        name: topic?.name,
        sessionsBefore: topic?.name.includes('assword') === true ? 1 : 0,
        ...fields,
      })),
    );
    equal(structured?.['instance'], instanceId);
    for (const { dimensions } of rows) ok(text.includes(dimensions.topic?.id ?? '?'));
    const all = await ask('overview', { period: PERIOD });
    equal(numbersOf(all, 'now')['sessions'], 5);
    equal(numbersOf(all, 'before')['sessions'], 1);
  });

  it('lead from a topic to its reasons, its conversations and their messages', async () => {
    const why = await ask('why', { about: 'cancel', period: PERIOD });
    equal(numbersOf(why, 'now')['sessions'], 3);
    ok(why.text.includes(CANCEL[2]), why.text);
    const bad = await ask('conversations', { topic: 'cancels', went: 'badly', period: PERIOD });
    const [row] = listOf<{ id: string }>(bad, 'rows');
    equal(row?.id, shop.sessions[1]);
    const read = await ask('transcript', { conversation: row?.id });
    const messages = listOf<{ text: string; gap: unknown }>(read, 'messages');
    deepEqual(
      messages.map(({ text }) => text),
      [CANCEL[1], CANNOT, CANCEL[1], CANNOT, COMPLAINT],
    );
    ok(messages.some(({ gap }) => gap !== null));
    match(read.text, /^> Please cancel my hotel booking\.$/m);
    const gaps = await ask('topics', { kind: 'gaps', period: 'all' });
    const [gap] = listOf<{ id: string }>(gaps, 'rows');
    const behind = await ask('conversations', { gap: gap?.id, period: 'all' });
    equal(behind.structured?.['total'], 1);
    equal((await ask('changes', { period: PERIOD })).isError, false);
    equal((await ask('why', { about: 'bob', kind: 'users', period: 'all' })).isError, false);
  });

  it('find what was said, page by page, as the route does', async () => {
    const search = { said: 'hotel BOOKING', period: 'all', limit: 2 };
    const first = await ask('conversations', search);
    match(first.text, /^ {2}said: user 2025-03-04T10:02: Please cancel my hotel booking\.$/m);
    const rest = await ask('conversations', { ...search, cursor: first.structured?.['next'] });
    equal(rest.structured?.['next'], null);
    deepEqual(
      [first, rest].flatMap((page) => listOf<{ id: string }>(page, 'rows').map(({ id }) => id)),
      [shop.sessions[2], shop.sessions[1], shop.sessions[0]],
    );
  });

  it('page through a transcript without a gap', async () => {
    const texts: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ask('transcript', {
        conversation: shop.sessions[1],
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      texts.push(...listOf<{ text: string }>(page, 'messages').map(({ text }) => text));
      cursor = (page.structured?.['next'] as string | null) ?? undefined;
    } while (cursor !== undefined);
    deepEqual(texts, [CANCEL[1], CANNOT, CANCEL[1], CANNOT, COMPLAINT]);
  });

  it('say what is wrong in the same words whichever way they are asked', async () => {
    const rows: readonly (readonly [name: string, args: Record<string, unknown>, pattern: RegExp])[] = [
      [
        'topics',
        { sort: 'dsat', kind: 'gaps' },
        /sort must be one of sessions, messages, users, growth for gaps/,
      ],
      ['transcript', { conversation: shop.instanceId }, /There is no session/],
      ['transcript', { conversation: shop.sessions[0], cursor: 'x' }, /cursor must be the pagination\.next/],
      ['conversations', { language: 'nonsense!' }, /language must be/],
      ['why', { about: shop.instanceId }, /There is no/],
      ['overview', { period: '7 days' }, /period must be like/],
    ];
    for (const [name, args, pattern] of rows) {
      const { isError, text } = await ask(name, args);
      equal(isError, true, name);
      match(text, pattern);
    }
  });

  it('count a segment as the routes do, and name the attributes there are', async () => {
    let instance: string | undefined;
    let position = 0;
    for (const [index, plan] of ['pro', 'free', 'pro', 'free', 'free'].entries()) {
      const messages = [user(CANCEL[index % 4] ?? '', `2025-03-0${3 + index}T10:00:00Z`)];
      const taken = await api.ingest({
        ...(instance === undefined ? {} : { instanceId: instance }),
        messages,
        metadata: { session: { plan } },
      });
      ({ instanceId: instance, position } = taken);
    }
    const instanceId = instance ?? '';
    await api.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    const of = { instance: instanceId, period: PERIOD };
    const segment = { plan: 'pro' };
    equal(numbersOf(await ask('overview', { ...of, segment }), 'now')['sessions'], 2);
    equal(numbersOf(await ask('overview', of), 'now')['sessions'], 5);
    const [topic] = listOf<{ id: string; sessions: number }>(await ask('topics', { ...of, segment }), 'rows');
    equal(topic?.sessions, 2);
    const why = await ask('why', { ...of, segment, about: topic?.id });
    equal(numbersOf(why, 'now')['sessions'], 2);
    match(why.text, /Only conversations with plan "pro"\./);
    equal((await ask('conversations', { ...of, segment })).structured?.['total'], 2);
    equal(listOf(await ask('conversations', { ...of, segment, said: 'cancel' }), 'rows').length, 2);
    deepEqual(numbersOf(await ask('changes', { ...of, segment }), 'period')['sessions'], 2);
    for (const name of ['overview', 'topics', 'changes', 'conversations']) {
      const { isError, text } = await ask(name, { ...of, segment: { plam: 'pro' } });
      equal(isError, true, name);
      match(text, /segment\.plam is not known: sessions of this instance have plan/);
    }
  });
});

describe('a key', () => {
  it('sees nothing of another project', async () => {
    const { key } = await service.newProject();
    const stranger = await overHttp(key);
    for (const name of ['overview', 'topics', 'conversations', 'changes']) {
      const { isError, text } = await stranger.call(name, { instance: shop.instanceId });
      deepEqual([isError, text], [true, `There is no instance ${shop.instanceId}.`]);
    }
    match((await stranger.call('topics', {})).text, /has no instance/);
    await stranger.close();
  });

  it('needs the scope query', async () => {
    const { key } = await service.newKey(project, 'test', ['ingest']);
    await rejects(overHttp(key), /lacks the scope query/);
    await rejects(overHttp('ut_test_nonsense'), /invalid or inactive|401/i);
  });
});

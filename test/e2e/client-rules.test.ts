/** undertone/client against the service (docs/client.md). */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { Undertone, UndertoneError, type Waited, type WhyGroupBy } from '../../src/doors/client/index.ts';
import { keySchema } from '../../src/contract/instances.ts';
import { changesResponseSchema } from '../../src/query/changes/changes-schema.ts';
import { curationsResponseSchema } from '../../src/query/curations/curations-schema.ts';
import { overviewResponseSchema } from '../../src/query/overview/overview-schema.ts';
import { queryResponseSchema } from '../../src/query/response-schema.ts';
import { textSearchResponseSchema } from '../../src/query/text-search/text-search-schema.ts';
import { sessionResponseSchema } from '../../src/query/session-schema.ts';
import { whyResponseSchema } from '../../src/query/why/why-schema.ts';
import { assistant, CANCEL, CANNOT, COMPLAINT, DONE, THANKS, user } from '../support/conversations.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');

let service: TestService;
let project: TestProject;
let undertone: Undertone;
/** Of the first conversation. */
let sessionId: string;
/** After the last message. */
let position: number;
const errors: UndertoneError[] = [];

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  const onError = (error: UndertoneError): number => errors.push(error);
  undertone = new Undertone({ url: service.url, key: project.key, batchMs: 1, onError });
  const conversations = [
    [
      user(CANCEL[0], '2025-03-03T10:00:00Z'),
      assistant(CANNOT, '2025-03-03T10:01:00Z'),
      user(CANCEL[0], '2025-03-03T10:02:00Z'),
      user(COMPLAINT, '2025-03-03T10:03:00Z'),
    ],
    [user(CANCEL[1], '2025-03-04T10:00:00Z', 'bob'), assistant(DONE, '2025-03-04T10:01:00Z')],
    [user(CANCEL[2], '2025-03-05T10:00:00Z', 'eve'), user(THANKS, '2025-03-05T10:01:00Z', 'eve')],
  ];
  const sessions = conversations.map(() => undertone.session({ metadata: { session: { plan: 'free' } } }));
  for (const [at, messages] of conversations.entries()) await sessions[at]?.log(messages);
  const flushed = await undertone.flush();
  deepEqual([flushed.lost, errors], [0, []]);
  sessionId = sessions[0]?.id ?? '';
  position = flushed.position ?? 0;
  // A busy machine takes longer to start a worker than one query waits.
  while ((await undertone.overview({ waitFor: position })).waitResult !== 'reached');
});
after(() => service.stop());

/** An answer as the service sent it, which its schema knows to the last member. */
function checked<T extends Waited>(schema: z.ZodType, answer: T): T {
  const { waitResult, ...body } = answer;
  schema.parse(body);
  ok(waitResult === null || waitResult === 'reached');
  return answer;
}

async function codeOf(promise: Promise<unknown>): Promise<unknown[]> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof UndertoneError);
  ok(error.requestId !== null && error.message !== '');
  return [error.code, error.status, ...error.details.map(({ path }) => path)];
}

describe('a logged session', () => {
  it('is stored under the id that the caller knew at once, in the order of its messages', async () => {
    const { session, messages } = checked(sessionResponseSchema, await undertone.transcript(sessionId));
    deepEqual([session.metadata, session.endUser?.externalId], [{ plan: 'free' }, 'ada']);
    deepEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        ['user', CANCEL[0]],
        ['assistant', CANNOT],
        ['user', CANCEL[0]],
        ['user', COMPLAINT],
      ],
    );
    const roles = new Map<string | undefined, string>();
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { elements, pagination } = checked(
        textSearchResponseSchema,
        await undertone.said(CANNOT.toUpperCase(), { cursor }),
      );
      for (const { dimensions, said } of elements) roles.set(dimensions.session?.id, said.role);
      cursor = pagination.next;
    }
    equal(roles.get(sessionId), 'assistant');
    const contents: (string | null)[] = [];
    for await (const { content } of undertone.messages(sessionId, { limit: 3 })) contents.push(content);
    deepEqual(
      contents,
      messages.map(({ content }) => content),
    );
  });

  it('is in the default instance of the project, which a key that only reads finds', async () => {
    const { id } = await undertone.createInstance({ default: true });
    const { key } = await service.newKey(project, 'test', ['query']);
    const reader = new Undertone({ url: service.url, key });
    equal((await reader.overview()).fields.sessions, 3);
    deepEqual((await reader.instances({ default: true })).pagination.total, 1);
    deepEqual(await codeOf(reader.ingest({ messages: [{ content: 'Hi' }] })), ['FORBIDDEN', 403]);
    const { elements, pagination } = await undertone.instances({ limit: 10 });
    deepEqual([elements.map((instance) => instance.id), pagination.total], [[id], 1]);
    equal((await undertone.renameInstance(id, 'Hotel')).name, 'Hotel');
  });

  it('loses only the message that the service refuses', async () => {
    const lost: unknown[] = [];
    const onError = (error: UndertoneError, { messages }: { messages: readonly unknown[] }): number =>
      lost.push([error.code, error.details.map(({ path }) => path), messages.length]);
    await using other = new Undertone({ url: service.url, key: project.key, batchMs: 1, onError });
    const session = other.session({ instanceId: await service.newInstance(project) });
    await session.log([
      { content: 'Hello' },
      { content: '' },
      { content: 'Hello again', createdAt: 'yesterday' },
      { content: 'Bye' },
    ]);
    deepEqual((await other.flush()).lost, 2);
    deepEqual(lost, [['VALIDATION_ERROR', ['messages.1.content', 'messages.2.createdAt'], 2]]);
  });
});

describe('reading where nothing was sent', () => {
  it('makes no instance', async () => {
    const empty = new Undertone({ url: service.url, key: (await service.newProject()).key });
    const error = await empty.overview().catch((thrown: unknown) => thrown);
    ok(error instanceof UndertoneError);
    deepEqual([error.code, error.status], ['NOT_FOUND', null]);
    equal((await empty.instances()).pagination.total, 0);
    await empty.ingest({ messages: [{ content: 'Hello' }] });
    equal((await empty.instances()).pagination.total, 1);
  });
});

describe('one request', () => {
  it('is stored once with one Idempotency-Key, and refused with another body', async () => {
    const instanceId = await service.newInstance(project);
    const body = { instanceId, messages: [{ content: 'Hello' }] };
    const once = await undertone.ingest(body, { idempotencyKey: 'once' });
    deepEqual(await undertone.ingest(body, { idempotencyKey: 'once' }), once);
    const other = { ...body, messages: [{ content: 'Bye' }] };
    deepEqual(await codeOf(undertone.ingest(other, { idempotencyKey: 'once' })), ['CONFLICT', 409]);
  });
});

describe('a query', () => {
  it('has the metrics and dimension fields that were asked for, with their types', async () => {
    const page = checked(
      queryResponseSchema,
      await undertone.query({
        groupBy: 'SESSION',
        fields: ['messages', 'sat', 'dsat'],
        dimensionFields: ['title', 'topics'],
        timeGranularity: 'DAY',
        sort: { field: 'createdAt', order: 'ASC' },
        dateRange: { end: new Date('2025-03-04') },
      }),
    );
    const [row] = page.elements;
    ok(row !== undefined && page.elements.length === 1);
    const title: string | null = row.dimensions.session.title;
    const date: string = row.dimensions.date;
    const { messages, dsat }: { messages: number; dsat: number } = row.fields;
    deepEqual([typeof title, date, messages, dsat > 0], ['string', '2025-03-03T00:00:00Z', 4, true]);
  });

  it('has pages and rows, which are the same', async () => {
    const query = {
      groupBy: 'SESSION',
      fields: ['messages'],
      dimensionFields: ['language'],
      sort: { field: 'messages' },
    } as const;
    const paged: unknown[] = [];
    for await (const page of undertone.pages({ ...query, limit: 2 })) paged.push(...page.elements);
    const rows: unknown[] = [];
    for await (const row of undertone.rows(query)) rows.push(row);
    equal(rows.length, 3);
    deepEqual(rows, paged);
  });

  it('rejects with the code and details of the service', async () => {
    // @ts-expect-error: sessions have no users.
    const wrong = undertone.query({ groupBy: 'SESSION', fields: ['users'] });
    deepEqual(await codeOf(wrong), ['VALIDATION_ERROR', 400, 'fields']);
    // @ts-expect-error: topics have no titles.
    const rows = undertone.rows({ groupBy: 'TOPIC', fields: ['sessions'], titleContains: 'a' });
    deepEqual(await codeOf(rows.next()), ['VALIDATION_ERROR', 400, 'titleContains']);
    const stranger = new Undertone({ url: service.url, key: 'wrong', instanceId: project.projectId });
    deepEqual(await codeOf(stranger.overview()), ['INVALID_API_KEY', 401]);
    await rejects(undertone.key({ signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  });
});

describe('what is behind numbers', () => {
  it('is answered for the instance and for a period', async () => {
    const { fields, trend } = checked(
      overviewResponseSchema,
      await undertone.overview({ timeGranularity: 'WEEK' }),
    );
    deepEqual([fields.sessions, fields.messages, trend.length], [3, 8, 1]);
    const dateRange = { start: '2025-03-03', end: '2025-03-10' };
    const { period } = checked(
      changesResponseSchema,
      await undertone.changes({ dateRange, compare: 'year' }),
    );
    equal(period.sessions, 3);
  });

  it('is answered for each kind of entity, under its name', async () => {
    const names = {
      TOPIC: 'topic',
      TOPIC_CLUSTER: 'cluster',
      GAP: 'gap',
      REPEATED_REQUEST: 'repeatedRequest',
      LABEL: 'label',
      END_USER: 'endUser',
    } as const satisfies Record<WhyGroupBy, string>;
    const saved = await undertone.saveLabel({ name: 'Wants out', examples: CANCEL.slice(0, 3) });
    equal(typeof saved.labelId, 'string');
    await undertone.query({ groupBy: 'LABEL', fields: ['messages'], waitFor: saved.position });
    for (const groupBy of Object.keys(names) as WhyGroupBy[]) {
      const { elements } = await undertone.query({ groupBy, fields: ['messages'] });
      const dimensions = elements[0]?.dimensions as Record<string, { id: string }> | undefined;
      // Topics of a small instance are in no cluster.
      if (groupBy === 'TOPIC_CLUSTER' && dimensions === undefined) continue;
      const id = dimensions?.[names[groupBy]]?.id ?? '';
      const why = checked(
        whyResponseSchema,
        await undertone.why(groupBy, id, { dateRange: { start: '2025-01-01' } }),
      );
      equal((why as unknown as Record<string, { id: string }>)[names[groupBy]]?.id, id, groupBy);
    }
  });
});

describe('steering', () => {
  it('names a topic, makes one, lists both and undoes', async () => {
    const [found] = (await undertone.query({ groupBy: 'TOPIC', fields: ['sessions'] })).elements;
    const topicId = found?.dimensions.topic.id ?? '';
    const renamed = await undertone.curate({ action: 'RENAME', topicId, name: 'Give up a stay' });
    const named = await undertone.query({
      groupBy: 'TOPIC',
      fields: ['sessions'],
      dimensionFields: ['isNamed'],
      ids: [topicId],
      waitFor: renamed.position,
    });
    deepEqual(
      named.elements.map(({ dimensions: { topic } }) => [topic.name, topic.isNamed]),
      [['Give up a stay', true]],
    );
    const made = await undertone.createTopic({
      name: 'Late arrival',
      examples: ['I arrive after midnight.'],
    });
    const undone = await undertone.curate(
      { action: 'UNDO', curationId: made.curationId },
      { waitFor: made.position },
    );
    const page = checked(
      curationsResponseSchema,
      await undertone.curations({ waitFor: undone.position, limit: 2 }),
    );
    equal(page.elements[0]?.curationId, undone.curationId);
    const all: unknown[] = [];
    for await (const { action, status } of undertone.allCurations({ limit: 2 })) all.push([action, status]);
    deepEqual(all, [
      ['UNDO', 'APPLIED'],
      ['CREATE', 'UNDONE'],
      ['RENAME', 'APPLIED'],
      // Of the test before.
      ['LABEL', 'APPLIED'],
    ]);
    const gone = undertone.curate({ action: 'HIDE', topicId: project.projectId });
    deepEqual(await codeOf(gone), ['NOT_FOUND', 404]);
    deepEqual(keySchema.parse(await undertone.key()).keyId, project.keyId);
  });
});

describe('docs/client.md', () => {
  it('shows what works', async () => {
    const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8');
    const codeBlocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
    const pick = (text: string): string => codeBlocks.find((code) => code.includes(text)) ?? '';
    const instanceId = await service.newInstance(project);
    const program = [pick("chat.user('Where"), pick('waitFor: position'), pick("groupBy: 'TOPIC'")].join(
      '\n',
    );
    const code = program
      .replace(
        "'undertone/client'",
        JSON.stringify(pathToFileURL(join(ROOT, 'src/doors/client/index.ts')).href),
      )
      .replace('http://127.0.0.1:8080', service.url)
      .replace("process.env.UNDERTONE_KEY ?? ''", JSON.stringify(project.key))
      .replace('019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10', instanceId);
    const folder = await mkdtemp(join(tmpdir(), 'undertone-shown-'));
    try {
      await writeFile(join(folder, 'shown.mjs'), `${code}\nexport { page, elements };`);
      const ran = (await import(pathToFileURL(join(folder, 'shown.mjs')).href)) as Record<string, unknown>;
      deepEqual((ran['page'] as { elements: { fields: unknown }[] }).elements[0]?.fields, { messages: 2 });
      deepEqual(ran['elements'], []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

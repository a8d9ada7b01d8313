/** POST /v1/ingest/: every rule of the specification and of the decisions, one row each. */
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Client, faultOf, idsOf, pathsOf } from '../support/client.ts';
import { user } from '../support/conversations.ts';
import { isLong } from '../support/long.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;
let stranger: Client;

const START = '2025-03-04T10:00:00Z';
const hello = { role: 'user', userId: 'ada', content: 'Where is my parcel?' };
const one = { messages: [hello] };
const NIL = '00000000-0000-0000-0000-000000000000';
const ALL_F = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  stranger = new Client(service.url, (await service.newProject('live')).key);
});
after(() => service?.stop());

/** Sessions and messages of an instance, whatever they are about. */
async function countIn(
  instanceId: string,
  position: number,
): Promise<{ sessions: number; messages: number }> {
  const rows = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
  return {
    sessions: rows.length,
    messages: rows.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0),
  };
}

async function sessionsOf(instanceId: string, position: number): Promise<string[]> {
  const rows = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
  return rows.map(({ dimensions }) => dimensions.session?.id ?? '');
}

const inFuture = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const withMessage = (message: unknown): unknown => ({ messages: [message] });
const withCreatedAt = (createdAt: unknown): unknown => withMessage({ ...hello, metadata: { createdAt } });
const uuidOfVersion = (version: string, variant: string): string =>
  `0192f0a0-0000-${version}000-${variant}000-${randomUUID().slice(-12)}`;

/** [rule, body, the paths of `details`] */
const REFUSED: readonly (readonly [rule: string, body: () => unknown, paths: readonly string[]])[] = [
  ['messages is required', () => ({}), ['messages']],
  ['messages must be an array', () => ({ messages: hello }), ['messages']],
  ['messages must not be null', () => ({ messages: null }), ['messages']],
  ['messages holds at least one item', () => ({ messages: [] }), ['messages']],
  [
    'messages holds at most 10,000 items',
    () => ({ messages: Array.from({ length: 10_001 }, () => hello) }),
    ['messages'],
  ],
  ['a message must be an object', () => withMessage('hello'), ['messages.0']],
  ['a message must not be null', () => withMessage(null), ['messages.0']],
  ['a message must not be an array', () => withMessage([]), ['messages.0']],
  ['content is required', () => withMessage({ role: 'user' }), ['messages.0.content']],
  ['content must not be empty', () => withMessage({ content: '' }), ['messages.0.content']],
  ['content must be a string', () => withMessage({ content: 5 }), ['messages.0.content']],
  ['content must not be null', () => withMessage({ content: null }), ['messages.0.content']],
  ['role must be a string', () => withMessage({ ...hello, role: 5 }), ['messages.0.role']],
  ['userId must be a string', () => withMessage({ ...hello, userId: 5 }), ['messages.0.userId']],
  [
    'metadata of a message must be an object',
    () => withMessage({ ...hello, metadata: 'x' }),
    ['messages.0.metadata'],
  ],
  [
    'metadata of a message must not be an array',
    () => withMessage({ ...hello, metadata: [] }),
    ['messages.0.metadata'],
  ],
  [
    'each fault is named with the index of its message',
    () => ({ messages: [hello, { content: '' }, hello, { content: 1, role: 2 }] }),
    ['messages.1.content', 'messages.3.content', 'messages.3.role'],
  ],
  ['projectId must be a UUID', () => ({ ...one, projectId: 'x' }), ['projectId']],
  ['instanceId must be a UUID', () => ({ ...one, instanceId: 'x' }), ['instanceId']],
  ['sessionId must be a UUID', () => ({ ...one, sessionId: 'x' }), ['sessionId']],
  ['sessionId must be a string', () => ({ ...one, sessionId: 7 }), ['sessionId']],
  ['an id must not be null', () => ({ ...one, instanceId: null }), ['instanceId']],
  ['an id must not be empty', () => ({ ...one, instanceId: '' }), ['instanceId']],
  ['a UUID of version 0 is none', () => ({ ...one, sessionId: uuidOfVersion('0', '8') }), ['sessionId']],
  ['a UUID of version 9 is none', () => ({ ...one, sessionId: uuidOfVersion('9', '8') }), ['sessionId']],
  ['a UUID of variant 7 is none', () => ({ ...one, sessionId: uuidOfVersion('4', '7') }), ['sessionId']],
  ['a UUID of variant c is none', () => ({ ...one, sessionId: uuidOfVersion('4', 'c') }), ['sessionId']],
  ['a UUID in braces is none', () => ({ ...one, sessionId: `{${randomUUID()}}` }), ['sessionId']],
  [
    'a UUID followed by a line feed is none',
    () => ({ ...one, sessionId: `${randomUUID()}\n` }),
    ['sessionId'],
  ],
  [
    'a UUID without dashes is none',
    () => ({ ...one, sessionId: randomUUID().replaceAll('-', '') }),
    ['sessionId'],
  ],
  ['an unknown member of the body is refused', () => ({ ...one, sessionID: NIL }), ['sessionID']],
  [
    'JSON is nested at most 64 levels deep',
    () => withMessage({ ...hello, metadata: { a: JSON.parse('['.repeat(61) + ']'.repeat(61)) } }),
    [['messages.0.metadata.a', ...Array.from({ length: 60 }, () => 0)].join('.')],
  ],
  [
    'userId and role have at most 1,024 bytes',
    () => withMessage({ ...hello, userId: 'é'.repeat(513), role: 'x'.repeat(1025) }),
    ['messages.0.role', 'messages.0.userId'],
  ],
  [
    'metadata has at most 64 KB, of a message and of the request',
    () => ({
      messages: [{ ...hello, metadata: { a: 'x'.repeat(70_000) } }],
      metadata: { session: { a: 'x'.repeat(70_000) } },
    }),
    ['messages.0.metadata', 'metadata'],
  ],
  [
    'the name of an instance has at most 200 characters',
    () => ({ ...one, metadata: { instance: { name: 'x'.repeat(201) } } }),
    ['metadata.instance.name'],
  ],
  ['metadata must be an object', () => ({ ...one, metadata: 'x' }), ['metadata']],
  ['metadata must not be null', () => ({ ...one, metadata: null }), ['metadata']],
  [
    'metadata.instance must be an object',
    () => ({ ...one, metadata: { instance: 'x' } }),
    ['metadata.instance'],
  ],
  ['metadata.session must be an object', () => ({ ...one, metadata: { session: [] } }), ['metadata.session']],
  ['metadata.users must be an object', () => ({ ...one, metadata: { users: 1 } }), ['metadata.users']],
  ['the body must not be an array', () => [one], ['']],
  ['the body must not be null', () => null, ['']],
  ['the body must not be a string', () => 'messages', ['']],
  ['createdAt must be a string', () => withCreatedAt(1_741_082_400), ['messages.0.metadata.createdAt']],
  [
    'createdAt must end in Z',
    () => withCreatedAt('2025-03-04T10:00:00+01:00'),
    ['messages.0.metadata.createdAt'],
  ],
  ['createdAt must have a time', () => withCreatedAt('2025-03-04'), ['messages.0.metadata.createdAt']],
  [
    'createdAt must be a day of the calendar',
    () => withCreatedAt('2025-02-29T10:00:00Z'),
    ['messages.0.metadata.createdAt'],
  ],
  [
    'createdAt must be an hour of the day',
    () => withCreatedAt('2025-03-04T24:00:00Z'),
    ['messages.0.metadata.createdAt'],
  ],
  [
    'createdAt has no leap second',
    () => withCreatedAt('2016-12-31T23:59:60Z'),
    ['messages.0.metadata.createdAt'],
  ],
  [
    'createdAt must be upper case',
    () => withCreatedAt('2025-03-04t10:00:00z'),
    ['messages.0.metadata.createdAt'],
  ],
  ['createdAt must not be empty', () => withCreatedAt(''), ['messages.0.metadata.createdAt']],
  [
    'createdAt must not be before the year 1700, where microseconds are not exact',
    () => withCreatedAt('1699-12-31T23:59:59.999999Z'),
    ['messages.0.metadata.createdAt'],
  ],
  [
    'createdAt must not be in the year 0',
    () => withCreatedAt('0000-01-01T00:00:00Z'),
    ['messages.0.metadata.createdAt'],
  ],
  [
    'createdAt must not be more than 24 h ahead',
    () => withCreatedAt(inFuture(24.1)),
    ['messages.0.metadata.createdAt'],
  ],
];

describe('ingest refuses with VALIDATION_ERROR and the paths', { concurrency: 8 }, () => {
  for (const [rule, body, paths] of REFUSED) {
    it(rule, async () => {
      const fault = faultOf(await client.post(body()), 400, 'VALIDATION_ERROR');
      deepEqual(pathsOf(fault), paths);
      ok(fault.details?.every(({ message }) => message !== ''));
    });
  }

  it('details are at most 100', async () => {
    const messages = Array.from({ length: 250 }, () => ({ content: '' }));
    const fault = faultOf(await client.post({ messages }), 400, 'VALIDATION_ERROR');
    equal(fault.details?.length, 100);
    equal(fault.details?.[99]?.path, 'messages.99.content');
  });

  it('a refused request stores none of its messages', async () => {
    const { instanceId, sessionId } = await client.ingest(one);
    faultOf(
      await client.post({ instanceId, sessionId, messages: [hello, hello, { content: '' }] }),
      400,
      'VALIDATION_ERROR',
    );
    const { position } = await client.ingest({ instanceId, sessionId, messages: [hello] });
    deepEqual(await countIn(instanceId, position), { sessions: 1, messages: 2 });
  });
});

type Sent = { readonly body: string | Uint8Array; readonly headers?: Readonly<Record<string, string>> };
const text = JSON.stringify(one);

/** [rule, request] */
const MALFORMED: readonly (readonly [rule: string, sent: () => Sent])[] = [
  ['a body that is no JSON', () => ({ body: '{"messages":' })],
  ['an empty body', () => ({ body: '' })],
  ['a body that is blank', () => ({ body: '  ' })],
  ['JSON followed by something', () => ({ body: `${text}x` })],
  ['NaN, which is no JSON', () => ({ body: '{"messages":[{"content":NaN}]}' })],
  ['a wrong content type', () => ({ body: text, headers: { 'content-type': 'text/plain' } })],
  [
    'a form',
    () => ({ body: 'messages=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  ],
  [
    'a content type that only begins like JSON',
    () => ({ body: text, headers: { 'content-type': 'application/jsonp' } }),
  ],
  [
    'another charset than UTF-8',
    () => ({ body: text, headers: { 'content-type': 'application/json; charset=latin1' } }),
  ],
  [
    'a byte that is no UTF-8',
    () => ({ body: Buffer.from('{"messages":[{"content":"caf\xe9"}]}', 'latin1') }),
  ],
  [
    'UTF-8 that is cut in the middle of a character',
    () => ({ body: Buffer.from('{"messages":[{"content":"é').subarray(0, -1) }),
  ],
  ['an unknown content encoding', () => ({ body: text, headers: { 'content-encoding': 'compress' } })],
  [
    'a body that is not compressed as it says',
    () => ({ body: text, headers: { 'content-encoding': 'gzip' } }),
  ],
  [
    'a compressed body that is cut off',
    () => ({ body: gzipSync(text).subarray(0, -10), headers: { 'content-encoding': 'gzip' } }),
  ],
  [
    'a member named __proto__',
    () => ({ body: '{"messages":[{"content":"x","metadata":{"__proto__":{"a":1}}}]}' }),
  ],
];

describe('ingest answers BAD_REQUEST to', { concurrency: 8 }, () => {
  for (const [rule, sent] of MALFORMED) {
    it(rule, async () => {
      const { body, headers } = sent();
      const answer = await client.send('/v1/ingest/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      const fault = faultOf(answer, 400, 'BAD_REQUEST');
      equal(fault.details, undefined);
    });
  }

  it('a request without a content type', async () => {
    const answer = await client.send('/v1/ingest/', { method: 'POST', body: new TextEncoder().encode(text) });
    faultOf(answer, 400, 'BAD_REQUEST');
  });

  it('a request without a body', async () => {
    faultOf(await client.send('/v1/ingest/', { method: 'POST' }), 400, 'BAD_REQUEST');
  });
});

/** Contents that must come through: [what, content]. */
const CONTENTS: readonly (readonly [what: string, content: string])[] = [
  ['a blank', ' '],
  ['a line feed', '\n'],
  ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈🔥'],
  ['right-to-left text with marks', '\u202eمرحبا كيف حالك\u202c שלום'],
  ['zero-width characters only', '\u200b\u200d\ufeff'],
  ['a NUL character', 'a\u0000b'],
  ['an unpaired surrogate', 'a\ud800b'],
  ['control characters', '\u0001\u0007\u001b[31m\u007f'],
  ['100 KB of prose', 'The parcel has not come yet, where is it? '.repeat(2400)],
  ['100 KB without a blank', 'x'.repeat(100_000)],
  ['1 MB of punctuation', '?!'.repeat(500_000)],
  ['combining marks in great number', `e${'\u0301'.repeat(5000)}`],
  ['Chinese without blanks', '我想取消我的酒店预订。'.repeat(200)],
  ['what looks like SQL', "'; drop table session; --"],
  ['what looks like HTML', '<script>alert(1)</script>'],
  ['a number as text', '1e309'],
];

describe('ingest takes as content', { concurrency: 8 }, () => {
  for (const [what, content] of CONTENTS) {
    it(what, async () => {
      const { instanceId, position } = await client.ingest({ messages: [user(content, START)] });
      const [row] = await client.rows(
        {
          instanceId,
          groupBy: 'SESSION',
          fields: 'messages',
          dimensionFields: 'title,summary,topics,language',
        },
        position,
      );
      equal(row?.fields.messages, 1);
    });
  }
});

/** Names of sessions that must come back as they were sent, and find their session. */
const SESSION_NAMES: readonly string[] = [
  'ticket-123',
  ' a,b ',
  '100 % & more + "quotes"',
  '票 👩‍🚀',
  'x'.repeat(255),
];

describe('ingest keeps as metadata.session.externalId', { concurrency: 8 }, () => {
  for (const name of SESSION_NAMES) {
    it(JSON.stringify(name), async () => {
      const first = await client.ingest({ messages: [user('Where is my parcel?', START)] });
      const { instanceId, sessionId } = first;
      await client.ingest({ instanceId, messages: [user('Another session', START)] });
      const named = await client.ingest({
        instanceId,
        sessionId,
        messages: [user('Hello again', START)],
        metadata: { session: { externalId: name } },
      });
      const rows = await client.rows(
        {
          instanceId,
          groupBy: 'SESSION',
          fields: 'messages',
          dimensionFields: 'externalId',
          externalId: name,
        },
        named.position,
      );
      deepEqual(
        rows.map(({ dimensions, fields }) => [dimensions.session, fields.messages]),
        [[{ id: sessionId, externalId: name }, 2]],
      );
    });
  }
});

/** External ids that must come back as they were sent. */
const USER_IDS: readonly (readonly [what: string, userId: string])[] = [
  ['upper and lower case', 'Ada.Lovelace@Example.COM'],
  ['blanks around it', ' ada '],
  ['emoji', '👩‍🚀'],
  ['right-to-left text', 'مستخدم'],
  ['a comma', 'a,b'],
  ['quotes and semicolons', `'";--`],
  ['the name __proto__', '__proto__'],
  ['the name constructor', 'constructor'],
  ['a UUID in upper case', 'A10F1A47-06A2-57B1-A67C-FCD061745C35'],
  ['1,024 characters', 'u'.repeat(1024)],
];

describe('ingest keeps as userId', { concurrency: 8 }, () => {
  for (const [what, userId] of USER_IDS) {
    it(what, async () => {
      const { instanceId, position } = await client.ingest({
        messages: [user('Where is my parcel?', START, userId)],
      });
      const rows = await client.rows(
        { instanceId, groupBy: 'END_USER', fields: 'messages', dimensionFields: 'externalId' },
        position,
      );
      deepEqual(
        rows.map(({ dimensions }) => dimensions.endUser?.externalId),
        [userId],
      );
    });
  }
});

const RULES: readonly (readonly [rule: string, check: () => Promise<void>])[] = [
  [
    'success is 200 with instanceId and sessionId and nothing else',
    async () => {
      const answer = await client.post(one);
      equal(answer.status, 200);
      deepEqual(Object.keys(answer.body as object).sort(), ['instanceId', 'sessionId']);
      match(answer.headers.get('content-type') ?? '', /^application\/json/);
    },
  ],
  [
    'without instanceId an instance is created, a UUIDv7',
    async () => {
      const { instanceId, position } = await client.ingest(one);
      equal(instanceId[14], '7');
      deepEqual(await countIn(instanceId, position), { sessions: 1, messages: 1 });
    },
  ],
  [
    'without sessionId a session is created, a UUIDv8',
    async () => {
      const first = await client.ingest(one);
      const second = await client.ingest({ ...one, instanceId: first.instanceId });
      equal(first.sessionId[14], '8');
      equal(second.instanceId, first.instanceId);
      notEqual(second.sessionId, first.sessionId);
      deepEqual(await countIn(first.instanceId, second.position), { sessions: 2, messages: 2 });
    },
  ],
  [
    'with a sessionId messages are added to that session',
    async () => {
      const first = await client.ingest(one);
      const { instanceId, sessionId } = first;
      const second = await client.ingest({ ...one, instanceId, sessionId });
      deepEqual([second.instanceId, second.sessionId], [instanceId, sessionId]);
      deepEqual(await countIn(instanceId, second.position), { sessions: 1, messages: 2 });
    },
  ],
  [
    'a known sessionId without instanceId uses its own instance',
    async () => {
      const first = await client.ingest(one);
      const second = await client.ingest({ ...one, sessionId: first.sessionId });
      deepEqual([second.instanceId, second.sessionId], [first.instanceId, first.sessionId]);
    },
  ],
  [
    'an unknown sessionId is created with that id',
    async () => {
      const { instanceId } = await client.ingest(one);
      const sessionId = randomUUID();
      const { position, ...ids } = await client.ingest({ ...one, instanceId, sessionId });
      deepEqual(ids, { instanceId, sessionId });
      ok((await sessionsOf(instanceId, position)).includes(sessionId));
    },
  ],
  [
    'an unknown sessionId without instanceId makes both',
    async () => {
      const sessionId = randomUUID();
      const first = await client.ingest({ ...one, sessionId });
      const again = await client.ingest({ ...one, sessionId });
      equal(first.sessionId, sessionId);
      equal(again.instanceId, first.instanceId);
      deepEqual(await countIn(first.instanceId, again.position), { sessions: 1, messages: 2 });
    },
  ],
  [
    'requests that open the same session at once agree on one instance',
    async () => {
      const sessionId = randomUUID();
      const all = await Promise.all(Array.from({ length: 8 }, () => client.ingest({ ...one, sessionId })));
      equal(new Set(all.map(({ instanceId }) => instanceId)).size, 1);
      const position = Math.max(...all.map((ids) => ids.position));
      deepEqual(await countIn(all[0]?.instanceId ?? '', position), { sessions: 1, messages: 8 });
    },
  ],
  [
    'an unknown instanceId is NOT_FOUND',
    async () => void faultOf(await client.post({ ...one, instanceId: randomUUID() }), 404, 'NOT_FOUND'),
  ],
  [
    "another project's instanceId gets the same answer as an unknown one",
    async () => {
      const { instanceId } = await stranger.ingest(one);
      const foreign = await client.post({ ...one, instanceId });
      const unknownId = randomUUID();
      const unknown = await client.post({ ...one, instanceId: unknownId });
      faultOf(foreign, 404, 'NOT_FOUND');
      equal(
        JSON.stringify(foreign.body).replaceAll(instanceId, 'ID'),
        JSON.stringify(unknown.body).replaceAll(unknownId, 'ID'),
      );
    },
  ],
  [
    'the nil UUID as instanceId is an unknown instance',
    async () => void faultOf(await client.post({ ...one, instanceId: NIL }), 404, 'NOT_FOUND'),
  ],
  [
    'the all-f UUID in upper case as instanceId is an unknown instance',
    async () =>
      void faultOf(await client.post({ ...one, instanceId: ALL_F.toUpperCase() }), 404, 'NOT_FOUND'),
  ],
  [
    "a session of ours with another instance's id is a CONFLICT",
    async () => {
      const first = await client.ingest(one);
      const second = await client.ingest(one);
      const body = { ...one, instanceId: second.instanceId, sessionId: first.sessionId };
      faultOf(await client.post(body), 409, 'CONFLICT');
    },
  ],
  [
    "a client's session with another instance's id is a CONFLICT",
    async () => {
      const sessionId = randomUUID();
      await client.ingest({ ...one, sessionId });
      const { instanceId } = await client.ingest(one);
      faultOf(await client.post({ ...one, instanceId, sessionId }), 409, 'CONFLICT');
    },
  ],
  [
    "another project's session of ours is a CONFLICT",
    async () => {
      const { sessionId } = await stranger.ingest(one);
      faultOf(await client.post({ ...one, sessionId }), 409, 'CONFLICT');
    },
  ],
  [
    'projects that choose the same sessionId have a session each',
    async () => {
      const sessionId = randomUUID();
      const theirs = await stranger.ingest({ ...one, sessionId });
      const ours = await client.ingest({ ...one, sessionId });
      equal(ours.sessionId, sessionId);
      notEqual(ours.instanceId, theirs.instanceId);
      const again = await client.ingest({ ...one, sessionId });
      equal(again.instanceId, ours.instanceId);
      deepEqual(await countIn(ours.instanceId, again.position), { sessions: 1, messages: 2 });
    },
  ],
  [
    'a refused session leaves no trace: its owner goes on',
    async () => {
      const sessionId = randomUUID();
      faultOf(await client.post({ ...one, sessionId, instanceId: randomUUID() }), 404, 'NOT_FOUND');
      equal((await stranger.ingest({ ...one, sessionId })).sessionId, sessionId);
    },
  ],
  [
    'projectId of the key is accepted, in upper case too',
    async () => {
      await client.ingest({ ...one, projectId: project.projectId });
      await client.ingest({ ...one, projectId: project.projectId.toUpperCase() });
    },
  ],
  [
    'projectId of another project is FORBIDDEN',
    async () => void faultOf(await client.post({ ...one, projectId: randomUUID() }), 403, 'FORBIDDEN'),
  ],
  [
    'ids are accepted in upper case and answered in lower case',
    async () => {
      const first = await client.ingest(one);
      const again = await client.ingest({
        ...one,
        instanceId: first.instanceId.toUpperCase(),
        sessionId: first.sessionId.toUpperCase(),
      });
      deepEqual([again.instanceId, again.sessionId], [first.instanceId, first.sessionId]);
      const sessionId = randomUUID();
      const chosen = await client.ingest({ ...one, sessionId: sessionId.toUpperCase() });
      equal(chosen.sessionId, sessionId);
      equal((await client.ingest({ ...one, sessionId })).instanceId, chosen.instanceId);
    },
  ],
  [
    'the nil UUID and the all-f UUID in any case are sessions like others',
    async () => {
      const { instanceId } = await client.ingest(one);
      await client.ingest({ ...one, instanceId, sessionId: NIL });
      await client.ingest({ ...one, instanceId, sessionId: ALL_F });
      const { position } = await client.ingest({ ...one, instanceId, sessionId: ALL_F.toUpperCase() });
      const sessions = await sessionsOf(instanceId, position);
      ok(sessions.includes(NIL) && sessions.includes(ALL_F));
      equal(sessions.length, 3);
    },
  ],
  ...['1', '2', '3', '4', '5', '6', '7', '8'].map(
    (version, index) =>
      [
        `a UUID of version ${version} and variant ${'89ab'[index % 4]} is a session id`,
        async () => {
          const sessionId = uuidOfVersion(version, '89ab'[index % 4] ?? '');
          equal((await client.ingest({ ...one, sessionId })).sessionId, sessionId);
        },
      ] as const,
  ),
  [
    'an unknown member of a message is ignored',
    async () => {
      await client.ingest(withMessage({ ...hello, name: 'Ada', tool_calls: [{ id: 1 }] }));
    },
  ],
  [
    'metadata of a message is free-form',
    async () => {
      const metadata = { a: [1, { b: null, c: [[[]]] }], '': 'empty name', constructor: 1, 'x.y': 1e308 };
      await client.ingest(withMessage({ ...hello, metadata }));
    },
  ],
  [
    'metadata members instance, session and users are free-form objects',
    async () => {
      const metadata = {
        instance: { name: 'Shop', tier: 3 },
        session: { channel: ['web'] },
        users: { ada: { plan: 'pro' } },
      };
      await client.ingest({ ...one, metadata });
      await client.ingest({ ...one, metadata: {} });
      await client.ingest({ ...one, metadata: { instance: {} } });
    },
  ],
  [
    'createdAt null counts as absent',
    async () => {
      const { instanceId, position } = await client.ingest(withCreatedAt(null));
      const [row] = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'lastActiveAt' }, position);
      const age = Date.now() - Date.parse(row?.fields.lastActiveAt ?? '');
      ok(age >= 0 && age < 60_000, `event time ${row?.fields.lastActiveAt}`);
    },
  ],
  [
    'createdAt less than 24 h ahead is accepted',
    async () => {
      const at = inFuture(23);
      const { instanceId, position } = await client.ingest(withCreatedAt(at));
      const [row] = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'lastActiveAt' }, position);
      equal(row?.fields.lastActiveAt, at);
    },
  ],
  ...(
    [
      ['2025-03-04T10:00Z', '2025-03-04T10:00:00.000Z'],
      ['2025-03-04T10:00:07Z', '2025-03-04T10:00:07.000Z'],
      ['2025-03-04T10:00:07.5Z', '2025-03-04T10:00:07.500Z'],
      ['2025-03-04T10:00:07.123456Z', '2025-03-04T10:00:07.123456Z'],
      ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
      ['1969-07-20T20:17:40Z', '1969-07-20T20:17:40.000Z'],
      ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000Z'],
      ['1700-01-01T00:00:00.000001Z', '1700-01-01T00:00:00.000001Z'],
    ] as const
  ).map(
    ([given, printed]) =>
      [
        `createdAt ${given} is that instant`,
        async () => {
          const { instanceId, position } = await client.ingest(withCreatedAt(given));
          const [row] = await client.rows(
            { instanceId, groupBy: 'SESSION', fields: 'lastActiveAt' },
            position,
          );
          equal(row?.fields.lastActiveAt, printed);
        },
      ] as const,
  ),
  [
    'with and without the trailing slash the route is the same',
    async () => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
      idsOf(await client.send('/v1/ingest', init));
      idsOf(await client.send('/v1/ingest/', init));
    },
  ],
  ...(
    [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
      ['GZIP', gzipSync],
    ] as const
  ).map(
    ([encoding, compress]) =>
      [
        `a body compressed with ${encoding} is accepted`,
        async () => {
          const answer = await client.send('/v1/ingest/', {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'content-encoding': encoding },
            body: compress(Buffer.from(text)),
          });
          idsOf(answer);
        },
      ] as const,
  ),
  [
    'Content-Type may name the charset UTF-8, in any case',
    async () => {
      idsOf(await client.post(one, { 'content-type': 'Application/JSON; Charset="UTF-8"' }));
    },
  ],
  [
    'a byte order mark does no harm',
    async () => {
      const answer = await client.send('/v1/ingest/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `\ufeff${text}`,
      });
      idsOf(answer);
    },
  ],
  [
    'positions grow with each accepted request',
    async () => {
      const first = await client.ingest(one);
      const second = await client.ingest({ ...one, instanceId: first.instanceId });
      ok(second.position > first.position);
    },
  ],
];

describe('ingest', { concurrency: 8 }, () => {
  for (const [rule, check] of RULES) it(rule, check);
});

const IDEMPOTENCY: readonly (readonly [rule: string, check: () => Promise<void>])[] = [
  [
    'the same key and body give the same ids and are stored once',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const first = await client.ingest(one, key);
      const second = await client.ingest(one, key);
      deepEqual([second.instanceId, second.sessionId], [first.instanceId, first.sessionId]);
      const { position } = await client.ingest({ ...one, instanceId: first.instanceId });
      deepEqual(await countIn(first.instanceId, position), { sessions: 2, messages: 2 });
    },
  ],
  [
    'the same key and body at once are stored once',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const all = await Promise.all(Array.from({ length: 12 }, () => client.ingest(one, key)));
      const [first] = all;
      equal(new Set(all.map(({ instanceId, sessionId }) => instanceId + sessionId)).size, 1);
      const { position } = await client.ingest({ ...one, instanceId: first?.instanceId });
      deepEqual(await countIn(first?.instanceId ?? '', position), { sessions: 2, messages: 2 });
    },
  ],
  [
    'members in another order are the same body',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const first = await client.ingest(one, key);
      const { content, role, userId } = hello;
      const second = await client.ingest({ messages: [{ content, userId, role }] }, key);
      equal(second.sessionId, first.sessionId);
    },
  ],
  [
    'the same key with another body is a CONFLICT',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      await client.ingest(one, key);
      faultOf(await client.post({ messages: [{ ...hello, content: 'Other' }] }, key), 409, 'CONFLICT');
    },
  ],
  [
    'two bodies with the same key at once: one is stored, the other a CONFLICT',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const answers = await Promise.all(
        ['one', 'two'].map((content) => client.post({ messages: [{ ...hello, content }] }, key)),
      );
      deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    },
  ],
  [
    'the key counts within one project only',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const first = await client.ingest(one, key);
      const other = await stranger.ingest({ messages: [{ ...hello, content: 'Other' }] }, key);
      notEqual(other.instanceId, first.instanceId);
    },
  ],
  [
    'another key of the same project counts as the same caller',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      const colleague = new Client(service.url, (await service.newKey(project, 'live')).key);
      equal((await colleague.ingest(one, key)).sessionId, (await client.ingest(one, key)).sessionId);
    },
  ],
  [
    'a key whose request was refused can be used again',
    async () => {
      const key = { 'idempotency-key': randomUUID() };
      faultOf(await client.post({ messages: [] }, key), 400, 'VALIDATION_ERROR');
      faultOf(await client.post({ ...one, instanceId: randomUUID() }, key), 404, 'NOT_FOUND');
      await client.ingest(one, key);
    },
  ],
  [
    '255 characters are accepted',
    async () => {
      await client.ingest(one, { 'idempotency-key': randomUUID().padEnd(255, 'x') });
    },
  ],
  [
    '256 characters are refused',
    async () => {
      const answer = await client.post(one, { 'idempotency-key': 'x'.repeat(256) });
      deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), ['Idempotency-Key']);
    },
  ],
  [
    'characters beyond printable ASCII are refused',
    async () => void faultOf(await client.post(one, { 'idempotency-key': 'clé' }), 400, 'VALIDATION_ERROR'),
  ],
  [
    'an empty key is refused',
    async () => void faultOf(await client.post(one, { 'idempotency-key': '' }), 400, 'VALIDATION_ERROR'),
  ],
];

/** The short form repeats texts, which are read once: each message counts as before. */
const LARGE: readonly (readonly [rule: string, count: number, content: (index: number) => string])[] = [
  [
    '10,000 short messages in one request are all counted',
    10_000,
    (index) => `Where is parcel ${isLong ? index : index % 100}?`,
  ],
  [
    '10 MiB of prose in one request are all counted',
    160,
    (index) =>
      `${'My parcel with the red lamp has not come, and nobody tells me why. '.repeat(980)}${index % (isLong ? 100 : 4)}`,
  ],
];

describe('large requests', () => {
  for (const [rule, count, content] of LARGE) {
    it(rule, async () => {
      const messages = Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        userId: `user ${index % 7}`,
        content: content(index),
      }));
      const { instanceId, position } = await client.ingest({ messages });
      let counted = await countIn(instanceId, position);
      while (counted.sessions === 0) counted = await countIn(instanceId, position);
      deepEqual(counted, { sessions: 1, messages: count });
    });
  }
});

describe('Idempotency-Key', { concurrency: 8 }, () => {
  for (const [rule, check] of IDEMPOTENCY) it(rule, check);
});

import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { AppError } from '../../../src/errors.ts';
import {
  createBodyParser,
  ingestBodySchema,
  nameIn,
  type IngestBody,
} from '../../../src/web/ingest/request-body.ts';
import { parseInstant } from '../../../src/domain/time.ts';

const NOW = parseInstant('2026-03-01T12:00:00Z') ?? 0;
const parseAll = createBodyParser(() => NOW);
const parse = (json: unknown): IngestBody => parseAll(json).body;
const UUID = 'ABCDEF01-2345-6789-8BCD-EF0123456789';
const message = { content: 'Hello' };

function faults(json: unknown): Record<string, string> {
  let thrown: unknown;
  try {
    parse(json);
  } catch (error) {
    thrown = error;
  }
  ok(thrown instanceof AppError && thrown.code === 'VALIDATION_ERROR', String(thrown));
  return Object.fromEntries((thrown.details ?? []).map(({ path, message: text }) => [path, text]));
}

describe('ingest body', () => {
  it('says how to make a session id of an id that is no UUID', () => {
    const found = faults({ messages: [message], sessionId: 'ticket-123' });
    ok(
      found['sessionId']?.startsWith('must be a UUID; ') &&
        found['sessionId'].includes('UUIDv5 with the instanceId as namespace and the id as name'),
      found['sessionId'],
    );
  });

  it('is read with defaults filled in', () => {
    deepEqual(
      parse({
        messages: [
          {
            content: 'Hi',
            userId: 'ann',
            role: 'User',
            extra: 1,
            metadata: { createdAt: '2026-02-28T23:59:59.5Z', a: [1] },
          },
          { content: ' ', userId: '', metadata: { createdAt: null } },
        ],
        projectId: UUID,
        instanceId: 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
        sessionId: '00000000-0000-0000-0000-000000000000',
        metadata: { instance: { name: 'x' }, users: { ann: { plan: 'pro' } } },
      }),
      {
        messages: [
          {
            content: 'Hi',
            role: 'User',
            userId: 'ann',
            at: parseInstant('2026-02-28T23:59:59.5Z'),
            metadata: { createdAt: '2026-02-28T23:59:59.5Z', a: [1] },
          },
          { content: ' ', role: 'user', metadata: { createdAt: null } },
        ],
        projectId: UUID.toLowerCase(),
        instanceId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        sessionId: '00000000-0000-0000-0000-000000000000',
        metadata: { instance: { name: 'x' }, users: { ann: { plan: 'pro' } } },
      },
    );
  });

  const wrong: [string, unknown, string, RegExp][] = [
    ['no object', [], '', /JSON object/],
    ['null', null, '', /JSON object/],
    ['a number', 3, '', /JSON object/],
    ['no messages', {}, 'messages', /is required/],
    ['messages of another type', { messages: 'x' }, 'messages', /array/],
    ['no message', { messages: [] }, 'messages', /at least 1/],
    [
      'too many messages',
      { messages: Array.from({ length: 10_001 }, () => message) },
      'messages',
      /at most 10000/,
    ],
    ['a message that is no object', { messages: [message, 'x'] }, 'messages.1', /object/],
    ['empty content', { messages: [{ content: '' }] }, 'messages.0.content', /not be empty/],
    ['no content', { messages: [{}] }, 'messages.0.content', /is required/],
    ['content null', { messages: [{ content: null }] }, 'messages.0.content', /string/],
    ['a role of another type', { messages: [{ ...message, role: 1 }] }, 'messages.0.role', /string/],
    ['a userId of another type', { messages: [{ ...message, userId: 7 }] }, 'messages.0.userId', /string/],
    [
      'metadata of another type',
      { messages: [{ ...message, metadata: [] }] },
      'messages.0.metadata',
      /object/,
    ],
    ['a bad projectId', { messages: [message], projectId: 'x' }, 'projectId', /UUID/],
    [
      'an instanceId of version 9',
      { messages: [message], instanceId: UUID.replace('-6', '-9') },
      'instanceId',
      /UUID/,
    ],
    [
      'a sessionId of a bad variant',
      { messages: [message], sessionId: UUID.replace('-8', '-7') },
      'sessionId',
      /UUID/,
    ],
    ['a misspelt member', { messages: [message], sessionID: UUID }, 'sessionID', /not a member/],
    [
      'a misspelt member of metadata',
      { messages: [message], metadata: { user: {} } },
      'metadata.user',
      /not a member/,
    ],
    [
      'metadata.users of another type',
      { messages: [message], metadata: { users: 1 } },
      'metadata.users',
      /object/,
    ],
    ...(
      [
        ['a number', 1_767_225_600],
        ['no zone', '2026-01-01T00:00:00'],
        ['an offset', '2026-01-01T00:00:00+01:00'],
        ['no such day', '2026-02-30T00:00:00Z'],
        ['text', 'yesterday'],
      ] as const
    ).map(([name, createdAt]): [string, unknown, string, RegExp] => [
      `createdAt: ${name}`,
      { messages: [message, message, message, { ...message, metadata: { createdAt } }] },
      'messages.3.metadata.createdAt',
      /UTC ISO 8601/,
    ]),
    [
      'a userId of 1,025 bytes',
      { messages: [message, { ...message, userId: `${'é'.repeat(512)}x` }] },
      'messages.1.userId',
      /longer than 1024 bytes/,
    ],
    [
      'a role of 1,025 bytes',
      { messages: [{ ...message, role: 'x'.repeat(1025) }] },
      'messages.0.role',
      /longer than 1024 bytes/,
    ],
    [
      'metadata of a message above 64 KB',
      { messages: [{ ...message, metadata: { a: 'x'.repeat(65_529) } }] },
      'messages.0.metadata',
      /larger than 65536 bytes/,
    ],
    [
      'metadata of the request above 64 KB in all',
      {
        messages: [message],
        metadata: { session: { a: 'x'.repeat(40_000) }, users: { ann: { a: 'x'.repeat(30_000) } } },
      },
      'metadata',
      /larger than 65536 bytes/,
    ],
    [
      "an instance's name that turns the direction of text",
      { messages: [message], metadata: { instance: { name: 'Shop\u202egnp' } } },
      'metadata.instance.name',
      /must not hold control characters/,
    ],
    [
      "an instance's name of 201 characters",
      { messages: [message], metadata: { instance: { name: '🤖'.repeat(201) } } },
      'metadata.instance.name',
      /longer than 200 characters/,
    ],
    ...(['', 'x'.repeat(256), 7] as const).map((externalId): [string, unknown, string, RegExp] => [
      `an externalId that is ${String(externalId).slice(0, 5) || 'empty'}`,
      { messages: [message], metadata: { session: { externalId } } },
      'metadata.session.externalId',
      externalId === 7 ? /string/ : /1 to 255 characters/,
    ]),
    [
      'createdAt beside the content: no instant',
      { messages: [{ ...message, createdAt: 'now', metadata: { createdAt: '2020-01-01T00:00Z' } }] },
      'messages.0.createdAt',
      /UTC ISO 8601/,
    ],
    [
      'createdAt beside the content more than 24 h ahead',
      { messages: [{ ...message, createdAt: '2026-03-02T12:00:00.001Z' }] },
      'messages.0.createdAt',
      /24 hours ahead/,
    ],
    [
      'createdAt more than 24 h ahead',
      { messages: [{ ...message, metadata: { createdAt: '2026-03-02T12:00:00.001Z' } }] },
      'messages.0.metadata.createdAt',
      /24 hours ahead/,
    ],
  ];
  for (const [name, json, path, text] of wrong) {
    it(`is refused with the place: ${name}`, () => {
      const found = faults(json);
      deepEqual(Object.keys(found), [path]);
      ok(text.test(found[path] ?? ''), found[path]);
    });
  }

  for (const [name, fields, expected] of [
    ['beside the content', { createdAt: '2026-01-02T03:04:05Z' }, '2026-01-02T03:04:05Z'],
    [
      'in metadata rather than beside the content',
      { createdAt: '2026-01-02T03:04:05Z', metadata: { createdAt: '2020-01-01T00:00Z' } },
      '2020-01-01T00:00Z',
    ],
    [
      'beside the content when metadata says null',
      { createdAt: '2026-01-02T03:04:05Z', metadata: { createdAt: null } },
      '2026-01-02T03:04:05Z',
    ],
    ['nowhere', { createdAt: null }, null],
  ] as const) {
    it(`takes the event time from where it stands: ${name}`, () => {
      const [read] = parse({ messages: [{ ...message, ...fields }] }).messages;
      equal(read?.at ?? null, expected === null ? null : parseInstant(expected));
    });
  }

  it('takes what is exactly as large as allowed', () => {
    const body = parse({
      messages: [
        {
          content: 'x',
          userId: 'é'.repeat(512),
          role: 'x'.repeat(1024),
          metadata: { a: 'x'.repeat(65_528) },
        },
      ],
      metadata: { instance: { name: '🤖'.repeat(200) }, session: { externalId: 'é'.repeat(255) } },
    });
    equal(nameIn(body), '🤖'.repeat(200));
    ok(parse({ messages: [message], metadata: { session: { externalId: null }, instance: { name: 5 } } }));
    ok(parse({ messages: [message], metadata: { session: {}, instance: {}, users: {} } }));
  });

  it('may lie exactly 24 h ahead', () => {
    const at = parse({ messages: [{ ...message, metadata: { createdAt: '2026-03-02T12:00:00Z' } }] })
      .messages[0]?.at;
    equal(at, NOW + 24 * 3600 * 1_000_000);
  });

  it('reports every fault at once', () => {
    const found = faults({
      messages: [{ content: '' }, { content: 'x', metadata: { createdAt: 'x' } }],
      sessionId: 1,
      x: 1,
      y: 1,
    });
    deepEqual(Object.keys(found).sort(), [
      'messages.0.content',
      'messages.1.metadata.createdAt',
      'sessionId',
      'x',
      'y',
    ]);
  });

  it('reports at most 100 faults of 10,000 wrong messages, in order', () => {
    const found = faults({
      messages: Array.from({ length: 10_000 }, () => ({ content: '', role: 1, userId: 1 })),
    });
    equal(Object.keys(found).length, 100);
    deepEqual(Object.keys(found).slice(0, 3), ['messages.0.content', 'messages.0.role', 'messages.0.userId']);
  });

  it('keeps text that is no Unicode out of the stream', () => {
    equal(parse({ messages: [{ content: 'a\ud800b' }] }).messages[0]?.content, 'a\ufffdb');
  });

  it('takes 10,000 messages', () => {
    equal(parse({ messages: Array.from({ length: 10_000 }, () => message) }).messages.length, 10_000);
  });

  it('has a schema that the OpenAPI document can be made from', () => {
    const json = z.toJSONSchema(
      ingestBodySchema(() => NOW),
      { io: 'input' },
    );
    deepEqual(json.required, ['messages']);
    equal(json.additionalProperties, false);
    throws(() => parse({ messages: [message], other: 1 }));
  });
});

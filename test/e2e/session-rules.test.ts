/** GET /v1/sessions/{sessionId}: the transcript, what was found in it, pages, and texts that are gone. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { POSITIONS_PER_ENTRY } from '../../src/domain/records.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { Client, faultOf, pathsOf } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, fill, PASSWORD, THANKS, turn, user } from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let stranger: Client;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  stranger = new Client(service.url, (await service.newProject()).key);
});
after(() => service?.stop());

/** Does something to the stream behind the service's back. */
async function withStream(
  work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<unknown>,
): Promise<void> {
  const connection = await openConnection({ ...service.nats.address, name: 'test' });
  try {
    await work(await jetstreamManager(connection.nats));
  } finally {
    await connection.close();
  }
}

describe('a session', () => {
  it('has its messages in the order of event time, to the letter, and what was found in each', async () => {
    const { instanceId, sessions, position } = await fill(client, [
      [
        user(CANCEL[0], '2025-03-03T10:00:00Z'),
        assistant(CANNOT, '2025-03-03T10:01:00Z'),
        user(PASSWORD[0], '2025-03-03T10:02:00Z'),
        assistant('Open the page "Account" and choose "Reset".', '2025-03-03T10:03:00Z'),
        user(`${THANKS} \u{1f44d}`, '2025-03-03T10:04:00Z'),
      ],
      [user(CANCEL[1], '2025-03-04T10:00:00Z')],
      [user(CANCEL[2], '2025-03-05T10:00:00Z')],
      [user(PASSWORD[1], '2025-03-06T10:00:00Z')],
      [user(PASSWORD[2], '2025-03-07T10:00:00Z')],
    ]);
    const [sessionId = ''] = sessions;
    // A late one, of another role, before all others.
    const late = await client.ingest({
      instanceId,
      sessionId,
      messages: [turn('system', 'Be brief.', '2025-03-03T09:59:00Z')],
    });
    ok(late.position > position);
    const { session, messages, pagination } = await client.session(sessionId, { instanceId }, late.position);
    deepEqual(
      messages.map(({ role, content, externalId, createdAt, gone }) => [
        role,
        content,
        externalId,
        createdAt,
        gone,
      ]),
      [
        ['system', 'Be brief.', null, '2025-03-03T09:59:00.000Z', null],
        ['user', CANCEL[0], 'ada', '2025-03-03T10:00:00.000Z', null],
        ['assistant', CANNOT, null, '2025-03-03T10:01:00.000Z', null],
        ['user', PASSWORD[0], 'ada', '2025-03-03T10:02:00.000Z', null],
        ['assistant', 'Open the page "Account" and choose "Reset".', null, '2025-03-03T10:03:00.000Z', null],
        ['user', `${THANKS} \u{1f44d}`, 'ada', '2025-03-03T10:04:00.000Z', null],
      ],
    );
    deepEqual(messages[1]?.metadata, { createdAt: '2025-03-03T10:00:00Z' });
    deepEqual(pagination, { limit: 100, next: null });
    deepEqual(
      messages.map(({ gap }) => gap?.gapType ?? null),
      [null, null, 'TOOL', null, null, null],
    );
    const [first, second] = [messages[1]?.topic, messages[3]?.topic];
    ok(first != null && second != null && first.id !== second.id);
    // Replies belong to the topic under discussion.
    deepEqual([messages[0]?.topic, messages[2]?.topic, messages[5]?.topic], [null, first, second]);
    ok(messages[5]?.signals.some(({ signalType }) => signalType === 'SAT'));
    // The same as queries say.
    const rows = await client.rows({
      instanceId,
      groupBy: 'SESSION',
      ids: sessionId,
      fields: 'messages,sat,dsat,repeatedRequests',
      dimensionFields: 'title,summary,language,outcome,topics',
    });
    const { title, summary, language, outcome, sat, dsat, repeatedRequests } = session;
    deepEqual(rows[0]?.fields, { messages: session.messages, sat, dsat, repeatedRequests });
    deepEqual(
      rows[0]?.dimensions.session?.topics?.map(({ id }) => id).toSorted(),
      [first.id, second.id].toSorted(),
    );
    deepEqual(
      { title, summary, language, outcome },
      {
        title: rows[0]?.dimensions.session?.title,
        summary: rows[0]?.dimensions.session?.summary,
        language: rows[0]?.dimensions.session?.language,
        outcome: rows[0]?.dimensions.session?.outcome,
      },
    );
    equal(
      session.sat,
      messages.flatMap(({ signals }) => signals.filter(({ signalType }) => signalType === 'SAT')).length,
    );
    deepEqual(
      [session.createdAt, session.lastActiveAt],
      ['2025-03-03T09:59:00.000Z', '2025-03-03T10:04:00.000Z'],
    );
    equal(session.endUser?.externalId, 'ada');
  });

  it('has the metadata that was last said of it, member by member', async () => {
    const messages = [user(CANCEL[0], '2025-03-03T10:00:00Z', null)];
    const first = await client.ingest({
      messages,
      metadata: { session: { plan: 'free', externalId: 'c-1', tags: ['a'] } },
    });
    const { instanceId, sessionId } = first;
    const { position } = await client.ingest({
      instanceId,
      sessionId,
      messages,
      metadata: { session: { plan: null } },
    });
    const { session } = await client.session(sessionId, { instanceId }, position);
    deepEqual(session.metadata, { externalId: 'c-1', plan: null, tags: ['a'] });
    equal(session.externalId, 'c-1');
    equal(session.endUser, null);
  });

  it('comes page by page, whole, also when messages have the same time', async () => {
    const at = '2025-03-03T10:00:00Z';
    const messages = Array.from({ length: 25 }, (_, i) =>
      turn(i % 2 === 0 ? 'user' : 'assistant', `line ${i}`, at),
    );
    const { instanceId, sessionId } = await client.ingest({ messages: messages.slice(0, 10) });
    const { position } = await client.ingest({ instanceId, sessionId, messages: messages.slice(10) });
    const whole = await client.session(sessionId, { instanceId }, position);
    deepEqual(
      whole.messages.map(({ content }) => content),
      messages.map(({ content }) => content),
    );
    const read = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await client.session(sessionId.toUpperCase(), {
        instanceId,
        limit: 7,
        ...(cursor === '' ? {} : { cursor }),
      });
      ok(page.messages.length <= 7);
      equal(page.session.messages, 25);
      read.push(...page.messages);
      cursor = page.pagination.next;
    }
    deepEqual(read, whole.messages);
  });

  it('of another project, another instance or nowhere is not found', async () => {
    const messages = [user(CANCEL[0], '2025-03-03T10:00:00Z')];
    const { instanceId, sessionId } = await client.ingest({ messages });
    const other = await client.ingest({ messages });
    await client.session(sessionId, { instanceId }, other.position);
    faultOf(await stranger.getSession(sessionId, { instanceId }), 404, 'NOT_FOUND');
    faultOf(await client.getSession(sessionId, { instanceId: other.instanceId }), 404, 'NOT_FOUND');
    faultOf(await client.getSession(randomUUID(), { instanceId }), 404, 'NOT_FOUND');
    faultOf(await client.getSession(sessionId, { instanceId: randomUUID() }), 404, 'NOT_FOUND');
  });

  it('is refused where a parameter is wrong', async () => {
    const id = randomUUID();
    const wrong = async (session: string, parameters: Record<string, string>): Promise<string[]> =>
      pathsOf(faultOf(await client.getSession(session, parameters), 400, 'VALIDATION_ERROR'));
    deepEqual(await wrong('x', { instanceId: id }), ['sessionId']);
    deepEqual(await wrong(id, {}), ['instanceId']);
    deepEqual(await wrong(id, { instanceId: 'x', limit: '0', cursor: 'y' }), [
      'instanceId',
      'limit',
      'cursor',
    ]);
    deepEqual(await wrong(id, { instanceId: id, limit: '1001', offset: '1' }), ['limit', 'offset']);
    deepEqual(
      pathsOf(
        faultOf(
          await client.send(`/v1/sessions/${id}?limit=1&limit=2&instanceId=${id}`),
          400,
          'VALIDATION_ERROR',
        ),
      ),
      ['limit'],
    );
  });

  it('shows texts that the stream no longer holds as gone, and what was found in them', async () => {
    const { instanceId, sessionId, position } = await client.ingest({
      messages: [user(CANCEL[0], '2025-03-03T10:00:00Z'), assistant(CANNOT, '2025-03-03T10:01:00Z')],
    });
    const next = await client.ingest({
      instanceId,
      sessionId,
      messages: [user(THANKS, '2025-03-03T10:02:00Z')],
    });
    const seen = async () => {
      const { messages } = await client.session(sessionId, { instanceId }, next.position);
      return messages.map(({ content, role, gone, gap }) => [
        content === null,
        role === null,
        gone,
        gap !== null,
      ]);
    };
    deepEqual(await seen(), [
      [false, false, null, false],
      [false, false, null, true],
      [false, false, null, false],
    ]);
    await withStream((manager) => manager.streams.deleteMessage(CONVERSATIONS_STREAM, position));
    deepEqual(await seen(), [
      [true, true, 'DELETED', false],
      [true, true, 'DELETED', true],
      [false, false, null, false],
    ]);
    await withStream((manager) => manager.streams.purge(CONVERSATIONS_STREAM, { seq: next.position }));
    deepEqual(
      (await seen()).map(([, , gone]) => gone),
      ['EXPIRED', 'EXPIRED', null],
    );
    const { messages } = await client.session(sessionId, { instanceId });
    equal(Math.floor((messages[2]?.position ?? 0) / POSITIONS_PER_ENTRY), next.position);
  });
});

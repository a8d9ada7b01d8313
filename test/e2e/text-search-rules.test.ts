/** GET /v1/sessions: the sessions in which something was said. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { POSITIONS_PER_ENTRY } from '../../src/domain/records.ts';
import {
  textSearchResponseSchema,
  type TextSearchResponse,
} from '../../src/query/text-search/text-search-schema.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import { assistant, fill, user } from '../support/conversations.ts';
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

async function search(parameters: Parameters): Promise<TextSearchResponse> {
  const { status, body } = await client.send(`/v1/sessions?${toSearch(parameters)}`);
  equal(status, 200, JSON.stringify(body));
  return textSearchResponseSchema.parse(body);
}

describe('a search in what was said', () => {
  let instanceId = '';
  let sessions: readonly string[] = [];
  before(async () => {
    const filled = await fill(client, [
      [user('My kettle leaks.', '2025-03-03T10:00:00Z'), assistant('Which one?', '2025-03-03T10:01:00Z')],
      [
        user('Where is my order?', '2025-03-04T10:00:00Z', 'bob'),
        assistant('The KETTLE is on its way, René.', '2025-03-04T10:01:00Z'),
        user('Thanks!', '2025-03-04T10:02:00Z', 'bob'),
      ],
      [user('我的水壶坏了', '2025-03-05T10:00:00Z')],
      [user(`${'word '.repeat(4000)} kettle ${'word '.repeat(4000)}`, '2025-03-06T10:00:00Z')],
    ]);
    ({ instanceId, sessions } = filled);
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, filled.position);
  });

  const found = async (parameters: Parameters): Promise<number[]> =>
    (await search({ instanceId, ...parameters })).elements.map(({ dimensions }) =>
      sessions.indexOf(dimensions.session?.id ?? ''),
    );

  it('finds sessions by what anybody said in them, the newest first, and shows where', async () => {
    deepEqual(await found({ said: 'kettle' }), [3, 1, 0]);
    deepEqual(await found({ said: 'rene' }), [1]);
    deepEqual(await found({ said: '水壶' }), [2]);
    deepEqual(await found({ said: 'is  on its\tway' }), [1]);
    deepEqual(await found({ said: 'teapot' }), []);
    const { elements, searched, pagination, lastProcessedAt } = await search({
      instanceId,
      said: 'kettle',
      fields: 'messages,sat',
      dimensionFields: 'title',
    });
    deepEqual(searched.left, 0);
    equal(pagination.next, null);
    ok(lastProcessedAt);
    const [, second] = elements;
    deepEqual([second?.said.role, second?.said.excerpt], ['assistant', 'The KETTLE is on its way, René.']);
    equal(second?.fields.messages, 3);
    ok(second?.dimensions.session?.title);
    ok((elements[0]?.said.excerpt.length ?? 1000) < 140);
    // The place leads into the transcript.
    const { messages } = await client.session(sessions[1] ?? '', { instanceId });
    equal(
      messages.find(({ position }) => position === second?.said.position)?.createdAt,
      second?.said.createdAt,
    );
  });

  it('takes ranges, filters and pages as queries do', async () => {
    deepEqual(await found({ said: 'kettle', 'dateRange.end': '2025-03-04' }), [0]);
    const [bob] = await client.rows({
      instanceId,
      groupBy: 'END_USER',
      fields: 'messages',
      externalId: 'bob',
    });
    deepEqual(await found({ said: 'kettle', endUserIds: bob?.dimensions.endUser?.id ?? '' }), [1]);
    const first = await search({ instanceId, said: 'kettle', limit: 2 });
    const rest = await search({ instanceId, said: 'kettle', limit: 2, cursor: first.pagination.next ?? '' });
    equal(first.elements.length, 2);
    ok(first.searched.left > 0);
    deepEqual(
      rest.elements.map(({ dimensions }) => dimensions.session?.id),
      [sessions[0]],
    );
    deepEqual([rest.pagination.next, rest.searched.left], [null, 0]);
  });

  it('is of the key’s instances only, and says what is wrong', async () => {
    const of = (parameters: Parameters, as = client): ReturnType<Client['send']> =>
      as.send(`/v1/sessions?${toSearch({ instanceId, said: 'kettle', ...parameters })}`);
    faultOf(await of({}, stranger), 404, 'NOT_FOUND');
    for (const [parameters, path] of [
      [{ said: ' ' }, 'said'],
      [{ cursor: 'x' }, 'cursor'],
      [{ limit: 101 }, 'limit'],
      [{ groupBy: 'SESSION' }, 'groupBy'],
      [{ fields: 'sessions' }, 'fields'],
    ] as const)
      deepEqual(pathsOf(faultOf(await of(parameters), 400, 'VALIDATION_ERROR')), [path]);
  });

  it('says which texts are gone', async () => {
    const { messages } = await client.session(sessions[0] ?? '', { instanceId });
    const sequence = Math.floor((messages[0]?.position ?? 0) / POSITIONS_PER_ENTRY);
    const connection = await openConnection({ ...service.nats.address, name: 'test' });
    await (await jetstreamManager(connection.nats)).streams.deleteMessage(CONVERSATIONS_STREAM, sequence);
    await connection.close();
    const { elements, searched } = await search({ instanceId, said: 'leaks' });
    deepEqual(elements, []);
    ok(searched.gone >= 2 && searched.left === 0);
  });
});

/**
 * GET /v1/topics/{id}, /v1/topic-clusters/{id}, /v1/gaps/{id}, /v1/repeated-requests/{id}, /v1/end-users/{id}: what is
 * behind a number.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { describingFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { metricsSchema } from '../../src/domain/metrics.ts';
import {
  WHY_PATHS,
  whyResponseSchema,
  type WhyPath,
  type WhyResponse,
} from '../../src/query/why/why-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters, type Row } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  PASSWORD,
  THANKS,
  label,
  user,
  type Filled,
} from '../support/conversations.ts';
import { isLong, sampled } from '../support/long.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let stranger: Client;
let shop: Filled;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  stranger = new Client(service.url, (await service.newProject()).key);
  shop = await fill(client, [
    [
      user(`${CANCEL[0]} My name is Maria Lopez.`, '2025-03-03T10:00:00Z', 'ada'),
      assistant(DONE, '2025-03-03T10:01:00Z'),
      user(THANKS, '2025-03-03T10:02:00Z', 'ada'),
    ],
    [
      user(CANCEL[1], '2025-03-04T10:00:00Z', 'bob'),
      assistant(CANNOT, '2025-03-04T10:01:00Z'),
      user(CANCEL[1], '2025-03-04T10:02:00Z', 'bob'),
      assistant(CANNOT, '2025-03-04T10:03:00Z'),
      user(COMPLAINT, '2025-03-04T10:04:00Z', 'bob'),
    ],
    [user(CANCEL[2], '2025-03-11T10:00:00Z', 'ada'), assistant(DONE, '2025-03-11T10:01:00Z')],
    [
      user(PASSWORD[0], '2025-03-12T10:00:00Z', 'eve'),
      assistant(DONE, '2025-03-12T10:01:00Z'),
      user(THANKS, '2025-03-12T10:02:00Z', 'eve'),
    ],
    [user(PASSWORD[1], '2025-03-13T10:00:00Z', 'eve')],
    [user(PASSWORD[2], '2025-03-14T10:00:00Z', 'bob')],
  ]);
  const position = await label(client, shop.instanceId, [...CANCEL.slice(0, 2), PASSWORD[2]]);
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId }, position);
});
after(() => service.stop());

async function why(path: WhyPath, id: string, parameters: Parameters = {}): Promise<WhyResponse> {
  const search = toSearch({ instanceId: shop.instanceId, ...parameters });
  const { status, body } = await client.send(`/v1/${path}/${id}?${search}`);
  equal(status, 200, JSON.stringify(body));
  return whyResponseSchema.parse(body);
}

/** The rows of a grouping with all of its metrics. */
function rowsOf(path: WhyPath, parameters: Parameters = {}): Promise<Row[]> {
  const groupBy = WHY_PATHS[path];
  const fields = GROUPINGS[groupBy].metrics.join(',');
  const wanted = describingFieldsOf(groupBy).filter((field) => field !== 'topTopics');
  const members: Parameters = wanted.length === 0 ? {} : { dimensionFields: wanted.join(',') };
  return client.rows({ instanceId: shop.instanceId, groupBy, fields, ...members, ...parameters });
}

/** The metrics of an entity without messages in the range: null where the metric may be null, else 0. */
function nothingOf(path: WhyPath): Row['fields'] {
  return Object.fromEntries(
    GROUPINGS[WHY_PATHS[path]].metrics.map((metric) => [
      metric,
      metricsSchema.shape[metric].safeParse(null).success ? null : 0,
    ]),
  );
}

async function topicOf(text: string): Promise<string> {
  const { messages } = await client.session(shop.sessions[text === PASSWORD[0] ? 3 : 0] ?? '', {
    instanceId: shop.instanceId,
  });
  return messages[0]?.topic?.id ?? '';
}

describe('what is behind an entity', () => {
  it('are the numbers that queries have, of every entity, in whole and cut ranges, with each bucket', async () => {
    const ranges: Parameters[] = [
      {},
      { 'dateRange.start': '2025-03-04' },
      { 'dateRange.start': '2025-03-03T10:00:30Z', 'dateRange.end': '2025-03-12T10:01:30Z' },
    ];
    // The short form has each range and each granularity, and not every pair of them; each path has every other of those.
    const asked = sampled(
      ranges.flatMap((range) =>
        ['HOUR', 'DAY', 'WEEK', 'MONTH'].map((timeGranularity) => ({ range, timeGranularity })),
      ),
      3,
    );
    let seen = 0;
    for (const [number, path] of (Object.keys(WHY_PATHS) as WhyPath[]).entries()) {
      const all = await rowsOf(path);
      ok(all.length > 0, path);
      for (const { range, timeGranularity } of asked.filter((_, at) => isLong || (at + number) % 2 === 0)) {
        const rows = await rowsOf(path, range);
        const buckets = await rowsOf(path, { ...range, timeGranularity, limit: 1000 });
        for (const { dimensions } of all) {
          const { name } = GROUPINGS[WHY_PATHS[path]];
          const entity = dimensions[name as 'topic'];
          const found = await why(path, entity?.id ?? '', { ...range, timeGranularity });
          deepEqual(found[name as 'topic'], entity);
          equal(found.heir, null);
          const row = rows.find((other) => other.dimensions[name as 'topic']?.id === entity?.id);
          deepEqual(found.fields, row?.fields ?? nothingOf(path));
          deepEqual(
            found.trend,
            buckets
              .filter((other) => other.dimensions[name as 'topic']?.id === entity?.id)
              .map(({ dimensions: { date }, fields }) => ({ date, fields })),
          );
          if (found.fields.sat !== undefined) {
            const of = (type: string): number =>
              found.signals.reduce(
                (sum, { signalType, messages }) => sum + (signalType === type ? messages : 0),
                0,
              );
            deepEqual([of('SAT'), of('DSAT')], [found.fields.sat, found.fields.dsat]);
          }
          equal(
            found.languages.reduce((sum, { sessions }) => sum + sessions, 0),
            found.fields.sessions,
          );
          seen += 1;
        }
      }
    }
    ok(seen >= (isLong ? 4 : 2) * asked.length, String(seen));
  });

  it('are null where nothing is measured and 0 where nothing is counted, in a range without messages', async () => {
    const empty = { 'dateRange.start': '2025-01-01', 'dateRange.end': '2025-01-02' };
    for (const path of Object.keys(WHY_PATHS) as WhyPath[]) {
      const [row] = await rowsOf(path);
      const id = row?.dimensions[GROUPINGS[WHY_PATHS[path]].name as 'topic']?.id;
      const { fields, trend } = await why(path, id ?? '', empty);
      deepEqual([fields, trend], [nothingOf(path), []], path);
    }
  });

  it('is what occurs in the messages of a topic, beside the average of the instance', async () => {
    const found = await why('topics', await topicOf(CANCEL[0]));
    equal(found.fields.sessions, 3);
    const thanks = found.signals.find(({ signalType }) => signalType === 'SAT');
    // One of its three sessions, two of all six.
    deepEqual([thanks?.sessions, thanks?.share, thanks?.instanceShare, thanks?.lift], [1, 1 / 3, 2 / 6, 1]);
    deepEqual(
      found.endUsers.map(({ externalId, sessions, messages }) => [externalId, sessions, messages]),
      [
        ['ada', 2, 5],
        ['bob', 1, 5],
      ],
    );
    deepEqual(
      found.gaps.map(({ gapType, sessions, messages }) => [gapType, sessions, messages]),
      [['TOOL', 1, 2]],
    );
    deepEqual(
      found.repeatedRequests.map(({ sessions, messages }) => [sessions, messages]),
      [[1, 1]],
    );
    deepEqual(found.topics, []);
    deepEqual(found.languages, [{ language: 'en', sessions: 3 }]);
  });

  it('is what occurs in the sessions of a gap and of a repeated request', async () => {
    const [gap] = await rowsOf('gaps');
    const found = await why('gaps', gap?.dimensions.gap?.id ?? '');
    deepEqual(
      found.topics.map(({ id, sessions }) => [id, sessions]),
      [[await topicOf(CANCEL[0]), 1]],
    );
    ok(found.signals.some(({ signalType }) => signalType === 'DSAT'));
    deepEqual(
      found.wordings.newest.map(({ text, sessionId }) => [text, sessionId]),
      [[CANNOT, shop.sessions[1]]],
    );
    const [repeat] = await rowsOf('repeated-requests');
    const again = await why('repeated-requests', repeat?.dimensions.repeatedRequest?.id ?? '');
    deepEqual(
      again.wordings.newest.map(({ text }) => text),
      [CANCEL[1]],
    );
    equal(again.gaps.length, 1);
  });

  it('is what an end user asks for, what each conversation begins with, and when they came', async () => {
    const ada = (await rowsOf('end-users')).find(
      ({ dimensions }) => dimensions.endUser?.externalId === 'ada',
    );
    const found = await why('end-users', ada?.dimensions.endUser?.id ?? '', {
      'dateRange.start': '2025-03-04',
    });
    // The times are those of all time, the numbers those of the range.
    deepEqual(found.endUser, ada?.dimensions.endUser);
    equal(found.endUser?.createdAt, '2025-03-03T10:00:00.000Z');
    deepEqual([found.fields.sessions, found.fields.messages], [1, 2]);
    deepEqual(
      found.topics.map(({ id, sessions, messages }) => [id, sessions, messages]),
      [[await topicOf(CANCEL[0]), 1, 2]],
    );
    deepEqual(
      found.wordings.newest.map(({ text, sessionId }) => [text, sessionId]),
      [[CANCEL[2], shop.sessions[2]]],
    );
    deepEqual(found.endUsers, []);
  });

  it('shows how it is said: the newest first, one for each session, without personal data', async () => {
    const { wordings } = await why('topics', await topicOf(CANCEL[0]));
    deepEqual(
      wordings.newest.map(({ text, createdAt, sessionId }) => [text, createdAt, sessionId]),
      [
        [CANCEL[2], '2025-03-11T10:00:00.000Z', shop.sessions[2]],
        [CANCEL[1], '2025-03-04T10:00:00.000Z', shop.sessions[1]],
        [`${CANCEL[0]} My name is •••.`, '2025-03-03T10:00:00.000Z', shop.sessions[0]],
      ],
    );
    deepEqual(
      wordings.typical.map(({ text }) => text).toSorted(),
      wordings.newest.map(({ text }) => text).toSorted(),
    );
    const early = await why('topics', await topicOf(CANCEL[0]), { 'dateRange.end': '2025-03-05' });
    equal(early.wordings.newest.length, 2);
  });

  it('shows the newest first whatever they are about', async () => {
    const bob = (await rowsOf('end-users')).find(
      ({ dimensions }) => dimensions.endUser?.externalId === 'bob',
    );
    const { wordings } = await why('end-users', bob?.dimensions.endUser?.id ?? '');
    deepEqual(
      wordings.newest.map(({ text }) => text),
      [PASSWORD[2], CANCEL[1]],
    );
  });

  it('is not found in another project, instance or grouping', async () => {
    const id = await topicOf(CANCEL[0]);
    const ask = (path: string, from: Client, parameters: Parameters) =>
      from.send(`/v1/${path}?${toSearch(parameters)}`);
    const { instanceId } = shop;
    const other = await client.ingest({ messages: [user(CANCEL[0], '2025-03-03T10:00:00Z')] });
    faultOf(await ask(`topics/${id}`, stranger, { instanceId }), 404, 'NOT_FOUND');
    faultOf(await ask(`topics/${id}`, client, { instanceId: other.instanceId }), 404, 'NOT_FOUND');
    faultOf(await ask(`gaps/${id}`, client, { instanceId }), 404, 'NOT_FOUND');
    faultOf(await ask(`topics/${randomUUID()}`, client, { instanceId }), 404, 'NOT_FOUND');
    faultOf(await ask(`end-users/${id}`, client, { instanceId }), 404, 'NOT_FOUND');
    const wrong = async (path: string, parameters: Parameters): Promise<string[]> =>
      pathsOf(faultOf(await ask(path, client, parameters), 400, 'VALIDATION_ERROR'));
    deepEqual(await wrong('topics/x', { instanceId }), ['id']);
    deepEqual(await wrong(`topics/${id}`, {}), ['instanceId']);
    deepEqual(await wrong(`topics/${id}`, { instanceId, timeGranularity: 'ALL', limit: 1 }), [
      'timeGranularity',
      'limit',
    ]);
    deepEqual(
      await wrong(`topics/${id}`, {
        instanceId,
        'dateRange.start': '2025-03-02',
        'dateRange.end': '2025-03-01',
      }),
      ['dateRange.start'],
    );
  });
});

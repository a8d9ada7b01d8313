/** GET /v1/overview: an instance as a whole. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { overviewResponseSchema, type OverviewResponse } from '../../src/query/overview/overview-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  COMPLAINT,
  DONE,
  fill,
  THANKS,
  user,
  type Filled,
} from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let shop: Filled;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  shop = await fill(client, [
    // Over midnight.
    [
      user(CANCEL[0], '2025-03-03T23:30:00Z', 'ada'),
      assistant(DONE, '2025-03-03T23:45:00Z'),
      user(THANKS, '2025-03-04T00:15:00Z', 'ada'),
    ],
    [
      user(CANCEL[1], '2025-03-04T10:00:00Z', 'bob'),
      assistant(DONE, '2025-03-04T10:30:00Z'),
      user(COMPLAINT, '2025-03-04T11:00:00Z', 'bob'),
    ],
    [user(CANCEL[2], '2025-03-06T09:00:00Z', 'ada'), assistant(DONE, '2025-03-06T09:00:00.5Z')],
    [user('Hello!', '2025-03-06T09:00:00Z', null)],
  ]);
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId }, shop.position);
});
after(() => service.stop());

async function overview(parameters: Parameters = {}): Promise<OverviewResponse> {
  const search = toSearch({ instanceId: shop.instanceId, ...parameters });
  const { status, body } = await client.send(`/v1/overview?${search}`);
  equal(status, 200, JSON.stringify(body));
  return overviewResponseSchema.parse(body);
}

/** sessions, users, messages, sat, dsat. */
function countsOf({ sessions, users, messages, sat, dsat }: OverviewResponse['fields']): unknown[] {
  return [sessions, users, messages, sat, dsat];
}

describe('an overview', () => {
  it('counts everything once, in the range and in each bucket', async () => {
    const { fields, trend } = await overview();
    deepEqual([fields.sessions, fields.users, fields.messages], [4, 2, 9]);
    deepEqual(
      trend.map(({ date, fields: day }) => [date, ...countsOf(day).slice(0, 3)]),
      [
        ['2025-03-03T00:00:00Z', 1, 1, 2],
        ['2025-03-04T00:00:00Z', 2, 2, 4],
        ['2025-03-06T00:00:00Z', 2, 1, 3],
      ],
    );
    const weekly = await overview({ timeGranularity: 'WEEK' });
    deepEqual(weekly.trend, [{ date: '2025-03-03T00:00:00Z', fields }]);
  });

  it('says the same as queries, whole or cut', async () => {
    const ranges: Parameters[] = [
      {},
      { 'dateRange.start': '2025-03-04' },
      { 'dateRange.start': '2025-03-03T23:40:00Z', 'dateRange.end': '2025-03-06T09:00:00.2Z' },
    ];
    for (const range of ranges) {
      const { instanceId } = shop;
      const { fields } = await overview(range);
      const sum = async (groupBy: string, metric: 'messages' | 'sat' | 'dsat' | 'repeatedRequests') => {
        const rows = await client.rows({ instanceId, groupBy, fields: metric, ...range });
        return {
          rows: rows.length,
          total: rows.reduce((total, row) => total + (row.fields[metric] ?? 0), 0),
        };
      };
      const messages = await sum('SESSION', 'messages');
      deepEqual([fields.sessions, fields.messages], [messages.rows, messages.total]);
      equal(fields.users, (await sum('END_USER', 'messages')).rows);
      for (const metric of ['sat', 'dsat', 'repeatedRequests'] as const)
        equal(fields[metric], (await sum('SESSION', metric)).total, metric);
    }
  });

  it('says which languages there are, and how many of their sessions have a topic', async () => {
    deepEqual((await overview()).languages, [
      { language: 'en', sessions: 3, withTopic: 3 },
      { language: null, sessions: 1, withTopic: 0 },
    ]);
    deepEqual((await overview({ 'dateRange.start': '2025-03-06T09:00:00.2Z' })).languages, [
      { language: 'en', sessions: 1, withTopic: 1 },
    ]);
  });

  it('says how its sessions ended, as many as queries find', async () => {
    const { outcomes } = await overview();
    equal(
      outcomes.reduce((sum, { sessions }) => sum + sessions, 0),
      4,
    );
    ok(outcomes.some(({ outcome }) => outcome !== null));
    for (const { outcome, sessions } of outcomes) {
      if (outcome === null) continue;
      const { instanceId } = shop;
      const rows = await client.rows({
        instanceId,
        groupBy: 'SESSION',
        fields: 'messages',
        dimensionFields: 'outcome',
        outcome,
      });
      deepEqual(
        rows.map(({ dimensions }) => dimensions.session?.outcome),
        Array(sessions).fill(outcome),
      );
    }
  });

  it('is empty where nothing is, and refused where a parameter is wrong', async () => {
    const { fields, trend } = await overview({ 'dateRange.start': '2027-01-01' });
    deepEqual([...countsOf(fields), fields.netSat, trend], [0, 0, 0, 0, 0, null, []]);
    const answer = await client.send(`/v1/overview?${toSearch({ timeGranularity: 'ALL', limit: 1 })}`);
    deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), ['instanceId', 'timeGranularity', 'limit']);
  });
});

/** GET /v1/changes: what is new, rising, falling or gone against the period before. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changesResponseSchema, type ChangesResponse } from '../../src/query/changes/changes-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  DONE,
  fill,
  PASSWORD,
  THANKS,
  user,
  type Filled,
} from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

const HOURS = 'What are your opening hours on Sunday?';

let service: TestService;
let client: Client;
let stranger: Client;
let shop: Filled;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  stranger = new Client(service.url, (await service.newProject()).key);
  const week = (days: number, count: number, ...texts: readonly string[]) =>
    Array.from({ length: count }, (_, i) => {
      const at = `2026-10-${String(days + (i % 7)).padStart(2, '0')}T10:0${i % 10}:00Z`;
      const [asked = '', ...more] = texts;
      return [
        user(asked, at, `u${i}`),
        ...more.map((text) => (text === THANKS ? user(text, at, `u${i}`) : assistant(text, at))),
      ];
    });
  shop = await fill(client, [
    // From Monday, October 5th: cancelling works, nobody forgets a password.
    ...week(5, 20, CANCEL[0], DONE, THANKS),
    ...week(5, 20, HOURS, 'From ten to four.'),
    // From October 12th: it does not, and many do.
    ...week(12, 4, CANCEL[0], CANNOT),
    ...week(12, 18, PASSWORD[0], DONE),
    ...week(12, 19, HOURS, 'From ten to four.'),
  ]);
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId }, shop.position);
});
after(() => service.stop());

async function changes(parameters: Parameters): Promise<ChangesResponse> {
  const { status, body } = await client.send(
    `/v1/changes?${toSearch({ instanceId: shop.instanceId, ...parameters })}`,
  );
  equal(status, 200, JSON.stringify(body));
  return changesResponseSchema.parse(body);
}

const WEEK = { 'dateRange.start': '2026-10-12', 'dateRange.end': '2026-10-19' };

describe('changes', () => {
  it('are what is new, gone, rising or falling, the clearest first, and not what stays', async () => {
    const found = await changes(WEEK);
    deepEqual(found.before, {
      start: '2026-10-05T00:00:00.000Z',
      end: '2026-10-12T00:00:00.000Z',
      sessions: 40,
    });
    deepEqual(found.period, {
      start: '2026-10-12T00:00:00.000Z',
      end: '2026-10-19T00:00:00.000Z',
      sessions: 41,
    });
    const changeRows = found.changes.map(
      ({ topic, gap, csatDsatSignal, change, sessions, sessionsBefore }) => [
        topic === undefined ? (gap === undefined ? csatDsatSignal?.signalType : 'gap') : 'topic',
        change,
        sessions,
        sessionsBefore,
      ],
    );
    ok(
      changeRows.some((change) => change.join() === 'topic,new,18,0'),
      JSON.stringify(changeRows),
    );
    ok(
      changeRows.some((change) => change.join() === 'topic,falling,4,20'),
      JSON.stringify(changeRows),
    );
    ok(
      changeRows.some((change) => change.join() === 'SAT,gone,0,20'),
      JSON.stringify(changeRows),
    );
    // Opening hours, and a gap in four sessions where there was none, may be chance.
    ok(
      changeRows.every(([kind, , sessions]) => kind !== 'gap' && sessions !== 19),
      JSON.stringify(changeRows),
    );
    const chances = found.changes.map(({ chance }) => chance);
    deepEqual(
      chances,
      chances.toSorted((a, b) => a - b),
    );
    const falling = found.changes.find(({ change }) => change === 'falling');
    deepEqual([falling?.share, falling?.shareBefore], [4 / 41, 20 / 40]);
    deepEqual((await changes({ ...WEEK, limit: 1 })).changes, found.changes.slice(0, 1));
  });

  it('are the same numbers as those of queries', async () => {
    const { changes: found, before: earlier } = await changes(WEEK);
    for (const [range, key] of [
      [WEEK, 'sessions'],
      [{ 'dateRange.start': earlier.start, 'dateRange.end': earlier.end }, 'sessionsBefore'],
    ] as const) {
      const rows = await client.rows({
        instanceId: shop.instanceId,
        groupBy: 'TOPIC',
        fields: 'sessions',
        ...range,
      });
      for (const change of found.filter(({ topic }) => topic !== undefined)) {
        const row = rows.find(({ dimensions }) => dimensions.topic?.id === change.topic?.id);
        equal(row?.fields.sessions ?? 0, change[key]);
      }
    }
  });

  it('are none where nothing is, nor against a period without a message', async () => {
    deepEqual((await changes({ ...WEEK, compare: 'year' })).changes, []);
    const empty = await changes({ 'dateRange.start': '2024-01-01', 'dateRange.end': '2024-01-08' });
    deepEqual([empty.changes, empty.period.sessions, empty.before.sessions], [[], 0, 0]);
  });

  it('need a period, of an instance of the project', async () => {
    const { instanceId } = shop;
    const ask = (parameters: Parameters, from = client) => from.send(`/v1/changes?${toSearch(parameters)}`);
    faultOf(await ask({ instanceId, ...WEEK }, stranger), 404, 'NOT_FOUND');
    const wrong = async (parameters: Parameters): Promise<string[]> =>
      pathsOf(faultOf(await ask(parameters), 400, 'VALIDATION_ERROR'));
    deepEqual(await wrong({ instanceId }), ['dateRange.start', 'dateRange.end']);
    deepEqual(await wrong({ instanceId, ...WEEK, compare: 'month', offset: 1 }), ['compare', 'offset']);
    deepEqual(await wrong({ instanceId, 'dateRange.start': '2026-10-12', 'dateRange.end': '2026-10-12' }), [
      'dateRange.start',
    ]);
  });
});

/** GET /v1/differences: what sessions of one value of an attribute have more or less often than those of another. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  differencesResponseSchema,
  type DifferencesResponse,
} from '../../src/query/changes/differences-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, DONE, PASSWORD, user, type Message } from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let instanceId: string;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  let [position, known]: [number, string | undefined] = [0, undefined];
  const say = async (version: string | null, messages: readonly Message[]): Promise<void> => {
    const metadata = version === null ? {} : { metadata: { session: { version, region: 'eu' } } };
    const to = known === undefined ? {} : { instanceId: known };
    ({ instanceId: known, position } = await client.ingest({ ...to, messages, ...metadata }));
  };
  // Only the old version on the 1st, both from the 2nd to the 5th: the new one cannot cancel any more.
  for (let day = 1; day <= 5; day += 1)
    for (let at = 0; at < 8; at += 1) {
      const time = `2026-05-0${day}T1${at % 8}:00:00Z`;
      const text = at % 2 === 0 ? CANCEL[at % 4]! : PASSWORD[at % 4]!;
      await say('3.1', [user(text, time, `o${at}`), assistant(DONE, time)]);
      if (day > 1)
        await say('3.2', [user(text, time, `n${at}`), assistant(at % 2 === 0 ? CANNOT : DONE, time)]);
    }
  await say(null, [user(PASSWORD[0], '2026-05-03T10:00:00Z', 'x')]);
  instanceId = known!;
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
});
after(() => service.stop());

const VERSIONS = { segmentKey: 'version', value: '3.2', against: '3.1' };

async function differences(parameters: Parameters = {}): Promise<DifferencesResponse> {
  const search = toSearch({ instanceId, ...VERSIONS, ...parameters });
  const { status, body } = await client.send(`/v1/differences?${search}`);
  equal(status, 200, JSON.stringify(body));
  return differencesResponseSchema.parse(body);
}

describe('differences of two values', () => {
  it('are those that are not chance, on the days on which both occur', async () => {
    const answer = await differences();
    deepEqual(answer.range, { start: '2026-05-02T00:00:00.000Z', end: '2026-05-06T00:00:00.000Z' });
    deepEqual(
      [answer.value, answer.against],
      [
        { value: '3.2', sessions: 32 },
        { value: '3.1', sessions: 32 },
      ],
    );
    equal(answer.differences.length, 1);
    const [{ gap, difference, sessions, sessionsAgainst, share, chance } = { chance: 1 }] =
      answer.differences as Partial<DifferencesResponse['differences'][number]>[];
    ok(gap !== undefined && /cancel|booking/i.test(gap.name), gap?.name);
    deepEqual([difference, sessions, sessionsAgainst, share], ['only', 16, 0, 0.5]);
    ok((chance ?? 1) < 1e-4, String(chance));
    const turned = await differences({ value: '3.1', against: '3.2' });
    deepEqual(
      turned.differences.map((one) => [
        one.difference,
        one.sessions,
        one.sessionsAgainst,
        one.chance === chance,
      ]),
      [['never', 0, 16, true]],
    );
  });

  it('keep to the range, the days of a zone and a segment', async () => {
    const cut = await differences({
      'dateRange.start': '2026-05-03T09:00:00Z',
      'dateRange.end': '2026-05-05',
    });
    deepEqual(cut.range, { start: '2026-05-03T09:00:00.000Z', end: '2026-05-05T00:00:00.000Z' });
    equal(cut.value.sessions, 16);
    const kolkata = await differences({ timeZone: 'Asia/Kolkata' });
    equal(kolkata.range?.start, '2026-05-01T18:30:00.000Z');
    equal(kolkata.differences.length, 1);
    equal((await differences({ 'segment.region': 'eu' })).differences.length, 1);
    equal((await differences({ 'segment.region': 'us' })).range, null);
  });

  it('are none where the values have no day in common, or one has no session', async () => {
    const never = { range: null, differences: [] };
    for (const parameters of [{ against: '9.9' }, { 'dateRange.end': '2026-05-02' }]) {
      const { range, differences: found, value } = await differences(parameters);
      deepEqual({ range, differences: found }, never);
      equal(value.sessions, 0);
    }
  });

  it('are refused with the name of the fault', async () => {
    const refused = async (parameters: Parameters): Promise<string[]> => {
      const answer = await client.send(
        `/v1/differences?${toSearch({ instanceId, ...VERSIONS, ...parameters })}`,
      );
      return pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR'));
    };
    deepEqual(await refused({ against: '3.2' }), ['against']);
    deepEqual(await refused({ segmentKey: 'release' }), ['segmentKey']);
    deepEqual(await refused({ value: ' ' }), ['value']);
  });
});

/** GET /v1/effects: whether what people said is fixed comes up less often since then. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { effectsResponseSchema, type EffectsResponse } from '../../src/query/effects/effects-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, DONE, fill, PASSWORD, user } from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

const DAY_MS = 86_400_000;
/** Days before and after the change. */
const DAYS = 21;
/** The day of the change, within the time that the service has processed. */
const FIXED_AT = Date.parse('2026-05-20T12:00:00Z');

let service: TestService;
let client: Client;
let instanceId: string;
let gapId: string;
let topicId: string;

/** Noon of a day, counted from the change. */
function at(day: number): string {
  return new Date(FIXED_AT + day * DAY_MS).toISOString();
}

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  let known: string | undefined;
  let position = 0;
  // Each day four ask to cancel and four for a password; until the change, the assistant cannot cancel.
  for (let day = -DAYS; day <= DAYS; day += 1) {
    const version = day < 0 ? '3.1' : '3.2';
    const messages = Array.from({ length: 8 }, (_, index) => {
      const isCancel = index % 2 === 0;
      const cannot = isCancel && (day < 0 || (day === 0 && index < 4));
      return [
        user((isCancel ? CANCEL : PASSWORD)[index % 4]!, at(day), `u${day} ${index}`),
        assistant(cannot ? CANNOT : DONE, at(day)),
      ];
    });
    for (const conversation of messages) {
      const to = known === undefined ? {} : { instanceId: known };
      const metadata = { session: { version, region: day % 2 === 0 ? 'eu' : 'us' } };
      ({ instanceId: known, position } = await client.ingest({ ...to, messages: conversation, metadata }));
    }
  }
  instanceId = known!;
  const ask = async (groupBy: string): Promise<readonly { readonly id: string; readonly name: string }[]> => {
    const { elements } = await client.query({ groupBy, fields: 'sessions', instanceId }, position);
    return elements.flatMap(({ dimensions: { gap, topic } }) => gap ?? topic ?? []);
  };
  gapId = (await ask('GAP'))[0]!.id;
  topicId = (await ask('TOPIC')).find(({ name }) => /password/i.test(name))!.id;
});
after(() => service.stop());

async function track(life: Readonly<Record<string, unknown>>, instance = instanceId): Promise<void> {
  const { status, headers, body } = await client.send('/v1/curations', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ instanceId: instance, action: 'TRACK', ...life }),
  });
  equal(status, 201, JSON.stringify(body));
  const position = Number(headers.get('x-stream-position'));
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: instance }, position);
}

async function effects(parameters: Parameters = {}): Promise<EffectsResponse> {
  const { status, body } = await client.send(`/v1/effects?${toSearch({ instanceId, ...parameters })}`);
  equal(status, 200, JSON.stringify(body));
  return effectsResponseSchema.parse(body);
}

describe('effects', () => {
  it('are none until something is fixed', async () => {
    await track({ gapId, state: 'PLANNED' });
    const { effects: found, total } = await effects();
    deepEqual([found, total], [[], 0]);
  });

  it('compare whole weeks before and after the day of the change, each session once', async () => {
    await track({ gapId, state: 'FIXED', fixedAt: at(0), owner: 'Ada' });
    const { effects: found, total } = await effects();
    equal(total, 1);
    const [one] = found;
    deepEqual([one?.gap?.id, one?.verdict, one?.life?.owner, one?.again], [gapId, 'HELPED', 'Ada', null]);
    deepEqual(one?.before, {
      start: '2026-04-29T00:00:00.000Z',
      end: '2026-05-20T00:00:00.000Z',
      sessions: DAYS * 4,
      of: DAYS * 8,
      share: 0.5,
    });
    deepEqual(one?.after, {
      start: '2026-05-21T00:00:00.000Z',
      end: '2026-06-11T00:00:00.000Z',
      sessions: 0,
      of: DAYS * 8,
      share: 0,
    });
    const { difference, chance } = one!;
    ok(chance !== null && chance < 1e-9);
    ok(difference !== null && difference.share === -0.5);
    ok(difference.low < -0.5 && difference.high > -0.5 && difference.high < -0.4);
  });

  it('keep to the days of a zone and to a segment', async () => {
    const [there] = (await effects({ timeZone: 'Pacific/Kiritimati' })).effects;
    // There it is 2 a.m. of the next day.
    deepEqual(
      [there?.before?.end, there?.after?.start],
      ['2026-05-20T10:00:00.000Z', '2026-05-21T10:00:00.000Z'],
    );
    const [eu] = (await effects({ 'segment.region': 'eu' })).effects;
    deepEqual([eu?.verdict, eu?.before?.of, eu?.before?.sessions], ['HELPED', 10 * 8, 10 * 4]);
  });

  it('of a release count its sessions alone, from the day after its first one', async () => {
    await track({ gapId, state: 'FIXED', release: { name: 'version', value: '3.2' } });
    const [one] = (await effects()).effects;
    deepEqual([one?.verdict, one?.before?.sessions, one?.after?.of], ['HELPED', DAYS * 4, DAYS * 8]);
    equal(one?.after?.start, '2026-05-21T00:00:00.000Z');
    await track({ gapId, state: 'FIXED', release: { name: 'version', value: '4.0' } });
    const [none] = (await effects()).effects;
    deepEqual([none?.verdict, none?.before, none?.after, none?.soFar], ['TOO_EARLY', null, null, null]);
  });

  it('tell nothing of what stayed as it was, and list the latest statement first', async () => {
    await track({ topicId, state: 'FIXED', fixedAt: at(0) });
    const { effects: found, total } = await effects();
    deepEqual(
      found.map(({ topic, gap, verdict }) => [topic?.id ?? gap?.id, verdict]),
      [
        [topicId, 'NO_DIFFERENCE'],
        [gapId, 'TOO_EARLY'],
      ],
    );
    equal(total, 2);
    const first = await effects({ limit: 1 });
    deepEqual([first.effects.length, first.total], [1, 2]);
    deepEqual(
      (await effects({ id: topicId })).effects.map(({ topic }) => topic?.id),
      [topicId],
    );
  });

  it('count the newest weeks apart from the four in which a fix has to show', async () => {
    await track({ topicId, state: 'FIXED', fixedAt: at(-15) });
    const [one] = (await effects({ id: topicId })).effects;
    deepEqual([one?.after?.start, one?.after?.end], ['2026-05-06T00:00:00.000Z', '2026-06-03T00:00:00.000Z']);
    deepEqual(one?.latest, {
      start: '2026-06-03T00:00:00.000Z',
      end: '2026-06-17T00:00:00.000Z',
      sessions: 8 * 4,
      of: 8 * 8,
      share: 0.5,
    });
    await track({ topicId, state: 'FIXED', fixedAt: at(0) });
    equal((await effects({ id: topicId })).effects[0]?.latest, null);
  });

  it('compare each weekday with itself, although the day of the change counts for neither side', async () => {
    // On Saturdays everybody asks to cancel, on other days nobody. 8 May 2026 is a Friday.
    const change = Date.parse('2026-05-08T12:00:00Z');
    const conversations = Array.from({ length: 22 }, (_, index) => index - 14).flatMap((day) => {
      const on = new Date(change + day * DAY_MS);
      const isSaturday = on.getUTCDay() === 6;
      return Array.from({ length: isSaturday ? 2 : 6 }, (__, index) => [
        user((isSaturday ? CANCEL : PASSWORD)[index % 4]!, on.toISOString(), `w${day} ${index}`),
        assistant(isSaturday ? CANNOT : DONE, on.toISOString()),
      ]);
    });
    const weekly = await fill(client, conversations);
    const { elements } = await client.query(
      { groupBy: 'GAP', fields: 'sessions', instanceId: weekly.instanceId },
      weekly.position,
    );
    await track(
      { gapId: elements[0]!.dimensions.gap!.id, state: 'FIXED', fixedAt: new Date(change).toISOString() },
      weekly.instanceId,
    );
    const [one] = (await effects({ instanceId: weekly.instanceId })).effects;
    deepEqual(
      [one?.verdict, one?.chance, one?.before?.sessions, one?.after?.sessions],
      ['NO_DIFFERENCE', 1, 4, 2],
    );
  });

  it('count what came back apart from the weeks before that', async () => {
    // It comes up less often for a week, then as often as before.
    const change = Date.parse('2026-05-08T12:00:00Z');
    const conversations = Array.from({ length: 36 }, (_, index) => index - 21).flatMap((day) => {
      const on = new Date(change + day * DAY_MS).toISOString();
      const isFixed = day >= 0 && day < 8;
      return Array.from({ length: 6 }, (__, index) => [
        user((index < 3 ? CANCEL : PASSWORD)[index % 4]!, on, `b${day} ${index}`),
        assistant(index < 3 && !isFixed ? CANNOT : DONE, on),
      ]);
    });
    const back = await fill(client, conversations);
    const { elements } = await client.query(
      { groupBy: 'GAP', fields: 'sessions', instanceId: back.instanceId },
      back.position,
    );
    await track(
      { gapId: elements[0]!.dimensions.gap!.id, state: 'FIXED', fixedAt: new Date(change).toISOString() },
      back.instanceId,
    );
    const [one] = (await effects({ instanceId: back.instanceId })).effects;
    deepEqual(
      [one?.verdict, one?.before?.share, one?.after?.share, one?.again?.share],
      ['CAME_BACK', 0.5, 0, 0.5],
    );
    equal(one?.after?.end, one?.again?.start);
  });

  it('count a session that lasts for days once on each side', async () => {
    const change = Date.parse('2026-05-20T12:00:00Z');
    const on = (day: number): string => new Date(change + day * DAY_MS).toISOString();
    const long = [0, 1, 2, 3, 4].flatMap((start) => {
      const first = start - 12;
      return [
        [0, 1, 2, 3, 4].flatMap((day) => [
          user(CANCEL[day % 4]!, on(first + day), `l${start}`),
          assistant(CANNOT, on(first + day)),
        ]),
        [user(PASSWORD[0], on(first), `m${start}`), assistant(DONE, on(first))],
        [user(PASSWORD[1], on(start + 1), `n${start}`), assistant(DONE, on(start + 1))],
      ];
    });
    const later = [6, 7, 8].map((day) => [user(PASSWORD[2], on(day), `o${day}`), assistant(DONE, on(day))]);
    const filled = await fill(client, [...long, ...later]);
    const { elements } = await client.query(
      { groupBy: 'GAP', fields: 'sessions', instanceId: filled.instanceId },
      filled.position,
    );
    await track(
      { gapId: elements[0]!.dimensions.gap!.id, state: 'FIXED', fixedAt: on(0) },
      filled.instanceId,
    );
    const [one] = (await effects({ instanceId: filled.instanceId })).effects;
    deepEqual([one?.before?.sessions, one?.before?.of, one?.after?.of], [5, 10, 8]);
    // Of five of ten against none of eight, not of twenty-five against them.
    ok(one?.chance != null && one.chance > 0.02, String(one?.chance));
  });

  it('are refused with the name of the fault', async () => {
    const refused = async (parameters: Parameters): Promise<string[]> => {
      const answer = await client.send(`/v1/effects?${toSearch({ instanceId, ...parameters })}`);
      return pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR'));
    };
    deepEqual(await refused({ id: 'x' }), ['id']);
    deepEqual(await refused({ limit: 101 }), ['limit']);
    deepEqual(await refused({ timeZone: 'Mars' }), ['timeZone']);
  });
});

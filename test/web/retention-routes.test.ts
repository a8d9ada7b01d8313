import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { retentionSchema } from '../../src/contract/retention.ts';
import { createHarness, FOREIGN_INSTANCE, INSTANCE, KEY, type Harness } from './support.ts';

const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };
const put = ({ app }: Harness, body: unknown, instance = INSTANCE) =>
  app.inject({
    method: 'PUT',
    url: `/v1/instances/${instance}/retention`,
    headers: HEADERS,
    payload: JSON.stringify(body),
  });
const get = ({ app }: Harness, instance = INSTANCE) =>
  app.inject({ url: `/v1/instances/${instance}/retention`, headers: HEADERS });

describe('http: retention', () => {
  it('is for ever, until it is set, and says what the newest run took', async () => {
    const harness = createHarness();
    const nothing = { textDays: null, peopleDays: null, countDays: null, keepAtLeastDays: null };
    deepEqual(retentionSchema.parse((await get(harness)).json()), { ...nothing, lastRun: null });
    const days = { textDays: 90, peopleDays: 365, countDays: null };
    const answer = await put(harness, { ...days, keepAtLeastDays: 30 }, INSTANCE.toUpperCase());
    equal(answer.statusCode, 200, answer.body);
    const expected = { ...days, keepAtLeastDays: 30, lastRun: null };
    deepEqual(retentionSchema.parse(answer.json()), expected);
    deepEqual(retentionSchema.parse((await get(harness)).json()), expected);
    await harness.retentions.put({
      instanceId: INSTANCE,
      cutoffs: { texts: Date.UTC(2026, 0, 1) * 1000, people: null, counts: null },
      former: { texts: null, people: null, counts: null },
      position: 7,
      startedAt: '2026-04-01T00:00:00.000Z',
      doneAt: null,
      counts: { messages: 0, sessions: 0, texts: 3, people: 0 },
      entries: 2,
      lostTexts: true,
      fault: null,
    });
    const { lastRun } = retentionSchema.parse((await get(harness)).json());
    deepEqual(
      [lastRun?.textsBefore, lastRun?.texts, lastRun?.entries, lastRun?.doneAt],
      ['2026-01-01T00:00:00.000Z', 3, 2, null],
    );
  });

  it('takes whole days, none below the floor', async () => {
    const harness = createHarness();
    const nothing = { textDays: null, peopleDays: null, countDays: null };
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'textDays'],
      [{ ...nothing, textDays: 0 }, 'textDays'],
      [{ ...nothing, peopleDays: 1.5 }, 'peopleDays'],
      [{ ...nothing, countDays: 36_501 }, 'countDays'],
      [{ ...nothing, countDays: 30, keepAtLeastDays: 31 }, 'countDays'],
      [{ ...nothing, more: 1 }, 'more'],
    ];
    for (const [body, path] of wrong) {
      const answer = await put(harness, body);
      const { code, details } = errorEnvelopeSchema.parse(answer.json()).error;
      deepEqual([code, details?.[0]?.path], ['VALIDATION_ERROR', path], answer.body);
    }
    for (const instance of [FOREIGN_INSTANCE, '0192f0a0-0000-7000-8000-00000000000e'])
      equal((await put(harness, nothing, instance)).statusCode, 404);
  });
});

import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueryParameters } from '../../src/query/parameters.ts';
import { createHarness, INSTANCE, KEY } from './support.ts';

const DAYS = `instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages&dateRange.start=2026-11-01`;

describe('the time zone of an instance', () => {
  it('is meant where a question names none, and dates are its days', async () => {
    const harness = createHarness();
    const ask = async (query: string): Promise<unknown[]> => {
      const answer = await harness.app.inject({ url: `/v1/query?${query}`, headers: { 'x-api-key': KEY } });
      equal(answer.statusCode, 200, answer.body);
      const { timeZone, range } = harness.asked.at(-1) as QueryParameters;
      return [timeZone, new Date((range.start ?? 0) / 1000).toISOString()];
    };
    deepEqual(await ask(DAYS), [null, '2026-11-01T00:00:00.000Z']);
    harness.timeZone = 'Europe/Berlin';
    deepEqual(await ask(DAYS), ['Europe/Berlin', '2026-10-31T23:00:00.000Z']);
    deepEqual(await ask(`${DAYS}&timeZone=Asia/Kolkata`), ['Asia/Kolkata', '2026-10-31T18:30:00.000Z']);
    deepEqual(await ask(`${DAYS}&timeZone=UTC`), [null, '2026-11-01T00:00:00.000Z']);
  });

  it('is meant by every route with buckets, and refused by none', async () => {
    const harness = createHarness();
    harness.timeZone = 'Europe/Berlin';
    for (const path of [
      `overview?instanceId=${INSTANCE}`,
      `changes?instanceId=${INSTANCE}&dateRange.start=2026-11-01&dateRange.end=2026-11-08`,
      `digest?instanceId=${INSTANCE}`,
      `curations?instanceId=${INSTANCE}`,
      `alerts?instanceId=${INSTANCE}`,
    ]) {
      const answer = await harness.app.inject({ url: `/v1/${path}`, headers: { 'x-api-key': KEY } });
      equal(answer.statusCode, 200, `${path}: ${answer.body}`);
    }
  });
});

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

const PLAIN = `instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`;
const TESTS = { name: 'environment', values: ['staging', 'test'], isLeftOut: true };

describe('what an instance leaves out', () => {
  it('is left out where a question does not say', async () => {
    const harness = createHarness();
    harness.leaveOut = { environment: ['staging', 'test'] };
    const ask = async (query: string): Promise<unknown> => {
      const answer = await harness.app.inject({ url: `/v1/query?${query}`, headers: { 'x-api-key': KEY } });
      equal(answer.statusCode, 200, answer.body);
      return (harness.asked.at(-1) as QueryParameters).segment;
    };
    deepEqual(await ask(PLAIN), [TESTS]);
    const pro = { name: 'plan', values: ['pro'] };
    deepEqual(await ask(`${PLAIN}&segment.plan=pro`), [TESTS, pro]);
    const asked = { name: 'environment', values: ['test'] };
    deepEqual(await ask(`${PLAIN}&segment.environment=test`), [asked]);
    deepEqual(await ask(`${PLAIN}&segment[environment]=test`), [asked]);
    deepEqual(await ask(`${PLAIN}&segment.environment!=test`), [{ ...asked, isLeftOut: true }]);
    deepEqual(await ask(`${PLAIN}&segment[environment]!=test`), [{ ...asked, isLeftOut: true }]);
    // Empty: nothing is left out.
    deepEqual(await ask(`${PLAIN}&segment.environment!=`), []);
    // Whoever asks for its values wants all of them.
    deepEqual(await ask(`${PLAIN.replace('TOPIC', 'SEGMENT')}&segmentKey=environment`), []);
  });

  it('is left out of a digest, which may be of a segment', async () => {
    const harness = createHarness();
    harness.leaveOut = { environment: ['staging', 'test'] };
    const ask = async (query: string): Promise<unknown> => {
      const url = `/v1/digest?instanceId=${INSTANCE}${query}`;
      const answer = await harness.app.inject({ url, headers: { 'x-api-key': KEY } });
      equal(answer.statusCode, 200, answer.body);
      return (harness.asked.at(-1) as Partial<QueryParameters>).segment;
    };
    deepEqual(await ask(''), [TESTS]);
    deepEqual(await ask('&segment.plan=pro'), [TESTS, { name: 'plan', values: ['pro'] }]);
    deepEqual(await ask('&segment.environment!='), undefined);
  });

  it('is left out on every route with segments, and refused by none', async () => {
    const harness = createHarness();
    harness.leaveOut = { environment: ['test'] };
    for (const path of [
      `overview?instanceId=${INSTANCE}`,
      `changes?instanceId=${INSTANCE}&dateRange.start=2026-11-01&dateRange.end=2026-11-08`,
      `digest?instanceId=${INSTANCE}`,
      `attributes?instanceId=${INSTANCE}`,
      `curations?instanceId=${INSTANCE}`,
      `alerts?instanceId=${INSTANCE}`,
    ]) {
      const answer = await harness.app.inject({ url: `/v1/${path}`, headers: { 'x-api-key': KEY } });
      equal(answer.statusCode, 200, `${path}: ${answer.body}`);
    }
  });

  it('is a part of alerts that are made', async () => {
    const harness = createHarness();
    harness.leaveOut = { environment: ['test'] };
    const made = async (
      segment: object | undefined,
      of: object = { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 5 },
    ): Promise<unknown> => {
      const answer = await harness.app.inject({
        method: 'POST',
        url: '/v1/alerts',
        headers: { 'x-api-key': KEY },
        payload: {
          instanceId: INSTANCE,
          name: 'Much',
          condition: { ...of, segment },
          delivery: { url: 'https://example.com/hook', format: 'slack' },
        },
      });
      equal(answer.statusCode, 201, answer.body);
      return answer.json().alert.condition.segment;
    };
    deepEqual(await made(undefined), { 'environment!': ['test'] });
    deepEqual(await made({ plan: 'pro' }), { plan: 'pro', 'environment!': ['test'] });
    deepEqual(await made({ environment: 'test' }), { environment: 'test' });
    harness.leaveOut = { version: ['dev'] };
    deepEqual(await made(undefined, { kind: 'new_value', segmentKey: 'version' }), undefined);
    // A digest leaves out what the instance leaves out when it is written.
    deepEqual(await made(undefined, { kind: 'digest' }), undefined);
    deepEqual(await made({ plan: 'pro' }, { kind: 'digest' }), { plan: 'pro' });
  });
});

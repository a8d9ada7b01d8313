import { equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONNECTION_TIMES } from '../../src/web/connections.ts';
import { createHarness, INSTANCE, KEY } from './support.ts';

describe('http: a question that is not answered in time', () => {
  const IMPATIENT = { connectionTimes: { ...CONNECTION_TIMES, answer: 20 } };
  const late = () => createHarness({ limits: IMPATIENT, run: () => new Promise<never>(() => undefined) });

  it('is answered 503 with Retry-After, not by the end of the connection', async () => {
    const url = `/v1/query/?instanceId=${INSTANCE}&groupBy=TOPIC&fields=messages`;
    const answer = await late().app.inject({ url, headers: { 'x-api-key': KEY } });
    equal(answer.statusCode, 503);
    ok(Number(answer.headers['retry-after']) > 0);
    equal(answer.json<{ error: { code: string } }>().error.code, 'SERVICE_UNAVAILABLE');
  });

  it('is told so over MCP', async () => {
    const params = { name: 'topics', arguments: { instance: INSTANCE } };
    const answer = await late().app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'x-api-key': KEY,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    match(answer.body, /"isError":true/);
    match(answer.body, /could not be made in time/);
  });

  it('is told so where a decision is looked up, which then decides nothing', async () => {
    const never = () => new Promise<never>(() => undefined);
    const check = async <T>(_: string, asked: T) => asked;
    for (const targets of [
      { check, messagesOf: never },
      { check: never, messagesOf: async () => 1 },
    ]) {
      const harness = createHarness({ limits: IMPATIENT, targets });
      const answer = await harness.app.inject({
        method: 'POST',
        url: '/v1/curations/',
        headers: { 'x-api-key': KEY },
        payload: { instanceId: INSTANCE, action: 'HIDE', topicId: INSTANCE },
      });
      equal(answer.statusCode, 503);
      ok(Number(answer.headers['retry-after']) > 0);
      equal(harness.curated.length, 0);
    }
  });

  it('waits less for an answer than for a silent connection', () => {
    ok(CONNECTION_TIMES.answer < CONNECTION_TIMES.silence);
  });
});

import { equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONNECTION_TIMES } from '../../src/http/connections.ts';
import { createHarness, INSTANCE, KEY } from './support.ts';

describe('http: a question that is not answered in time', () => {
  const late = () =>
    createHarness({
      limits: { connectionTimes: { ...CONNECTION_TIMES, answer: 20 } },
      run: () => new Promise<never>(() => undefined),
    });

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

  it('waits less for an answer than for a silent connection', () => {
    ok(CONNECTION_TIMES.answer < CONNECTION_TIMES.silence);
  });
});

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { PIECE } from '../../src/domain/give-way.ts';
import { toJson } from '../../src/web/json-answer.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import { watchRounds } from '../support/rounds.ts';
import { createHarness, INSTANCE, KEY } from './support.ts';

const long = (value: unknown): unknown[] => Array.from({ length: 2 * PIECE + 1 }, () => value);

describe('an answer in pieces', () => {
  it('has the bytes of JSON.stringify', async () => {
    const member = fc.oneof(fc.anything(), fc.jsonValue(), fc.jsonValue().map(long), fc.constant(undefined));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), member), async (value) => {
        const whole = wholeOf(value);
        if (whole !== null) equal((await toJson(value)).toString(), whole);
      }),
      { numRuns: 200 },
    );
    const odd = {
      a: undefined,
      b: long(undefined),
      c: long('é\ud800"'),
      d: long(() => 1),
      e: () => 1,
      f: long(NaN),
    };
    equal((await toJson(odd)).toString(), JSON.stringify(odd));
    equal((await toJson({ a: undefined, b: long(1) })).toString(), JSON.stringify({ b: long(1) }));
  });

  it('holds nobody up: elements are written a piece at a time', async () => {
    const rounds = watchRounds();
    const count = 10 * PIECE;
    const elements = Array.from({ length: count }, (_, index) => ({
      dimensions: { session: { id: String(index), title: `Wo ist mein Päckchen ${index}?` } },
      fields: { messages: index },
      toJSON() {
        rounds.count();
        return { dimensions: this.dimensions, fields: this.fields };
      },
    }));
    const answer = { elements, pagination: { total: count, limit: count, offset: 0 }, lastProcessedAt: null };
    const { app } = createHarness({ run: async () => answer as QueryResponse });
    const url = `/v1/query/?groupBy=SESSION&fields=messages&limit=${count}&instanceId=${INSTANCE}`;
    const { body, headers } = await app.inject({ url, headers: { 'x-api-key': KEY } });
    ok(rounds.most <= PIECE, `${rounds.most} elements in one round`);
    rounds.stop();
    equal(body, JSON.stringify(answer));
    equal(headers['content-type'], 'application/json; charset=utf-8');
    equal(headers['content-length'], String(Buffer.byteLength(body)));
  });
  it('is zipped when it is long, for a caller who takes that', async () => {
    const answerOf = (count: number) => ({
      elements: Array.from({ length: count }, (_, index) => ({
        dimensions: { session: { id: String(index), title: `Wo ist mein Päckchen ${index}?` } },
        fields: { messages: index },
      })),
      pagination: { total: count, limit: count, offset: 0 },
      lastProcessedAt: null,
    });
    let count = 0;
    const { app } = createHarness({ run: async () => answerOf(count) as unknown as QueryResponse });
    const ask = async (of: number, encoding?: string) => {
      count = of;
      const url = `/v1/query/?groupBy=SESSION&fields=messages&limit=10000&instanceId=${INSTANCE}`;
      const accept = encoding === undefined ? {} : { 'accept-encoding': encoding };
      const { rawPayload, headers } = await app.inject({ url, headers: { 'x-api-key': KEY, ...accept } });
      equal(headers['content-length'], String(rawPayload.length));
      const contentEncoding = headers['content-encoding'];
      equal(
        (contentEncoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload).toString(),
        JSON.stringify(answerOf(of)),
      );
      return [contentEncoding, headers['vary'], rawPayload.length < 16_384];
    };
    const own = 'x-api-key, Authorization';
    deepEqual(await ask(10, 'gzip'), [undefined, own, true]);
    deepEqual(await ask(1000, 'br, gzip;q=0.5'), ['gzip', `${own}, Accept-Encoding`, true]);
    deepEqual(await ask(1000, 'gzip;q=0'), [undefined, `${own}, Accept-Encoding`, false]);
    deepEqual(await ask(1000), [undefined, `${own}, Accept-Encoding`, false]);
  });
});

/** Null: it is no JSON. */
function wholeOf(value: object): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

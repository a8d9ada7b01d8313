import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import {
  createPrepareBatch,
  transferablesOf,
  type PreparedLine,
} from '../../../src/web/ingest/prepared-batch.ts';
import { createPrepare } from '../../../src/web/ingest/prepared-request.ts';

const OPTIONS = { limit: 1e6, now: 0 };
const prepareBatch = createPrepareBatch();

function prepare(text: string): PreparedLine[] {
  const lines = prepareBatch({ bytes: Buffer.from(text), encoding: 'identity' }, OPTIONS);
  ok(lines !== null);
  return lines;
}

function codesOf(lines: readonly PreparedLine[]): string[] {
  return lines.map((line) => `${line.line} ${'refusal' in line ? line.refusal.code : 'request'}`);
}

const request = (content: string, more: object = {}): string =>
  JSON.stringify({ messages: [{ content }], ...more });

describe('prepare batch', () => {
  it('makes of each line what a request of its own is made into, with the digest where it has a key', () => {
    const bodies = [
      {
        messages: [
          { content: 'Where is my parcel?', role: 'user' },
          { content: 'é🤖', createdAt: null },
        ],
      },
      { messages: [{ content: 'x', createdAt: '1970-01-01T00:00Z' }], metadata: { session: { a: 1 } } },
    ];
    const prepareOne = createPrepare();
    const lines = prepare(
      bodies.map((body, i) => JSON.stringify({ idempotencyKey: `k${i}`, ...body })).join('\n'),
    );
    for (const [index, body] of bodies.entries()) {
      const bytes = Buffer.from(JSON.stringify(body));
      const alone = prepareOne({ bytes, encoding: 'identity' }, { ...OPTIONS, keyed: true });
      const line = lines[index];
      ok(alone !== null && line !== undefined && 'request' in line);
      equal(line.idempotencyKey, `k${index}`);
      const plain = ({ draft, ...rest }: typeof alone): unknown => [
        rest,
        Buffer.from(draft.bytes).toString(),
        [...draft.untimed],
      ];
      deepEqual(plain(line.request), plain(alone));
    }
    equal(transferablesOf({ kind: 'batch', lines }).length, 2);
  });

  it('refuses a line for its own faults alone, blank lines counted and passed over', () => {
    const text = [
      request('a'),
      '',
      '  \r',
      'no json',
      request('b', { idempotencyKey: 5 }),
      request('c', { idempotencyKey: 'x'.repeat(256) }),
      request('', {}),
      '[1]',
      'null',
      '\ufeff{}',
      `{"messages":[{"content":"x"}],"__proto__":1}`,
      `{"a":${'['.repeat(80)}${']'.repeat(80)}}`,
      `${request('d')}\r`,
    ].join('\n');
    deepEqual(codesOf(prepare(`${text}\n\n`)), [
      '1 request',
      '4 BAD_REQUEST',
      '5 VALIDATION_ERROR',
      '6 VALIDATION_ERROR',
      '7 VALIDATION_ERROR',
      '8 VALIDATION_ERROR',
      '9 VALIDATION_ERROR',
      '10 VALIDATION_ERROR',
      '11 BAD_REQUEST',
      '12 VALIDATION_ERROR',
      '13 request',
    ]);
    const [, , , , key] = prepare(text);
    ok(key !== undefined && 'refusal' in key);
  });

  it('takes a deduplicationId in place of a key: without a digest, and beside a sessionId alone', () => {
    const sessionId = '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d';
    const lines = prepare(
      [
        request('a', { deduplicationId: 'a/1', sessionId }),
        request('a', { deduplicationId: 'a/1' }),
        request('a', { deduplicationId: 'a/1', idempotencyKey: 'k', sessionId }),
        request('a', { deduplicationId: '', sessionId }),
        request('a', { deduplicationId: null, sessionId }),
      ].join('\n'),
    );
    const [first] = lines;
    ok(first !== undefined && 'request' in first);
    deepEqual([first.deduplicationId, first.idempotencyKey, first.request.digest], ['a/1', undefined, '']);
    deepEqual(
      lines.slice(1).map((line) => 'refusal' in line && line.refusal.details?.map(({ path }) => path)),
      [['sessionId'], ['deduplicationId'], ['deduplicationId'], ['deduplicationId']],
    );
  });

  it('refuses all for what is wrong with the whole', () => {
    const tooMany = { messages: Array.from({ length: 6000 }, () => ({ content: 'a' })) };
    for (const text of [
      '',
      ' \n\n',
      Array.from({ length: 1001 }, () => request('a')).join('\n'),
      [tooMany, tooMany].map((body) => JSON.stringify(body)).join('\n'),
    ])
      throws(() => prepare(text), AppError);
    equal(
      prepareBatch({ bytes: Buffer.alloc(2000, 32), encoding: 'identity' }, { limit: 1999, now: 0 }),
      null,
    );
    const packed = { bytes: gzipSync(request('a')), encoding: 'gzip' } as const;
    equal(prepareBatch(packed, { limit: 10, now: 0 }), null);
    equal(prepareBatch(packed, OPTIONS)?.length, 1);
    throws(() => prepareBatch({ ...packed, bytes: packed.bytes.subarray(4) }, OPTIONS), AppError);
    deepEqual(codesOf(prepare('no json')), ['1 BAD_REQUEST']);
    deepEqual(transferablesOf({ kind: 'batch', lines: prepare('no json') }), []);
  });
});

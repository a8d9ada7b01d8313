import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../../src/errors.ts';
import { countValues, parseJson } from '../../../src/web/ingest/json.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

function refusal(text: string): AppError {
  try {
    parseJson(bytes(text));
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

/** Values of a parsed JSON text. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((total: number, member) => total + valuesIn(member), 1);
}

describe('JSON bodies', () => {
  it('are counted as holding at least the values that a parser makes of them', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const count = countValues(bytes(text), Number.MAX_SAFE_INTEGER);
        const values = valuesIn(JSON.parse(text));
        // An empty array counts for one more; nothing else does.
        ok(count >= values && count <= 2 * values, `${count} for ${values} of ${text}`);
      }),
      { numRuns: 500, seed: 11 },
    );
  });

  for (const [text, values] of [
    ['"a,b[{"', 1],
    ['"\\",[,{"', 1],
    ['"\\\\",1', 2],
    ['{"a,":[1,"]"]}', 4],
    ['"unfinished, [', 1],
    ['"\\', 1],
  ] as const) {
    it(`text is no value: ${text}`, () => equal(countValues(bytes(text), 1000), values));
  }

  it('of half a million values are read, of more are refused without being parsed', () => {
    const [most, more] = [`[${'0,'.repeat(499_997)}0]`, `[${'{},'.repeat(11_000_000)}0]`];
    equal((parseJson(bytes(most)) as unknown[]).length, 499_998);
    const startedAt = performance.now();
    const { code, details } = refusal(more);
    deepEqual(
      [code, details],
      ['VALIDATION_ERROR', [{ path: '', message: 'must not hold more than 500000 values' }]],
    );
    ok(performance.now() - startedAt < 2000, 'it took the time of parsing it');
  });

  it('may be nested 64 levels deep and no deeper; the place is named', () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    ok(parseJson(bytes(nested(64))));
    const { code, details } = refusal(nested(65));
    deepEqual(
      [code, details],
      [
        'VALIDATION_ERROR',
        [
          {
            path: ['a', ...Array.from({ length: 63 }, () => 0)].join('.'),
            message: 'must not be nested more than 64 levels deep',
          },
        ],
      ],
    );
    equal(refusal(nested(200_000)).code, 'VALIDATION_ERROR');
  });

  it('with __proto__ as a member are refused, escaped or not, at any depth', () => {
    for (const text of ['{"__proto__":1}', '[[{"a":{"\\u005f_proto__":{}}}]]']) {
      equal(refusal(text).code, 'BAD_REQUEST');
    }
    ok(parseJson(bytes('{"a":"__proto__"}')));
  });

  it('that are none are refused', () => {
    for (const text of ['', '{', '{"a":1,}', '\u0000', '1 2']) throws(() => parseJson(bytes(text)), AppError);
    equal(refusal('{').code, 'BAD_REQUEST');
  });
});

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { jsonEntries } from '../../../src/doors/import/json.ts';
import type { Piece } from '../../../src/doors/import/lines.ts';

async function entries(
  text: string | Buffer,
  { member = null, limit = 1000, size = 7 }: { member?: string | null; limit?: number; size?: number } = {},
): Promise<Piece[]> {
  const bytes = Buffer.from(text);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: Piece[] = [];
  for await (const entry of jsonEntries(chunks(), { member, limit })) found.push(entry);
  return found;
}

const texts = (found: readonly Piece[]): (string | null)[] => found.map(({ text }) => text);

describe('jsonEntries', () => {
  it('yields the elements of a list, whatever they are', async () => {
    deepEqual(texts(await entries('[{"a":"}]\\""}, [1,[2]] ,"x,]", 12 ,null]')), [
      '{"a":"}]\\""}',
      '[1,[2]]',
      '"x,]"',
      '12',
      'null',
    ]);
  });

  it('yields the elements of one member of the object at the top', async () => {
    const page =
      '{"count": 2, "next": {"items": [0]}, "x": ["items"], "items": [{"items":[1]}, {"b":2}], "y": [3]}';
    deepEqual(texts(await entries(page, { member: 'items' })), ['{"items":[1]}', '{"b":2}']);
    deepEqual(await entries('{"items": 5, "a": [1]}', { member: 'items' }), []);
  });

  it('yields values that follow each other, and lists one after the other', async () => {
    deepEqual(texts(await entries('{"a":[1]}\n {"b":2}')), ['{"a":[1]}', '{"b":2}']);
    deepEqual(texts(await entries('[1][2,3]\n[]')), ['1', '2', '3']);
    deepEqual(texts(await entries('{"d":[1]}{"d":[2,3]}', { member: 'd' })), ['1', '2', '3']);
  });

  it('numbers the entries, and passes over one that is too long or ends too early', async () => {
    const found = await entries(`[{"a":1},{"b":"${'x'.repeat(100)}"},{"c":`, { limit: 50 });
    deepEqual(
      found.map(({ number, text }) => [number, text]),
      [
        [1, '{"a":1}'],
        [2, null],
        [3, null],
      ],
    );
    match(found[1]?.fault ?? '', /^longer than 50 bytes/);
    match(found[2]?.fault ?? '', /ends in the middle/);
  });

  it('passes over a byte order mark, and tells bytes that are no UTF-8', async () => {
    deepEqual(texts(await entries('\uFEFF[{"ü":"🙂"}]', { size: 3 })), ['{"ü":"🙂"}']);
    const broken = await entries(
      Buffer.concat([Buffer.from('["'), Buffer.from([0xff]), Buffer.from('",1]')]),
    );
    deepEqual(
      broken.map(({ fault }) => fault),
      ['not valid UTF-8', null],
    );
  });

  it('finds in any list what JSON.parse finds, cut anywhere', async () => {
    await fastCheck.assert(
      fastCheck.asyncProperty(
        fastCheck.array(fastCheck.jsonValue({ maxDepth: 3 }), { maxLength: 5 }),
        fastCheck.integer({ min: 1, max: 9 }),
        fastCheck.constantFrom(0, 2),
        async (values, size, indent) => {
          const found = await entries(JSON.stringify(values, null, indent), { size, limit: 1e6 });
          deepEqual(
            found.map(({ text }) => JSON.parse(text ?? '') as unknown),
            JSON.parse(JSON.stringify(values)),
          );
        },
      ),
      { seed: 16, numRuns: 200 },
    );
  });

  it('ends for any bytes', async () => {
    await fastCheck.assert(
      fastCheck.asyncProperty(fastCheck.uint8Array({ maxLength: 60 }), async (bytes) => {
        equal((await entries(Buffer.from(bytes), { member: 'a' })).length <= bytes.length, true);
      }),
      { seed: 16, numRuns: 300 },
    );
  });
});

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { csvRows, delimiterOf, type CsvRow } from '../../../src/doors/import/csv.ts';

async function rows(text: string, { delimiter = ',', limit = 1000, size = 3 } = {}): Promise<CsvRow[]> {
  const bytes = Buffer.from(text);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: CsvRow[] = [];
  for await (const row of csvRows(chunks(), { delimiter, limit })) found.push(row);
  return found;
}

describe('csvRows', () => {
  it('reads quotes, doubled quotes and line breaks in quotes, and numbers rows by their first line', async () => {
    deepEqual(await rows('a,b\r\n"x ""y"" z","1\n2"\n\n"",\nlast,"ü🙂"'), [
      { line: 1, fields: ['a', 'b'], fault: null },
      { line: 2, fields: ['x "y" z', '1\n2'], fault: null },
      { line: 5, fields: ['', ''], fault: null },
      { line: 6, fields: ['last', 'ü🙂'], fault: null },
    ]);
  });

  it('takes a quote within a field as it is', async () => {
    deepEqual((await rows('5" nail,a "b" c'))[0]?.fields, ['5" nail', 'a "b" c']);
  });

  it('ends lines at a lone carriage return, too', async () => {
    deepEqual(
      (await rows('a\rb\r\nc')).map(({ fields }) => fields?.[0]),
      ['a', 'b', 'c'],
    );
  });

  it('tells a row that is too long, and quotes that do not end', async () => {
    const found = await rows(`a\n${'x'.repeat(60)}\nb\n"open`, { limit: 50 });
    deepEqual(
      found.map(({ line, fields }) => [line, fields?.[0] ?? null]),
      [
        [1, 'a'],
        [2, null],
        [3, 'b'],
        [4, null],
      ],
    );
    match(found[1]?.fault ?? '', /^longer than 50/);
    match(found[3]?.fault ?? '', /ends inside quotes/);
    const whole = await rows(`a\n${'x'.repeat(60)}\nb`, { limit: 50, size: 100 });
    deepEqual([whole.length, whole[1]?.line, whole[1]?.fields], [3, 2, null]);
  });

  it('reads back what was written, cut anywhere', async () => {
    const field = fastCheck.string({
      unit: fastCheck.constantFrom('a', '"', ';', '\n', '\r', ' ', 'ö'),
      maxLength: 6,
    });
    await fastCheck.assert(
      fastCheck.asyncProperty(
        fastCheck.array(fastCheck.array(field, { minLength: 2, maxLength: 3 }), { maxLength: 4 }),
        fastCheck.integer({ min: 1, max: 5 }),
        async (table, size) => {
          const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
          const text = table.map((row) => row.map(quoted).join(';')).join('\n');
          const found = await rows(text, { delimiter: ';', size });
          deepEqual(
            found.map(({ fields }) => fields),
            table,
          );
        },
      ),
      { seed: 16, numRuns: 300 },
    );
  });
});

describe('delimiterOf', () => {
  it('is what the first line has most of, outside quotes', () => {
    deepEqual(['a,b;c,d\n;;;;', '"a,b,c";d', 'a\tb', 'one'].map(delimiterOf), [',', ';', '\t', null]);
    equal(delimiterOf(''), null);
  });
});

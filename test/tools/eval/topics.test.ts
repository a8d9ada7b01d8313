import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import type { EvalOptions } from '../../../tools/eval/report.ts';
import { evaluation as repeatedRequests } from '../../../tools/eval/repeated-requests.ts';
import { evaluation as topics } from '../../../tools/eval/topics.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-eval-'));
after(() => rmSync(folder, { recursive: true }));

function given(lines: readonly object[]): EvalOptions {
  const file = join(folder, 'mine.jsonl');
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  return {
    dataDirectory: folder,
    file,
    modelsDirectory: resolve(import.meta.dirname, '../../../models'),
    model: 'undertone-small',
  };
}

describe('an evaluation of one file', () => {
  it('finds the topics of a file of requests, beside k-means, linkage, random vectors and simple rules', async () => {
    const wordings: Readonly<Record<string, string>> = {
      parcel: 'where is my parcel',
      password: 'I forgot my password',
      weather: 'what will the weather be like',
    };
    const lines = Object.entries(wordings).flatMap(([intent, text]) =>
      ['', ' today', ' please', ' now', ' again', ' then'].map((end) => ({ text: text + end, intent })),
    );
    const tables = await topics.run(given(lines));
    const [sizes] = tables;
    const [row] = sizes!.rows;
    const cell = (column: string) => row![sizes!.columns.indexOf(column)];
    assert.deepEqual(['data', 'requests', 'online ARI', 'topics', 'labels', 'without topic'].map(cell), [
      'mine',
      18,
      1,
      3,
      3,
      0,
    ]);
    const simple = tables.at(-1)!;
    assert.deepEqual(
      simple.rows.map(([data, method]) => [data, method]),
      [
        'online topics',
        'k-means, told k',
        'k-means of random SIF, told k',
        'k-means of TF-IDF, told k',
        'most shared word',
        'all in one',
      ].map((method) => ['mine', method]),
    );
    assert.ok(tables.every(({ title }) => title.endsWith('(model undertone-small)')));
  });

  it('writes a reading sheet without labels', async () => {
    const lines = [' today', ' please', ' now', ''].map((end) => ({
      text: `where is my parcel${end}`,
      intent: 'secret_label',
    }));
    const sheet = join(folder, 'sheet.md');
    const [table] = await topics.run({ ...given(lines), sheet });
    assert.deepEqual(table!.rows, [[sheet, 1, 1]]);
    const text = readFileSync(sheet, 'utf8');
    assert.match(text, /- where is my parcel today\n/);
    assert.equal(text.includes('secret_label'), false);
  });

  it('says that it needs a folder where it reads several sets', async () => {
    await assert.rejects(
      () => repeatedRequests.run(given([{ text: 'hello', intent: 'greeting' }])),
      (error: unknown) => error instanceof SetupError && error.message.includes('mine.jsonl is one file'),
    );
  });
});

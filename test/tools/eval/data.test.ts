import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  collect,
  dataSetPath,
  DataError,
  halfOf,
  readDialogues,
  readIntents,
} from '../../../tools/eval/data.ts';
import { SetupError } from '../../../src/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-data-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const GOOD = '{"id":"a","turns":[{"role":"user","content":"Où est ma commande ?"}]}';

describe('readDialogues', () => {
  it('reads plain and compressed files alike, whatever their names, with or without a last line end', async () => {
    const plain = await collect(readDialogues(file('plain.gz', `${GOOD}\n\n${GOOD}\n`)));
    const packed = await collect(readDialogues(file('packed.jsonl', gzipSync(`${GOOD}\n\n${GOOD}`))));
    equal(plain.length, 2);
    deepEqual(packed, plain);
    equal(plain[0]?.turns[0]?.content, 'Où est ma commande ?');
  });

  it('names the file and line of what it cannot use', async () => {
    const path = file('broken.jsonl', `${GOOD}\n\n{"id":"b","turns":[{"role":"user"}]}\n`);
    await rejects(collect(readDialogues(path)), (error) => {
      equal(error instanceof DataError && error.line, 3);
      equal((error as Error).message.startsWith(`${path}:3: turns.0.content: `), true);
      return true;
    });
  });

  it('stops at what is no JSON and no UTF-8', async () => {
    const faulty = [Buffer.from('not json\n'), Buffer.from([0xff, 0xfe, 0x0a])];
    for (const line of faulty) {
      const bytes = Buffer.concat([Buffer.from(`${GOOD}\n`), line, Buffer.from(GOOD)]);
      await rejects(collect(readDialogues(file('faulty', bytes))), { name: 'DataError', line: 2 });
    }
  });

  it('says that a file is absent, a folder or cut off', async () => {
    await rejects(collect(readDialogues(join(folder, 'none.jsonl'))), SetupError);
    await rejects(collect(readDialogues(folder)), /is a folder/);
    const whole = gzipSync(Array.from({ length: 500 }, () => GOOD).join('\n'));
    await rejects(
      collect(readDialogues(file('cut.gz', whole.subarray(0, whole.length - 12)))),
      /cannot be read past line/,
    );
  });
});

describe('dataSetPath', () => {
  it('finds either ending and says what to do when there is none', () => {
    const path = file('set.jsonl', '');
    equal(dataSetPath(folder, 'set'), path);
    throws(() => dataSetPath(folder, 'other'), /--data/);
  });
});

describe('halfOf', () => {
  it('is about even and fixed for good', () => {
    const keys = Array.from({ length: 2000 }, (_, i) => `conversation-${i}`);
    const test = keys.filter((key) => halfOf(key) === 'test').length;
    equal(test > 900 && test < 1100, true);
    deepEqual(['a', 'b', 'uss-mwoz-0001', 'uss-sgd-0002'].map(halfOf), ['test', 'tune', 'test', 'tune']);
  });
});

describe('readIntents', () => {
  it('keeps the labels', async () => {
    const path = file('intents.jsonl', '{"text":"hi","intent":"greet","conv":7,"turn":0}\n');
    deepEqual(await collect(readIntents(path)), [{ text: 'hi', intent: 'greet', conv: '7', turn: 0 }]);
  });
});

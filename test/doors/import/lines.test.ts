import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openInputs } from '../../../src/doors/import/inputs.ts';
import { linesOf, type Piece } from '../../../src/doors/import/lines.ts';

/** Reads the lines of a file as an import does. */
async function* linesIn(
  path: string,
  options: { readonly maxLineBytes?: number } = {},
): AsyncGenerator<Piece> {
  const [input] = (await openInputs([path])).inputs;
  ok(input !== undefined);
  yield* linesOf(input.open(), options);
}

describe('linesOf', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'undertone-lines-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function linesFrom(content: string | Buffer, maxLineBytes?: number): Promise<Piece[]> {
    const path = join(folder, 'file.jsonl');
    await writeFile(path, content);
    const lines: Piece[] = [];
    for await (const line of linesIn(path, maxLineBytes === undefined ? {} : { maxLineBytes }))
      lines.push(line);
    return lines;
  }

  it('numbers lines from 1 and passes over blank ones, with or without a last newline', async () => {
    deepEqual(await linesFrom('a\n\r\n  \nb\r\nc'), [
      { number: 1, text: 'a', fault: null },
      { number: 4, text: 'b', fault: null },
      { number: 5, text: 'c', fault: null },
    ]);
  });

  it('keeps a line whole that holds U+2028, U+2029 or a lone carriage return', async () => {
    const text = '{"a":"x\u2028y\u2029z\rq"}';
    deepEqual(await linesFrom(`${text}\n`), [{ number: 1, text, fault: null }]);
  });

  it('drops a byte order mark', async () => {
    equal((await linesFrom('\uFEFF{}\n'))[0]?.text, '{}');
  });

  it('recognises gzip by its first bytes, several members included', async () => {
    const content = Buffer.concat([gzipSync('one\ntw'), gzipSync('o\nthree')]);
    deepEqual(
      (await linesFrom(content)).map(({ text }) => text),
      ['one', 'two', 'three'],
    );
  });

  it('reads characters that the chunks of a large file cut in two', async () => {
    const line = 'ü漢字🙂'.repeat(3_001);
    const lines = await linesFrom(gzipSync(Array.from({ length: 40 }, () => line).join('\n')));
    equal(lines.length, 40);
    equal(
      lines.every(({ text }) => text === line),
      true,
    );
  });

  it('reports a line that is not UTF-8 and goes on', async () => {
    const lines = await linesFrom(
      Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from('b\n')]),
    );
    deepEqual(lines, [
      { number: 1, text: 'a', fault: null },
      { number: 2, text: null, fault: 'not valid UTF-8' },
      { number: 3, text: 'b', fault: null },
    ]);
  });

  it('reports a line over the limit without keeping it, and goes on', async () => {
    const lines = await linesFrom(`a\n${'x'.repeat(1_000_001)}\nb`, 1_000_000);
    equal(lines.length, 3);
    match(lines[1]?.fault ?? '', /longer than/);
    equal(lines[2]?.text, 'b');
  });

  it('yields the complete lines of a gzip file that was cut off, then throws', async () => {
    const whole = gzipSync(
      Array.from({ length: 2_000 }, (_, index) => `line ${index} ${Math.sin(index)}`).join('\n'),
    );
    const path = join(folder, 'cut.gz');
    await writeFile(path, whole.subarray(0, whole.length / 2));
    let count = 0;
    await rejects(async () => {
      for await (const line of linesIn(path)) count += line.text === null ? 0 : 1;
    }, /unexpected end of file/);
    equal(count > 100, true);
  });
});

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { openInputs, type Input } from '../../src/import/inputs.ts';
import { zipOf } from './zip-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-inputs-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function textOf(input: Input | undefined): Promise<string> {
  ok(input);
  const chunks: Buffer[] = [];
  for await (const chunk of input.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
}

describe('openInputs', () => {
  it('unpacks gzip and zstd, several members included, by their first bytes', async () => {
    const paths = [
      await file('plain.jsonl', 'hello'),
      await file('a.jsonl.gz', Buffer.concat([gzipSync('hel'), gzipSync('lo')])),
      await file('b.jsonl', Buffer.concat([zstdCompressSync('hel'), zstdCompressSync('lo')])),
      await file('empty.jsonl', ''),
    ];
    const { inputs } = await openInputs(paths);
    deepEqual(await Promise.all(inputs.map(textOf)), ['hello', 'hello', 'hello', '']);
    deepEqual(
      inputs.map(({ source, named }) => [source, named]),
      [
        ['plain', true],
        ['a', true],
        ['b', true],
        ['empty', true],
      ],
    );
  });

  it('makes UTF-8 of UTF-16 with a mark, and of an encoding that is named', async () => {
    const text = 'id;Grüße 😀\n'.repeat(70_000);
    const little = Buffer.from(`\uFEFF${text}`, 'utf16le');
    const big = Buffer.from(little).swap16();
    const paths = [
      await file('little.csv', little),
      await file('big.csv', big),
      await file('little.csv.gz', gzipSync(little)),
    ];
    const { inputs } = await openInputs(paths);
    for (const input of inputs) equal((await textOf(input)) === text, true, input.name);
    const named = await openInputs(
      [await file('old.csv', Buffer.from('Grüße', 'latin1'))],
      undefined,
      'windows-1252',
    );
    deepEqual(await Promise.all(named.inputs.map(textOf)), ['Grüße']);
    // Such a file is no text, whatever it is said to be.
    const parquet = Buffer.from('PAR1\xe4', 'latin1');
    const other = await openInputs(
      [await file('a.parquet.gz', gzipSync(parquet))],
      undefined,
      'windows-1252',
    );
    for await (const chunk of other.inputs[0]?.open() ?? []) deepEqual(chunk, parquet);
  });

  it('hears how much of the stored bytes has been read', async () => {
    const packed = gzipSync('x'.repeat(1000));
    const { inputs } = await openInputs([await file('read.jsonl.gz', packed)]);
    const heard: number[] = [];
    for await (const chunk of inputs[0]?.open((bytes) => heard.push(bytes)) ?? []) ok(chunk.length > 0);
    equal(heard.at(-1), packed.length);
  });

  it('finds the files of a folder by name, hidden ones left out, and tells folders apart', async () => {
    await file('tree/b.jsonl', 'b');
    await file('tree/a/b.jsonl', 'ab');
    await file('tree/.hidden/c.jsonl', 'c');
    const { inputs } = await openInputs([join(folder, 'tree')]);
    deepEqual(
      inputs.map(({ source, named }) => [source, named]),
      [
        ['a/b', false],
        ['b', false],
      ],
    );
  });

  it('opens the files of a zip file: stored, deflated, zstd, and packed once more', async () => {
    const zip = zipOf([
      { name: 'data/', method: 0, packed: Buffer.alloc(0) },
      { name: 'data/conversations.json', method: 8, packed: deflateRawSync('[1]') },
      { name: 'stored.jsonl', method: 0, packed: Buffer.from('stored') },
      { name: 'zstd.jsonl', method: 93, packed: zstdCompressSync('zstd') },
      { name: 'inner.jsonl.gz', method: 8, packed: deflateRawSync(gzipSync('inner')) },
      { name: 'odd.bin', method: 12, packed: Buffer.from('x') },
      { name: 'secret.json', method: 8, packed: deflateRawSync('x'), encrypted: true },
      { name: '__MACOSX/x', method: 0, packed: Buffer.from('x') },
      { name: 'empty.json', method: 0, packed: Buffer.alloc(0) },
    ]);
    const { inputs, faults } = await openInputs([await file('export.zip', zip)]);
    deepEqual(
      inputs.map(({ source }) => source),
      ['export/data/conversations', 'export/stored', 'export/zstd', 'export/inner', 'export/empty'],
    );
    deepEqual(await Promise.all(inputs.map(textOf)), ['[1]', 'stored', 'zstd', 'inner', '']);
    deepEqual(
      faults.map(({ name, message }) => [name.slice(-8), message.slice(0, 22)]),
      [
        ['/odd.bin', 'is packed by method 12'],
        ['ret.json', 'is encrypted'],
      ],
    );
  });

  it('says when a zip file is cut off', async () => {
    const zip = zipOf([{ name: 'a.json', method: 0, packed: Buffer.from('[1]') }]);
    const whole = await file('whole.json', '[2]');
    const { inputs, faults } = await openInputs([await file('cut.zip', zip.subarray(0, 20)), whole]);
    deepEqual(
      inputs.map(({ name }) => name),
      [whole],
    );
    match(faults[0]?.message ?? '', /the zip file has no directory/);
  });

  it('keeps the standard input until it is closed', async () => {
    async function* standardInput(): AsyncGenerator<Buffer> {
      yield gzipSync('piped');
    }
    const opened = await openInputs(['-'], standardInput());
    const [input] = opened.inputs;
    deepEqual([await textOf(input), await textOf(input), input?.source], ['piped', 'piped', 'stdin']);
    await opened.close();
    await rejects(textOf(input), /ENOENT/);
  });

  it('keeps what a pipe gives, and the standard input once however often it is named', async () => {
    const fifo = join(folder, 'pipe');
    execFileSync('mkfifo', [fifo]);
    async function* standardInput(): AsyncGenerator<Buffer> {
      yield Buffer.from('one');
    }
    const written = writeFile(fifo, 'two');
    const opened = await openInputs(['-', fifo, '-'], standardInput());
    await written;
    deepEqual(await Promise.all(opened.inputs.map(async (input) => [input.source, await textOf(input)])), [
      ['stdin', 'one'],
      ['stdin-2', 'two'],
    ]);
    await opened.close();
    deepEqual((await openInputs(['/dev/null'])).faults, [
      { name: '/dev/null', message: 'is neither a file nor a folder nor a pipe' },
    ]);
  });

  it('follows links to files, each file once, and to no folder', async () => {
    const blob = await file('blobs/x1', 'linked');
    const tree = join(folder, 'links');
    await file('links/a.jsonl', 'a');
    for (const [target, name] of [
      [blob, 'data.jsonl'],
      [blob, 'data-2.jsonl'],
      ['a.jsonl', 'b.jsonl'],
      ['.', 'loop'],
      ['nowhere', 'gone.jsonl'],
    ] as const)
      await symlink(target, join(tree, name));
    const { inputs, faults } = await openInputs([tree]);
    deepEqual(
      inputs.map(({ source }) => source),
      ['a', 'data-2'],
    );
    deepEqual(
      faults.map(({ name }) => name),
      [join(tree, 'gone.jsonl')],
    );
  });

  it('names what is not there', async () => {
    await rejects(openInputs([join(folder, 'absent')]), (error: Error) => {
      match(error.message, /absent/);
      return true;
    });
  });
});

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { entriesOf } from '../../../src/doors/import/entries.ts';
import { openInputs, type Input } from '../../../src/doors/import/inputs.ts';
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
  it('tells how many files it has found, and how far it is', async () => {
    const path = await mkdtemp(join(tmpdir(), 'undertone-found-'));
    try {
      for (const name of ['a', 'b', 'c', 'd']) await writeFile(join(path, `${name}.jsonl`), '{}');
      const reported: [number, number][] = [];
      await openInputs([join(path, 'a.jsonl'), path], { onFound: (...found) => reported.push(found) });
      const looking = reported.slice(2).map(([, done]) => done);
      deepEqual(
        [reported[0], reported[1], looking],
        [
          [1, 0],
          [5, 1],
          [1, 1.25, 1.5, 1.75],
        ],
      );
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });

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
    const named = await openInputs([await file('old.csv', Buffer.from('Grüße', 'latin1'))], {
      encoding: 'windows-1252',
    });
    deepEqual(await Promise.all(named.inputs.map(textOf)), ['Grüße']);
    // Such a file is no text, whatever it is said to be.
    const parquet = Buffer.from('PAR1\xe4', 'latin1');
    const other = await openInputs([await file('a.parquet.gz', gzipSync(parquet))], {
      encoding: 'windows-1252',
    });
    for await (const chunk of other.inputs[0]?.open() ?? []) deepEqual(chunk, parquet);
  });

  it('hears how much of the stored bytes has been read', async () => {
    const packed = gzipSync('x'.repeat(1000));
    const { inputs } = await openInputs([await file('read.jsonl.gz', packed)]);
    const received: number[] = [];
    for await (const chunk of inputs[0]?.open((bytes) => received.push(bytes)) ?? []) ok(chunk.length > 0);
    equal(received.at(-1), packed.length);
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

  it('takes no zip file whose entries share bytes', async () => {
    const packed = deflateRawSync('{}\n'.repeat(1000));
    const entry = { method: 8, packed };
    const shared = zipOf([
      { name: 'a.jsonl', ...entry },
      ...Array.from({ length: 200 }, (_, index) => ({ name: `${index}.jsonl`, ...entry, sameAs: 0 })),
    ]);
    const longer = zipOf([
      { name: 'a.jsonl', ...entry, extra: 100 },
      { name: 'b.jsonl', ...entry },
    ]);
    // One that does not end before the directory.
    const last = zipOf([{ name: 'a.jsonl', ...entry, extra: 1 }]);
    for (const [name, zip] of Object.entries({ shared, longer, last })) {
      const { inputs, faults } = await openInputs([await file(`${name}.zip`, zip)]);
      deepEqual(inputs, [], name);
      equal(faults.length, 1);
      match(faults[0]?.message ?? '', /overlaps what stands behind it/);
    }
  });

  it('takes no file that unpacks to far more than it has, packed once or twice, and none of many together', async () => {
    const blank = Buffer.alloc(24 * 1024 * 1024, '{}\n');
    const part = deflateRawSync(blank.subarray(0, 1024 * 1024));
    const many = Array.from({ length: 30 }, (_, index) => ({
      name: `${index}.jsonl`,
      method: 8,
      packed: part,
    }));
    const paths = [
      await file('bomb.jsonl.gz', gzipSync(blank)),
      await file('bomb.jsonl.zst', zstdCompressSync(blank)),
      await file('twice.zip', zipOf([{ name: 'a.gz', method: 8, packed: deflateRawSync(gzipSync(blank)) }])),
    ];
    const { inputs } = await openInputs(paths);
    equal(inputs.length, 3);
    for (const input of inputs)
      await rejects(
        textOf(input),
        /unpacks to more than 200 times its size\. If that is right, unpack it/,
        input.name,
      );
    const together = await openInputs([await file('many.zip', zipOf(many))]);
    const whole: boolean[] = [];
    for (const input of together.inputs)
      whole.push(
        await textOf(input).then(
          () => true,
          () => false,
        ),
      );
    ok(whole.includes(true) && whole.indexOf(false) === whole.lastIndexOf(true) + 1, whole.join());
  });

  it('takes no packed file of entries that are next to nothing, each of which takes as long as a message', async () => {
    const packed = gzipSync('{}\n'.repeat(400_000));
    const { inputs } = await openInputs([await file('many.jsonl.gz', packed)]);
    const [input] = inputs;
    ok(input);
    let last = 0;
    await rejects(async () => {
      for await (const { number } of entriesOf(input, { shape: 'jsonl' })) last = number;
    }, /unpacks to more than 200 times its size/);
    ok(last > 300_000, String(last));
  });

  it('gives the lines that are no JSON with the reason, and goes on', async () => {
    const [input] = (await openInputs([await file('broken.jsonl', '{"id": 1,\n{"id": 2}\n')])).inputs;
    ok(input);
    const faults: [number, unknown, string | null][] = [];
    for await (const { number, value, fault } of entriesOf(input, { shape: 'jsonl' }))
      faults.push([number, value, fault?.slice(0, 9) ?? null]);
    deepEqual(faults, [
      [1, null, 'not JSON:'],
      [2, { id: 2 }, null],
    ]);
  });

  it('reads again what it has read, however often', async () => {
    const packed = gzipSync(Buffer.alloc(12 * 1024 * 1024, 'a'));
    const { inputs } = await openInputs([await file('again.jsonl.gz', packed)]);
    for (let time = 0; time < 4; time += 1) equal((await textOf(inputs[0])).length, 12 * 1024 * 1024);
  });

  it('takes no file of tiny zstd frames, each of which costs as much as a file', async () => {
    const empty = zstdCompressSync('');
    const { inputs } = await openInputs([
      await file('frames.zst', Buffer.concat(Array.from({ length: 1200 }, () => empty))),
    ]);
    await rejects(textOf(inputs[0]), /more zstd frames than one can read/);
  });

  it('ends in the middle when it is told to, whatever it does', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const paths = [
      await file('blank.jsonl', '\n'.repeat(3_000_000)),
      await file('blank.jsonl.gz', gzipSync('\n'.repeat(3_000_000))),
      await file(
        'blank.zip',
        zipOf([{ name: 'a.gz', method: 8, packed: deflateRawSync(gzipSync('\n'.repeat(3_000_000))) }]),
      ),
    ];
    const { inputs } = await openInputs(paths, { signal });
    const begun = inputs.map((input) => input.open()[Symbol.asyncIterator]());
    for (const chunks of begun) equal((await chunks.next()).done, false);
    stop.abort();
    for (const chunks of begun) await rejects(chunks.next(), { name: 'AbortError' });
    await rejects(openInputs(paths, { signal }), { name: 'AbortError' });
    await rejects(openInputs([folder], { signal }), { name: 'AbortError' });
  });

  it('leaves nothing of a pipe behind when it is told to end', async () => {
    const stop = new AbortController();
    const standardInput = new PassThrough();
    standardInput.write('{}');
    const kept = async (): Promise<string[]> =>
      (await readdir(tmpdir())).filter((name) => name.startsWith('undertone-import-')).toSorted();
    const before = await kept();
    const opening = openInputs(['-'], { standardInput, signal: stop.signal });
    standardInput.once('resume', () => stop.abort());
    await rejects(opening, { name: 'AbortError' });
    deepEqual(await kept(), before);
  });

  it('keeps the standard input until it is closed', async () => {
    async function* standardInput(): AsyncGenerator<Buffer> {
      yield gzipSync('piped');
    }
    const opened = await openInputs(['-'], { standardInput: standardInput() });
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
    const opened = await openInputs(['-', fifo, '-'], { standardInput: standardInput() });
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

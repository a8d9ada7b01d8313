import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SegmentCache, type FileSource } from '../../src/cluster/segment-cache.ts';
import { AppError } from '../../src/errors.ts';
import { readManifest, writeManifest } from '../../src/store/published/manifest.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { openFixture, temporaryDirectory } from '../support/fold.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

const BYTES = 100;

describe('files that come when they are read', () => {
  const temporary = temporaryDirectory();
  let now = 0;
  let fetched: string[] = [];
  let directory = '';
  let folders = 0;
  const source: FileSource = {
    bytes: BYTES,
    fetch: async (path) => {
      fetched.push(path.slice(directory.length + 1));
      writeFileSync(path, 'x'.repeat(BYTES));
    },
  };
  const sources = (...names: string[]): Map<string, FileSource> =>
    new Map(names.map((name) => [`${name}.duckdb`, source]));
  const pathOf = (name: string): string => join(directory, `${name}.duckdb`);
  const cacheOf = (files: number): SegmentCache =>
    new SegmentCache({ mostBytes: files * BYTES, now: () => now, waitMs: 200 });
  const closed: string[] = [];
  const letGo = async (path: string): Promise<void> => void closed.push(path.slice(directory.length + 1));
  async function read(cache: SegmentCache, name: string): Promise<void> {
    await cache.take(pathOf(name), letGo);
    cache.leave(pathOf(name));
  }
  beforeEach(() => {
    now = 0;
    fetched = [];
    closed.length = 0;
    directory = join(temporary.path, String((folders += 1)));
    mkdirSync(directory);
  });

  it('come once for all readers, and those that were unused for longest go', async () => {
    const cache = cacheOf(2);
    cache.add(directory, sources('a', 'b', 'c'));
    await Promise.all([read(cache, 'a'), read(cache, 'a'), read(cache, 'b')]);
    await read(cache, 'a');
    await read(cache, 'c');
    deepEqual(fetched, ['a.duckdb', 'b.duckdb', 'c.duckdb']);
    deepEqual(readdirSync(directory).toSorted(), ['a.duckdb', 'c.duckdb']);
    deepEqual(closed, ['b.duckdb']);
    equal(cache.bytes, 2 * BYTES);
    await read(cache, 'b');
    deepEqual(readdirSync(directory).toSorted(), ['b.duckdb', 'c.duckdb']);
  });

  it('stay while they are read, although they take more', async () => {
    const cache = cacheOf(1);
    cache.add(directory, sources('a', 'b'));
    await cache.take(pathOf('a'), letGo);
    await cache.take(pathOf('b'), letGo);
    deepEqual(readdirSync(directory).toSorted(), ['a.duckdb', 'b.duckdb']);
    cache.leave(pathOf('a'));
    cache.leave(pathOf('b'));
    cache.add(directory, sources('c'));
    await read(cache, 'c');
    deepEqual(readdirSync(directory), ['c.duckdb']);
  });

  it('come ahead of their readers while there is room, and as recently used as what they replace', async () => {
    const cache = cacheOf(3);
    cache.add(directory, sources('a', 'b', 'c', 'd'));
    await read(cache, 'a');
    await cache.fill();
    equal(readdirSync(directory).length, 3);
    cache.add(directory, sources('a2'));
    await cache.bring(directory, new Map([['a2.duckdb', 'a.duckdb']]));
    cache.keep(directory, new Set(['a2', 'b', 'c', 'd'].map((name) => `${name}.duckdb`)));
    await read(cache, 'd');
    ok(cache.has(pathOf('a2')), readdirSync(directory).join());
  });

  it('go a while after the last manifest that named them, and come again for who still reads it', async () => {
    const cache = cacheOf(9);
    cache.add(directory, sources('a', 'b'));
    await Promise.all([read(cache, 'a'), read(cache, 'b')]);
    cache.keep(directory, new Set(['b.duckdb']));
    await cache.tidy();
    ok(existsSync(pathOf('a')));
    now = 10_000;
    await cache.tidy();
    deepEqual(readdirSync(directory), ['b.duckdb']);
    await read(cache, 'a');
    now = 600_000;
    await cache.tidy();
    await cache.tidy();
    await rejects(() => read(cache, 'a'), AppError);
    equal(cache.isLeft(directory), false);
    now = 700_000;
    await cache.tidy();
    equal(cache.isLeft(directory), true);
  });

  it('stay known when a manifest names them again while they go', async () => {
    const cache = cacheOf(9);
    cache.add(directory, sources('a'));
    const again = async (): Promise<void> => cache.add(directory, sources('a'));
    await cache.take(pathOf('a'), again);
    cache.keep(directory, new Set());
    now = 600_000;
    cache.leave(pathOf('a'));
    await cache.tidy();
    await read(cache, 'a');
    deepEqual(fetched, ['a.duckdb', 'a.duckdb']);
  });

  it('of an earlier run are used if they are whole, also before anything is known of the object store', async () => {
    const cache = cacheOf(9);
    writeFileSync(pathOf('a'), 'x'.repeat(BYTES));
    writeFileSync(pathOf('b'), 'half');
    await read(cache, 'a');
    cache.add(directory, sources('a', 'b'));
    await read(cache, 'b');
    deepEqual(fetched, ['b.duckdb']);
    equal(cache.bytes, 2 * BYTES);
  });

  it('that do not come in time are an error for their reader, and come for the next one', async () => {
    const cache = cacheOf(9);
    const coming = Promise.withResolvers<void>();
    const slow = { bytes: BYTES, fetch: (): Promise<void> => coming.promise };
    cache.add(directory, new Map([['a.duckdb', slow]]));
    await rejects(
      () => read(cache, 'a'),
      (error) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE',
    );
    coming.resolve();
    await read(cache, 'a');
    const broken = { bytes: BYTES, fetch: () => Promise.reject(new Error('no answer')) };
    cache.add(directory, new Map([['b.duckdb', broken]]));
    await rejects(() => read(cache, 'b'), AppError);
    equal(cache.bytes, BYTES);
  });

  it('take what a full disk has', async () => {
    const cache = cacheOf(9);
    const full: FileSource = {
      bytes: BYTES,
      fetch: async (path, signal) => {
        if (readdirSync(directory).length >= 2)
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        await source.fetch(path, signal);
      },
    };
    for (const name of ['a', 'b', 'c']) {
      cache.add(directory, new Map([[`${name}.duckdb`, full]]));
      await read(cache, name);
    }
    deepEqual(readdirSync(directory).toSorted(), ['b.duckdb', 'c.duckdb']);
  });
});

describe('a reader of files that come when they are read', () => {
  let closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.toReversed()) await close();
    closing = [];
  });

  it('gives the same rows with room for one file as with all of them', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    closing.push(() => fixture.close());
    const stream = new SyntheticStream({ messages: 900, days: 5, topics: 5 });
    for (let batch = 0; batch < 3; batch += 1) {
      await fixture.fold(stream.next(300));
      await fixture.publish();
      await fixture.publication.settle();
    }
    await fixture.publish();
    const { directory: made, views } = fixture.store;
    const manifest = readManifest(made)!;
    const mirror = temporaryDirectory();
    closing.push(async () => mirror.remove());
    writeManifest(mirror.path, manifest, manifest.sizes);
    let fetched = 0;
    const sources = Object.entries(manifest.sizes ?? {}).map(([file, bytes]): [string, FileSource] => [
      file,
      {
        bytes,
        fetch: async (path) => {
          fetched += 1;
          copyFileSync(join(made, file), path);
        },
      },
    ]);
    const cache = new SegmentCache({ mostBytes: 1 });
    cache.add(mirror.path, new Map(sources));
    const readerOf = async (directory: string, files?: SegmentCache): Promise<SnapshotReader> => {
      const reader = await SnapshotReader.open({
        directory: () => directory,
        views,
        threads: 1,
        connections: 2,
        ...(files === undefined ? {} : { files }),
      });
      closing.push(() => reader.close());
      return reader;
    };
    const lazy = await readerOf(mirror.path, cache);
    const eager = await readerOf(made);
    const tables = Object.keys(manifest.tables);
    ok(sources.length > 2 && tables.length > 2);
    for (let round = 0; round < 3; round += 1) {
      await cache.tidy();
      await Promise.all(
        tables.map(async (table) => {
          const count = `select count(*)::double as rows from @${table}`;
          const rows = (reader: SnapshotReader): Promise<unknown> => reader.read(({ all }) => all(count));
          deepEqual(await rows(lazy), await rows(eager));
        }),
      );
    }
    ok(fetched >= 3 * sources.length, `${fetched} of ${sources.length}`);
  });
});

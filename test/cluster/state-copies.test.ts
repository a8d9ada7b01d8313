import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { StateCopies, type StateCopiesOptions } from '../../src/cluster/state-copies.ts';
import { imageOfClosed } from '../../src/store/live/state-files.ts';
import {
  NO_STATE,
  objectsOf,
  readKey,
  readState,
  writeKey,
  type StoredState,
} from '../../src/cluster/views-bucket.ts';
import { silentLogger } from '../../src/logger.ts';
import { HeldStateError } from '../../src/store/live/state-database.ts';
import { ObjectStoreError, type ObjectStore } from '../../src/store/objects/object-store.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import { startObjectStore, type TestObjectStore } from '../support/object-store.ts';

const KEY = 'state';

/** Copies of a state that is a file of one letter, so that what is left of it can be found. */
describe('copies of a state', () => {
  const temporary = temporaryDirectory();
  const { signal } = new AbortController();
  let objects: TestObjectStore;
  let bucket: MemoryBucket;
  let places = 0;
  let here = '';
  let there = '';
  before(async () => {
    objects = await startObjectStore();
  });
  beforeEach(() => {
    objects.fault = null;
    objects.requests.length = 0;
    bucket = new MemoryBucket();
    places += 1;
    [here, there] = ['here', 'there'].map((name) => join(temporary.path, `${places}-${name}`)) as [
      string,
      string,
    ];
    for (const folder of [here, there]) mkdirSync(folder);
  });
  after(async () => {
    await objects?.close();
    temporary.remove();
  });
  const copiesIn = (directory: string, options: Partial<StateCopiesOptions> = {}): StateCopies =>
    new StateCopies({
      bucket,
      store: objects.store,
      key: KEY,
      prefix: `${places}/`,
      directory,
      shard: 0,
      logger: silentLogger(),
      ...options,
    });
  /** A store whose downloads are others. */
  const downloading = (download: ObjectStore['download']) => ({
    store: {
      upload: (...asked: Parameters<ObjectStore['upload']>) => objects.store.upload(...asked),
      list: (...asked: Parameters<ObjectStore['list']>) => objects.store.list(...asked),
      remove: (...asked: Parameters<ObjectStore['remove']>) => objects.store.remove(...asked),
      download,
    },
  });
  /** A store of which the first download begins with some work. */
  const interrupted = (work: () => Promise<void>) => {
    let worked: Promise<void> | null = null;
    return downloading(async (...asked) => {
      if (worked === null) await (worked = work());
      return objects.store.download(...asked);
    });
  };
  const owner = (): StateCopies => copiesIn(here);
  const stateOf = (letter: string, sequence: number) => {
    const file = join(here, 'state.duckdb');
    writeFileSync(file, letter.repeat(600_000));
    return { sequence, image: async () => imageOfClosed(file, sequence) };
  };
  /** Begins the next generation with a copy of another state. */
  const begin = async (letter: string, sequence: number): Promise<void> => {
    const before = await readKey<StoredState>(bucket, KEY);
    const { generation } = before?.value ?? NO_STATE;
    const made = await copiesIn(here, { bucket: new MemoryBucket() }).store(stateOf(letter, sequence));
    const next = { ...NO_STATE, generation: generation + 1, copies: [made!] };
    await writeKey(bucket, KEY, next, before?.revision ?? null);
  };
  /** Files of a folder in which a letter is. */
  const withLetter = (letter: string): string[] =>
    readdirSync(there).filter(
      (file) =>
        !file.endsWith('.sock') && readFileSync(join(there, file), 'utf8').includes(letter.repeat(1000)),
    );
  const objectNames = (): Promise<string[]> => objects.store.list(`${places}/`);

  it('leave nothing in a folder of what was taken out while they were read', async () => {
    await owner().store(stateOf('a', 1));
    const standby = copiesIn(
      there,
      interrupted(async () => {
        // Another process of the machine looks after its folders meanwhile.
        await begin('b', 1);
        await copiesIn(there).forgetVoid();
      }),
    );
    equal(await standby.keepStandby(signal), false);
    equal(standby.generation, 1);
    deepEqual(withLetter('a'), []);
    equal(await standby.keepStandby(signal), true);
    deepEqual(withLetter('b'), ['standby.duckdb']);
  });

  it('are never of an earlier generation than the folder says, and one process takes them', async () => {
    await owner().store(stateOf('a', 1));
    const copies = copiesIn(
      there,
      interrupted(async () => {
        await begin('b', 1);
        await copiesIn(there).forgetVoid();
        await rejects(copiesIn(there).fetchNewer(), HeldStateError);
      }),
    );
    ok(await copies.fetchNewer());
    deepEqual(withLetter('a'), ['state.duckdb']);
    ok(await copies.isVoid());
    ok(await copies.fetchNewer());
    deepEqual([withLetter('a'), withLetter('b')], [[], ['state.duckdb']]);
  });

  it('that came half way go with what is void, and with what is not needed', async () => {
    await owner().store(stateOf('a', 1));
    const breaking = copiesIn(
      there,
      downloading(async (name, file, ...asked) => {
        const isThere = await objects.store.download(name, file, ...asked);
        if (readFileSync(file, 'utf8').startsWith('a')) {
          // The process ends, and leaves what it was about to delete.
          writeFileSync(`${file}.tmp`, readFileSync(file));
          throw new ObjectStoreError('GET', null);
        }
        return isThere;
      }),
    );
    await rejects(breaking.fetchNewer(), ObjectStoreError);
    equal(withLetter('a').length, 1);
    await begin('b', 1);
    await copiesIn(there).forgetVoid();
    deepEqual(withLetter('a'), []);

    await rejects(
      copiesIn(
        there,
        downloading(() => Promise.reject(new ObjectStoreError('GET', null))),
      ).keepStandby(signal),
    );
    for (const name of ['standby.duckdb.x', 'fetched.duckdb', 'fetched.duckdb.x'])
      writeFileSync(join(there, name), 'b');
    await copiesIn(there).dropStandby();
    deepEqual(readdirSync(there), ['GENERATION']);
  });

  it('are taken from the standby while the object store is away', async () => {
    await owner().store(stateOf('a', 1));
    equal(await copiesIn(there).keepStandby(signal), true);
    objects.requests.length = 0;
    equal(await copiesIn(there).keepStandby(signal), true);
    equal(objects.requests.length, 0);
    objects.fault = () => 503;
    equal((await copiesIn(there).fetchNewer())?.sequence, 1);
    deepEqual(withLetter('a'), ['state.duckdb']);
  });

  it('keep what the standby has when a newer one is lost', async () => {
    await owner().store(stateOf('a', 1));
    await copiesIn(there).keepStandby(signal);
    const second = await owner().store(stateOf('b', 2));
    await objects.store.remove(second!.name);
    objects.requests.length = 0;
    equal((await copiesIn(there).fetchNewer())?.sequence, 1);
    // The lost index.
    equal(objects.requests.length, 1);
    deepEqual(withLetter('a'), ['state.duckdb']);
  });

  it('forget the objects of published files that were replaced', async () => {
    await owner().store(stateOf('a', 1));
    writeFileSync(join(there, 'STORED'), JSON.stringify({ merged: { name: 'x', sha256: 'x' } }));
    await copiesIn(there).fetchNewer();
    deepEqual(copiesIn(there).takeStoredFiles(), {});
  });

  it('leave no object behind that failed or void ones have made', async () => {
    const failing = (letter: string, sequence: number) => ({
      ...stateOf(letter, sequence),
      image: async () => ({ ...imageOfClosed(join(here, 'state.duckdb'), sequence), isWhole: () => false }),
    });
    const copies = owner();
    await rejects(copies.store(failing('a', 1)));
    equal((await objectNames()).length, 1);
    await copies.store(stateOf('b', 2));
    const kept = await copies.kept();
    deepEqual(new Set(await objectNames()), new Set(kept));

    await rejects(copies.store(failing('c', 3)));
    await begin('d', 1);
    equal(await copies.store(stateOf('e', 4)), null);
    const { copies: named } = await readState(bucket, KEY);
    // Whoever begins a generation deletes the copies before it.
    const left = (await objectNames()).filter((name) => !kept.includes(name));
    deepEqual(new Set(left), new Set(named.flatMap(objectsOf)));
    ok(!existsSync(join(here, 'upload.duckdb.pack')));
  });
});

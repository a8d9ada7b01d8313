import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FormerViews } from '../../src/cluster/former-views.ts';
import { Generations } from '../../src/cluster/generations.ts';
import { Mirror, type MirrorOptions } from '../../src/cluster/mirror.ts';
import { SegmentCache } from '../../src/cluster/segment-cache.ts';
import { SharedViews } from '../../src/cluster/shared-views.ts';
import { ShardUploads, type ShardUploadsOptions } from '../../src/cluster/shard-uploads.ts';
import { StateCopies, type StateCopiesOptions } from '../../src/cluster/state-copies.ts';
import {
  NO_STATE,
  objectsOf,
  openViewsBucket,
  readKey,
  ViewsKeys,
  writeKey,
  type ActiveViews,
  type PublishedShard,
  type SharedDefinition,
  type StoredState,
} from '../../src/cluster/views-bucket.ts';
import { StateAwaitedError, type OpenState } from '../../src/domain/sharing.ts';
import { SetupError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { noteDamage, notedDamage } from '../../src/store/damage.ts';
import { readActiveEpoch, writeActiveEpoch } from '../../src/store/epochs/epochs.ts';
import { ObjectStore } from '../../src/store/objects/object-store.ts';
import { HeldStateError } from '../../src/store/live/state-database.ts';
import { filesOf, readManifest } from '../../src/store/published/manifest.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import type { KeyValueBucket } from '../../src/stream/kv/key-value.ts';
import { openFixture, temporaryDirectory, type Fixture } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { startObjectStore, type TestObjectStore } from '../support/object-store.ts';
import { countedMessages, eventually, liveDirectories } from '../support/processes.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

const VIEWS = { definition: 'fact:1 model:a', shards: 1 };
const STREAM = { messages: 600, days: 5, topics: 5 };
/** Shards have the entries of those with the same number, and more may come. */
const STILL = { newestOf: async () => Infinity, sharedWith: (shard: number) => [shard] };
const logger = silentLogger();
/** A process that has a database open. */
const HOLDING = `import { DuckDBInstance } from '@duckdb/node-api';
const instance = await DuckDBInstance.create(process.argv[1]);
console.log('open');
setInterval(() => instance, 1000);`;

describe('a shared shard', () => {
  let server: TestServer;
  let objects: TestObjectStore;
  let connection: StreamConnection;
  let bucket: KeyValueBucket;
  let keys: ViewsKeys;
  let places = 0;
  before(async () => {
    server = await startTestServer();
    objects = await startObjectStore();
    connection = await openConnection({ ...server.address, name: 'test' });
    bucket = await openViewsBucket(connection, 1);
  });
  beforeEach(async () => {
    // Each test has its own keys.
    keys = await ViewsKeys.open(bucket, `${objects.options.url}/${(places += 1)}`);
    objects.fault = null;
    objects.requests.length = 0;
    sayLost = () => undefined;
  });
  after(async () => {
    await connection?.close();
    await objects?.close();
    await server?.stop();
  });

  let sayLost: (key: string, name: string) => void = () => undefined;
  const owned = new Set<string>();
  const guardOf = (run: string) => async (): Promise<void> => {
    if (!owned.has(run)) throw new Error('the lease is lost');
  };
  const prefix = (): string => `${places}-${keys.objects(VIEWS, 0)}`;
  const uploadsOf = (
    fixture: Fixture,
    run: string,
    options: Partial<ShardUploadsOptions> = {},
  ): Promise<ShardUploads> => {
    owned.clear();
    owned.add(run);
    return openUploads(fixture, run, options);
  };
  const openUploads = (
    fixture: Fixture,
    run: string,
    options: Partial<ShardUploadsOptions> = {},
  ): Promise<ShardUploads> =>
    ShardUploads.open({
      bucket,
      store: objects.store,
      key: keys.shard(VIEWS, 0),
      prefix: prefix(),
      run,
      guard: guardOf(run),
      stored: {},
      kept: async () => [],
      generation: 0,
      directory: fixture.directory,
      shard: 0,
      logger,
      ...options,
    });
  const copiesIn = (directory: string, options: Partial<StateCopiesOptions> = {}): StateCopies =>
    new StateCopies({
      bucket,
      store: objects.store,
      key: keys.state(VIEWS, 0),
      prefix: prefix(),
      directory,
      shard: 0,
      logger,
      ...options,
    });
  const mirrorIn = (folder: string, options: Partial<MirrorOptions> = {}): Mirror =>
    new Mirror({
      bucket,
      store: objects.store,
      keys,
      stream: STILL,
      sayLost: (...lost) => sayLost(...lost),
      folder,
      cache: new SegmentCache(),
      logger,
      ...options,
    });
  const entry = async (): Promise<PublishedShard> =>
    (await readKey<PublishedShard>(bucket, keys.shard(VIEWS, 0)))!.value;
  /** What counts the messages of a synthetic stream. */
  async function counting(): Promise<{ fixture: Fixture; count: (messages: number) => Promise<void> }> {
    const fixture = await openFixture({ compactRows: 100 });
    const stream = new SyntheticStream(STREAM);
    return {
      fixture,
      count: async (messages) => {
        await fixture.fold(stream.next(messages));
        await fixture.publish();
      },
    };
  }
  const revisionOf = async (): Promise<number> => (await readKey(bucket, keys.state(VIEWS, 0)))!.revision;
  async function push(uploads: ShardUploads): Promise<void> {
    uploads.push();
    await uploads.settle();
    await uploads.cleaned();
  }

  it('is read where it was not counted, each file once and checked, and never in an older state', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const mirror = mirrorIn(folder.path);
    const seen = (messages: number): Promise<number> =>
      eventually(async () => (await countedMessages(folder.path)) === messages);
    try {
      const uploads = await uploadsOf(fixture, 'one', { keepMs: 0 });
      await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await count(100);
      await push(uploads);
      await seen(100);
      await count(100);
      await fixture.publication.settle();
      await fixture.publish();
      await push(uploads);
      await seen(200);
      const names = Object.values((await entry()).files).map(({ name }) => name);
      const listed = await objects.store.list(prefix());
      deepEqual(listed.toSorted(), names.toSorted());
      for (const kind of ['PUT', 'GET']) {
        const asked = objects.requests.filter(
          (request) => request.startsWith(`${kind} /`) && !request.includes('?'),
        );
        equal(new Set(asked).size, asked.length, kind);
      }

      // A note of damage: all files are read again.
      const [directory] = liveDirectories(folder.path);
      const damaged = [...filesOf(readManifest(directory!)!)];
      for (const file of damaged) writeFileSync(join(directory!, file), 'damaged');
      noteDamage(directory!, 'segments', 'test');
      await eventually(() => notedDamage(directory!, 'segments') === null);
      await seen(200);
      equal(new Set([...damaged, ...filesOf(readManifest(directory!)!)]).size, 2 * damaged.length);

      // Whatever is written into the bucket: readers do not go back.
      const now = await entry();
      const older = { ...now, manifest: { ...now.manifest!, sequence: 1, seq: 1 } };
      const { revision } = (await readKey(bucket, keys.shard(VIEWS, 0)))!;
      await writeKey(bucket, keys.shard(VIEWS, 0), older, revision);
      await new Promise((passed) => setTimeout(passed, 100));
      equal(readManifest(directory!)!.sequence, now.manifest!.sequence);
      await uploads.close();
    } finally {
      await mirror.close();
      await fixture.close();
      folder.remove();
    }
  });

  it('leaves nothing in a mirror of what an earlier run had, also of what nobody reads', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const segments = (): string[] => readdirSync(shard()).filter((file) => file.endsWith('.duckdb'));
    const shard = (): string => liveDirectories(folder.path)[0]!;
    const named = (): ReadonlySet<string> => filesOf(readManifest(shard())!);
    let now = 0;
    let mirror = mirrorIn(folder.path);
    try {
      const uploads = await uploadsOf(fixture, 'one');
      await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await count(100);
      await push(uploads);
      await eventually(
        async () => liveDirectories(folder.path).length > 0 && segments().length === named().size,
      );
      await mirror.close();
      const before = segments();
      await count(100);
      await push(uploads);

      mirror = mirrorIn(folder.path, { cache: new SegmentCache({ now: () => now }) });
      await eventually(async () => before.some((file) => !named().has(file)));
      now = 60_000;
      await eventually(async () => segments().every((file) => named().has(file)));
      await uploads.close();
    } finally {
      await mirror.close();
      await fixture.close();
      folder.remove();
    }
  });

  it('is published by its newest owner alone, and never with less than all have seen', async () => {
    const first = await counting();
    const second = await counting();
    try {
      const before = await uploadsOf(first.fixture, 'before');
      await first.count(100);
      await first.count(100);
      await push(before);
      equal((await entry()).manifest!.sequence, 2);

      const after = await uploadsOf(second.fixture, 'after', { keepMs: 0 });
      await first.count(100);
      await push(before);
      ok(before.isReplaced);
      equal((await entry()).manifest!.sequence, 2);
      // What all see stays in the store until another manifest is there.
      await second.count(100);
      await push(after);
      equal((await entry()).run, 'after');
      equal((await entry()).manifest!.store, first.fixture.store.storeId);
      const theirs = Object.values((await entry()).files);
      const there = await objects.store.list(prefix());
      ok(theirs.every(({ name }) => there.includes(name)));
      await second.count(100);
      await push(after);
      equal((await entry()).manifest!.store, second.fixture.store.storeId);
      equal(after.published!.sequence, 2);

      const left = await objects.store.list(prefix());
      deepEqual(
        left.toSorted(),
        Object.values((await entry()).files)
          .map(({ name }) => name)
          .toSorted(),
      );

      // An acknowledgement that was lost is no other owner.
      const { value, revision } = (await readKey<PublishedShard>(bucket, keys.shard(VIEWS, 0)))!;
      await writeKey(bucket, keys.shard(VIEWS, 0), value, revision);
      await second.count(100);
      await push(after);
      ok(!after.isReplaced);
      equal((await entry()).manifest!.sequence, 3);
      await Promise.all([before.close(), after.close()]);
    } finally {
      await first.fixture.close();
      await second.fixture.close();
    }
  });

  it('waits for a store that fails, and deletes what earlier owners left after a while', async () => {
    const { fixture, count } = await counting();
    try {
      const before = await uploadsOf(fixture, 'before');
      await count(50);
      await push(before);
      await count(50);
      await push(before);
      await before.close();

      const uploads = await uploadsOf(fixture, 'after', { keepMs: 0 });
      await count(50);
      objects.fault = (method) => (method === 'PUT' ? 503 : null);
      uploads.push();
      await eventually(() => objects.requests.filter((request) => request.startsWith('PUT')).length > 20);
      equal((await entry()).manifest!.sequence, 2);
      objects.fault = null;
      await uploads.settle();
      await uploads.cleaned();
      equal((await entry()).manifest!.sequence, 3);
      const listed = await objects.store.list(prefix());
      const named = Object.values((await entry()).files).map(({ name }) => name);
      deepEqual(listed.toSorted(), named.toSorted());
      objects.fault = () => 'hang';
      await count(50);
      uploads.push();
      await uploads.close();
    } finally {
      objects.fault = null;
      await fixture.close();
    }
  });

  it('deletes what was replaced once no copy of the state names it any more', async () => {
    const { fixture, count } = await counting();
    let copied: readonly string[] = [];
    try {
      const uploads = await uploadsOf(fixture, 'one', { keepMs: 0, kept: async () => copied });
      await count(50);
      await push(uploads);
      copied = Object.values((await entry()).files).map(({ name }) => name);
      for (let batch = 0; batch < 3; batch += 1) {
        await count(100);
        await fixture.publication.settle();
        await fixture.publish();
        await push(uploads);
      }
      const named = new Set(Object.values((await entry()).files).map(({ name }) => name));
      const replaced = copied.filter((name) => !named.has(name));
      ok(replaced.length > 0);
      const left = (names: readonly string[]): string[] => replaced.filter((name) => names.includes(name));
      deepEqual(left(await objects.store.list(prefix())), replaced);
      copied = [];
      await uploads.clean();
      deepEqual(left(await objects.store.list(prefix())), []);
      await uploads.close();
    } finally {
      await fixture.close();
    }
  });

  it('goes on elsewhere from the newest copy of its state, and keeps what is newer', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const copies = copiesIn(fixture.directory);
    const store = () =>
      copies.store({
        get sequence() {
          return fixture.store.sequence;
        },
        image: () => fixture.store.image(),
      });
    const there = copiesIn(folder.path);
    try {
      equal(await there.fetchNewer(), null);
      await count(100);
      equal((await store())?.sequence, 1);
      equal(await store(), null);
      equal((await there.fetchNewer())?.sequence, 1);
      const taken = await openFixture({ directory: folder.path });
      equal(taken.store.sequence, 1);
      await taken.publish();
      equal(await countedMessages(folder.path), 0);
      await taken.close();
      await count(100);
      equal((await store())?.sequence, 2);
      const holder = spawn(process.execPath, [
        '--input-type=module',
        '-e',
        HOLDING,
        join(folder.path, 'state.duckdb'),
      ]);
      await once(holder.stdout, 'data');
      await rejects(there.fetchNewer(), HeldStateError);
      holder.kill();
      await once(holder, 'exit');
      equal((await there.fetchNewer())?.sequence, 2);
      deepEqual(
        readdirSync(folder.path).filter((file) => /CURRENT|newest|fetched/.test(file)),
        [],
      );
      const again = await openFixture({ directory: folder.path });
      await again.publish();
      await again.close();
      equal(await there.fetchNewer(), null);

      await count(100);
      const third = (await store())!;
      const stored = await readKey<StoredState>(bucket, keys.state(VIEWS, 0));
      equal(stored!.value.copies.length, 2);
      await objects.store.remove(third.name);
      equal(await there.fetchNewer(), null);
      rmSync(join(folder.path, 'state.duckdb'));
      equal((await there.fetchNewer())?.sequence, 2);
      ok(existsSync(join(folder.path, 'state.duckdb')));
      ok(!existsSync(join(fixture.directory, 'upload.duckdb')));
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('is taken over with what was published of it, and from the copy that the next owner keeps', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const next = join(folder.path, 'views', '1', '0');
    const copies = copiesIn(fixture.directory);
    const { signal } = new AbortController();
    const asked = (method: string, part: string): string[] =>
      objects.requests.filter((each) => each.startsWith(method) && each.includes(part));
    try {
      const uploads = await uploadsOf(fixture, 'one', { kept: () => copies.kept() });
      const state = {
        get sequence() {
          return fixture.store.sequence;
        },
        image: () => fixture.store.image(),
      };
      for (let batch = 0; batch < 3; batch += 1) {
        await count(100);
        await fixture.publication.settle();
      }
      await push(uploads);
      ok(await copies.store(state, uploads.own));
      const standby = copiesIn(next);
      equal(await standby.keepStandby(signal), true);
      await count(100);
      await push(uploads);
      ok(await copies.store(state, uploads.own));
      objects.requests.length = 0;
      equal(await standby.keepStandby(signal), true);
      // The index, and the pack with what has changed.
      equal(asked('GET', '/states/').length, 2);
      await uploads.close();

      objects.requests.length = 0;
      const findFiles = (): Map<string, string> => {
        const paths = readdirSync(fixture.directory)
          .filter((file) => file.endsWith('.duckdb'))
          .map((file) => join(fixture.directory, file));
        const digests = paths.map((path) => createHash('sha256').update(readFileSync(path)).digest('hex'));
        return new Map(digests.map((sha256, place) => [sha256, paths[place]!]));
      };
      const there = copiesIn(next, { findFiles });
      const taken = await there.fetchNewer();
      equal(taken?.sequence, 4);
      // The standby has the state, and the machine has the files elsewhere.
      equal(asked('GET', '').filter((each) => !each.includes('list-type')).length, 0);
      const again = await openFixture({ directory: next, compactRows: 100 });
      const stored = there.takeStoredFiles();
      deepEqual(stored, taken.published!.files);
      equal(again.publication.sequence, taken.published!.manifest.sequence);
      const owner = await uploadsOf(again, 'two', { kept: () => there.kept(), stored });
      const stream = new SyntheticStream(STREAM);
      for (let before = 0; before < 4; before += 1) stream.next(100);
      await again.fold(stream.next(100));
      await again.publish();
      objects.requests.length = 0;
      await push(owner);
      equal(asked('PUT', '').length, 1);
      writeActiveEpoch(folder.path, { epoch: 1, shards: 1 });
      equal(await countedMessages(folder.path), 500);
      await again.publication.settle();
      equal((await entry()).manifest?.sequence, 5);
      equal(readdirSync(next).filter((file) => /standby|fetched|STORED/.test(file)).length, 0);
      await owner.close();
      await again.close();
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('goes on without what was taken out of it, and all that was made before is void', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const ofShard = { prefix: keys.objects(VIEWS, 0), keepMs: 60_000 };
    const stateOf = ({ store }: Fixture, sequence: number): OpenState => ({
      sequence,
      image: () => store.image(),
    });
    const generations = new Generations({
      bucket,
      store: objects.store,
      keys,
      askForCopy: async () => true,
      shardOf: () => 0,
    });
    const asked: number[] = [];
    const making = {
      signal: new AbortController().signal,
      folder: join(folder.path, 'making'),
      refold: async (from: string, directory: string) => {
        mkdirSync(directory);
        copyFileSync(from, join(directory, 'state.duckdb'));
      },
    };
    const forget = async (_: string, shard: number): Promise<void> => void asked.push(shard);
    const recount = (): Promise<void> => generations.recount(making, new Set(['an instance']), forget);
    const isBehind = async (directory: string): Promise<number> =>
      (await generations.behind('an instance', begunAt, () => directory)).length;
    const begunAt = Date.now();
    try {
      await rejects(recount(), SetupError);
      const uploads = await uploadsOf(fixture, 'one', ofShard);
      await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await count(50);
      await push(uploads);
      // Nothing is copied yet.
      await rejects(recount(), SetupError);
      const copies = copiesIn(fixture.directory, { prefix: ofShard.prefix });
      ok(await copies.store(stateOf(fixture, 1)));
      // Another definition is being counted.
      const others = { definition: 'fact:2 model:a', shards: 1 };
      const name = `${keys.objects(others, 0)}states/x`;
      await objects.store.upload(name, join(fixture.directory, 'CURRENT'));
      const copy = { name, sha256: 'x', sequence: 1, packs: [], published: null };
      await writeKey(bucket, keys.state(others, 0), { ...NO_STATE, copies: [copy] }, null);
      await writeKey(bucket, keys.shard(others, 0), await entry(), null);
      equal(await isBehind(fixture.directory), 2);

      const recounting = recount();
      await eventually(() => copies.isVoid());
      await count(50);
      equal(await copies.store(stateOf(fixture, 2)), null);
      await push(uploads);
      equal((await entry()).generation, 0);
      const next = join(folder.path, 'next');
      const there = copiesIn(next, { prefix: ofShard.prefix });
      equal((await there.fetchNewer())?.sequence, 1);
      equal(await there.isVoid(), false);
      const again = await openFixture({ directory: next });
      const owner = await uploadsOf(again, 'two', { ...ofShard, generation: there.generation });
      await again.publish();
      await push(owner);
      // It has counted less than all have seen.
      equal((await entry()).generation, 0);
      const stream = new SyntheticStream(STREAM);
      stream.next(50);
      await again.fold(stream.next(50));
      await again.publish();
      await push(owner);
      await recounting;
      deepEqual(asked, [0]);
      equal((await entry()).generation, 1);

      const state = (await readKey<StoredState>(bucket, keys.state(VIEWS, 0)))!.value;
      const named = [
        ...Object.values((await entry()).files).map((object) => object.name),
        ...state.copies.flatMap(objectsOf),
      ];
      deepEqual((await objects.store.list(ofShard.prefix)).toSorted(), named.toSorted());
      deepEqual(await objects.store.list(keys.objects(others, 0)), []);
      const dropped = (await readKey<StoredState>(bucket, keys.state(others, 0)))!.value;
      deepEqual([dropped.generation, dropped.copies], [1, []]);
      equal(await isBehind(next), 0);
      equal(await isBehind(fixture.directory), 1);
      await Promise.all([uploads.close(), owner.close()]);
      await again.close();
      await there.forgetVoid();
      ok(existsSync(next));
      await fixture.close();
      await copies.forgetVoid();
      equal(await isBehind(fixture.directory), 0);

      // Where no copy can be read, the shard begins with the stream.
      await writeKey(
        bucket,
        keys.state(VIEWS, 0),
        { ...state, generation: 2, copies: [] },
        await revisionOf(),
      );
      equal(await there.fetchNewer(), null);
      equal(there.own, -1);
      equal(await there.isVoid(), false);
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('is not read of other views until all their shards are there', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    let now = 0;
    const mirror = mirrorIn(folder.path, {
      stream: { ...STILL, newestOf: async () => 0 },
      cache: new SegmentCache({ now: () => now }),
    });
    const others = { definition: 'fact:2 model:a', shards: 2 };
    try {
      const uploads = await uploadsOf(fixture, 'one');
      await count(100);
      await push(uploads);
      const revision = await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await eventually(async () => (await countedMessages(folder.path)) === 100);
      await writeKey(bucket, keys.shard(others, 0), await entry(), null);
      await writeKey(bucket, keys.active, { ...others, former: [] }, revision);
      await count(100);
      await push(uploads);
      await eventually(async () => (await countedMessages(folder.path)) === 200);
      equal(readActiveEpoch(folder.path)!.shards, 1);
      await writeKey(bucket, keys.shard(others, 1), await entry(), null);
      await eventually(() => readActiveEpoch(folder.path)!.shards === 2);
      equal(await countedMessages(folder.path), 300);
      now = 20_000;
      await eventually(() => readdirSync(join(folder.path, 'views')).length === 2);
      await uploads.close();
    } finally {
      await mirror.close();
      await fixture.close();
      folder.remove();
    }
  });

  it('stands still before other views are shown, until these have counted what was read', async () => {
    const [old, young] = [await counting(), await counting()];
    const folder = temporaryDirectory();
    const mirror = mirrorIn(folder.path);
    const shown = (): number | undefined =>
      readManifest(liveDirectories(folder.path)[0] ?? folder.path)?.sequence;
    const others = { definition: 'fact:2 model:a', shards: 1 };
    try {
      const uploads = await uploadsOf(old.fixture, 'one');
      const next = await openUploads(young.fixture, 'two', {
        key: keys.shard(others, 0),
        prefix: keys.objects(others, 0),
        guard: async () => undefined,
      });
      const publish = async (of: typeof old, by: ShardUploads): Promise<void> => {
        await of.count(50);
        await push(by);
      };
      for (const _ of [1, 2]) await publish(old, uploads);
      const revision = await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await eventually(() => shown() === 2);
      const { epoch } = readActiveEpoch(folder.path)!;
      await publish(young, next);
      await writeKey(bucket, keys.active, { ...others, former: [] }, revision);
      await eventually(() => readdirSync(join(folder.path, 'views')).length === 3);
      await sleep(1500);
      // The old ones are always an entry ahead.
      await publish(old, uploads);
      await sleep(1500);
      deepEqual([shown(), readActiveEpoch(folder.path)!.epoch], [2, epoch]);
      await publish(young, next);
      await eventually(() => readActiveEpoch(folder.path)!.epoch !== epoch);
      equal(shown(), 2);
      await Promise.all([uploads.close(), next.close()]);
    } finally {
      await mirror.close();
      await old.fixture.close();
      await young.fixture.close();
      folder.remove();
    }
  });

  it('is known by the content of its files: another owner may give the same name to other rows', async () => {
    const first = await counting();
    const second = await counting();
    try {
      const before = await uploadsOf(first.fixture, 'before');
      await first.count(100);
      await push(before);
      const { manifest, files } = await entry();
      // The same store and names, as after a copy of the state, and other content.
      const forged = Object.fromEntries(
        Object.entries(files).map(([file, { name }]) => [file, { name, sha256: 'f'.repeat(64) }]),
      );
      const { revision } = (await readKey(bucket, keys.shard(VIEWS, 0)))!;
      const value = { ...(await entry()), manifest: { ...manifest!, sequence: 0, seq: 0 }, files: forged };
      await writeKey(bucket, keys.shard(VIEWS, 0), value, revision);
      const after = await uploadsOf(first.fixture, 'after');
      await push(after);
      const now = await entry();
      ok(Object.values(now.files).every(({ name, sha256 }) => name.endsWith(sha256)));
      await Promise.all([before.close(), after.close()]);
    } finally {
      await first.fixture.close();
      await second.fixture.close();
    }
  });

  it('is not taken by who has lost its lease, and its owner takes it back from one that was late', async () => {
    const { fixture, count } = await counting();
    const late = await counting();
    try {
      const owner = await uploadsOf(fixture, 'owner');
      await rejects(openUploads(late.fixture, 'late'), /lease/);
      await count(50);
      await push(owner);
      equal((await entry()).run, 'owner');
      // It asked before it was paused.
      await openUploads(late.fixture, 'late', { guard: async () => undefined });
      equal((await entry()).run, 'late');
      await count(50);
      await push(owner);
      ok(!owner.isReplaced);
      equal((await entry()).run, 'owner');
      equal((await entry()).manifest!.sequence, 2);
      // A key that is gone is written anew.
      const { revision } = (await readKey(bucket, keys.shard(VIEWS, 0)))!;
      await bucket.remove(keys.shard(VIEWS, 0), revision);
      await count(50);
      await push(owner);
      equal((await entry()).manifest!.sequence, 3);
      await owner.close();
    } finally {
      await fixture.close();
      await late.fixture.close();
    }
  });

  it('is published while objects are deleted, and closed while the store does not answer', async () => {
    const { fixture, count } = await counting();
    try {
      const file = join(fixture.directory, 'left');
      writeFileSync(file, 'left');
      for (let left = 0; left < 6; left += 1) await objects.store.upload(`${prefix()}old/${left}`, file);
      await objects.store.upload(`${prefix()}states/kept`, file);
      const kept = async (): Promise<readonly string[]> => [`${prefix()}states/kept`];
      const uploads = await uploadsOf(fixture, 'one', { keepMs: 0, kept });
      objects.fault = (method) => (method === 'DELETE' ? 'hang' : null);
      await count(50);
      uploads.push();
      await uploads.settle();
      await eventually(() => objects.requests.some((request) => request.startsWith('DELETE')));
      await count(50);
      uploads.push();
      await uploads.settle();
      equal((await entry()).manifest!.sequence, 2);
      await uploads.close();
      objects.fault = null;
      const again = await uploadsOf(fixture, 'two', { keepMs: 0, kept });
      await count(50);
      await push(again);
      const listed = await objects.store.list(prefix());
      const named = Object.values((await entry()).files).map(({ name }) => name);
      deepEqual(listed.toSorted(), [...named, `${prefix()}states/kept`].toSorted());
      await again.close();
    } finally {
      objects.fault = null;
      await fixture.close();
    }
  });

  it('is opened from what the machine has while the store does not answer, and else awaited', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const shared = (newest: number, first = 1): SharedViews =>
      new SharedViews({
        bucket,
        store: new ObjectStore({ ...objects.options, endpoint: 'http://127.0.0.1:9' }),
        keys,
        views: VIEWS,
        stream: {
          first: async () => (Number.isNaN(first) ? Promise.reject(new Error('timeout')) : first),
          newestOf: async () => newest,
          sharedWith: () => [0],
          hearLost: () => () => undefined,
          answerCopies: () => () => undefined,
        },
        logger,
      });
    const copies = copiesIn(fixture.directory);
    try {
      const uploads = await uploadsOf(fixture, 'one');
      await count(50);
      await count(50);
      await push(uploads);
      const state = { sequence: 2, image: () => fixture.store.image() };
      await copies.store(state);
      equal(await shared(2).prepare(0, fixture.directory), 2);
      await rejects(shared(2).prepare(0, folder.path), StateAwaitedError);
      await server.kill();
      try {
        await rejects(shared(2).prepare(0, fixture.directory), StateAwaitedError);
      } finally {
        await server.restart();
      }
      // Nothing can be read, and the stream begins later: what is missing would be lost.
      const { revision } = (await readKey(bucket, keys.state(VIEWS, 0)))!;
      await bucket.remove(keys.state(VIEWS, 0), revision);
      equal(await shared(2).prepare(0, folder.path), 2);
      await rejects(shared(2, 2).prepare(0, folder.path), { name: 'SetupError' });
      await rejects(shared(2, NaN).prepare(0, folder.path), StateAwaitedError);
      await uploads.close();
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('answers in place of others once it has counted as much, and those do not come back', async () => {
    const old = await counting();
    const young = await counting();
    const others = { definition: 'fact:2 model:a', shards: 2 };
    const stream = {
      first: async () => 1,
      // The second shard has no entries.
      newestOf: async (shard: number) => (shard === 0 ? 2 : 0),
      sharedWith: () => [0],
      hearLost: () => () => undefined,
      answerCopies: () => () => undefined,
    };
    const make = (views: SharedDefinition): SharedViews =>
      new SharedViews({ bucket, store: objects.store, keys, views, stream, logger });
    const answering = async (): Promise<ActiveViews | null> =>
      (await readKey<ActiveViews>(bucket, keys.active))?.value ?? null;
    const open = (views: SharedDefinition, shard: number, fixture: Fixture) =>
      make(views).open(
        shard,
        fixture.directory,
        { sequence: 0, image: () => Promise.reject(new Error('not now')) },
        { guard: async () => undefined, onVoid: () => undefined },
      );
    const publish = async (shard: Awaited<ReturnType<typeof open>>): Promise<void> => {
      shard.published();
    };
    try {
      const first = await open(VIEWS, 0, old.fixture);
      await old.count(50);
      await old.count(50);
      await publish(first);
      await eventually(async () => (await answering())?.shards === 1);
      const [left, right] = await Promise.all([0, 1].map((shard) => open(others, shard, young.fixture)));
      await young.count(50);
      for (const each of [left!, right!]) await publish(each);
      await sleep(2500);
      equal((await answering())?.shards, 1);
      await young.count(50);
      for (const each of [left!, right!]) await publish(each);
      await eventually(async () => (await answering())?.shards === 2);
      await old.count(50);
      await publish(first);
      await sleep(2500);
      equal((await answering())?.shards, 2);

      // What the old ones left is deleted, after a while; what answers stays.
      const objectsOf = (views: SharedDefinition): Promise<string[]> =>
        objects.store.list(keys.objects(views, 0));
      const kept = await objectsOf(others);
      ok((await objectsOf(VIEWS)).length > 0 && kept.length > 0);
      let now = 0;
      const former = new FormerViews({ bucket, store: objects.store, keys, now: () => now, keepMs: 1000 });
      equal(await former.clean(keys.scopeOf(others)), 0);
      now = 999;
      equal(await former.clean(keys.scopeOf(others)), 0);
      now = 1000;
      equal(await former.clean(keys.scopeOf(others)), 1);
      deepEqual([await objectsOf(VIEWS), await objectsOf(others)], [[], kept]);
      deepEqual(
        (await keys.known(bucket)).map(({ scope, shard }) => [scope, shard]).toSorted(),
        [0, 1].map((shard) => [keys.scopeOf(others), shard]),
      );
      await Promise.all([first, left!, right!].map((each) => each.close()));
    } finally {
      await old.fixture.close();
      await young.fixture.close();
    }
  });

  it('is mirrored in a folder of its own for each number of shards, and beside a key that is damaged', async () => {
    const { fixture, count } = await counting();
    const folder = temporaryDirectory();
    const others = { ...VIEWS, shards: 2 };
    await bucket.put('damaged.0', 'no JSON');
    const mirror = mirrorIn(folder.path);
    try {
      const uploads = await uploadsOf(fixture, 'one');
      await count(100);
      await push(uploads);
      const revision = await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await eventually(async () => (await countedMessages(folder.path)) === 100);
      await writeKey(bucket, keys.shard(others, 0), await entry(), null);
      await writeKey(bucket, keys.active, { ...others, former: [] }, revision);
      await sleep(1500);
      equal(readActiveEpoch(folder.path)!.shards, 1);
      equal(await countedMessages(folder.path), 100);

      // An object that cannot be read, and a note of damage: what can be read is read once.
      const [directory] = liveDirectories(folder.path);
      const { name } = Object.values((await entry()).files)[0]!;
      await objects.store.remove(name);
      noteDamage(directory!, 'segments', 'test');
      await sleep(2500);
      ok(readdirSync(directory!).length < 3 * Object.keys((await entry()).files).length + 3);

      // Its owner is told, and uploads it again.
      const lost: string[] = [];
      sayLost = (key, gone) => {
        equal(key, keys.shard(VIEWS, 0));
        lost.push(gone);
        uploads.lost(gone);
      };
      await eventually(() => notedDamage(directory!, 'segments') === null);
      deepEqual(new Set(lost), new Set([name]));
      await eventually(async () => (await countedMessages(folder.path)) === 100);
      uploads.lost('another');
      await uploads.close();
    } finally {
      await mirror.close();
      await fixture.close();
      folder.remove();
    }
  });
});

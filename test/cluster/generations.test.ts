/** Faults that a review found, each with what led to it. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { FormerViews } from '../../src/cluster/former-views.ts';
import { Generations } from '../../src/cluster/generations.ts';
import { ShardUploads } from '../../src/cluster/shard-uploads.ts';
import { StateCopies } from '../../src/cluster/state-copies.ts';
import {
  objectsOf,
  openViewsBucket,
  readKey,
  ViewsKeys,
  writeKey,
  type PublishedShard,
  type SharedDefinition,
  type StoredState,
} from '../../src/cluster/views-bucket.ts';
import { silentLogger } from '../../src/logger.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import type { KeyValueBucket } from '../../src/stream/kv/key-value.ts';
import { openFixture, temporaryDirectory, type Fixture } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { startObjectStore, type TestObjectStore } from '../support/object-store.ts';
import { eventually } from '../support/processes.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

const VIEWS = { definition: 'fact:1 model:a', shards: 1 };
const OTHERS = { definition: 'fact:2 model:a', shards: 1 };
const logger = silentLogger();

describe('what an erasure takes out of a shared shard', () => {
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
    keys = await ViewsKeys.open(bucket, `${objects.options.url}/r${(places += 1)}`);
  });
  after(async () => {
    await connection?.close();
    await objects?.close();
    await server?.stop();
  });
  const uploadsOf = (
    fixture: Fixture,
    run: string,
    views: SharedDefinition = VIEWS,
    generation = 0,
  ): Promise<ShardUploads> =>
    ShardUploads.open({
      bucket,
      store: objects.store,
      key: keys.shard(views, 0),
      prefix: keys.objects(views, 0),
      run,
      guard: async () => undefined,
      stored: {},
      kept: async () =>
        ((await readKey<StoredState>(bucket, keys.state(views, 0)))?.value.copies ?? []).flatMap(objectsOf),
      generation,
      directory: fixture.directory,
      shard: 0,
      logger,
    });
  const copiesIn = (
    directory: string,
    views: SharedDefinition = VIEWS,
    store: ConstructorParameters<typeof StateCopies>[0]['store'] = objects.store,
  ): StateCopies =>
    new StateCopies({
      bucket,
      store,
      key: keys.state(views, 0),
      prefix: keys.objects(views, 0),
      directory,
      shard: 0,
      logger,
    });
  const stateOf = ({ store }: Fixture, sequence: number) => ({
    sequence,
    image: () => store.image(),
  });
  const generations = (): Generations =>
    new Generations({ bucket, store: objects.store, keys, askForCopy: async () => true, shardOf: () => 0 });
  const makingIn = (folder: string, signal: AbortSignal) => ({
    signal,
    folder: join(folder, 'making'),
    refold: async (from: string, directory: string) => {
      mkdirSync(directory, { recursive: true });
      copyFileSync(from, join(directory, 'state.duckdb'));
      // A refolded file has other bytes.
      writeFileSync(join(directory, 'state.duckdb'), 'x', { flag: 'a' });
    },
  });
  const entry = async (views: SharedDefinition = VIEWS): Promise<PublishedShard> =>
    (await readKey<PublishedShard>(bucket, keys.shard(views, 0)))!.value;
  const push = async (uploads: ShardUploads): Promise<void> => {
    uploads.push();
    await uploads.settle();
    await uploads.cleaned();
  };

  it('leaves no copy from before, also where a run ended half way', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    const folder = temporaryDirectory();
    const stream = new SyntheticStream({ messages: 600, days: 5, topics: 5 });
    try {
      const uploads = await uploadsOf(fixture, 'one');
      await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      await fixture.fold(stream.next(50));
      await fixture.publish();
      await push(uploads);
      const copies = copiesIn(fixture.directory);
      const old = await copies.store(stateOf(fixture, 1));
      ok(old);
      const ending = new AbortController();
      const first = generations().recount(
        makingIn(folder.path, ending.signal),
        new Set(['i']),
        async () => undefined,
      );
      first.catch(() => undefined);
      await eventually(() => copies.isVoid());
      ending.abort(new Error('killed'));
      await rejects(first);
      // The next run, somewhere else.
      const second = generations().recount(
        makingIn(folder.path, new AbortController().signal),
        new Set(['i']),
        async () => undefined,
      );
      await eventually(
        async () => (await readKey<StoredState>(bucket, keys.state(VIEWS, 0)))!.value.generation === 2,
      );
      const owner = await uploadsOf(fixture, 'two', VIEWS, 2);
      await push(owner);
      await second;
      const listed = await objects.store.list(keys.objects(VIEWS, 0));
      ok(!listed.includes(old.name), 'the copy from before the erasure is still in the store');
      await Promise.all([uploads.close(), owner.close()]);
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('is not published again by the owner of views that do not answer', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    const folder = temporaryDirectory();
    const stream = new SyntheticStream({ messages: 600, days: 5, topics: 5 });
    try {
      await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
      const uploads = await uploadsOf(fixture, 'one', OTHERS);
      await fixture.fold(stream.next(50));
      await fixture.publish();
      await push(uploads);
      await generations().recount(
        makingIn(folder.path, new AbortController().signal),
        new Set(['i']),
        async () => undefined,
      );
      equal((await entry(OTHERS)).manifest, null);
      await fixture.fold(stream.next(50));
      await fixture.publish();
      await push(uploads);
      const now = await entry(OTHERS);
      equal(now.manifest, null, 'a void manifest is published again');
      await uploads.close();
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('leaves neither a state that was set aside nor a rest of a download', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    const folder = temporaryDirectory();
    const stream = new SyntheticStream({ messages: 600, days: 5, topics: 5 });
    try {
      await fixture.fold(stream.next(50));
      await fixture.publish();
      const copies = copiesIn(fixture.directory);
      ok(await copies.store(stateOf(fixture, 1)));
      const directory = join(folder.path, '0');
      mkdirSync(directory);
      const left = ['state.duckdb.damaged', 'fetched.duckdb.0e0e.tmp', 'copy.duckdb'].map((name) =>
        join(directory, name),
      );
      for (const file of left) writeFileSync(file, 'somebody');
      const { value, revision } = (await readKey<StoredState>(bucket, keys.state(VIEWS, 0)))!;
      await writeKey(bucket, keys.state(VIEWS, 0), { ...value, generation: 1 }, revision);
      const there = copiesIn(directory);
      ok(await there.isVoid());
      ok(await there.fetchNewer());
      equal(await there.isVoid(), false);
      deepEqual(
        left.filter((file) => existsSync(file)),
        [],
      );
    } finally {
      await fixture.close();
      folder.remove();
    }
  });

  it('is known of former views, whose machines may be away', async () => {
    const folder = temporaryDirectory();
    try {
      // Views OTHERS answered before VIEWS; a machine with them is away. Data was taken out twice.
      const directory = join(folder.path, '0');
      mkdirSync(directory);
      writeFileSync(join(directory, 'GENERATION'), '2');
      const state = { generation: 2, begunAt: 1, at: 1, copies: [] };
      await writeKey(bucket, keys.state(OTHERS, 0), state, null);
      await writeKey(bucket, keys.active, { ...VIEWS, former: [keys.scopeOf(OTHERS)] }, null);
      const former = new FormerViews({ bucket, store: objects.store, keys, now: () => 0, keepMs: 0 });
      await former.clean(keys.scopeOf(VIEWS));
      // An erasure while it is away.
      await generations().recount(
        makingIn(folder.path, new AbortController().signal),
        new Set(['i']),
        async () => undefined,
      );
      ok(await copiesIn(directory, OTHERS).isVoid(), 'what the machine has is not void');
    } finally {
      folder.remove();
    }
  });

  it('leaves the folder usable while another worker of the machine looks at it', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    const folder = temporaryDirectory();
    const stream = new SyntheticStream({ messages: 600, days: 5, topics: 5 });
    try {
      await fixture.fold(stream.next(50));
      await fixture.publish();
      ok(await copiesIn(fixture.directory).store(stateOf(fixture, 1)));
      const directory = join(folder.path, '0');
      mkdirSync(directory);
      const { value, revision } = (await readKey<StoredState>(bucket, keys.state(VIEWS, 0)))!;
      await writeKey(bucket, keys.state(VIEWS, 0), { ...value, generation: 1 }, revision);
      const other = copiesIn(directory);
      const slow = {
        ...objects.store,
        upload: objects.store.upload.bind(objects.store),
        list: objects.store.list.bind(objects.store),
        remove: objects.store.remove.bind(objects.store),
        // The other worker looks while the download goes on.
        download: async (...of: Parameters<typeof objects.store.download>) => {
          await other.forgetVoid();
          return objects.store.download(...of);
        },
      };
      ok(await copiesIn(directory, VIEWS, slow).fetchNewer());
    } finally {
      await fixture.close();
      folder.remove();
    }
  });
});

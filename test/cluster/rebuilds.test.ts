import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Rebuilds, type Rebuild } from '../../src/cluster/rebuilds.ts';
import { NO_STATE, readKey, ViewsKeys, writeKey, type RebuiltState } from '../../src/cluster/views-bucket.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';

const VIEWS = { definition: 'fact:1 model:a', shards: 2 };
const HOW = { throttle: null, isFromBackup: false };
const { signal } = new AbortController();

describe('a rebuild as the machines see it', () => {
  let bucket: MemoryBucket;
  let keys: ViewsKeys;
  let rebuilds: Rebuilds;
  let rebuild: Rebuild;
  /** Names in the object store. */
  const objects = new Set<string>();
  /** Runs while an upload is on its way. */
  let duringUpload: () => Promise<void> = async () => undefined;
  beforeEach(async () => {
    bucket = new MemoryBucket();
    keys = await ViewsKeys.open(bucket, 's3://bucket/views');
    objects.clear();
    duringUpload = async () => undefined;
    rebuilds = new Rebuilds({
      bucket,
      keys,
      views: VIEWS,
      store: { download: async () => true, remove: async (name) => void objects.delete(name) },
      generations: {
        generationOf: async (views, shard) =>
          (await readKey<{ generation: number }>(bucket, keys.state(views, shard)))?.value.generation ?? 0,
        upload: async (_views, shard, { file, sequence }) => {
          objects.add(file);
          await duringUpload();
          return { name: file, sha256: String(shard), sequence, packs: [], published: null };
        },
      },
    });
    rebuild = await rebuilds.begin(HOW);
  });
  const raise = async (shard: number): Promise<void> => {
    const key = keys.state(VIEWS, shard);
    const before = await readKey(bucket, key);
    await writeKey(bucket, key, { ...NO_STATE, generation: 1 }, before?.revision ?? null);
  };
  const store = (file: string, shard = 0): Promise<boolean> =>
    rebuilds.store(rebuild, shard, { file, sequence: 1, generation: 0, faults: [] }, signal);

  it('is joined while it is unfinished', async () => {
    deepEqual(await rebuilds.begin({ throttle: 5, isFromBackup: true }), rebuild);
    await rebuilds.finish(rebuild);
    equal((await rebuilds.find())?.isDone, true);
    notEqual((await rebuilds.begin(HOW)).id, rebuild.id);
  });

  it('takes the state that comes first, and leaves no object of another', async () => {
    equal(await store('one'), true);
    equal(await store('two'), false);
    equal((await rebuilds.made(rebuild, 0))?.name, 'one');
    equal(await rebuilds.isWanted(rebuild, 0, 0), false);
    deepEqual([...objects], ['one']);
  });

  it('makes a state again when data was taken out of its shard', async () => {
    await store('one');
    await raise(0);
    equal(await rebuilds.made(rebuild, 0), null);
    equal(await rebuilds.isWanted(rebuild, 0, 1), true);
    duringUpload = () => raise(1);
    equal(await store('late', 1), false);
    ok(!objects.has('late'));
    equal(await readKey<RebuiltState>(bucket, keys.rebuilt(VIEWS, 1)), null);
  });

  it('leaves nothing when it is given up, and what a shard goes on with when it is done', async () => {
    await store('one');
    equal(await rebuilds.abandon(), true);
    equal(await rebuilds.abandon(), false);
    equal(await store('two'), false);
    deepEqual([...objects], []);
    rebuild = await rebuilds.begin(HOW);
    await store('one');
    await store('two', 1);
    const copies = [{ name: 'one', sha256: '', sequence: 1, packs: [], published: null }];
    await writeKey(bucket, keys.state(VIEWS, 0), { ...NO_STATE, generation: 1, copies }, null);
    await rebuilds.finish(rebuild);
    deepEqual([...objects], ['one']);
    equal(await readKey(bucket, keys.rebuilt(VIEWS, 0)), null);
  });
});

/** What does a copy of a long state cost, and how soon does another machine go on with it and answer? */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Mirror, mirroredFiles } from '../../src/cluster/mirror.ts';
import { SegmentCache } from '../../src/cluster/segment-cache.ts';
import { ShardUploads } from '../../src/cluster/shard-uploads.ts';
import { StateCopies } from '../../src/cluster/state-copies.ts';
import { openViewsBucket, ViewsKeys, writeKey } from '../../src/cluster/views-bucket.ts';
import { silentLogger } from '../../src/logger.ts';
import { readActiveEpoch, shardDirectory } from '../../src/store/epochs/epochs.ts';
import { copyOpenState, COPY_FILE } from '../../src/store/live/state-copy.ts';
import { StateStore } from '../../src/store/live/state-store.ts';
import { ObjectStore } from '../../src/store/objects/object-store.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { loadViews } from '../../src/store/view-files.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { VIEWS_DIRECTORY } from '../../src/worker/current-definition.ts';
import type { StoreAddress } from '../../test/faults/support/store-process.ts';
import { benchmark } from './load/benchmark.ts';
import { inFolder } from './load/folder.ts';
import { applyBatch, oneInstance, openHistory, publicationOf, streamOf } from './load/history.ts';
import { processorMs } from './load/ratios.ts';
import { startNats } from './load/service.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- takeover [OPTIONS]

What does a copy of the state of a shard with a long history cost, and how soon does another machine go on with it and
answer? A synthetic history is continued by --batch messages before each copy. The store is a process of its own on this
machine, whose answers take --delay ms. The alternative to a copy is a new file of the whole state.

  --messages N   messages of the history (default: 1000000)
  --batch N      messages between two copies (default: 5000)
  --delay MS     time of each answer of the store (default: 30)
  --keep FOLDER  keeps the history for the next time`;

const VIEWS = { definition: 'bench', shards: 1 };
const MEMORY_BYTES = 512 * 2 ** 20;

export const command = benchmark(USAGE, { messages: 1_000_000, batch: 5000, delay: 30, keep: '' }, (values) =>
  inFolder((folder) => measured(folder, values)),
);

type FindFiles = () => ReadonlyMap<string, string>;

interface Setting {
  readonly messages: number;
  readonly batch: number;
  readonly delay: number;
  readonly keep: string;
}

async function measured(folder: string, { messages, batch, delay, keep }: Setting): Promise<void> {
  const history = await openHistory(oneInstance(messages), { keep });
  const here = join(folder, 'here');
  mkdirSync(here);
  cpSync(shardDirectory(history.dataDir, 1, 0), here, { recursive: true });
  const nats = await startNats(folder);
  const { store, stop, env } = await startStore(delay);
  const connection = await openConnection({ url: nats.url, token: () => nats.token, name: 'bench' });
  const bucket = await openViewsBucket(connection, 1);
  const keys = await ViewsKeys.open(bucket, env['VIEWS_URL']!);
  const rows: string[][] = [];
  const logger = silentLogger();
  const timed = async <T>(
    what: string,
    work: () => Promise<T>,
    more: (made: T) => string = () => '',
  ): Promise<T> => {
    const [at, used, bytes] = [performance.now(), processorMs(), store.bytes];
    const made = await work();
    const stored = megabytes(store.bytes - bytes);
    rows.push([what, seconds(performance.now() - at), seconds(processorMs() - used), stored, more(made)]);
    return made;
  };
  const copiesIn = (directory: string, findFiles: FindFiles = () => new Map()): StateCopies =>
    new StateCopies({
      bucket,
      store,
      key: keys.state(VIEWS, 0),
      prefix: keys.objects(VIEWS, 0),
      directory,
      shard: 0,
      findFiles,
      logger,
    });
  const uploadsOf = (directory: string, run: string, copies: StateCopies): Promise<ShardUploads> =>
    ShardUploads.open({
      bucket,
      store,
      key: keys.shard(VIEWS, 0),
      prefix: keys.objects(VIEWS, 0),
      run,
      guard: async () => undefined,
      stored: copies.takeStoredFiles(),
      kept: () => copies.kept(),
      generation: 0,
      directory,
      shard: 0,
      logger,
    });
  const views = loadViews(VIEWS_DIRECTORY);
  const open = (directory: string): Promise<StateStore> =>
    StateStore.open({
      directory,
      views,
      analysis: 'bench',
      threads: 2,
      memoryBytes: MEMORY_BYTES,
      spillDirectory: join(directory, 'spill'),
    });
  const times = { graceMs: 0, now: () => 0 };
  try {
    const state = await open(here);
    const publication = publicationOf(state, times);
    const copies = copiesIn(here);
    const uploads = await uploadsOf(here, 'one', copies);
    const push = async (of: ShardUploads): Promise<void> => {
      of.push();
      await of.settle();
    };
    const next = streamOf({ ...history, messages: messages + 20 * batch });
    for (let done = 0; done < messages; done += 50_000) next(Math.min(50_000, messages - done));
    const count = async (to: StateStore): Promise<void> => {
      await applyBatch(to, next(batch), []);
    };
    await timed(
      'all files to the store',
      () => push(uploads),
      () => megabytes(sizeOf(here, /newest|merged/)),
    );
    const copy = async (what: string): Promise<void> => {
      await timed(
        what,
        () => copies.store(state, uploads.own),
        () => megabytes(sizeOf(here, /^state/)),
      );
    };
    await copy('the first copy');
    for (const which of ['second', 'third']) {
      await count(state);
      await publication.publish();
      await push(uploads);
      await copy(`the ${which} copy`);
    }
    await count(state);
    await state.writeLog();
    await copy('a copy after a checkpoint');
    await timed(
      'alternative: a new file',
      () => copyOpenState(state),
      () => megabytes(sizeOf(here, /^copy/)),
    );
    rmSync(join(here, COPY_FILE));
    const standby = join(folder, 'standby');
    const { signal } = new AbortController();
    await timed('a standby from nothing', () => copiesIn(standby).keepStandby(signal));
    await count(state);
    await publication.publish();
    await push(uploads);
    await copies.store(state, uploads.own);
    await timed('a standby is kept', () => copiesIn(standby).keepStandby(signal));

    await writeKey(bucket, keys.active, { ...VIEWS, former: [] }, null);
    const mirrored = join(folder, 'web');
    const cache = new SegmentCache();
    const readFirst = async (): Promise<{ readonly reader: SnapshotReader; readonly mirror: Mirror }> => {
      const mirror = new Mirror({
        bucket,
        store,
        keys,
        stream: { newestOf: async () => 0, sharedWith: (shard) => [shard] },
        sayLost: () => undefined,
        folder: mirrored,
        cache,
        logger,
      });
      while (readActiveEpoch(mirrored) === null) await new Promise((soon) => setTimeout(soon, 20));
      const { epoch } = readActiveEpoch(mirrored)!;
      const reader = await SnapshotReader.open({
        directory: () => shardDirectory(mirrored, epoch, 0),
        views,
        threads: 2,
        connections: 2,
        files: cache,
      });
      await reader.read(({ all }) =>
        all('select sum(messages) as messages from @session_rollup where granularity = 4'),
      );
      return { reader, mirror };
    };
    const web = await timed('web from nothing: first answer', readFirst, () => megabytes(cache.bytes));
    await timed(
      'web: all files',
      () => web.mirror.close(),
      () => megabytes(cache.bytes),
    );
    await web.reader.close();
    await uploads.close();

    const takeOver = async (directory: string, run: string, findFiles: FindFiles): Promise<void> => {
      const there = copiesIn(directory, findFiles);
      await timed(`${run}: the state comes`, () => there.fetchNewer());
      const taken = await timed(`${run}: it opens`, () => open(directory));
      const owner = await uploadsOf(directory, run, there);
      const published = publicationOf(taken, times);
      await timed(`${run}: ${batch} messages are counted`, () => count(taken));
      await timed(`${run}: all see them`, async () => {
        await published.publish();
        await push(owner);
      });
      await owner.close();
      await published.close();
      await taken.close();
    };
    await takeOver(standby, 'with a standby and a mirror', () => mirroredFiles(mirrored));
    await publication.close();
    await state.close();
    rmSync(standby, { recursive: true });
    await takeOver(join(folder, 'empty'), 'with nothing', () => new Map());
    console.log(table([`${messages} messages`, 'seconds', 'processor s', 'MB stored', 'MB in all'], rows));
  } finally {
    await connection.close();
    await nats.stop();
    stop();
    history.remove();
  }
}

async function startStore(
  delayMs: number,
): Promise<{ readonly store: CountingStore; readonly stop: () => void; readonly env: StoreAddress['env'] }> {
  const child = fork(join(import.meta.dirname, '../../test/faults/support/store-process.ts'));
  const [{ env }] = (await once(child, 'message')) as [StoreAddress];
  child.send({ kind: 'none', share: 0, seed: 0, delayMs });
  const store = new CountingStore({
    url: env['VIEWS_URL']!,
    endpoint: env['AWS_ENDPOINT_URL']!,
    region: 'us-east-1',
    accessKeyId: env['AWS_ACCESS_KEY_ID']!,
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY']!,
  });
  return { store, env, stop: () => void child.kill() };
}

/** Counts the bytes that go to the store. */
class CountingStore extends ObjectStore {
  bytes = 0;

  override async upload(...[name, file, signal]: Parameters<ObjectStore['upload']>): Promise<void> {
    this.bytes += statSync(file).size;
    await super.upload(name, file, signal);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Bytes of the files of a folder whose names match. */
function sizeOf(directory: string, name: RegExp): number {
  const files = readdirSync(directory).filter((file) => name.test(file));
  return files.reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
}

import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mirror } from '../../src/cluster/mirror.ts';
import { SegmentCache } from '../../src/cluster/segment-cache.ts';
import { ViewsKeys } from '../../src/cluster/views-bucket.ts';
import { silentLogger } from '../../src/logger.ts';
import { shardDirectory } from '../../src/store/epochs/epochs.ts';
import { readManifest } from '../../src/store/published/manifest.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import { eventually } from '../support/processes.ts';

const VIEWS = { definition: 'fact:1 model:a', shards: 2 };

describe('a mirror', () => {
  const folder = temporaryDirectory();
  after(() => folder.remove());

  it('goes back to no earlier manifest of a shard while a file of another one is lost', async () => {
    const bucket = new MemoryBucket();
    const keys = await ViewsKeys.open(bucket, 's3://bucket/views');
    /** Publishes a manifest with one file, whose object has the same name. */
    const publish = (shard: number, sequence: number, name: string): Promise<number> => {
      const segment = {
        file: `newest-${name}.duckdb`,
        seq: sequence,
        rows: 1,
        from: null,
        to: null,
        replaces: false,
      };
      const manifest = {
        seq: sequence,
        sequence,
        store: 'store',
        views: {},
        behind: {},
        deferred: 0,
        tables: { table: [segment] },
        sizes: { [segment.file]: 1 },
      };
      const files = { [segment.file]: { name, sha256: name } };
      const entry = { run: 'run', machine: 'machine', at: 0, generation: 0, manifest, files };
      return bucket.put(keys.shard(VIEWS, shard), JSON.stringify(entry));
    };
    const slow = Promise.withResolvers<void>();
    const asked: string[] = [];
    const cache = new SegmentCache();
    await publish(0, 1, 'lost');
    await publish(1, 1, 'slow');
    await bucket.put(keys.active, JSON.stringify({ ...VIEWS, former: [] }));
    const mirror = new Mirror({
      bucket,
      store: {
        download: async (name, file) => {
          asked.push(name);
          if (name === 'slow') await slow.promise;
          if (name !== 'lost') writeFileSync(file, 'x');
          return name !== 'lost';
        },
      },
      keys,
      stream: { newestOf: async () => 0, sharedWith: () => [0] },
      sayLost: () => undefined,
      folder: folder.path,
      cache,
      logger: silentLogger(),
    });
    try {
      await eventually(() => asked.includes('lost') && asked.includes('slow'));
      await publish(1, 2, 'next');
      // Time for another try.
      await sleep(1000);
      const [epoch] = readdirSync(join(folder.path, 'views')).map(Number);
      const reached = (): number => readManifest(shardDirectory(folder.path, epoch!, 1))?.sequence ?? 0;
      const seen = [reached()];
      slow.resolve();
      await eventually(() => {
        seen.push(reached());
        return asked.filter((name) => name === 'lost').length > 3;
      });
      equal(seen.at(-1), 2);
      deepEqual(
        seen,
        seen.toSorted((one, other) => one - other),
      );
      ok(asked.includes('next'));
    } finally {
      await Promise.all([mirror.close(), cache.close()]);
    }
  });
});

import { afterEach, beforeEach, describe, it } from 'node:test';
import { equal } from 'node:assert/strict';
import { ShardReaders } from '../../../src/store/published/shard-readers.ts';
import { shardDirectory, writeActiveEpoch } from '../../../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { openSaid, SAID_VIEWS } from '../../support/said-views.ts';

describe('the readers of all shards', () => {
  let data: { path: string; remove: () => void };
  let readers: ShardReaders;

  beforeEach(async () => {
    data = temporaryDirectory();
    readers = await ShardReaders.open({
      dataDir: data.path,
      shards: 2,
      shardOf: () => 0,
      open: (directory) => SnapshotReader.open({ directory, views: SAID_VIEWS, threads: 1, connections: 1 }),
      onError: () => undefined,
    });
  });
  afterEach(async () => {
    await readers.close();
    data.remove();
  });

  const publish = async (shard: number): Promise<void> => {
    const fixture = await openSaid({ directory: shardDirectory(data.path, 1, shard) });
    await fixture.publish();
    await fixture.close();
  };

  it('are ready when a worker has published every shard, be it nothing yet', async () => {
    const missing = 'are not there yet: no worker has published them';
    equal(await readers.whyNotReady(), missing);
    writeActiveEpoch(data.path, { epoch: 1, shards: 2 });
    equal(await readers.whyNotReady(), missing);
    await publish(0);
    equal(await readers.whyNotReady(), missing);
    await publish(1);
    equal(await readers.whyNotReady(), null);
  });
});

/**
 * `npm run cluster`: what the machines that share their views have of each shard.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { openViewsBucket, statusOf, ViewsKeys, type ShardStatus } from '../cluster/views-bucket.ts';
import { loadConfig } from '../config.ts';
import { SetupError } from '../errors.ts';
import { completeUntil } from '../store/published/manifest.ts';
import { lastSequenceOf } from '../stream/log/consumer.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { action, runCommand, type Work } from './command.ts';
import { onStream } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage: npm run --silent cluster -- status

The shards of the views that machines share (VIEWS_URL): the machine that counts each, entries that it has not published
yet, megabytes in the object store, and the age of the newest publication and of the copy with which another machine would
go on.`;

const status = action({
  read: () => async (run) => {
    const { viewsStore } = loadConfig();
    if (viewsStore === null)
      throw new SetupError('VIEWS_URL is not set: this machine shares its views with no other.');
    return show(viewsStore.url)(run);
  },
});

function show(url: string): Work {
  return onStream(async (connection, { streamReplicas }) => {
    const bucket = await openViewsBucket(connection, streamReplicas);
    const found = await statusOf(bucket, await ViewsKeys.open(bucket, url));
    if (found === null) throw new SetupError(`Nothing is published at ${url} yet: start a worker.`);
    const rows = await Promise.all(
      found.shards.map(async (shard) =>
        rowOf(shard, await lastSequenceOf(connection, partitionsOf(shard.shard, found.views.shards))),
      ),
    );
    process.stdout.write(tableOf(['SHARD', 'MACHINE', 'BEHIND', 'MB', 'PUBLISHED', 'COPY'], rows));
  });
}

function rowOf({ shard, published, state }: ShardStatus, newest: number): string[] {
  const manifest = published?.manifest ?? null;
  const bytes = Object.values(manifest?.sizes ?? {}).reduce((sum, size) => sum + size, 0);
  return [
    String(shard),
    published?.machine ?? 'none',
    manifest === null ? 'all' : `up to ${Math.max(0, newest - completeUntil(manifest))} entries`,
    (bytes / 1e6).toFixed(1),
    manifest === null ? 'never' : ageOf(published!.at),
    state === null ? 'none' : ageOf(state.at),
  ];
}

function ageOf(at: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1000));
  return seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}

await runCommand({ usage: USAGE, actions: { status } });

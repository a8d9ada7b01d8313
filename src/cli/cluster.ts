/**
 * `npm run cluster`: what the machines that share their views have of each shard, and which of them own none.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { openPlace, type SharedPlace } from '../cluster/place.ts';
import { drainedIn, setDrained, statusOf } from '../cluster/views-bucket.ts';
import { loadConfig } from '../config.ts';
import type { SharedShardFigures } from '../domain/service-health.ts';
import { SetupError } from '../errors.ts';
import { lastSequenceOf } from '../stream/log/consumer.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { action, runCommand, UsageError, type Work } from './command.ts';
import { onStream } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run --silent cluster -- status
  npm run --silent cluster -- drain MACHINE
  npm run --silent cluster -- undrain MACHINE

"status" shows the shards of the views that machines share (VIEWS_URL): the machine that counts each, entries that it has
not published yet, megabytes in the object store, and the age of the newest publication and of the copy with which another
machine would go on. "drain" has the workers of a machine hand all their shards to others, with a copy of each state, and
take none until "undrain": then it can be stopped without a wait. Shards divide themselves evenly among the other workers.`;

interface Opened extends SharedPlace {
  readonly newestOf: (shard: number, shards: number) => Promise<number>;
}

function onViews(work: (opened: Opened) => Promise<void>): Work {
  return async (run) => {
    const { viewsStore } = loadConfig();
    if (viewsStore === null)
      throw new SetupError('VIEWS_URL is not set: this machine shares its views with no other.');
    return onStream(async (connection, { streamReplicas }) => {
      await work({
        ...(await openPlace(connection, viewsStore, streamReplicas)),
        newestOf: (shard, shards) => lastSequenceOf(connection, partitionsOf(shard, shards)),
      });
    })(run);
  };
}

const status = action({
  read: () =>
    onViews(async ({ bucket, keys, newestOf }) => {
      const shards = await statusOf(bucket, keys, newestOf);
      if (shards === null) throw new SetupError('Nothing is published yet: start a worker.');
      process.stdout.write(
        tableOf(['SHARD', 'MACHINE', 'BEHIND', 'MB', 'PUBLISHED', 'COPY'], shards.map(rowOf)),
      );
      const drained = await drainedIn(bucket, keys);
      if (drained.length > 0) process.stdout.write(`drained: ${drained.join(', ')}\n`);
    }),
});

function draining(isDrained: boolean): ReturnType<typeof action> {
  return action({
    operands: 1,
    read(_, [machine]) {
      if (machine === undefined) throw new UsageError('MACHINE is missing: "status" shows the names.');
      return onViews(async ({ bucket, keys, newestOf }) => {
        const isNew = await setDrained(bucket, keys, machine, isDrained);
        const what = isDrained
          ? 'hands its shards over now, and takes none until "undrain"'
          : 'takes its part of the shards again';
        const isSo = isDrained ? 'was drained before' : 'was not drained';
        process.stdout.write(`${machine} ${isNew ? what : isSo}\n`);
        const owners = new Set(
          ((await statusOf(bucket, keys, newestOf)) ?? []).map((shard) => shard.machine),
        );
        if (isDrained && !owners.has(machine))
          process.stdout.write(`It owns no shard now. Owners: ${[...owners].toSorted().join(', ')}\n`);
      });
    },
  });
}

function rowOf({ shard, machine, behind, bytes, publishedAt, copiedAt }: SharedShardFigures): string[] {
  return [
    String(shard),
    machine === '' ? 'none' : machine,
    publishedAt === 0 ? 'all' : `up to ${behind} entries`,
    (bytes / 1e6).toFixed(1),
    publishedAt === 0 ? 'never' : ageOf(publishedAt),
    copiedAt === null ? 'none' : ageOf(copiedAt),
  ];
}

function ageOf(at: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1000));
  return seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
}

await runCommand({
  usage: USAGE,
  actions: { status, drain: draining(true), undrain: draining(false) },
});

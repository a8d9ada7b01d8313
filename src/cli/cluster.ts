/**
 * `npm run cluster`: what the machines that share their views have of each shard, and which of them own none.
 *
 * Test: test/cli/cluster.test.ts, test/cluster/machines.test.ts.
 */
import { openPlace, type SharedPlace } from '../cluster/place.ts';
import { drainedIn, ownersIn, setDrained, statusOf } from '../cluster/views-bucket.ts';
import { loadConfig } from '../config.ts';
import { printable } from '../domain/printable.ts';
import type { SharedShardFigures } from '../domain/service-health.ts';
import { SetupError } from '../errors.ts';
import { lastSequenceOf } from '../stream/log/consumer.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { action, runCommand, UsageError, type Work } from './command.ts';
import { onStream } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run --silent cluster -- status
  npm run --silent cluster -- drain MACHINE [--force]
  npm run --silent cluster -- undrain MACHINE

"status" shows the shards of the views that machines share (VIEWS_URL): the machine that counts each, entries that it has
not published yet, megabytes in the object store, and the age of the newest publication and of the copy with which another
machine would go on. "drain" has the workers of a machine hand all their shards to others, with a copy of each state, and
take none until "undrain": then it can be stopped without a wait. Shards divide themselves evenly among the other workers.
A machine that has never had a shard is drained with --force.`;

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

const drain = action({
  options: { force: { type: 'boolean' } },
  operands: 1,
  read({ force }, [name]) {
    const machine = named(name);
    return onViews(async ({ bucket, keys }) => {
      if (force !== true) await refuseUnknown({ bucket, keys }, machine);
      const isNew = await setDrained(bucket, keys, machine, true);
      const what = 'hands its shards over now, and takes none until "undrain"';
      process.stdout.write(`${machine} ${isNew ? what : 'was drained before'}\n`);
    });
  },
});

const undrain = action({
  operands: 1,
  read(_, [name]) {
    const machine = named(name);
    return onViews(async ({ bucket, keys }) => {
      const isNew = await setDrained(bucket, keys, machine, false);
      process.stdout.write(
        `${machine} ${isNew ? 'takes its part of the shards again' : 'was not drained'}\n`,
      );
    });
  },
});

function named(machine: string | undefined): string {
  if (machine === undefined) throw new UsageError('MACHINE is missing: "status" shows the names.');
  return machine;
}

/** @throws SetupError for a name that no owner of a shard and no drained machine has */
async function refuseUnknown(
  { bucket, keys }: Pick<SharedPlace, 'bucket' | 'keys'>,
  machine: string,
): Promise<void> {
  const known = new Set([...(await ownersIn(bucket, keys)), ...(await drainedIn(bucket, keys))]);
  if (known.has(machine)) return;
  const names = known.size === 0 ? 'none' : [...known].toSorted().join(', ');
  throw new SetupError(
    `No machine ${printable(machine)} has had a shard. Known machines: ${names}. With --force it is drained all the same.`,
  );
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
  actions: { status, drain, undrain },
});

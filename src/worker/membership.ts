/**
 * Joins this process to the workers of one build of the views: it competes for leases and opens the shards it gains.
 *
 * Test: test/worker/workers.test.ts.
 */
import type { Epoch } from '../store/epochs/epochs.ts';
import { viewsId } from '../store/epochs/views-id.ts';
import { deadLetter } from '../stream/dead-letters/dead-letters.ts';
import { isDeadHolder } from '../stream/kv/process-identity.ts';
import type { Lease } from '../stream/kv/lease.ts';
import { Leases, type LeaseHolder } from '../stream/kv/leases.ts';
import { answerRequests } from '../stream/request-reply.ts';
import { copySubject } from '../stream/subjects.ts';
import type { AnalysisPool } from '../reader/threads/pool.ts';
import { OwnedShards } from './owned-shards.ts';
import { openShard, type Shard, type ShardOptions } from './shard.ts';

const PUBLISH_EVERY_MS = 150;
const WAIT_MS = 1000;

export interface MembershipOptions extends Pick<
  ShardOptions,
  'dataDir' | 'batchBytes' | 'memoryBytes' | 'connection' | 'logger' | 'openWriter' | 'openAlerts' | 'sharing'
> {
  readonly replicas: number;
  readonly holder: LeaseHolder;
  /** Shards open once it resolves. */
  readonly analysis: Promise<AnalysisPool>;
}

/** The part of this process in the work on one build of the views. */
export interface Membership {
  readonly leases: Leases;
  readonly owned: OwnedShards;
}

/** Announces this process as a worker on a build of the views, and starts to compete for its shards. */
export async function joinWorkers(options: MembershipOptions, active: Epoch): Promise<Membership> {
  const { dataDir, connection, holder, logger, replicas } = options;
  const views = viewsId(dataDir);
  const open = async (lease: Lease, waitForLockMs: number): Promise<Shard> => {
    const { shard } = lease;
    const opened = await openShard({
      ...options,
      analysis: await options.analysis,
      active,
      shard,
      waitMs: WAIT_MS,
      publishEveryMs: PUBLISH_EVERY_MS,
      setAside: (entry, reason) => deadLetter(connection, entry, reason),
      guard: () => lease.confirm(),
      onVoid: () => void leases.release(shard),
      waitForLockMs,
      haltWhenLost: true,
    });
    const { sequence } = opened.store;
    logger.info({ event: 'shard_opened', epoch: active.epoch, shard, sequence }, 'views opened');
    return opened;
  };
  const owned = new OwnedShards({
    logger,
    open,
    onOpened: ({ shard }, opened) =>
      answerRequests(connection, copySubject(views, active.epoch, shard), () => opened.copyState()),
  });
  const leases = await Leases.open(connection, {
    scope: options.sharing?.scope ?? `${views}.${active.epoch}`,
    shards: active.shards,
    holder,
    isDead: isDeadHolder(holder),
    onGained: (lease) => owned.gain(lease),
    onLetGo: (lease) => owned.letGo(lease),
    replicas,
  });
  return { leases, owned };
}

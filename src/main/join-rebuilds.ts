/**
 * Has a worker take part in rebuilds of the views that it shares, with a process of the lowest priority.
 *
 * Test: test/cluster/shared-rebuild.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { generationsAt, openPlace } from '../cluster/place.ts';
import { Rebuilds, type Rebuild } from '../cluster/rebuilds.ts';
import type { SharedDefinition } from '../cluster/views-bucket.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import type { Logger } from '../logger.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { Claims } from '../stream/kv/claims.ts';
import { thisHolder } from '../stream/kv/process-identity.ts';
import { isRebuildWanted } from './auto-rebuild.ts';
import { startCommand, type Started } from './started-command.ts';

const LOOK_MS = 1000;
/** Pause after a failure; it doubles after each further one. */
const AGAIN_MS = { first: 2000, most: 60_000 } as const;

export interface JoinOptions {
  readonly place: ObjectStoreOptions;
  readonly replicas: number;
  /** The views that the worker makes. */
  readonly views: SharedDefinition;
  readonly dataDir: string;
  /** True while this machine is to own no shard: then it takes no part either. */
  readonly isDrained: () => boolean;
}

/** Looks for a rebuild with a shard that nobody makes, and runs `npm run rebuild -- --join` while there is one. */
export async function joinRebuilds(
  connection: StreamConnection,
  { place, replicas, views, dataDir, isDrained }: JoinOptions,
  logger: Logger,
): Promise<{ stop(): Promise<void> }> {
  const shared = await openPlace(connection, place, replicas);
  const rebuilds = new Rebuilds({ ...shared, generations: generationsAt(shared, connection), views });
  const claims = await Claims.open(connection, thisHolder(), replicas);
  const key = shared.keys.rebuild(views);
  const ending = new AbortController();
  let running: Started | null = null;

  const hasFreeShard = async (rebuild: Rebuild): Promise<boolean> => {
    for (let shard = 0; shard < views.shards; shard += 1)
      if ((await rebuilds.made(rebuild, shard)) === null && !(await claims.isTaken(`${key}.${shard}`)))
        return true;
    return false;
  };
  const findFree = async (): Promise<Rebuild | null> => {
    if (isDrained()) return null;
    const rebuild = await rebuilds.find();
    if (rebuild === null || rebuild.isDone || rebuild.isFromBackup) return null;
    if (!(await hasFreeShard(rebuild))) return null;
    // Whoever runs the command on this machine takes part already.
    const isFree = (await isRebuildWanted(dataDir)) && (await isRebuildWanted(dataDir, 'rebuild-part'));
    return isFree ? rebuild : null;
  };
  const work = async (): Promise<void> => {
    let pauseMs = LOOK_MS;
    let again: number = AGAIN_MS.first;
    while (!ending.signal.aborted) {
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
      pauseMs = LOOK_MS;
      try {
        const rebuild = await findFree();
        if (rebuild === null || ending.signal.aborted) continue;
        const { throttle } = rebuild;
        const args = ['--join', ...(throttle === null ? [] : ['--throttle', String(throttle)])];
        running = startCommand('rebuild.ts', args, 'rebuild', logger);
        const drained = setInterval(() => {
          if (isDrained()) void running?.stop();
        }, LOOK_MS);
        const code = await running.ended;
        clearInterval(drained);
        running = null;
        if (code !== 0) pauseMs = again;
        again = code === 0 ? AGAIN_MS.first : Math.min(2 * again, AGAIN_MS.most);
      } catch (error) {
        // NATS is unavailable; the next round tries again.
        logger.debug(
          { event: 'rebuild_unknown', err: error },
          'the rebuild of the views cannot be looked at',
        );
      }
    }
  };
  const worked = work();
  return {
    async stop() {
      ending.abort();
      await running?.stop();
      await worked;
    },
  };
}

/**
 * Watches the whole service from web, for `/readyz` and `/metrics`.
 *
 * Test: test/health/service-watch.test.ts.
 */
import { statfsSync } from 'node:fs';
import type { ServiceFigures, ServiceHealth, SharedShardFigures } from '../domain/service-health.ts';
import type { Logger } from '../logger.ts';
import { hasViews, readActiveEpoch, shardDirectory } from '../store/epochs/epochs.ts';
import { readManifest, type Reached } from '../store/published/manifest.ts';
import { countDeadLetters, readBacklog, readStreamUse } from '../stream/log/backlog.ts';
import type { Backlog, DeadLetterCount, Position } from '../stream/log/backlog.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { degradationsOf } from './degraded-reasons.ts';
import type { ServiceState } from './degraded-reasons.ts';
import { readStartStatus, readUnreadable, readWorkerStatuses } from './process-status.ts';

/** Interval between requests to the stream. */
const ASK_EVERY_MS = 5000;
/** Age from which files are read again. */
const FILES_MS = 500;
const REMEMBERED = 20;

export interface ServiceWatchOptions {
  readonly dataDir: string;
  /** The data directory whose views are read. Default: `dataDir`. */
  readonly viewsFolder?: string;
  /** True if this process answers from views, which a worker must update. */
  readonly needsWorker: boolean;
  /** Null until the connection exists. */
  readonly connection: () => StreamConnection | null;
  /** Reads the shards that machines share. Default: there are none. */
  readonly sharedShards?: () => Promise<readonly SharedShardFigures[]>;
  /** Failures to read the views. */
  readonly readerFailures: FailureLog;
  readonly log: Pick<Logger, 'debug'>;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
}

/** The position of a shard's views. */
type ShardPosition = Position & Reached;

/** The last answer of the stream. */
interface Asked {
  readonly stream: NonNullable<ServiceState['stream']>;
  readonly deadLetters: DeadLetterCount;
  readonly sharedShards: readonly SharedShardFigures[];
  /** Null if there are no views. */
  readonly backlog: { readonly entries: number; readonly oldestAt: number | null } | null;
}

/** Counts failures, and keeps the times of the latest. */
export class FailureLog {
  count = 0;
  /** Milliseconds since 1970-01-01 UTC. */
  latest: readonly number[] = [];

  note(at: number): void {
    this.count += 1;
    this.latest = [...this.latest, at].slice(-REMEMBERED);
  }
}

/** Computes degradations and figures from the last answers; files are read at most every FILES_MS. */
export class ServiceWatch implements ServiceHealth {
  readonly #options: ServiceWatchOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt: number;
  #asking: Promise<void> | null = null;
  #asked: Asked | null = null;
  #reached = '';
  /** When a shard last advanced, or no entry waited. */
  #movedAt: number;
  #read: { readonly at: number; readonly answer: ReturnType<ServiceHealth['read']> } | null = null;

  constructor(options: ServiceWatchOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#movedAt = this.#startedAt;
    this.#timer = setInterval(() => void this.ask(), ASK_EVERY_MS).unref();
  }

  /** Asks the stream now, in addition to the regular interval. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask()
      .catch((error: unknown) => {
        // Callers that need the stream report that it cannot be reached.
        this.#asked = null;
        this.#options.log.debug({ event: 'service_watch_failed', err: error }, 'the stream did not answer');
      })
      .finally(() => {
        this.#asking = null;
        this.#read = null;
      });
    return this.#asking;
  }

  read(): ReturnType<ServiceHealth['read']> {
    const now = this.#options.now();
    if (this.#read !== null && Math.abs(now - this.#read.at) < FILES_MS) return this.#read.answer;
    const state = this.#state(now);
    const answer = { degradations: degradationsOf(state), figures: this.#figuresOf(state) };
    this.#read = { at: now, answer };
    return answer;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const connection = this.#options.connection();
    if (connection === null || !connection.connected) {
      this.#asked = null;
      return;
    }
    const positions = this.#positions();
    const [use, deadLetters, sharedShards = []] = await Promise.all([
      readStreamUse(connection),
      countDeadLetters(connection),
      this.#options.sharedShards?.(),
    ]);
    const behind = positions?.filter(({ sequence }) => sequence < use.lastSequence) ?? [];
    const backlog =
      positions === null ? null : withDeferred(await readBacklog(connection, behind), positions);
    const reached = positions?.map(({ seq }) => seq).join() ?? '';
    if (reached !== this.#reached || backlog?.entries === 0) this.#movedAt = this.#options.now();
    this.#reached = reached;
    const counted = Math.max(0, ...(positions ?? []).map(({ sequence }) => sequence));
    this.#asked = {
      stream: { ...use, lost: Math.max(0, counted - use.lastSequence) },
      deadLetters,
      sharedShards,
      backlog,
    };
  }

  /** Positions of the views that answer queries; null if there are none to update. */
  #positions(): ShardPosition[] | null {
    const { needsWorker, dataDir: own } = this.#options;
    const dataDir = this.#options.viewsFolder ?? own;
    const active = readActiveEpoch(dataDir);
    if (active === null) {
      if (!needsWorker || hasViews(dataDir)) return null;
      return [{ partitions: partitionsOf(0, 1), seq: 0, sequence: 0, behind: {}, deferred: 0 }];
    }
    return Array.from({ length: active.shards }, (_, shard) => {
      const manifest = readManifest(shardDirectory(dataDir, active.epoch, shard));
      const { seq = 0, sequence = 0, behind = {}, deferred = 0 } = manifest ?? {};
      return { partitions: partitionsOf(shard, active.shards), seq, sequence, behind, deferred };
    });
  }

  #state(now: number): ServiceState {
    const { dataDir, needsWorker, readerFailures } = this.#options;
    const asked = this.#asked;
    const waiting = asked?.backlog ?? null;
    const stream = asked?.stream ?? null;
    return {
      now,
      watchedMs: now - this.#startedAt,
      needsWorker,
      workers: readWorkerStatuses(dataDir),
      start: readStartStatus(dataDir),
      lag:
        waiting === null
          ? null
          : {
              entries: waiting.entries,
              seconds: waiting.oldestAt === null ? 0 : Math.max(0, now - waiting.oldestAt) / 1000,
              unmovedMs: now - this.#movedAt,
            },
      deadLetters: asked?.deadLetters ?? null,
      readersFailedAt: readerFailures.latest,
      // NATS counts damaged entries as present until they are read.
      stream: stream && { ...stream, missing: Math.max(stream.missing, readUnreadable(dataDir)) },
      disk: diskOf(dataDir),
    };
  }

  #figuresOf({ workers, start, lag, deadLetters, stream, disk }: ServiceState): ServiceFigures {
    const known = start === null || start.ended ? [] : start.status.processes;
    const alive = workers.filter(({ ended }) => !ended);
    const nameOf = (pid: number): string =>
      known.find((process) => process.pid === pid)?.name ?? (alive.length === 1 ? 'worker' : `worker-${pid}`);
    const supervised = new Set(known.map(({ pid }) => pid));
    const others = alive
      .filter(({ status: { pid } }) => !supervised.has(pid))
      .map(({ status: { pid, residentBytes } }) => ({ name: nameOf(pid), restarts: null, residentBytes }));
    const own = supervised.has(process.pid)
      ? []
      : [{ name: 'web', restarts: null, residentBytes: process.memoryUsage.rss() }];
    return {
      workers: alive.map(({ status: { pid, shards, writer, alerts }, ageMs }) => ({
        name: nameOf(pid),
        heartbeatAgeSeconds: ageMs / 1000,
        shards,
        writer,
        alerts,
      })),
      lag,
      processes: [...known, ...own, ...others],
      readerFailures: this.#options.readerFailures.count,
      deadLetters: deadLetters?.entries ?? null,
      stream,
      disk,
      sharedShards: this.#asked?.sharedShards ?? [],
    };
  }
}

/** Adds the deferred entries to those after the positions. */
function withDeferred({ entries, oldestAt }: Backlog, positions: readonly ShardPosition[]): Backlog {
  const behind = positions.flatMap((position) => Object.values(position.behind));
  const oldest = Math.min(oldestAt ?? Infinity, ...behind.map(({ storedAt }) => storedAt / 1000));
  return {
    entries: positions.reduce((sum, { deferred }) => sum + deferred, entries),
    oldestAt: oldest === Infinity ? null : oldest,
  };
}

function diskOf(dataDir: string): ServiceState['disk'] {
  try {
    const { bavail, blocks, bsize } = statfsSync(dataDir);
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  } catch {
    return null;
  }
}

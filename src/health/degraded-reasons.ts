/**
 * Derives from the state of the service what is wrong, for `/readyz`.
 *
 * Test: test/health/degraded-reasons.test.ts.
 */
import type { Degradation } from '../domain/service-health.ts';
import { SILENT_MS, type ReadStatus, type StartStatus, type WorkerStatus } from './process-status.ts';

/** The state of the service as this process knows it; null where it is unknown. */
export interface ServiceState {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** Time for which this process has watched. */
  readonly watchedMs: number;
  /** True if this process answers from views, which a worker must update. */
  readonly needsWorker: boolean;
  readonly workers: readonly ReadStatus<WorkerStatus>[];
  readonly start: ReadStatus<StartStatus> | null;
  readonly lag: {
    readonly entries: number;
    readonly seconds: number;
    /** Time since a shard last advanced, or since the watch began. */
    readonly unmovedMs: number;
  } | null;
  readonly deadLetters: { readonly entries: number; readonly newestAt: number | null } | null;
  /** Times of failures to read the views, milliseconds since 1970-01-01 UTC. */
  readonly readersFailedAt: readonly number[];
  readonly stream: {
    readonly bytes: number;
    readonly maxBytes: number;
    /** Entries in the middle of the stream that are missing, or that a backup could not read. */
    readonly missing: number;
    /** Entries that the views contain but the end of the stream has lost. */
    readonly lost: number;
  } | null;
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}

const BEHIND_SECONDS = 60;
const UNMOVED_MS = 60_000;
const MINUTE_MS = 60_000;
/** Restarts of one process within five minutes that count as quick succession. */
const RESTARTS = 3;
const FULL_SHARE = 0.9;
const LOW_DISK_BYTES = 2 ** 30;
const LOW_DISK_SHARE = 0.1;

/** All faults outside web's own work, in the order of `DEGRADED_REASONS`. */
export function degradationsOf(state: ServiceState): Degradation[] {
  return [
    ...workersMissing(state),
    ...lagging(state),
    ...restarting(state),
    ...deadLetters(state),
    ...readersFailing(state),
    ...filling(state),
    ...damaged(state),
    ...rebuildNeeded(state),
  ];
}

function workersMissing({ workers, needsWorker, watchedMs }: ServiceState): Degradation[] {
  const silent = workers.filter(({ ageMs, ended }) => ageMs > SILENT_MS && !ended);
  const degradations = silent.map(({ status: { pid }, ageMs }): Degradation => ({
    reason: 'worker_silent',
    message:
      `The worker (process ${pid}) has written no status for ${seconds(ageMs)} s: it hangs. Kill it ` +
      '(kill -9); npm start, or your own supervisor, starts it again.',
  }));
  const isAlive = workers.some(({ ageMs }) => ageMs <= SILENT_MS);
  const expected = needsWorker || workers.length > 0;
  if (isAlive || silent.length > 0 || !expected || watchedMs < SILENT_MS) return degradations;
  const since = Math.min(...workers.map(({ ageMs }) => ageMs));
  const seen = since === Infinity ? 'No worker runs' : `For ${seconds(since)} s, no worker has run`;
  return [
    {
      reason: 'worker_absent',
      message:
        `${seen} on this data directory: new messages wait in the stream. Start one (npm start), or ` +
        'see its log.',
    },
  ];
}

function lagging({ lag }: ServiceState): Degradation[] {
  if (lag === null || lag.seconds <= BEHIND_SECONDS) return [];
  const wait = `${lag.entries} stream entries wait for the worker, the oldest for ${Math.round(lag.seconds)} s`;
  return lag.unmovedMs > UNMOVED_MS
    ? [
        {
          reason: 'worker_stuck',
          message: `${wait}, and none was processed in ${seconds(lag.unmovedMs)} s. See the worker's log.`,
        },
      ]
    : [{ reason: 'worker_behind', message: `${wait}.` }];
}

function restarting({ start, now }: ServiceState): Degradation[] {
  if (start === null || start.ended || start.ageMs > SILENT_MS) return [];
  return start.status.processes.flatMap(({ name, restartedAt }) => {
    const times = restartedAt.filter((at) => now - at < 5 * MINUTE_MS).length;
    if (times < RESTARTS) return [];
    const message = `${name} restarted ${times} times within five minutes. Its log says why it ends.`;
    return [{ reason: 'restarting', message } as const];
  });
}

function deadLetters({ deadLetters: letters, now }: ServiceState): Degradation[] {
  if (letters === null || letters.newestAt === null || now - letters.newestAt >= 60 * MINUTE_MS) return [];
  const minutes = Math.max(0, Math.floor((now - letters.newestAt) / MINUTE_MS));
  return [
    {
      reason: 'dead_letters',
      message:
        `An entry became a dead letter ${minutes} minutes ago (${letters.entries} in all). Run npm run ` +
        'dead-letters -- list.',
    },
  ];
}

function readersFailing({ readersFailedAt, now }: ServiceState): Degradation[] {
  const times = readersFailedAt.filter((at) => now - at < 5 * MINUTE_MS).length;
  if (times === 0) return [];
  return [
    {
      reason: 'readers_failing',
      message: `Reading the views failed ${times} times within five minutes; web reopened them each time. See its log.`,
    },
  ];
}

function filling({ disk, stream }: ServiceState): Degradation[] {
  const degradations: Degradation[] = [];
  if (disk !== null && disk.freeBytes < Math.min(LOW_DISK_BYTES, disk.sizeBytes * LOW_DISK_SHARE)) {
    degradations.push({
      reason: 'disk_nearly_full',
      message:
        `The disk of DATA_DIR has ${mebibytes(disk.freeBytes)} MiB free of ` +
        `${mebibytes(disk.sizeBytes)} MiB. Free some space: ingest stops before the disk is full.`,
    });
  }
  if (stream !== null && stream.maxBytes > 0 && stream.bytes > stream.maxBytes * FULL_SHARE) {
    degradations.push({
      reason: 'stream_nearly_full',
      message:
        `The stream holds ${mebibytes(stream.bytes)} of at most ${mebibytes(stream.maxBytes)} MiB. ` +
        'Raise STREAM_MAX_BYTES: a full stream refuses messages.',
    });
  }
  return degradations;
}

function damaged({ stream }: ServiceState): Degradation[] {
  const { missing = 0, lost = 0 } = stream ?? {};
  const seeThere = 'See docs/operations.md#damaged-files-of-nats.';
  const degradations: string[] = [];
  if (lost > 0) {
    degradations.push(
      `The stream ends ${lost} entries before what the views contain: its end was lost, and nothing new is counted. ` +
        seeThere,
    );
  }
  if (missing > 0) {
    degradations.push(
      `${missing} entries are gone from the midst of the stream, or cannot be read: what was counted stays counted, ` +
        `but a rebuild would not count them. ${seeThere}`,
    );
  }
  return degradations.map((message) => ({ reason: 'stream_damaged', message }));
}

function rebuildNeeded({ workers }: ServiceState): Degradation[] {
  const changes = workers.find(({ ended, status }) => !ended && status.rebuild.length > 0)?.status.rebuild;
  if (changes === undefined) return [];
  return [
    {
      reason: 'rebuild_needed',
      message: `The views need a rebuild (${changes.join('; ')}). Run npm run rebuild.`,
    },
  ];
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

import { deepEqual, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { degradationsOf } from '../../src/health/degraded-reasons.ts';
import type { ServiceState } from '../../src/health/degraded-reasons.ts';
import type { ReadStatus, StartStatus, WorkerStatus } from '../../src/health/process-status.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const MINUTE = 60_000;
const GIB = 2 ** 30;

function worker(
  ageMs: number,
  changes: Partial<WorkerStatus> & { ended?: boolean } = {},
): ReadStatus<WorkerStatus> {
  const { ended = false, ...rest } = changes;
  return {
    status: {
      machine: 'm',
      pid: 7,
      residentBytes: 1,
      rebuild: [],
      shards: [],
      writer: null,
      alerts: null,
      ...rest,
    },
    ageMs,
    ended,
  };
}

function start(restartedAt: number[], ageMs = 500): ReadStatus<StartStatus> {
  const process = {
    name: 'worker',
    pid: 7,
    residentBytes: null,
    restarts: restartedAt.length,
    lastEnd: null,
  };
  return { status: { machine: 'm', pid: 1, processes: [{ ...process, restartedAt }] }, ageMs, ended: false };
}

const whole = { bytes: GIB, maxBytes: 16 * GIB, missing: 0, lost: 0 };

/** A service in good order, but for the changes. */
function state(changes: Partial<ServiceState> = {}): ServiceState {
  return {
    now: NOW,
    watchedMs: 60 * MINUTE,
    needsWorker: true,
    workers: [worker(900)],
    start: start([]),
    lag: { entries: 3, seconds: 0.4, unmovedMs: 100 },
    deadLetters: { entries: 0, newestAt: null },
    readersFailedAt: [],
    stream: whole,
    disk: { freeBytes: 50 * GIB, sizeBytes: 100 * GIB },
    ...changes,
  };
}

function reasons(changes: Partial<ServiceState>): string[] {
  return degradationsOf(state(changes)).map(({ reason }) => reason);
}

describe('what degrades the service', () => {
  it('is nothing while all is well, or not known', () => {
    deepEqual(reasons({}), []);
    const unknown = { start: null, lag: null, deadLetters: null, stream: null, disk: null };
    deepEqual(reasons({ ...unknown, workers: [], needsWorker: false }), []);
  });

  it('is a worker that is not there, once there was time to start it', () => {
    deepEqual(reasons({ workers: [] }), ['worker_absent']);
    deepEqual(reasons({ workers: [], watchedMs: 9000 }), []);
    deepEqual(reasons({ workers: [worker(500, { ended: true })] }), []);
    deepEqual(reasons({ workers: [worker(11_000, { ended: true })] }), ['worker_absent']);
    deepEqual(reasons({ workers: [worker(11_000, { ended: true }), worker(10)] }), []);
    // This process needs none, but one was here.
    deepEqual(reasons({ workers: [worker(11_000, { ended: true })], needsWorker: false }), ['worker_absent']);
  });

  it('is a worker that is there and says nothing, beside others too', () => {
    deepEqual(reasons({ workers: [worker(11_000)] }), ['worker_silent']);
    deepEqual(reasons({ workers: [worker(11_000), worker(100, { pid: 8 })] }), ['worker_silent']);
    deepEqual(reasons({ workers: [worker(9000)] }), []);
  });

  it('is a worker that is behind, or stands still', () => {
    deepEqual(reasons({ lag: { entries: 9, seconds: 61, unmovedMs: 4000 } }), ['worker_behind']);
    deepEqual(reasons({ lag: { entries: 9, seconds: 61, unmovedMs: 61_000 } }), ['worker_stuck']);
    deepEqual(reasons({ lag: { entries: 9, seconds: 59, unmovedMs: 61_000 } }), []);
  });

  it('is a process that is started again and again', () => {
    const at = [NOW - 3 * MINUTE, NOW - 2 * MINUTE, NOW - MINUTE];
    deepEqual(reasons({ start: start(at) }), ['restarting']);
    deepEqual(reasons({ start: start([NOW - 6 * MINUTE, ...at.slice(1)]) }), []);
    // What npm start told before it was killed says nothing of now.
    deepEqual(reasons({ start: start(at, 20_000) }), []);
  });

  it('is a dead letter of the last hour, a failed reader, a disk or stream that fills up, a rebuild', () => {
    deepEqual(reasons({ deadLetters: { entries: 4, newestAt: NOW - 59 * MINUTE } }), ['dead_letters']);
    deepEqual(reasons({ deadLetters: { entries: 4, newestAt: NOW - 60 * MINUTE } }), []);
    deepEqual(reasons({ readersFailedAt: [NOW - MINUTE] }), ['readers_failing']);
    deepEqual(reasons({ readersFailedAt: [NOW - 6 * MINUTE] }), []);
    deepEqual(reasons({ disk: { freeBytes: GIB - 1, sizeBytes: 100 * GIB } }), ['disk_nearly_full']);
    deepEqual(reasons({ disk: { freeBytes: GIB - 1, sizeBytes: 5 * GIB } }), []);
    deepEqual(reasons({ stream: { ...whole, bytes: 15 * GIB } }), ['stream_nearly_full']);
    deepEqual(reasons({ stream: { ...whole, missing: 1 } }), ['stream_damaged']);
    deepEqual(reasons({ stream: { ...whole, missing: 1, lost: 1 } }), ['stream_damaged', 'stream_damaged']);
    deepEqual(reasons({ workers: [worker(1, { rebuild: ['model: a → b'] })] }), ['rebuild_needed']);
  });

  it('says what it is in numbers', () => {
    const [behind] = degradationsOf(state({ lag: { entries: 1200, seconds: 300.4, unmovedMs: 75_000 } }));
    match(
      behind?.message ?? '',
      /^1200 stream entries wait for the worker, the oldest for 300 s, and none was processed in 75 s\./,
    );
  });
});

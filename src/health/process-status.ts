/**
 * The status of the processes of one data directory: small JSON files in `status/`, each replaced every second. The age
 * of a file is the heartbeat of its process.
 *
 * Test: test/health/service-watch.test.ts.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isDeadHolder, thisHolder } from '../stream/kv/process-identity.ts';

const BEAT_MS = 1000;
/** Age of a status from which its process counts as silent. */
export const SILENT_MS = 10_000;

const UNREADABLE = 'unreadable-entries';

const count = z.number().int().nonnegative();

const shardStatusSchema = z.object({
  shard: count,
  /** Stream sequence up to which entries are applied. */
  sequence: count,
  batches: count,
  messages: count,
  entriesSetAside: count,
  analysisTimeouts: count,
});

const writerStatusSchema = z.object({
  written: count,
  /** Verdicts of the second reader. */
  judged: count.default(0),
  rejected: count,
  failed: count,
  timedOut: count,
  queue: count,
});

const alertsStatusSchema = z.object({
  evaluations: count,
  fired: count,
  delivered: count,
  failed: count,
  dead: count,
  pending: count,
});

const workerStatusSchema = z.object({
  machine: z.string(),
  pid: count,
  residentBytes: count,
  /** Reasons why the views need a rebuild; empty if they do not. */
  rebuild: z.array(z.string()),
  shards: z.array(shardStatusSchema),
  /** Null: the service names and summarises itself. */
  writer: writerStatusSchema.nullable().default(null),
  /** Null: the worker evaluates no alerts. */
  alerts: alertsStatusSchema.nullable().default(null),
});

const startStatusSchema = z.object({
  machine: z.string(),
  pid: count,
  processes: z.array(
    z.object({
      name: z.string(),
      pid: count.nullable(),
      residentBytes: count.nullable(),
      restarts: count,
      /** Milliseconds since 1970-01-01 UTC. */
      restartedAt: z.array(z.number()),
      lastEnd: z.string().nullable(),
    }),
  ),
});

/** The status of one worker. Its counters start at 0 with each process, and with each shard that it opens. */
export type WorkerStatus = z.infer<typeof workerStatusSchema>;
/** The status that `npm start` writes about its processes. */
export type StartStatus = z.infer<typeof startStatusSchema>;

/** A status that was read. */
export interface ReadStatus<Status> {
  readonly status: Status;
  /** Time since the process wrote it, milliseconds. */
  readonly ageMs: number;
  /** True if the process has certainly ended, or other workers have its shards. */
  readonly ended: boolean;
}

/** The regular writes of one status file. */
export interface Heartbeat {
  /** Writes the present state at once. */
  beat(): void;
  /** Stops writing and deletes the file. */
  stop(): void;
}

/**
 * Writes a worker's status now and every second, from the main thread, so that the file ages when that thread hangs.
 * Deletes the files of workers that were killed.
 */
export function beginWorkerStatus(
  dataDir: string,
  state: () => Pick<WorkerStatus, 'rebuild' | 'shards' | 'writer' | 'alerts'>,
): Heartbeat {
  for (const [file, { ended }] of readFrom(dataDir, /^worker-/, workerStatusSchema)) {
    if (ended) rmSync(file, { force: true });
  }
  const { machine, pid } = thisHolder();
  return beginBeating(join(statusDirectory(dataDir), `worker-${pid}.json`), () => ({
    machine,
    pid,
    residentBytes: process.memoryUsage.rss(),
    ...state(),
  }));
}

/** Writes the status of the processes of `npm start`, now and every second. */
export function beginStartStatus(dataDir: string, state: () => Pick<StartStatus, 'processes'>): Heartbeat {
  const { machine, pid } = thisHolder();
  return beginBeating(join(statusDirectory(dataDir), 'start.json'), () => ({ machine, pid, ...state() }));
}

/** The last status of each worker of a data directory. */
export function readWorkerStatuses(dataDir: string): ReadStatus<WorkerStatus>[] {
  const read = [...readFrom(dataDir, /^worker-\d+\.json$/, workerStatusSchema).values()];
  return read.map((one) => (isReplaced(one, read) ? { ...one, ended: true } : one));
}

/**
 * Returns true if a silent worker has been replaced: other workers have its shards, each of which one process can own.
 * After the kill of a container or a power failure, process ids refer to other processes, so they cannot show whether
 * it still runs.
 */
function isReplaced(
  { status, ageMs }: ReadStatus<WorkerStatus>,
  all: readonly ReadStatus<WorkerStatus>[],
): boolean {
  if (ageMs <= SILENT_MS) return false;
  const read = all.filter((other) => other.ageMs <= SILENT_MS).map((other) => other.status);
  if (status.shards.length === 0) return read.some(({ machine }) => machine !== status.machine);
  const held = new Set(read.flatMap(({ shards }) => shards.map(({ shard }) => shard)));
  return status.shards.every(({ shard }) => held.has(shard));
}

/** The last status of `npm start`; null if it does not run these processes. */
export function readStartStatus(dataDir: string): ReadStatus<StartStatus> | null {
  return [...readFrom(dataDir, /^start\.json$/, startStatusSchema).values()][0] ?? null;
}

/** Records the number of stream entries that a backup could not read; 0 deletes the record. */
export function noteUnreadable(dataDir: string, entries: number): void {
  const file = join(statusDirectory(dataDir), UNREADABLE);
  if (entries === 0) return rmSync(file, { force: true });
  mkdirSync(statusDirectory(dataDir), { recursive: true, mode: 0o700 });
  writeFileSync(file, String(entries), { mode: 0o600 });
}

/** Number of stream entries that the last backup could not read. */
export function readUnreadable(dataDir: string): number {
  try {
    return Number(readFileSync(join(statusDirectory(dataDir), UNREADABLE), 'utf8')) || 0;
  } catch {
    return 0;
  }
}

function statusDirectory(dataDir: string): string {
  return join(dataDir, 'status');
}

function beginBeating(file: string, state: () => WorkerStatus | StartStatus): Heartbeat {
  const temporary = `${file}.tmp`;
  const beat = (): void => {
    try {
      mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(temporary, JSON.stringify(state()), { mode: 0o600 });
      renameSync(temporary, file);
    } catch {
      // A full disk still has space for a time stamp, which shows that the process lives.
      try {
        utimesSync(file, new Date(), new Date());
      } catch {
        // Nothing can be written; the work itself reports the fault of the disk.
      }
    }
  };
  beat();
  const timer = setInterval(beat, BEAT_MS).unref();
  return {
    beat,
    stop() {
      clearInterval(timer);
      for (const path of [temporary, file]) rmSync(path, { force: true });
    },
  };
}

function readFrom<Status extends { readonly machine: string; readonly pid: number }>(
  dataDir: string,
  name: RegExp,
  schema: z.ZodType<Status>,
): Map<string, ReadStatus<Status>> {
  const isDead = isDeadHolder(thisHolder());
  const read = new Map<string, ReadStatus<Status>>();
  let names: string[] = [];
  try {
    names = readdirSync(statusDirectory(dataDir));
  } catch {
    // No process has written a status yet.
  }
  for (const found of names.filter((candidate) => name.test(candidate)).toSorted()) {
    const file = join(statusDirectory(dataDir), found);
    try {
      const ageMs = Math.max(0, Date.now() - statSync(file).mtimeMs);
      const status = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
      read.set(file, { status, ageMs, ended: isDead({ id: '', ...status }) });
    } catch {
      // The process ended just now, or another version wrote the file.
    }
  }
  return read;
}

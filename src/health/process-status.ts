/**
 * What the processes of one data directory tell about themselves: small JSON files in `status/`, replaced whole
 * each second. A file's age is the heartbeat of its process.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isDeadHolder, thisHolder } from '../stream/kv/process-identity.ts';

const BEAT_MS = 1000;
/** A process that has told nothing for so long is silent. */
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
  /** Why the views need a rebuild; empty when they do not. */
  rebuild: z.array(z.string()),
  shards: z.array(shardStatusSchema),
  /** Null: names and summaries are our own. */
  writer: writerStatusSchema.nullable().default(null),
  /** Null: it does not evaluate any. */
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

/** What one worker tells. Its counters start from 0 with each process, and with each shard that it opens. */
export type WorkerStatus = z.infer<typeof workerStatusSchema>;
/** What `npm start` tells of the processes that it runs. */
export type StartStatus = z.infer<typeof startStatusSchema>;

/** A status as it was found. */
export interface Heard<Status> {
  readonly status: Status;
  /** Since the process wrote it, milliseconds. */
  readonly ageMs: number;
  /** It has certainly ended, or others that are heard have its work. */
  readonly ended: boolean;
}

export interface Heartbeat {
  /** Tells the present state at once. */
  beat(): void;
  /** Ends it and takes the file away. */
  stop(): void;
}

/**
 * Writes a worker's status now and each second, from the main thread: when that hangs, the file grows old.
 * Files of workers that were killed are taken away.
 */
export function beginWorkerStatus(
  dataDir: string,
  state: () => Pick<WorkerStatus, 'rebuild' | 'shards' | 'writer' | 'alerts'>,
): Heartbeat {
  for (const [file, { ended }] of heardFrom(dataDir, /^worker-/, workerStatusSchema)) {
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

/** Writes what `npm start` knows of its processes, now and each second. */
export function beginStartStatus(dataDir: string, state: () => Pick<StartStatus, 'processes'>): Heartbeat {
  const { machine, pid } = thisHolder();
  return beginBeating(join(statusDirectory(dataDir), 'start.json'), () => ({ machine, pid, ...state() }));
}

/** What the workers of a data directory told last. */
export function readWorkerStatuses(dataDir: string): Heard<WorkerStatus>[] {
  const heard = [...heardFrom(dataDir, /^worker-\d+\.json$/, workerStatusSchema).values()];
  return heard.map((one) => (isReplaced(one, heard) ? { ...one, ended: true } : one));
}

/**
 * Whether a silent worker is one that nobody has to look for: workers that are heard have its shards, each of which
 * one process can have. After a container was killed or the machine lost its power, process ids mean something else,
 * and nobody can say whether that process is still there.
 */
function isReplaced({ status, ageMs }: Heard<WorkerStatus>, all: readonly Heard<WorkerStatus>[]): boolean {
  if (ageMs <= SILENT_MS) return false;
  const heard = all.filter((other) => other.ageMs <= SILENT_MS).map((other) => other.status);
  if (status.shards.length === 0) return heard.some(({ machine }) => machine !== status.machine);
  const held = new Set(heard.flatMap(({ shards }) => shards.map(({ shard }) => shard)));
  return status.shards.every(({ shard }) => held.has(shard));
}

/** What `npm start` told last; null when it does not run these processes. */
export function readStartStatus(dataDir: string): Heard<StartStatus> | null {
  return [...heardFrom(dataDir, /^start\.json$/, startStatusSchema).values()][0] ?? null;
}

/** Leaves word of how many entries of the stream a backup found that cannot be read, or that there are none. */
export function noteUnreadable(dataDir: string, entries: number): void {
  const file = join(statusDirectory(dataDir), UNREADABLE);
  if (entries === 0) return rmSync(file, { force: true });
  mkdirSync(statusDirectory(dataDir), { recursive: true, mode: 0o700 });
  writeFileSync(file, String(entries), { mode: 0o600 });
}

/** How many entries of the stream the last backup could not read. */
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
      // A full disk has room for the time at least: we are alive.
      try {
        utimesSync(file, new Date(), new Date());
      } catch {
        // Nothing can be told; the work itself says what is wrong with the disk.
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

function heardFrom<Status extends { readonly machine: string; readonly pid: number }>(
  dataDir: string,
  name: RegExp,
  schema: z.ZodType<Status>,
): Map<string, Heard<Status>> {
  const isDead = isDeadHolder(thisHolder());
  const heard = new Map<string, Heard<Status>>();
  let names: string[] = [];
  try {
    names = readdirSync(statusDirectory(dataDir));
  } catch {
    // Nobody has told anything yet.
  }
  for (const found of names.filter((candidate) => name.test(candidate)).toSorted()) {
    const file = join(statusDirectory(dataDir), found);
    try {
      const ageMs = Math.max(0, Date.now() - statSync(file).mtimeMs);
      const status = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
      heard.set(file, { status, ageMs, ended: isDead({ id: '', ...status }) });
    } catch {
      // It ended just now, or another version wrote it.
    }
  }
  return heard;
}

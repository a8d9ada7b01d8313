/**
 * The types of the service's health, as `/readyz` and `/metrics` publish it.
 *
 * Test: test/web/health.test.ts, test/health/degraded-reasons.test.ts.
 */

/** Reasons for which `/readyz` says degraded: faults that do not stop this process from working. */
export const DEGRADED_REASONS = [
  'worker_absent',
  'worker_silent',
  'worker_stuck',
  'worker_behind',
  'restarting',
  'dead_letters',
  'readers_failing',
  'disk_nearly_full',
  'stream_nearly_full',
  'stream_damaged',
  'rebuild_needed',
] as const;

export type DegradedReason = (typeof DEGRADED_REASONS)[number];

export interface Degradation {
  readonly reason: DegradedReason;
  /** The fault and its remedy, for an operator. */
  readonly message: string;
}

/** Health of the service beyond this process. */
export interface ServiceHealth {
  read(): { readonly degradations: readonly Degradation[]; readonly figures: ServiceFigures };
}

/** Figures that this process does not know are null or empty. */
export interface ServiceFigures {
  readonly workers: readonly WorkerFigures[];
  /** Backlog of the worker: stream entries, and the age of the oldest. */
  readonly lag: { readonly entries: number; readonly seconds: number } | null;
  readonly processes: readonly ProcessFigures[];
  /** Number of times that web reopened the views after a failed read. */
  readonly readerFailures: number;
  /** Dead letters that were neither replayed nor removed. */
  readonly deadLetters: number | null;
  readonly stream: { readonly bytes: number; readonly maxBytes: number; readonly missing: number } | null;
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
  /** The shards of the views that machines share; none where this machine has its own. */
  readonly sharedShards: readonly SharedShardFigures[];
}

/** A shard that machines share. */
export interface SharedShardFigures {
  readonly shard: number;
  /** Name of the machine that published it last. */
  readonly machine: string;
  /** Stream entries that it has not published yet, at most. */
  readonly behind: number;
  /** Of its published files. */
  readonly bytes: number;
  /** When its newest publication and the newest copy of its state were made, milliseconds since 1970-01-01 UTC. */
  readonly publishedAt: number;
  readonly copiedAt: number | null;
}

export interface WorkerFigures {
  readonly name: string;
  readonly heartbeatAgeSeconds: number;
  /** Its open shards, with counts since it opened them. */
  readonly shards: readonly {
    readonly shard: number;
    readonly batches: number;
    readonly messages: number;
    readonly entriesSetAside: number;
    readonly analysisTimeouts: number;
  }[];
  /** Outcomes of the writer's calls, and the number of texts still to write; null without a writer. */
  readonly writer: {
    readonly written: number;
    readonly rejected: number;
    readonly failed: number;
    readonly timedOut: number;
    /** Verdicts of the second reader. */
    readonly judged: number;
    readonly queue: number;
  } | null;
  /** Evaluations of alerts, and outcomes of their notifications; null when the worker does not report them. */
  readonly alerts: {
    readonly evaluations: number;
    readonly fired: number;
    readonly delivered: number;
    /** Attempts without a success response. */
    readonly failed: number;
    /** Messages that were given up. */
    readonly dead: number;
    readonly pending: number;
  } | null;
}

export interface ProcessFigures {
  readonly name: string;
  /** Null when nothing counts them. */
  readonly restarts: number | null;
  readonly residentBytes: number | null;
}

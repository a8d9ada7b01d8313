/** It has types only, and no test of its own. */
/** Why `/readyz` says degraded: something that this process does not need for its own work is wrong. */
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
  /** What is wrong and what to do, for an operator. */
  readonly message: string;
}

/** How the service is beyond this process, as `/readyz` and `/metrics` tell it. */
export interface ServiceHealth {
  read(): { readonly degradations: readonly Degradation[]; readonly figures: ServiceFigures };
}

/** Null, or an empty list, where this process does not know. */
export interface ServiceFigures {
  readonly workers: readonly WorkerFigures[];
  /** What waits for the worker: stream entries, and the age of the oldest of them. */
  readonly lag: { readonly entries: number; readonly seconds: number } | null;
  readonly processes: readonly ProcessFigures[];
  /** How often web had to reopen the views because reading them failed. */
  readonly readerFailures: number;
  /** Dead letters that nobody has replayed or removed. */
  readonly deadLetters: number | null;
  readonly stream: { readonly bytes: number; readonly maxBytes: number; readonly missing: number } | null;
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}

export interface WorkerFigures {
  readonly name: string;
  readonly heartbeatAgeSeconds: number;
  /** The shards that it has open, with what it did since it opened them. */
  readonly shards: readonly {
    readonly shard: number;
    readonly batches: number;
    readonly messages: number;
    readonly entriesSetAside: number;
    readonly analysisTimeouts: number;
  }[];
  /** What became of the writer's calls, and how many texts are still to be written; null without a writer. */
  readonly writer: {
    readonly written: number;
    readonly rejected: number;
    readonly failed: number;
    readonly timedOut: number;
    readonly queue: number;
  } | null;
  /** Evaluations of alerts, and what became of what they had to say; null: it does not tell. */
  readonly alerts: {
    readonly evaluations: number;
    readonly fired: number;
    readonly delivered: number;
    /** Attempts that were not answered with success. */
    readonly failed: number;
    /** Messages that were given up. */
    readonly dead: number;
    readonly pending: number;
  } | null;
}

export interface ProcessFigures {
  readonly name: string;
  /** Null when nobody counts them. */
  readonly restarts: number | null;
  readonly residentBytes: number | null;
}

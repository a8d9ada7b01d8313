/** What a shard tells whoever evaluates alerts. It has types only, and no test of its own. */

/** Hears of one shard what it has committed and published; the shard never waits for what becomes of it. */
export interface ShardAlerts {
  /**
   * Call with what is committed: the instances (UUIDs) with an entry in the batch, and when the stream stored its last
   * entry, microseconds since 1970-01-01 UTC. `since`: everything of these instances that was stored before it had been
   * committed earlier. Left out: everything up to the latest `storedAt` was.
   */
  committed(instanceIds: readonly string[], storedAt: number, since?: number): void;
  /**
   * Call when readers see everything up to a revision of the views; `waitingSince`: but for what the stream stored
   * since then, null when nothing waits.
   */
  published(revision: number, waitingSince?: number | null): void;
  /** Call when everything that the stream holds for the shard is published. */
  idle(): void;
  /** Nothing more is evaluated or sent for the shard once this resolves. */
  close(): Promise<void>;
}

/** The shard that alerts are evaluated for. */
export interface AlertedShard {
  readonly shard: number;
  /** Shards that the partitions are divided into. */
  readonly shards: number;
  /** The folder of its views. */
  readonly directory: string;
  /** Rejects when another worker may own the shard by now. */
  readonly guard: () => Promise<void>;
}

export type OpenShardAlerts = (shard: AlertedShard) => ShardAlerts;

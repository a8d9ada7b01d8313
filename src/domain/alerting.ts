/**
 * The types through which a shard of the worker notifies the alert evaluator. The shard never waits for an evaluation.
 */

/** Receives the commits and publications of one shard. */
export interface ShardAlerts {
  /**
   * Call after a commit. `instanceIds`: UUIDs of the instances with an entry in the batch. `storedAt`: when the stream
   * stored its last entry, microseconds since 1970-01-01 UTC. `since`: entries of these instances stored before it were
   * committed earlier; default: everything up to the latest `storedAt` was.
   */
  committed(instanceIds: readonly string[], storedAt: number, since?: number): void;
  /**
   * Call when readers see a revision of the views. `waitingSince`: when the stream stored the oldest entry that the
   * revision lacks; null when nothing waits.
   */
  published(revision: number, waitingSince?: number | null): void;
  /** Call when the shard has published everything that the stream holds for it. */
  idle(): void;
  /** Once this resolves, nothing more is evaluated or sent for the shard. */
  close(): Promise<void>;
}

/** The shard whose alerts are evaluated. */
export interface AlertedShard {
  readonly shard: number;
  /** Number of shards that the partitions are divided into. */
  readonly shards: number;
  /** Folder of its views. */
  readonly directory: string;
  /** Rejects when another worker may own the shard by now. */
  readonly guard: () => Promise<void>;
}

export type OpenShardAlerts = (shard: AlertedShard) => ShardAlerts;

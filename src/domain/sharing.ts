/** What a worker asks of the machines that share the views with it. */

/** A shard that this process owns, as other machines see it. */
export interface SharedShard {
  /** Called after each publication in the shard's folder. */
  published(): void;
  /** Hands the shard over: others see all that is published, and may go on from a copy of the state. */
  close(): Promise<void>;
}

/** The open state of a shard. */
export interface OpenState {
  /** Stream sequence up to which it has counted. */
  readonly sequence: number;
  /** Copies it to a file in its folder, while work goes on. */
  copyTo(file: string): Promise<{ readonly sequence: number }>;
}

/** How shards are shared among machines. */
export interface SharedShards {
  /** Workers with the same scope divide the shards among themselves: letters, digits, `-` and `.`. */
  readonly scope: string;
  /**
   * Brings the newest state of a shard into its folder, before it is opened there. Throws when the store does not
   * answer.
   */
  prepare(shard: number, directory: string): Promise<void>;
  open(shard: number, directory: string, state: OpenState): Promise<SharedShard>;
}

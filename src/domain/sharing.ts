/** What a worker asks of the machines that share the views with it. */

/** A shard that this process owns, as other machines see it. */
export interface SharedShard {
  /** Called after each publication in the shard's folder. */
  published(): void;
  /** Hands the shard over: others see all that is published, and may go on from a copy of the state. */
  close(): Promise<void>;
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
  /** `copyTo` copies the open state to a file, while work goes on. */
  open(
    shard: number,
    directory: string,
    copyTo: (file: string) => Promise<{ readonly sequence: number }>,
  ): Promise<SharedShard>;
}

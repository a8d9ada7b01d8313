/**
 * Tells whether views have counted what other views have shown: nobody who goes on to them sees less of an instance.
 *
 * Test: test/cluster/level.test.ts.
 */

/** What is known of the stream. */
export interface StreamDivision {
  /** The sequence of the newest entry in the partitions of a shard. */
  readonly newestOf: (shard: number, shards: number) => Promise<number>;
  /** Returns the shards among `others` that have instances of a shard among `shards`. */
  readonly sharedWith: (shard: number, shards: number, others: number) => readonly number[];
}

/**
 * Returns true once each shard has reached what the shards with the same instances have shown, or its end. `reached` and
 * `shown`: of each shard the sequence up to which it is published completely; -1 where nothing is.
 *
 * What was shown is to be an earlier moment, which stands still: the position of a shard comes past entries of others in
 * some seconds, so shards that are read on are hardly ever all at the newest at once.
 */
export async function isLevel(
  reached: readonly number[],
  shown: readonly number[],
  { newestOf, sharedWith }: StreamDivision,
): Promise<boolean> {
  if (reached.some((sequence) => sequence < 0)) return false;
  for (const [shard, sequence] of reached.entries()) {
    const before = shown.length === 0 ? [] : sharedWith(shard, reached.length, shown.length);
    const least = Math.max(0, ...before.map((other) => shown[other] ?? 0));
    // A shard ends with the last entry of its own partitions.
    if (sequence < least && sequence < (await newestOf(shard, reached.length))) return false;
  }
  return true;
}

/**
 * Divides shards among workers. The result depends only on the arguments, so all workers with the same view agree.
 *
 * Test: test/stream/kv/leases.test.ts.
 */
/** Workers that may take free shards, and workers among whom owned shards are balanced. Ids in a fixed order. */
export interface DivideAmong {
  readonly takers: readonly string[];
  readonly holders: readonly string[];
}

/**
 * Returns the owner of each shard. A free shard goes to the worker with the fewest; then shards move one by one from
 * the worker with the most to the one with the fewest, while the numbers differ by two or more. All others stay.
 */
export function divideShards(
  owners: readonly (string | null)[],
  { takers, holders }: DivideAmong,
): (string | null)[] {
  const divided = owners.map((owner) => (owner !== null && takers.includes(owner) ? owner : null));
  const count = (worker: string): number => divided.filter((owner) => owner === worker).length;
  const least = (workers: readonly string[]): string | undefined =>
    workers.reduce<string | undefined>(
      (best, worker) => (best === undefined || count(worker) < count(best) ? worker : best),
      undefined,
    );
  for (const [shard, owner] of divided.entries()) if (owner === null) divided[shard] = least(takers) ?? null;
  for (;;) {
    const to = least(holders);
    const from = holders.reduce<string | undefined>(
      (best, worker) => (best === undefined || count(worker) > count(best) ? worker : best),
      undefined,
    );
    if (to === undefined || from === undefined || count(from) - count(to) < 2) return divided;
    divided[divided.lastIndexOf(from)] = to;
  }
}

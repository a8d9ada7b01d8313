/** Workers that may take free shards, and those among whom owned shards are evened out. Ids in a fixed order. */
export interface DivideAmong {
  readonly takers: readonly string[];
  readonly holders: readonly string[];
}

/**
 * Covered by test/stream/kv/leases.test.ts. Who should own each shard: what is free goes to whoever has least, and
 * one shard after the other moves from whoever has most to whoever has least while they differ by two or more.
 * Everything else stays.
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

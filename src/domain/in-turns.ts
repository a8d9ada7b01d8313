/**
 * Does work for each item of a list, some at a time.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */

/** Maps a list, some at a time. Waits for all of them before it fails. */
export async function inTurns<In, Out>(
  list: readonly In[],
  atOnce: number,
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const made: Out[] = [];
  let next = 0;
  const take = async (): Promise<void> => {
    while (next < list.length) {
      const at = next++;
      made[at] = await work(list[at]!);
    }
  };
  const taken = await Promise.allSettled(Array.from({ length: Math.min(atOnce, list.length) }, take));
  const failed = taken.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return made;
}

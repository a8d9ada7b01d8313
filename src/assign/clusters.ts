import type { DotArena } from './dot-kernel.ts';
import { averageLinkage, groupsAfter } from './linkage.ts';
import { continuations } from './regrouping.ts';
import { VectorTable } from './vectors.ts';

/** A topic as the clustering sees it. */
export interface ClusteredTopic {
  readonly topic: number;
  /** Sum of its requests' vectors. */
  readonly sum: Float32Array;
  /** Request turns. */
  readonly mass: number;
  /** The cluster it is in, or −1. */
  readonly cluster: number;
}

/** Two topics of one cluster count as this much closer, of two clusters this much farther. */
const MEMORY = 0.04;

/**
 * Groups topics by average linkage over their centroids, every topic counting once however large, and
 * says which existing cluster each group continues (−1: a new one). Every topic gets a group; topics and
 * groups ascend.
 */
export function clusterTopics(
  topics: readonly ClusteredTopic[],
  threshold: number,
  arena: DotArena,
): { cluster: number; topics: number[] }[] {
  const table = new VectorTable(arena);
  for (const { sum } of topics) table.push(sum);
  const cosines = new Float32Array(topics.length);
  const totals = new Float64Array((topics.length * (topics.length - 1)) / 2);
  let at = 0;
  for (let row = 1; row < topics.length; row += 1) {
    table.cosinesBefore(row, cosines, 0);
    const { cluster } = topics[row]!;
    for (let other = 0; other < row; other += 1) {
      const peer = topics[other]!.cluster;
      const memory = cluster < 0 || peer < 0 ? 0 : cluster === peer ? MEMORY : -MEMORY;
      totals[at] = cosines[other]! + memory;
      at += 1;
    }
  }
  table.clear();
  const sizes = topics.map(() => 1);
  const groups = new Map<number, ClusteredTopic[]>();
  groupsAfter(topics.length, averageLinkage(totals, sizes, threshold)).forEach((group, row) => {
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [topics[row]!]);
    else members.push(topics[row]!);
  });
  const all = [...groups.values()];
  const continued = continuations(
    all.map((members) => members.map(({ cluster, mass }) => ({ holder: cluster, mass }))),
  );
  return all.map((members, index) => ({
    cluster: continued[index]!,
    topics: members.map(({ topic }) => topic),
  }));
}

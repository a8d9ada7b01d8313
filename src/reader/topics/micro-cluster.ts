/**
 * One micro-cluster as data, and sums over several.
 *
 * Test: test/reader/topics/micro-clusters.test.ts.
 */
import { addTo, normOf } from '../numeric/vectors.ts';
import { addCounts, addKeys, noKeys, type RequestKeys } from './request-keys.ts';
import type { Wording } from './naming/wording.ts';

/** Requests that say nearly the same. A request never leaves its micro-cluster, and micro-clusters only merge. */
export interface MicroCluster extends Wording {
  readonly number: number;
  /** Message position of its first request. */
  readonly position: number;
  /** Number of its requests. */
  weight: number;
  /** Sum of the requests' vectors. */
  readonly sum: Float32Array;
  /** Length of `sum`. */
  norm: number;
  /** Number of its topic, or −1. */
  topic: number;
  /** True if it shapes its topic. A loose one only counts there, and may form a topic with others. */
  core: boolean;
  /** Loose or without a topic: number of the first micro-cluster in the group that waits to become a topic. */
  waitingGroup: number;
  /** Number of the own topic that claims its requests, or −1. */
  claim: number;
  /** Numbers of the corrections of its requests, the latest first. */
  corrections: number[];
  /** Actions and things of its requests. */
  readonly keys: RequestKeys;
}

/** Number of requests in several micro-clusters. */
export function weightOf(members: readonly MicroCluster[]): number {
  return members.reduce((weight, member) => weight + member.weight, 0);
}

/** Sum of the vectors in several micro-clusters, at least one; a new array. */
export function sumOf(members: readonly MicroCluster[]): Float32Array {
  const sum = Float32Array.from(members[0]!.sum);
  for (const member of members.slice(1)) addTo(sum, member.sum);
  return sum;
}

/** The group's key: the topic's number if it is core, else a negative number for its waiting group. */
export function groupOf({ topic, core, waitingGroup }: MicroCluster): number {
  return core ? topic : -1 - waitingGroup;
}

/** Keys of several micro-clusters, added up; new objects. */
export function keysOfAll(members: readonly MicroCluster[]): RequestKeys {
  const keys = noKeys();
  for (const member of members) addKeys(keys, member.keys);
  return keys;
}

/** Sums over requests. */
export interface RequestSums {
  /** Number of the requests. */
  readonly weight: number;
  /** Sum of their vectors, and its length. */
  readonly sum: Float32Array;
  readonly norm: number;
  /** Number of requests that name each thing. */
  readonly things: ReadonlyMap<string, number>;
}

/** Sums over several micro-clusters, at least one. */
export function requestSums(members: readonly MicroCluster[]): RequestSums {
  const sum = sumOf(members);
  const things = new Map<string, number>();
  for (const { keys } of members) addCounts(things, keys.things);
  return { weight: weightOf(members), sum, norm: normOf(sum), things };
}

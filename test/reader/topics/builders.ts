import { equal } from 'node:assert/strict';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import { ReadRequest } from '../../../src/reader/topics/read-request.ts';
import type { MicroCluster } from '../../../src/reader/topics/micro-cluster.ts';
import { addRequest } from '../../../src/reader/topics/naming/wording.ts';
import type { Place } from '../../../src/reader/topics/micro-clusters.ts';
import { keysOf } from '../../../src/reader/topics/request-keys.ts';
import { InstanceThresholds } from '../../../src/reader/topics/instance-thresholds.ts';
import { TopicState } from '../../../src/reader/topics/topic-state.ts';
import { DIMENSIONS, INSTANCE_ID, OPTIONS } from '../threads/builders.ts';

/** In no topic, waiting on its own. */
export const NOWHERE: Place = { topic: -1, core: false, waitingGroup: null };

/** The state of an instance without requests. Thresholds: micro 0.7, topic 0.42, cluster 0.25. */
export function freshState(dimensions = DIMENSIONS): TopicState {
  return new TopicState({
    instance: 1,
    instanceId: INSTANCE_ID,
    thresholds: settledThresholds(),
    dimensions,
    arena: new DotArena(dimensions),
  });
}

/** Thresholds after so many requests that topics are no longer found by less. */
function settledThresholds(): InstanceThresholds {
  const thresholds = new InstanceThresholds(1, OPTIONS.thresholds);
  for (let request = 0; request < 100; request += 1) thresholds.add(new Float32Array(DIMENSIONS));
  equal(thresholds.topic, thresholds.settledTopic);
  return thresholds;
}

/** A unit vector: `weight` along one axis, the rest along another. */
export function axis(at: number, weight = 1, other = DIMENSIONS - 1): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  vector[at] = weight;
  vector[other]! += Math.sqrt(1 - weight * weight);
  return vector;
}

/** A micro-cluster of `count` equal requests, in no topic, at the next message position. */
export function microOf(state: TopicState, vector: Float32Array, text: string, count = 1): MicroCluster {
  const { micros } = state;
  const keys = keysOf(text);
  const micro = micros.create(vector, keysOf(text), state.requests + 1, NOWHERE);
  for (let request = 0; request < count; request += 1) {
    if (request > 0) micros.join({ row: micros.live.indexOf(micro), micro, cosine: 1 }, vector, keys);
    for (const stem of addRequest(micro, new ReadRequest(text), 1)) micros.words.count(micro, stem, 1);
  }
  state.requests += count;
  return micro;
}

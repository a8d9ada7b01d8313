import type { LabelledRequest, TopicInfo, TopicSnapshot } from '../../../tools/eval/topic-run.ts';

/** A labelled request with `label` and topic number, or null. */
type Given = readonly [label: string, topic: number | null];

export function labelledRequest(fields: Partial<LabelledRequest> = {}): LabelledRequest {
  return {
    id: 'c#0',
    content: 'where is my parcel',
    request: 'where is my parcel',
    vector: Float32Array.of(1, 0),
    label: 'track',
    domain: 'shop',
    topicOnArrival: null,
    ...fields,
  };
}

/** A moment with requests that differ in label and topic alone. */
export function snapshotOf(
  given: readonly Given[],
  topics: Readonly<Record<number, Partial<TopicInfo>>> = {},
): TopicSnapshot {
  return {
    requests: given.map(([label], place) => labelledRequest({ id: `c${place}#0`, label })),
    topicOf: given.map(([, topic]) => topic),
    topics: new Map(
      given.flatMap(([, topic]) =>
        topic === null ? [] : [[topic, { name: `Topic ${topic}`, cluster: null, ...topics[topic] }] as const],
      ),
    ),
    clusters: new Map(),
  };
}

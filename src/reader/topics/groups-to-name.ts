/**
 * Collects the topics and topic clusters that a writer may name, with their number of requests and sample texts.
 *
 * Test: test/reader/threads/written-names.test.ts.
 */
import { samplesOf } from './naming/wording.ts';
import type { MicroCluster } from './micro-cluster.ts';
import type { Topic, TopicState } from './topic-state.ts';
import { clusterId, topicId } from './topic-ids.ts';

/** A topic, cluster or group of requests to be named. */
export interface GroupToName {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  /** Number of its requests. */
  readonly requests: number;
  /** Texts of its requests, most common first. */
  readonly texts: readonly string[];
}

const MOST_TEXTS = 12;
/** Topics of a cluster that are reported, those with most requests first, and texts of each. */
const MOST_TOPICS = 8;
const TEXTS_OF_TOPIC = 2;

/** Returns the topics to name. `asks` tells whether to ask for the name of a topic with this many requests. */
export function topicsToName(
  state: TopicState,
  asks: (number: number, requests: number) => boolean,
): GroupToName[] {
  const due = state.topics.filter(
    ({ number, name, namedAt, heir }) => name !== '' && heir < 0 && asks(number, namedAt),
  );
  if (due.length === 0) return [];
  const members = state.micros.byTopic();
  return due.flatMap(({ number, position, own, name, namedAt }) => {
    const micros = members.get(number);
    if (micros === undefined) return [];
    const id = topicId(state, { position, own });
    return [{ number, id, name, requests: namedAt, texts: textsOf(micros, MOST_TEXTS) }];
  });
}

/** Returns the clusters to name, like `topicsToName`. `nameOf` returns the name under which a topic is shown. */
export function clustersToName(
  state: TopicState,
  asks: (number: number, requests: number) => boolean,
  nameOf: (topic: Topic) => string,
): GroupToName[] {
  const due = state.clusters.filter(({ number, name, namedAt }) => name !== '' && asks(number, namedAt));
  if (due.length === 0) return [];
  const members = state.micros.byTopic();
  return due.flatMap(({ number, origin, isOwn, name, namedAt }) => {
    const topics = state.topics
      .filter((topic) => topic.cluster === number && topic.heir < 0 && members.has(topic.number))
      .sort((x, y) => y.namedAt - x.namedAt || x.number - y.number)
      .slice(0, MOST_TOPICS);
    if (topics.length === 0) return [];
    const texts = topics.flatMap((topic) => [
      nameOf(topic),
      ...textsOf(members.get(topic.number)!, TEXTS_OF_TOPIC),
    ]);
    return [{ number, id: clusterId(state, { origin, isOwn }), name, requests: namedAt, texts }];
  });
}

function textsOf(members: readonly MicroCluster[], most: number): string[] {
  const samples = samplesOf(members).toSorted((x, y) => y.weight - x.weight);
  return [...new Set(samples.map(({ request }) => request.text))].slice(0, most);
}

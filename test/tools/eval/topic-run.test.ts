import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeConversation, userTurn } from '../../../tools/eval/conversations.ts';
import { byTopic, snapshotsAt, TopicRun, type EnrichedConversation } from '../../../tools/eval/topic-run.ts';

const THRESHOLDS = { micro: 0.9, topic: 0.7, cluster: 0.5, repeated: 0.9 };
const DIMENSIONS = 4;

/** One request, in the direction of an axis; without a label it counts for nothing. */
function conversation(id: string, text: string, axis: number, label: string | null): EnrichedConversation {
  const vector = new Float32Array(DIMENSIONS);
  vector[axis] = 1;
  return {
    ...madeConversation(id, [userTurn(text, label)]),
    domain: 'shop',
    enrichments: [{ kind: 'request', request: text, vector, sentences: [], signals: [], gap: null }],
  };
}

const parcel = (id: string) => conversation(id, 'where is my parcel', 0, 'track');
const refund = (id: string) => conversation(id, 'refund my order', 1, 'refund');
const noise = (id: string) => conversation(id, 'refund my order', 1, null);
const newRun = () => new TopicRun(THRESHOLDS, DIMENSIONS);

describe('TopicRun', () => {
  it('knows the topic of each request right after its arrival, and what it is later', () => {
    const run = newRun();
    for (const id of ['a', 'b', 'c', 'd']) run.add(parcel(id));
    const { requests, topicOf, topics } = run.snapshot();
    deepEqual(
      requests.map(({ topicOnArrival }) => topicOnArrival),
      [null, null, 0, 0],
    );
    deepEqual(topicOf, [0, 0, 0, 0]);
    equal(topics.size, 1);
    deepEqual(
      requests.map(({ id }) => id),
      ['a#0', 'b#0', 'c#0', 'd#0'],
    );
    run.close();
  });

  it('keeps requests without a label out of snapshots, not out of topics', () => {
    const run = newRun();
    for (const made of [noise('a'), noise('b'), refund('c')]) run.add(made);
    const snapshot = run.snapshot();
    equal(run.size, 1);
    deepEqual(snapshot.topicOf, [0]);
    deepEqual(
      [...byTopic(snapshot)].map(([topic, own]) => [topic, own.length]),
      [[0, 1]],
    );
    deepEqual(
      [...run.members()].map(([topic, own]) => [topic, own.length]),
      [[0, 3]],
    );
    run.close();
  });

  it('leaves replies out', () => {
    const run = newRun();
    const enrichment = {
      kind: 'reply',
      request: '',
      vector: null,
      sentences: [],
      signals: [],
      gap: null,
    } as const;
    run.add({ ...parcel('a'), enrichments: [enrichment] });
    equal(run.size, 0);
    run.close();
  });
});

describe('snapshotsAt', () => {
  it('looks at each size that is reached, and leaves earlier looks as they were', () => {
    const run = newRun();
    const stream = [parcel('a'), parcel('b'), refund('c'), parcel('d')];
    const snapshots = snapshotsAt(run, stream, [2, 3, 4, 10]);
    deepEqual([...snapshots.keys()], [2, 3, 4]);
    deepEqual(snapshots.get(2)!.topicOf, [null, null]);
    deepEqual(snapshots.get(3)!.topicOf, [null, null, null]);
    deepEqual(snapshots.get(4)!.topicOf, [0, 0, null, 0]);
    run.close();
  });

  it('calls back after each conversation, and stops when nothing is left to look at', () => {
    const run = newRun();
    const seen: number[] = [];
    snapshotsAt(run, [parcel('a'), noise('b'), refund('c'), refund('d')], [2], () => seen.push(run.size));
    deepEqual(seen, [1, 1, 2]);
    run.close();
  });
});

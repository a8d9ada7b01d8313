/**
 * The bytes in which topics are stored: one row for each micro-cluster, topic and topic cluster, and one for the
 * counters. Only what changed is written.
 */
import type { StateRow } from '../domain/facts.ts';
import { ByteWriter, readersOf, type ByteReader } from '../domain/byte-codec.ts';
import type { PhraseUse } from './naming/phrases.ts';
import { ReadRequest } from './read-request.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { keysFrom, type RequestKeys } from './request-keys.ts';
import type { Topic, TopicCluster, TopicState } from './topic-state.ts';

const VERSION = 7;

/**
 * Rows that changed since the last call. Kinds: `topics` (the counters), `micro`, `merged`, `topic`, `cluster`,
 * `own-topic`.
 */
export function takeState(state: TopicState): StateRow[] {
  const { instance, micros, topics, clusters } = state;
  const rows: StateRow[] = [];
  const put = (kind: string, key: number, value: Uint8Array | null): void => {
    rows.push({ instance, kind, key, value });
  };
  if (state.requests !== state.savedRequests) put('topics', 0, writeCounters(state));
  state.savedRequests = state.requests;
  for (const number of micros.changes.takeUnsaved()) {
    const micro = micros.get(number);
    put('micro', number, micro === undefined ? null : writeMicro(micro));
    const into = micros.mergedInto(number);
    if (into !== undefined) put('merged', number, new ByteWriter().count(into).finish());
  }
  for (const number of state.topicChanges.takeUnsaved()) put('topic', number, writeTopic(topics[number]!));
  for (const number of state.clusterChanges.takeUnsaved())
    put('cluster', number, writeCluster(clusters[number]!));
  for (const number of state.ownChanges.takeUnsaved()) put('own-topic', number, state.own.write(number));
  return rows;
}

/**
 * Takes back all rows that `takeState` gave, in any order, into a new `TopicState`. Ignores rows of other kinds. Throws
 * when another version or another embedding model wrote them.
 */
export function restoreState(state: TopicState, rows: readonly StateRow[]): void {
  for (const { read } of readersOf(rows, 'topics')) readCounters(state, read);
  for (const { key, read } of readersOf(rows, 'topic')) state.insertTopic(readTopic(key, read));
  for (const { key, read } of readersOf(rows, 'cluster')) state.clusters[key] = readCluster(key, read);
  for (const { key, read } of readersOf(rows, 'own-topic')) state.own.read(key, read, state.dimensions);
  state.micros.restore(
    readersOf(rows, 'micro').map(({ key, read }) => readMicro(key, read, state.dimensions)),
    readersOf(rows, 'merged').map(({ key, read }) => [key, read.count()]),
  );
}

function writeCounters({ dimensions, requests, nextRegrouping, relaxation, micros }: TopicState): Uint8Array {
  return new ByteWriter()
    .byte(VERSION)
    .count(dimensions)
    .count(requests)
    .count(nextRegrouping)
    .count(micros.next)
    .text(String(relaxation))
    .finish();
}

function readCounters(state: TopicState, read: ByteReader): void {
  if (read.byte() !== VERSION)
    throw new Error('topic state was written by another version: rebuild the views');
  const dimensions = read.count();
  if (dimensions !== state.dimensions) {
    throw new Error(
      `topic state has vectors of ${dimensions} dimensions, the embedding model gives ${state.dimensions}: ` +
        'rebuild the views',
    );
  }
  state.requests = read.count();
  state.savedRequests = state.requests;
  state.nextRegrouping = read.count();
  state.micros.next = read.count();
  state.relaxation = Number(read.text());
}

function writeTopic({ position, name, namedAt, cluster, length, heir, since, own }: Topic): Uint8Array {
  return new ByteWriter()
    .count(position)
    .text(name)
    .count(namedAt)
    .link(cluster)
    .text(String(length))
    .link(heir)
    .link(since)
    .text(own?.id ?? '')
    .text(own?.description ?? '')
    .finish();
}

function readTopic(number: number, read: ByteReader): Topic {
  return {
    number,
    position: read.count(),
    name: read.text(),
    namedAt: read.count(),
    cluster: read.link(),
    length: Number(read.text()),
    heir: read.link(),
    since: read.link(),
    own: readOwn(read),
  };
}

function readOwn(read: ByteReader): Topic['own'] {
  const [id, description] = [read.text(), read.text()];
  return id === '' ? null : { id, description };
}

function writeCluster({ origin, isOwn, name, namedAt }: TopicCluster): Uint8Array {
  return new ByteWriter()
    .text(origin)
    .byte(isOwn ? 1 : 0)
    .text(name)
    .count(namedAt)
    .finish();
}

function readCluster(number: number, read: ByteReader): TopicCluster {
  return { number, origin: read.text(), isOwn: read.byte() === 1, name: read.text(), namedAt: read.count() };
}

function writeMicro(micro: MicroCluster): Uint8Array {
  const writer = new ByteWriter()
    .count(micro.position)
    .count(micro.weight)
    .link(micro.topic)
    .byte(micro.core ? 1 : 0)
    .count(micro.waitingGroup)
    .link(micro.claim)
    .floats(micro.sum);
  writeCounts(writer, micro.keys.actions);
  writeCounts(writer, micro.keys.things);
  writer.count(micro.keys.uses.size);
  for (const [thing, uses] of micro.keys.uses) writeCounts(writer.text(thing), uses);
  writer.count(micro.samples.length);
  for (const { request, score } of micro.samples) writer.text(request.text).float(score);
  writeCounts(writer, micro.words);
  writer.count(micro.phrases.size);
  for (const [key, { count, surface, votes, leading, closed, action }] of micro.phrases) {
    writer.text(key).count(count).text(surface).count(votes);
    writer.count(leading).count(closed).count(action);
  }
  return writer.finish();
}

function writeCounts(writer: ByteWriter, counts: ReadonlyMap<string, number>): void {
  writer.count(counts.size);
  for (const [key, count] of counts) writer.text(key).count(count);
}

function readCounts(read: ByteReader): Map<string, number> {
  return new Map(read.list(() => [read.text(), read.count()]));
}

/** Properties are read in the order in which `writeMicro` writes them. */
function readMicro(number: number, read: ByteReader, dimensions: number): MicroCluster {
  return {
    number,
    position: read.count(),
    weight: read.count(),
    topic: read.link(),
    core: read.byte() === 1,
    waitingGroup: read.count(),
    claim: read.link(),
    sum: read.floats(dimensions),
    norm: 0,
    keys: readKeys(read),
    samples: read.list(() => ({ request: new ReadRequest(read.text()), score: read.float() })),
    words: readCounts(read),
    phrases: new Map(read.list(() => [read.text(), readPhrase(read)])),
  };
}

function readKeys(read: ByteReader): RequestKeys {
  const actions = readCounts(read);
  const things = readCounts(read);
  const uses = new Map(read.list(() => [read.text(), readCounts(read)]));
  return keysFrom({ actions, things, uses });
}

/** Properties are read in the order in which `writeMicro` writes them. */
function readPhrase(read: ByteReader): PhraseUse {
  return {
    count: read.count(),
    surface: read.text(),
    votes: read.count(),
    leading: read.count(),
    closed: read.count(),
    action: read.count(),
  };
}

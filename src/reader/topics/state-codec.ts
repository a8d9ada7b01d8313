/**
 * Encodes the state of topics: one row per micro-cluster, topic and topic cluster, and one for the counters. Keeps the
 * invariant that only changed rows are written, and that `restoreState` of all rows yields an equal state.
 *
 * Test: test/reader/topics/state-codec.test.ts.
 */
import { SetupError } from '../../errors.ts';
import type { StateRow } from '../../domain/facts.ts';
import { ByteWriter, readersOf, type ByteReader } from '../../domain/byte-codec.ts';
import {
  bytesOf,
  COUNT,
  FLAG,
  floatsOf,
  LINK,
  listOf,
  mapOf,
  NUMBER,
  record,
  TEXT,
  type Codec,
} from '../../domain/record-codec.ts';
import type { PhraseUse } from './naming/phrases.ts';
import { ReadRequest } from './read-request.ts';
import type { MicroCluster } from './micro-cluster.ts';
import type { ScoredSample } from './naming/wording.ts';
import { keysFrom, type RequestKeys } from './request-keys.ts';
import type { Topic, TopicCluster, TopicState } from './topic-state.ts';

const VERSION = 8;
/** The version of release 0.4, whose micro-clusters have no corrections. */
const CARRIED_VERSION = 7;

/**
 * Returns the rows that changed since the last call. Kinds: `topics` (the counters), `micro`, `merged`, `topic`,
 * `cluster`, `own-topic`, `correction`, `wide-claim`, `label`, `label-micro`.
 */
export function takeState(state: TopicState): StateRow[] {
  const { instance, micros, topics, clusters } = state;
  const microCodec = microOf(state.dimensions);
  const rows: StateRow[] = [];
  const put = (kind: string, key: number, value: Uint8Array | null): void => {
    rows.push({ instance, kind, key, value });
  };
  if (state.requests !== state.savedRequests) put('topics', 0, writeCounters(state));
  state.savedRequests = state.requests;
  for (const number of micros.changes.takeUnsaved()) {
    const micro = micros.get(number);
    put('micro', number, micro === undefined ? null : bytesOf(microCodec, micro));
    const into = micros.mergedInto(number);
    if (into !== undefined) put('merged', number, new ByteWriter().count(into).finish());
  }
  for (const number of state.topicChanges.takeUnsaved())
    put('topic', number, bytesOf(TOPIC, topics[number]!));
  for (const number of state.clusterChanges.takeUnsaved())
    put('cluster', number, bytesOf(CLUSTER, clusters[number]!));
  for (const number of state.ownChanges.takeUnsaved()) put('own-topic', number, state.own.write(number));
  for (const number of state.correctionChanges.takeUnsaved())
    put('correction', number, state.corrections.write(number));
  const { wideClaims, labels, dimensions } = state;
  return [...rows, ...wideClaims.takeState(instance), ...labels.takeState(instance, dimensions)];
}

/**
 * Restores a new `TopicState`, whose decisions are restored, from all rows that `takeState` returned, in any order.
 * Ignores rows of other kinds.
 * Throws if another version or another embedding model wrote them.
 */
export function restoreState(state: TopicState, rows: readonly StateRow[]): void {
  for (const { read } of readersOf(rows, 'topics')) readCounters(state, read);
  for (const { key, read } of readersOf(rows, 'topic'))
    state.insertTopic({ number: key, ...TOPIC.read(read) });
  for (const { key, read } of readersOf(rows, 'cluster'))
    state.clusters[key] = { number: key, ...CLUSTER.read(read) };
  for (const { key, read } of readersOf(rows, 'own-topic')) state.own.read(key, read, state.dimensions);
  for (const { key, read } of readersOf(rows, 'correction'))
    state.corrections.read(key, read, state.dimensions);
  const microCodec = microOf(state.dimensions);
  state.micros.restore(
    readersOf(rows, 'micro').map(({ key, read }) => ({ number: key, norm: 0, ...microCodec.read(read) })),
    readersOf(rows, 'merged').map(({ key, read }) => [key, read.count()]),
  );
  state.wideClaims.restore(state, rows);
  state.labels.restore(state, rows);
}

/**
 * Returns the rows that change when rows of release 0.4 become rows of this version. `rows`: all of one instance, of any
 * kinds. Throws SetupError if another version wrote them.
 */
export function carriedTopics(rows: readonly StateRow[], dimensions: number): StateRow[] {
  const counters = rows.find(({ kind }) => kind === 'topics');
  if (counters?.value == null || counters.value[0] === VERSION) return [];
  if (counters.value[0] !== CARRIED_VERSION)
    throw new SetupError(
      'The state of topics cannot be taken over: a version wrote it that is no release after 0.3.',
    );
  const { corrections: _, ...fields } = microFields(dimensions);
  const [before, now] = [record(fields), microOf(dimensions)];
  const { instance } = counters;
  return [
    { ...counters, value: Uint8Array.of(VERSION, ...counters.value.subarray(1)) },
    ...readersOf(rows, 'micro').map(({ key, read }) => ({
      instance,
      kind: 'micro',
      key,
      value: bytesOf(now, { ...before.read(read), corrections: [] }),
    })),
  ];
}

interface Counters {
  readonly requests: number;
  readonly nextRegrouping: number;
  readonly nextMicro: number;
  readonly relaxation: number;
}

const COUNTERS = record<Counters>({
  requests: COUNT,
  nextRegrouping: COUNT,
  nextMicro: COUNT,
  relaxation: NUMBER,
});

function writeCounters({ dimensions, requests, nextRegrouping, relaxation, micros }: TopicState): Uint8Array {
  const counters = { requests, nextRegrouping, nextMicro: micros.next, relaxation };
  const writer = new ByteWriter().byte(VERSION).count(dimensions);
  COUNTERS.write(writer, counters);
  return writer.finish();
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
  const { requests, nextRegrouping, nextMicro, relaxation } = COUNTERS.read(read);
  Object.assign(state, { requests, savedRequests: requests, nextRegrouping, relaxation });
  state.micros.next = nextMicro;
}

export const TOPIC = record<Omit<Topic, 'number'>>({
  position: COUNT,
  name: TEXT,
  namedAt: COUNT,
  cluster: LINK,
  length: NUMBER,
  heir: LINK,
  since: LINK,
  own: {
    write: (writer, own) => void writer.text(own?.id ?? '').text(own?.description ?? ''),
    read: (read) => {
      const [id, description] = [read.text(), read.text()];
      return id === '' ? null : { id, description };
    },
  },
});

const CLUSTER = record<Omit<TopicCluster, 'number'>>({
  origin: TEXT,
  isOwn: FLAG,
  name: TEXT,
  namedAt: COUNT,
});

const COUNTS = mapOf(COUNT);
const KEYS = record<Pick<RequestKeys, 'actions' | 'things' | 'uses'>>({
  actions: COUNTS,
  things: COUNTS,
  uses: mapOf(COUNTS),
});

type StoredMicro = Omit<MicroCluster, 'number' | 'norm'>;

const microFields = (dimensions: number): { readonly [K in keyof StoredMicro]: Codec<StoredMicro[K]> } => ({
  position: COUNT,
  weight: COUNT,
  topic: LINK,
  core: FLAG,
  waitingGroup: COUNT,
  claim: LINK,
  corrections: listOf(COUNT),
  sum: floatsOf(dimensions),
  keys: { write: KEYS.write, read: (read) => keysFrom(KEYS.read(read)) },
  samples: listOf<ScoredSample>({
    write: (writer, { request, score }) => void writer.text(request.text).float(score),
    read: (read) => ({ request: new ReadRequest(read.text()), score: read.float() }),
  }),
  words: COUNTS,
  phrases: mapOf(
    record<PhraseUse>({
      count: COUNT,
      surface: TEXT,
      votes: COUNT,
      leading: COUNT,
      closed: COUNT,
      action: COUNT,
    }),
  ),
});

export const microOf = (dimensions: number): Codec<StoredMicro> => record(microFields(dimensions));

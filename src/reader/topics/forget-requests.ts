/**
 * Removes erased requests from the stored state of topics: their texts, words and vectors. Keeps what many requests
 * share, so that later requests find the same topics.
 *
 * Test: test/worker/erasure/forget-views.test.ts.
 */
import { forgottenName } from '../../domain/descriptions.ts';
import type { StateRow } from '../../domain/facts.ts';
import { bytesOf } from '../../domain/record-codec.ts';
import { readersOf } from '../../domain/byte-codec.ts';
import { addTo } from '../numeric/vectors.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { keysFrom, noKeys, type RequestKeys } from './request-keys.ts';
import { microOf, TOPIC } from './state-codec.ts';

/** Least number of requests whose common data does not reveal one of them. */
export const LEAST_TOGETHER = 3;

/** Describes what to forget. */
export interface ForgottenRequests {
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  /** True if the entity that began with the request at this message position must be forgotten. */
  readonly isOld: (position: number) => boolean;
  /** Corrections accepted before this time, microseconds since 1970-01-01 UTC, lose their vectors. */
  readonly correctionsBefore: number;
  /** True if the entity has no messages left. */
  readonly isEmpty: (entity: 'micro' | 'topic' | 'gap' | 'repeated', number: number) => boolean;
}

type Micro = Omit<MicroCluster, 'norm'>;

/** Returns the rows that change. `rows` are all of one instance, of any kinds. */
export function forgetRequestsOfTopics(
  rows: readonly StateRow[],
  { dimensions, isOld, isEmpty }: ForgottenRequests,
): StateRow[] {
  const codec = microOf(dimensions);
  const instance = rows[0]?.instance ?? 0;
  const micros = readersOf(rows, 'micro').map(({ key, read }): Micro => ({
    number: key,
    ...codec.read(read),
  }));
  const isFew = ({ number, weight }: Micro): boolean => weight < LEAST_TOGETHER || isEmpty('micro', number);
  const means = meansOf(micros.filter(({ topic }) => topic >= 0 && !isEmpty('topic', topic)));
  const changed = micros
    .filter(({ position, number }) => isOld(position) || isEmpty('micro', number))
    .map((micro) => ({
      instance,
      kind: 'micro',
      key: micro.number,
      value: bytesOf(codec, isFew(micro) ? hidden(micro, means.get(micro.topic)) : withoutFew(micro)),
    }));
  const unnamed = readersOf(rows, 'topic').flatMap(({ key, read }) => {
    const topic = TOPIC.read(read);
    if (topic.own !== null || topic.name === '' || !isEmpty('topic', key)) return [];
    const value = bytesOf(TOPIC, { ...topic, name: forgottenName(key), namedAt: 0 });
    return [{ instance, kind: 'topic', key, value }];
  });
  return [...changed, ...unnamed];
}

/** Returns the message positions at which micro-clusters began. */
export function beginningsOfTopics(rows: readonly StateRow[], dimensions: number): number[] {
  const codec = microOf(dimensions);
  return readersOf(rows, 'micro').map(({ read }) => codec.read(read).position);
}

/** The mean vector of each topic's requests. */
function meansOf(micros: readonly Micro[]): Map<number, Float32Array> {
  const means = new Map<number, Float32Array>();
  for (const [topic, members] of Map.groupBy(micros, (micro) => micro.topic)) {
    const weight = members.reduce((total, member) => total + member.weight, 0);
    if (weight < LEAST_TOGETHER) continue;
    const sum = new Float32Array(members[0]!.sum.length);
    for (const member of members) addTo(sum, member.sum);
    means.set(
      topic,
      sum.map((component) => component / weight),
    );
  }
  return means;
}

/** Keeps of few requests only that they belong to their topic: puts them at its mean, or at zero. */
function hidden(micro: Micro, mean: Float32Array | undefined): Micro {
  const sum =
    mean === undefined
      ? new Float32Array(micro.sum.length)
      : mean.map((component) => component * micro.weight);
  return { ...micro, sum, keys: noKeys(), samples: [], words: new Map(), phrases: new Map() };
}

function withoutFew(micro: Micro): Micro {
  return {
    ...micro,
    keys: manyOf(micro.keys),
    samples: [],
    words: manyIn(micro.words),
    phrases: new Map([...micro.phrases].filter(([, { count }]) => count >= LEAST_TOGETHER)),
  };
}

function manyOf({ actions, things, uses }: RequestKeys): RequestKeys {
  const left = [...uses].map(([key, counts]) => [key, manyIn(counts)] as const);
  return keysFrom({
    actions: manyIn(actions),
    things: manyIn(things),
    uses: new Map(left.filter(([, counts]) => counts.size > 0)),
  });
}

/** The entries that were counted often enough not to reveal one request. */
export function manyIn<Key>(counts: ReadonlyMap<Key, number>): Map<Key, number> {
  return new Map([...counts].filter(([, count]) => count >= LEAST_TOGETHER));
}

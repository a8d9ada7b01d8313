/**
 * Own topics, which people made: each claims the requests near its examples. Keeps the invariant that a claim never
 * changes the topic that is found beneath.
 *
 * Test: test/reader/topics/own-topics.test.ts.
 */
import { ByteWriter, type ByteReader } from '../../domain/byte-codec.ts';
import { CLAIMS, type ClaimRule } from '../../domain/model-thresholds.ts';
import { dotOf } from '../numeric/vectors.ts';
import { keyBonus, keysOf, type RequestKeys } from './request-keys.ts';
import type { InstanceThresholds } from './instance-thresholds.ts';

/** An example to compare requests with. */
export interface Example {
  readonly text: string;
  /** Vector of unit length. */
  readonly vector: Float32Array;
  readonly keys: RequestKeys;
}

export function exampleOf(text: string, vector: Float32Array): Example {
  return { text, vector, keys: keysOf(text) };
}

/**
 * How near requests of one kind are to examples: mean similarity to the nearest of them, of about the square root of
 * their number. `vector`: mean of `weight` requests, of unit length; `keys`: of all of them; `scale`: similarity scale;
 * `alone`: how much nearer the nearest must be to count by itself. −Infinity without examples.
 */
export function nearnessOf(
  vector: Float32Array,
  keys: RequestKeys,
  examples: readonly Example[],
  scale: number,
  weight: number,
  alone = Infinity,
): number {
  if (examples.length === 0) return -Infinity;
  const similarities = Float64Array.from(
    examples,
    (one) => dotOf(vector, one.vector) + (scale * keyBonus(keys, one.keys)) / weight,
  );
  const together = meanOfHighest(similarities, Math.ceil(Math.sqrt(examples.length)));
  return Math.max(together, similarities.at(-1)! - alone);
}

/** Estimated memory of an example besides its vector, bytes. */
export const EXAMPLE_BYTES = 1500;

/** The own topics of one instance, with their examples. */
export class OwnTopics {
  /** Examples by number of the topic, ascending. */
  readonly #examples = new Map<number, readonly Example[]>();
  /** Topics whose creation was undone. */
  readonly #retired = new Set<number>();

  /** Adds a topic. Numbers must ascend from call to call. Examples of which the model knows no word claim nothing. */
  add(topic: number, texts: readonly string[], vectors: readonly Float32Array[]): void {
    const examples = texts.map((text, index) => exampleOf(text, vectors[index]!));
    this.#examples.set(
      topic,
      examples.filter(({ vector }) => vector.some((component) => component !== 0)),
    );
  }

  retire(topic: number): void {
    this.#retired.add(topic);
  }

  isRetired(topic: number): boolean {
    return this.#retired.has(topic);
  }

  isActive(topic: number): boolean {
    return this.#examples.has(topic) && !this.#retired.has(topic);
  }

  /** True if it is one of these topics, also once it is retired. */
  holds(topic: number): boolean {
    return this.#examples.has(topic);
  }

  /** Number of topics that claim requests now. */
  get active(): number {
    return this.#examples.size - this.#retired.size;
  }

  /** Number of topics ever made. */
  get size(): number {
    return this.#examples.size;
  }

  /**
   * Returns the topic whose nearest examples are nearest to a request, or to the mean of `weight` requests with these
   * keys; −1 if none are near enough by `rule`. Ties go to the earlier topic. `standsFor`: the topic that a topic counts
   * as, or −1 if it may not claim; topics that count as one need no margin among them.
   */
  claimOf(
    vector: Float32Array,
    keys: RequestKeys,
    thresholds: InstanceThresholds,
    weight = 1,
    rule: ClaimRule = CLAIMS.near,
    standsFor: (topic: number) => number = itself,
  ): number {
    if (this.active === 0) return -1;
    const { settledTopic: topic, micro, scale } = thresholds;
    let [claim, heir, nearest, second] = [-1, -1, -Infinity, -Infinity];
    for (const [number, examples] of this.#examples) {
      if (this.#retired.has(number) || examples.length === 0) continue;
      const stands = standsFor(number);
      if (stands < 0) continue;
      const similarity = nearnessOf(vector, keys, examples, scale, weight);
      if (similarity > nearest) {
        if (stands !== heir) second = nearest;
        [claim, heir, nearest] = [number, stands, similarity];
      } else if (stands !== heir && similarity > second) second = similarity;
    }
    const isClear =
      nearest >= topic + rule.share * (micro - topic) && nearest - second >= rule.margin * scale;
    return isClear ? claim : -1;
  }

  examplesOf(topic: number): readonly { readonly vector: Float32Array }[] {
    return this.#examples.get(topic) ?? [];
  }

  write(topic: number): Uint8Array {
    const examples = this.#examples.get(topic) ?? [];
    const writer = new ByteWriter().byte(this.#retired.has(topic) ? 1 : 0).count(examples.length);
    for (const { text, vector } of examples) writer.text(text).floats(vector);
    return writer.finish();
  }

  /** Restores a topic from the output of `write`. */
  read(topic: number, read: ByteReader, dimensions: number): void {
    if (read.byte() === 1) this.#retired.add(topic);
    const examples = read.list(() => exampleOf(read.text(), read.floats(dimensions)));
    this.#examples.set(topic, examples);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const examples of this.#examples.values())
      for (const { vector } of examples) bytes += vector.byteLength + EXAMPLE_BYTES;
    return bytes;
  }
}

const itself = (topic: number): number => topic;

/** Mean of the highest values: less noisy than the highest alone, less strict than the mean of all. */
function meanOfHighest(values: Float64Array, count: number): number {
  const highest = values.sort().subarray(-count);
  return highest.reduce((sum, value) => sum + value, 0) / highest.length;
}

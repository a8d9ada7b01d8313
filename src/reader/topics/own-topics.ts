/**
 * Topics that people made: each claims the requests that are near one of its examples, whatever topic is found for
 * them beneath.
 * Covered by test/reader/topics/own-topics.test.ts.
 */
import { ByteWriter, type ByteReader } from '../../domain/byte-codec.ts';
import { dotOf } from '../numeric/vectors.ts';
import { keyBonus, keysOf, type RequestKeys } from './request-keys.ts';
import type { InstanceThresholds } from './instance-thresholds.ts';

/** What a topic's requests are compared with. */
interface Example {
  readonly text: string;
  /** Of unit length. */
  readonly vector: Float32Array;
  readonly keys: RequestKeys;
}

/**
 * From the topic threshold (0) to the cosine at which requests join one micro-cluster (1). On six sets of requests with
 * 3, 6 and 10 examples, 62 to 87 % of what is claimed was right, and 36 to 73 % of what should be was claimed.
 */
const CLAIM_SHARE = 0.5;
/** About what an example takes beside its vector. */
const EXAMPLE_BYTES = 1500;

export class OwnTopics {
  /** By number of the topic, ascending. */
  readonly #examples = new Map<number, readonly Example[]>();
  /** Topics whose making was undone. */
  readonly #retired = new Set<number>();

  /** Numbers ascend from call to call. Examples of which the model knows no word claim nothing. */
  add(topic: number, texts: readonly string[], vectors: readonly Float32Array[]): void {
    const examples = texts.map((text, index) => ({ text, vector: vectors[index]!, keys: keysOf(text) }));
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

  /** How many claim requests now. */
  get active(): number {
    return this.#examples.size - this.#retired.size;
  }

  /** How many there have ever been. */
  get size(): number {
    return this.#examples.size;
  }

  /**
   * The topic whose nearest examples are nearest to a request, or to the mean of `weight` requests with these keys; −1
   * when none are near enough. Ties go to the earlier topic.
   */
  claimOf(vector: Float32Array, keys: RequestKeys, thresholds: InstanceThresholds, weight = 1): number {
    if (this.active === 0) return -1;
    const { settledTopic: topic, micro, scale } = thresholds;
    let least = topic + CLAIM_SHARE * (micro - topic);
    let claim = -1;
    for (const [number, examples] of this.#examples) {
      if (this.#retired.has(number) || examples.length === 0) continue;
      const similarities = Float64Array.from(
        examples,
        (one) => dotOf(vector, one.vector) + (scale * keyBonus(keys, one.keys)) / weight,
      );
      const similarity = meanOfHighest(similarities, Math.ceil(Math.sqrt(examples.length)));
      if (similarity < least || (similarity === least && claim >= 0)) continue;
      claim = number;
      least = similarity;
    }
    return claim;
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

  /** Takes back what `write` gave. */
  read(topic: number, read: ByteReader, dimensions: number): void {
    if (read.byte() === 1) this.#retired.add(topic);
    const examples = read.list(() => {
      const text = read.text();
      return { text, vector: read.floats(dimensions), keys: keysOf(text) };
    });
    this.#examples.set(topic, examples);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    let bytes = 0;
    for (const examples of this.#examples.values())
      for (const { vector } of examples) bytes += vector.byteLength + EXAMPLE_BYTES;
    return bytes;
  }
}

/** Of one example alone, chance would decide; of all, the breadth of what a person means. */
function meanOfHighest(values: Float64Array, count: number): number {
  const highest = values.sort().subarray(-count);
  return highest.reduce((sum, value) => sum + value, 0) / highest.length;
}

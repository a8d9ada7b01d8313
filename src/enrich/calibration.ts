/**
 * Thresholds for a model that brings none: where its similarities of same and of different requests
 * lie, compared with those of the model that the default thresholds were tuned on.
 */
import type { Thresholds } from './embedder.ts';

/** Ten requests in two wordings each: neighbours (0 and 1, 2 and 3, …) mean the same. */
export const PROBES: readonly string[] = [
  'I want to cancel my hotel booking',
  'please cancel the reservation of my room',
  'my parcel has not arrived yet',
  'the delivery of my package is late',
  'how do I reset my password',
  'I forgot my password and need a new one',
  'I would like to book a table for two tonight',
  'can you reserve a table at a restaurant for this evening',
  'why was my card declined at the shop',
  'my card payment was refused',
  'what will the weather be like tomorrow',
  'is it going to rain tomorrow',
  'play some jazz music',
  'put on a jazz song',
  'I need a copy of my last invoice',
  'send me the invoice of last month',
  'the app crashes when I open it',
  'the application closes as soon as I start it',
  'how much does it cost to ship to Canada',
  'what are the shipping fees for Canada',
];

/** Mean similarity of the probes of one meaning and of different meanings, under the reference model. */
const REFERENCE = { same: 0.648, different: 0.016 };
const REFERENCE_THRESHOLDS: Thresholds = { micro: 0.7, topic: 0.42, cluster: 0.22, repeated: 0.55 };

/** Mean cosine of probe pairs of one meaning and of different meanings; `vectors` as `PROBES`, unit length. */
export function probeSimilarities(vectors: readonly Float32Array[]): { same: number; different: number } {
  let same = 0;
  let sameCount = 0;
  let different = 0;
  let differentCount = 0;
  for (let i = 0; i < vectors.length; i++) {
    for (let j = i + 1; j < vectors.length; j++) {
      const similarity = dot(vectors[i], vectors[j]);
      if (j === i + 1 && i % 2 === 0) {
        same += similarity;
        sameCount += 1;
      } else {
        different += similarity;
        differentCount += 1;
      }
    }
  }
  return { same: same / sameCount, different: different / differentCount };
}

/** The default thresholds, moved and stretched to the range that this model's similarities take. */
export function calibrate(vectors: readonly Float32Array[]): Thresholds {
  const own = probeSimilarities(vectors);
  const scale = (own.same - own.different) / (REFERENCE.same - REFERENCE.different);
  const map = (threshold: number): number =>
    Math.min(0.99, Math.max(0.01, own.different + (threshold - REFERENCE.different) * scale));
  return {
    micro: map(REFERENCE_THRESHOLDS.micro),
    topic: map(REFERENCE_THRESHOLDS.topic),
    cluster: map(REFERENCE_THRESHOLDS.cluster),
    repeated: map(REFERENCE_THRESHOLDS.repeated),
  };
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  if (a === undefined || b === undefined) return sum;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

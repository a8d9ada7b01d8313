/**
 * Vectors in one byte per component. The cosine of two quantised vectors is close to that of the originals.
 *
 * Test: test/reader/numeric/quantised.test.ts.
 */
import { normOf } from './vectors.ts';

/** Quantises a vector: one byte per component, scaled so that the largest is ±127. */
export function quantise(vector: Float32Array): Int8Array {
  let largest = 0;
  for (let index = 0; index < vector.length; index += 1)
    largest = Math.max(largest, Math.abs(vector[index]!));
  const scale = largest === 0 ? 0 : 127 / largest;
  const quantised = new Int8Array(vector.length);
  for (let index = 0; index < vector.length; index += 1)
    quantised[index] = Math.round(vector[index]! * scale);
  return quantised;
}

/** Cosine of two quantised vectors; 0 if either is all zeros. Its sums are exact, because they are integers. */
export function quantisedCosine(a: Int8Array, b: Int8Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let index = 0; index < a.length; index += 1) {
    const x = a[index]!;
    const y = b[index]!;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

/** Restores a vector of unit length; zeros stay zeros. */
export function dequantise(quantised: Int8Array): Float32Array {
  const vector = Float32Array.from(quantised);
  const norm = normOf(vector);
  if (norm > 0) for (let index = 0; index < vector.length; index += 1) vector[index]! /= norm;
  return vector;
}

/**
 * Pools a model's output into one vector per text.
 *
 * Test: test/reader/embedding/hub-layouts.test.ts.
 */
import type { Pooling, Training } from './model-training.ts';
import type { ModelOutput } from './onnx-model.ts';

/**
 * Returns one vector of unit length for each of `rows` texts. Prefers the model's own sentence vectors. Throws Error if
 * the output cannot be pooled.
 */
export function pool(
  { sentences, tokens }: ModelOutput,
  rows: number,
  { pooling, needsSentenceOutput }: Training,
): Float32Array[] {
  const vectors = (vectorOf: (row: number) => Float32Array): Float32Array[] =>
    Array.from({ length: rows }, (_, row) => normalised(vectorOf(row)));
  if (sentences !== null) {
    const width = sentences.dims[1] ?? 0;
    return vectors((row) => sentences.data.slice(row * width, (row + 1) * width));
  }
  if (tokens === null) throw new Error('it gives neither sentence_embedding nor last_hidden_state');
  if (needsSentenceOutput) throw new Error('its vectors need a dense layer that its ONNX file does not hold');
  const [, length = 0, width = 0] = tokens.dims;
  return vectors((row) => pooledStates(tokens.data, row * length, length, width, pooling));
}

/** Pools the states of `length` tokens, which begin at token `from` of `states`. */
function pooledStates(
  states: Float32Array,
  from: number,
  length: number,
  width: number,
  pooling: Pooling,
): Float32Array {
  const token = (number: number): Float32Array =>
    states.slice((from + number) * width, (from + number + 1) * width);
  if (pooling === 'cls') return token(0);
  if (pooling === 'last') return token(length - 1);
  const pooled = token(0);
  for (let number = 1; number < length; number += 1) {
    const start = (from + number) * width;
    for (let i = 0; i < width; i++) {
      const [so, state] = [pooled[i] ?? 0, states[start + i] ?? 0];
      pooled[i] = pooling === 'mean' ? so + state : Math.max(so, state);
    }
  }
  return pooled;
}

/** Subtracts the common part from a vector of unit length, in place, and scales it again; zeros stay zeros. */
export function withoutCommon(vector: Float32Array, common: Float32Array): Float32Array {
  if (common.length === 0 || vector.every((x) => x === 0)) return vector;
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) - (common[i] ?? 0);
  return normalised(vector);
}

/** Scales to unit length, in place; zeros and non-finite numbers become zeros. */
function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i]! * vector[i]!;
  if (!Number.isFinite(square) || square < 1e-12) return vector.fill(0);
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
  return vector;
}

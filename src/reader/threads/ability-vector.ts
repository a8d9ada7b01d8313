/**
 * The vector of a missing ability: the assistant's words, mixed with the request that they answer.
 *
 * Test: test/reader/threads/ability-vector.test.ts.
 */
import { normOf } from '../numeric/vectors.ts';

/** Weight of the request; the assistant's words have weight 1. */
const REQUEST_SHARE = 0.5;

/**
 * Mixes the vectors of the assistant's words and of the request that they answer; the result has unit length. Returns
 * the other vector if one is null, and null if both are.
 */
export function withRequest(stated: Float32Array | null, asked: Float32Array | null): Float32Array | null {
  if (stated === null || asked === null) return stated ?? asked;
  const both = stated.map((value, at) => value + REQUEST_SHARE * asked[at]!);
  const length = normOf(both);
  return length === 0 ? stated : both.map((value) => value / length);
}

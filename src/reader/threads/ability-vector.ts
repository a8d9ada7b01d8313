/** The direction of a missing ability. Covered by test/reader/threads/ability-vector.test.ts. */
import { normOf } from '../numeric/vectors.ts';

/** How much the request counts beside the words of the assistant. */
const REQUEST_SHARE = 0.5;

/** Of what the assistant says and of the request that it answers together; of unit length. null: neither has one. */
export function withRequest(said: Float32Array | null, asked: Float32Array | null): Float32Array | null {
  if (said === null || asked === null) return said ?? asked;
  const both = said.map((value, at) => value + REQUEST_SHARE * asked[at]!);
  const length = normOf(both);
  return length === 0 ? said : both.map((value) => value / length);
}

/**
 * A vector that no text has, for requests to the assistant about itself. All of them share it, so they form one topic
 * and nothing else comes near.
 *
 * Test: test/reader/threads/turn-kinds.test.ts.
 */

/** Returns the vector: unit length, always the same for a number of dimensions. */
export function assistantDirection(dimensions: number): Float32Array {
  let state = 0x0a55157a;
  const direction = Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state < 2 ** 31 ? 1 : -1;
  });
  return direction.map((component) => component / Math.sqrt(dimensions));
}

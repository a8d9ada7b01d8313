/**
 * A direction of meaning that no text has, for requests to the assistant about itself: as all of them share it, they
 * are one topic, and nothing else is near.
 * Covered by test/reader/threads/turn-kinds.test.ts.
 */

/** Unit length, always the same for a number of dimensions. */
export function assistantDirection(dimensions: number): Float32Array {
  let state = 0x0a55157a;
  const direction = Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state < 2 ** 31 ? 1 : -1;
  });
  return direction.map((component) => component / Math.sqrt(dimensions));
}

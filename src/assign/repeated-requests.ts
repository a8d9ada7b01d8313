import { quantisedCosine } from './vectors.ts';

/** Requests of a session that are remembered. */
export const REMEMBERED_REQUESTS = 32;

/**
 * Whether a request asks again for what the session asked before: it is at least `threshold` close to a
 * request among the first `answered` of `earlier`, those that an assistant turn has followed.
 */
export function isRepeated(
  request: Int8Array,
  earlier: readonly Int8Array[],
  answered: number,
  threshold: number,
): boolean {
  for (let index = 0; index < answered; index += 1) {
    if (quantisedCosine(request, earlier[index]!) >= threshold) return true;
  }
  return false;
}

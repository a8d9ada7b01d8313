/**
 * Retries work while its failure may pass: pauses double, and the last failure is thrown.
 *
 * Test: test/domain/retry.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Retries {
  /** Pause before the second try, milliseconds; each later pause doubles, up to `longestMs`. */
  readonly pauseMs: number;
  /** Default: every pause is as long as the first. */
  readonly longestMs?: number;
  /** Number of tries in all. Default: no limit. */
  readonly tries?: number;
  /** No try begins after this `performance.now()`. Default: no limit. */
  readonly until?: number;
  /** Returns true if another try may succeed. Default: always. */
  readonly mayPass?: (error: unknown) => boolean;
  /** Aborts the pause and all further tries. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns the result of the first successful try. Throws the last failure, or the signal's reason. */
export async function retrying<T>(work: () => Promise<T>, retries: Retries): Promise<T> {
  const { longestMs = retries.pauseMs, tries = Infinity, until = Infinity, mayPass, signal } = retries;
  for (let tried = 1, pause = retries.pauseMs; ; tried += 1, pause = Math.min(2 * pause, longestMs)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const isLast = tried >= tries || performance.now() + pause > until;
      if (isLast || mayPass?.(error) === false) throw error;
    }
    await sleep(pause, undefined, signal === undefined ? {} : { signal });
  }
}

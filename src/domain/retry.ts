/**
 * Work that is tried again while its failure may pass: pauses double, and the last failure is the one that is thrown.
 * Covered by test/domain/retry.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Retries {
  /** Before the second try, milliseconds; each later pause is twice as long, up to `longestMs`. */
  readonly pauseMs: number;
  /** Default: every pause is as long as the first. */
  readonly longestMs?: number;
  /** How many tries there are in all. Default: as many as time allows. */
  readonly tries?: number;
  /** No try begins later, by `performance.now()`. Default: never too late. */
  readonly until?: number;
  /** Whether another try may help. Default: always. */
  readonly mayPass?: (error: unknown) => boolean;
  /** Ends a pause, and the tries with it. */
  readonly signal?: AbortSignal | undefined;
}

/** What the first try that succeeds returns. Throws what the last one failed with, or the reason of the signal. */
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

/** Milliseconds of a clock that never jumps and is the same for all threads and processes of the machine. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** What `sharedMs` is when this thread's `performance.now()` is 0. */
export const SHARED_ORIGIN_MS = sharedMs() - performance.now();

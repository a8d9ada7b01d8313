/** Covered by test/http/app.test.ts and test/e2e/limits-rules.test.ts. */
/** What is left for one caller after a request was counted. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Unix timestamp in seconds at which the window ends. */
  readonly resetAt: number;
  readonly allowed: boolean;
}

/** Counts requests in fixed windows of one second, aligned to the Unix second. */
export interface RateLimiter {
  /** Counts one request of a caller. */
  take(caller: string): Allowance;
}

/**
 * Memory holds the callers of the current window only. The clock gives milliseconds since
 * 1970-01-01 UTC; if it is set back, the current window goes on until the clock has caught up.
 */
export function createRateLimiter(limit: number, now: () => number): RateLimiter {
  let window = 0;
  let counts = new Map<string, number>();
  return {
    take(caller) {
      const second = Math.floor(now() / 1000);
      if (second > window || window - second > CLOCK_STEP_SECONDS) {
        window = second;
        counts = new Map();
      }
      const count = (counts.get(caller) ?? 0) + 1;
      counts.set(caller, count);
      return { limit, remaining: Math.max(limit - count, 0), resetAt: window + 1, allowed: count <= limit };
    },
  };
}

/** A clock that jumped back further than this was set, not adjusted: the window follows it. */
const CLOCK_STEP_SECONDS = 2;

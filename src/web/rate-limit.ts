/**
 * Limits of callers: requests by the second, and messages by a budget.
 *
 * Test: test/web/rate-limit.test.ts, test/web/app.test.ts, test/e2e/limits-rules.test.ts.
 */

/** The rest of a caller's limit. */
export interface Allowance {
  readonly unit: 'requests' | 'messages';
  readonly perSecond: number;
  /** The most that may be sent at once. */
  readonly limit: number;
  readonly remaining: number;
  /** Unix timestamp in seconds from which more may be sent. */
  readonly resetAt: number;
  /** Whole seconds until a refused request is allowed, unless the caller's other requests come first; at least 1. */
  readonly retryAfter: number;
  readonly allowed: boolean;
}

/** Counts requests in fixed windows of one second, aligned to the Unix second. */
export interface RateLimiter {
  take(caller: string): Allowance;
}

/**
 * Holds only the callers of the current window in memory. `now`: milliseconds since 1970-01-01 UTC. If the clock is set
 * back, the window lasts until the clock has caught up.
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
      const remaining = Math.max(limit - count, 0);
      const resetAt = window + 1;
      const allowed = count <= limit;
      return { unit: 'requests', perSecond: limit, limit, remaining, resetAt, retryAfter: 1, allowed };
    },
  };
}

/** A larger jump back means that the clock was set, not adjusted: the window follows it. */
const CLOCK_STEP_SECONDS = 2;

/** Counts messages: each caller has a bucket that fills steadily and that one request may overdraw. */
export interface MessageBudget {
  /** Returns the rest. `allowed`: a request of any size may be sent. */
  look(caller: string): Allowance;
  /** Charges the messages of a request; none of them unless `allowed`. */
  take(caller: string, messages: number): Allowance;
  /** Refunds charged messages. */
  giveBack(caller: string, messages: number): void;
}

/** A full bucket holds the messages of this many seconds. */
const BURST_SECONDS = 5;

/** Tolerance for rounding: counts as one message. */
const ONE = 0.999;

/**
 * Holds only callers with a partly empty bucket in memory. `now`: milliseconds since 1970-01-01 UTC. A bucket keeps
 * filling when the clock is set back.
 */
export function createMessageBudget(perSecond: number, now: () => number): MessageBudget {
  const limit = perSecond * BURST_SECONDS;
  /** Level of each bucket at an instant; the one changed longest ago comes first. */
  const buckets = new Map<string, { readonly left: number; at: number }>();

  function leftOf(caller: string, at: number): number {
    const bucket = buckets.get(caller);
    if (bucket === undefined) return limit;
    bucket.at = Math.min(bucket.at, at);
    return Math.min(limit, bucket.left + ((at - bucket.at) * perSecond) / 1000);
  }

  function set(caller: string, left: number, at: number): void {
    buckets.delete(caller);
    buckets.set(caller, { left, at });
    for (const [oldest] of buckets) {
      if (leftOf(oldest, at) < limit) return;
      buckets.delete(oldest);
    }
  }

  function allowanceOf(left: number, at: number, allowed: boolean): Allowance {
    const waitMs = Math.max(1, Math.ceil(((1 - left) * 1000) / perSecond));
    return {
      unit: 'messages',
      perSecond,
      limit,
      remaining: Math.max(0, Math.floor(left)),
      resetAt: Math.ceil((at + waitMs) / 1000),
      retryAfter: Math.ceil(waitMs / 1000),
      allowed,
    };
  }

  return {
    look(caller) {
      const at = now();
      const left = leftOf(caller, at);
      return allowanceOf(left, at, left >= ONE);
    },
    take(caller, messages) {
      const at = now();
      const left = leftOf(caller, at);
      if (left < ONE) return allowanceOf(left, at, false);
      set(caller, left - messages, at);
      return allowanceOf(left - messages, at, true);
    },
    giveBack(caller, messages) {
      const at = now();
      set(caller, leftOf(caller, at) + messages, at);
    },
  };
}

/** Returns the allowance with the smaller remaining share, which the caller will exhaust first. */
export function nearerToItsEnd(one: Allowance, other: Allowance): Allowance {
  return other.remaining / other.limit < one.remaining / one.limit ? other : one;
}

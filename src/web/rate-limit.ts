/** Covered by test/web/rate-limit.test.ts, test/web/app.test.ts and test/e2e/limits-rules.test.ts. */

/** What is left for one caller after something was counted. */
export interface Allowance {
  /** What is counted. */
  readonly unit: 'requests' | 'messages';
  readonly perSecond: number;
  /** The most that may be sent at once. */
  readonly limit: number;
  readonly remaining: number;
  /** Unix timestamp in seconds from which more may be sent than now. */
  readonly resetAt: number;
  /** Whole seconds until what is refused now is allowed, unless others of the caller are faster; at least 1. */
  readonly retryAfter: number;
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
      const remaining = Math.max(limit - count, 0);
      const resetAt = window + 1;
      const allowed = count <= limit;
      return { unit: 'requests', perSecond: limit, limit, remaining, resetAt, retryAfter: 1, allowed };
    },
  };
}

/** A clock that jumped back further than this was set, not adjusted: the window follows it. */
const CLOCK_STEP_SECONDS = 2;

/** Counts messages: each caller has a bucket that fills steadily, and that one request may overdraw. */
export interface MessageBudget {
  /** What is left. `allowed`: a request may be sent, whatever its size. */
  look(caller: string): Allowance;
  /** Counts the messages of one request; where it is not `allowed`, none of them. */
  take(caller: string, messages: number): Allowance;
  /** What was taken came to nothing. */
  giveBack(caller: string, messages: number): void;
}

/** A bucket holds what comes in so many seconds. */
const BURST_SECONDS = 5;

/** As good as one message: sums of fractions are a little off. */
const ONE = 0.999;

/**
 * Memory holds the callers whose bucket is not full. The clock gives milliseconds since 1970-01-01 UTC; a bucket goes
 * on filling when it was set back.
 */
export function createMessageBudget(perSecond: number, now: () => number): MessageBudget {
  const limit = perSecond * BURST_SECONDS;
  /** What was left at a time. The first was changed longest ago. */
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

/** The one of which a smaller part is left: that which a caller meets first. */
export function nearerToItsEnd(one: Allowance, other: Allowance): Allowance {
  return other.remaining / other.limit < one.remaining / one.limit ? other : one;
}

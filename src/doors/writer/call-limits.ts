/**
 * Limits calls of the model: a budget over any hour, and a circuit breaker.
 *
 * Test: test/doors/writer/call-limits.test.ts.
 */

const HOUR_MS = 3_600_000;
/** Pause after the first failure; each consecutive failure multiplies it, up to the longest. */
const FIRST_PAUSE_MS = 2000;
const PAUSE_GROWTH = 4;
const LONGEST_PAUSE_MS = 15 * 60_000;

/**
 * After a failure calls pause, then one is allowed: its failure lengthens the pause, its success resets it. Times are
 * milliseconds of one clock.
 */
export class CallLimits {
  readonly #callsPerHour: number;
  readonly #firstPauseMs: number;
  /** Times of the calls in the last hour, oldest first. */
  #calls: number[] = [];
  #failures = 0;
  #closedUntil = 0;

  constructor(callsPerHour: number, firstPauseMs = FIRST_PAUSE_MS) {
    this.#callsPerHour = callsPerHour;
    this.#firstPauseMs = firstPauseMs;
  }

  /** Returns the time until the next call is allowed; 0: now. */
  waitMs(now: number): number {
    this.#calls = this.#calls.filter((at) => now - at < HOUR_MS);
    const spent = this.#calls.length >= this.#callsPerHour ? (this.#calls[0] as number) + HOUR_MS - now : 0;
    return Math.max(0, spent, this.#closedUntil - now);
  }

  called(now: number): void {
    this.#calls.push(now);
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** `atLeastMs` is the pause that the endpoint asked for. */
  failed(now: number, atLeastMs = 0): void {
    const pause = this.#firstPauseMs * PAUSE_GROWTH ** this.#failures;
    this.#failures += 1;
    this.#closedUntil = now + Math.min(Math.max(pause, atLeastMs), LONGEST_PAUSE_MS);
  }
}

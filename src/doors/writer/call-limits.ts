/** When the model may be called: so often in an hour, and after failures only after a pause. */

const HOUR_MS = 3_600_000;
/** The pause after the first failure; each further one in a row makes it longer, up to the longest. */
const FIRST_PAUSE_MS = 2000;
const PAUSE_GROWTH = 4;
const LONGEST_PAUSE_MS = 15 * 60_000;

/**
 * A budget over any hour, and a circuit breaker: after a failure no call is made for a while, then a single one,
 * whose failure makes the pause longer and whose success ends it. Times are milliseconds of one clock.
 */
export class CallLimits {
  readonly #callsPerHour: number;
  readonly #firstPauseMs: number;
  /** When calls of the last hour were made, oldest first. */
  #calls: number[] = [];
  #failures = 0;
  #closedUntil = 0;

  constructor(callsPerHour: number, firstPauseMs = FIRST_PAUSE_MS) {
    this.#callsPerHour = callsPerHour;
    this.#firstPauseMs = firstPauseMs;
  }

  /** How long no call may be made; 0: now. */
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

  /** `atLeastMs`: the pause that the endpoint asked for. */
  failed(now: number, atLeastMs = 0): void {
    const pause = this.#firstPauseMs * PAUSE_GROWTH ** this.#failures;
    this.#failures += 1;
    this.#closedUntil = now + Math.min(Math.max(pause, atLeastMs), LONGEST_PAUSE_MS);
  }
}

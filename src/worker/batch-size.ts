/**
 * Chooses how much work a batch takes. Only the pace depends on it: any division of the stream into batches gives the
 * same rows.
 *
 * Test: test/worker/fair-share.test.ts.
 */

/** Bounds of the work of a batch, in the unit of `workOf`. */
const LEAST = 1000;
const FIRST = 2000;
const MOST_NEW = 8000;
/** Wanted duration of a batch while instances without a backlog send messages, milliseconds. */
const SHARED_MS = 300;
/** Wanted duration while none of them does, milliseconds: larger batches cost less for each message. */
const ALONE_MS = 2000;
/** Instances without a backlog count as sending for this time after their last message, milliseconds. */
const SENDER_MS = 60_000;
/** Least standard deviation of batch sizes, as a share of their mean, from which a slope is estimated. */
const LEAST_SPREAD = 0.1;
/** A batch counts as at most this multiple of the mean duration. */
const MOST_TIMES = 3;
/** Weight of a batch relative to the next one; the views were smaller when it ran. */
const MEMORY = 0.95;

/** Adapts the work of a batch so that nobody waits long for the next one. */
export class BatchSize {
  readonly #most: number;
  /** Work of a batch while others send messages. */
  #shared: number;
  #senderAt = -Infinity;
  #isAlone = false;
  readonly #fixed = new FixedPart();

  constructor(most: number) {
    this.#most = most;
    this.#shared = Math.min(FIRST, most);
  }

  /** Work of a batch of deferred entries. */
  get work(): number {
    return this.#isAlone
      ? Math.round(Math.min(this.#most, (this.#shared * ALONE_MS) / SHARED_MS))
      : this.#shared;
  }

  /** Work of a batch of new entries, which must not take long whatever they hold. */
  get newWork(): number {
    return Math.min(MOST_NEW, this.#shared);
  }

  /** Reports that a message of an instance without a backlog was taken up. `now`: milliseconds, monotonic. */
  noteSender(now: number): void {
    this.#senderAt = now;
    this.#isAlone = false;
  }

  /** Reports how long a batch of this work took. */
  took(work: number, ms: number, now: number): void {
    const fixedMs = this.#fixed.after(work, ms);
    // With smaller batches, the fixed part would fill the time, and the backlog would stand still.
    const least = 2 * fixedMs;
    const isLong = ms > Math.max(this.#isAlone ? ALONE_MS : SHARED_MS, least);
    const wanted = (work * Math.max(SHARED_MS, least)) / Math.max(1, ms);
    const next = isLong
      ? Math.max(this.#shared / 2, wanted)
      : Math.min(this.#shared * 2, Math.max(this.#shared, wanted));
    // A small batch says nothing about how long a larger one may take.
    if (isLong || work >= this.work / 2)
      this.#shared = Math.round(Math.min(this.#most, Math.max(LEAST, next)));
    this.#isAlone = now - this.#senderAt >= SENDER_MS;
  }
}

/**
 * The fixed duration of a batch: the intercept of the regression line of durations on work, recent batches weighing
 * more.
 */
class FixedPart {
  // Sums over the batches, with exponential decay.
  #weight = 0;
  #n = 0;
  #t = 0;
  #nn = 0;
  #nt = 0;
  #ms = 0;

  /** Adds a batch and returns the fixed duration, milliseconds. */
  after(work: number, took: number): number {
    // Limits an outlier, such as a batch during which the machine was busy.
    const ms = this.#weight === 0 ? took : Math.min(took, (MOST_TIMES * this.#t) / this.#weight);
    this.#weight = this.#weight * MEMORY + 1;
    this.#n = this.#n * MEMORY + work;
    this.#t = this.#t * MEMORY + ms;
    this.#nn = this.#nn * MEMORY + work * work;
    this.#nt = this.#nt * MEMORY + work * ms;
    const [n, t] = [this.#n / this.#weight, this.#t / this.#weight];
    const spread = this.#nn / this.#weight - n * n;
    // Batches of nearly one size give no slope.
    if (spread > (LEAST_SPREAD * n) ** 2) {
      const slope = (this.#nt / this.#weight - n * t) / spread;
      this.#ms = Math.min(t, Math.max(0, t - slope * n));
    }
    return Math.min(this.#ms, t);
  }
}

/** Covered by test/worker/fair-share.test.ts. */

/** Work, as `workOf` measures it. */
const LEAST = 1000;
const FIRST = 2000;
const MOST_NEW = 8000;
/** A batch takes so long, milliseconds, while others than those with a backlog send something, */
const SHARED_MS = 300;
/** and so long while nobody does: larger batches cost less for each message. */
const ALONE_MS = 2000;
/** Others count as sending for so long, milliseconds, after something of theirs was taken up. */
const HEARD_MS = 60_000;
/** Of the mean size of batches: so much they must differ. */
const LEAST_SPREAD = 0.1;
/** A batch counts as at most so many times what they take in the mean. */
const MOST_TIMES = 3;
/** What an earlier batch weighs beside the one after it: what a batch takes belongs to views that were smaller. */
const MEMORY = 0.95;

/**
 * How much work a batch takes, so that nobody waits long for the next one. Only the pace depends on it: any
 * division of the stream into batches gives the same rows.
 */
export class BatchSize {
  readonly #most: number;
  /** What is done while others send something. */
  #shared: number;
  #heardAt = -Infinity;
  #isAlone = false;
  readonly #fixed = new FixedPart();

  constructor(most: number) {
    this.#most = most;
    this.#shared = Math.min(FIRST, most);
  }

  /** Of those who have a backlog. */
  get work(): number {
    return this.#isAlone
      ? Math.round(Math.min(this.#most, (this.#shared * ALONE_MS) / SHARED_MS))
      : this.#shared;
  }

  /** Of what is new: whatever it holds, it must not take long. */
  get newWork(): number {
    return Math.min(MOST_NEW, this.#shared);
  }

  /** Something of an instance without a backlog was taken up. `now`: milliseconds, never going backwards. */
  heard(now: number): void {
    this.#heardAt = now;
    this.#isAlone = false;
  }

  /** A batch of so much work took so long. */
  took(work: number, ms: number, now: number): void {
    const fixedMs = this.#fixed.after(work, ms);
    // Smaller ones would take as long and hold less: the backlog would stand still.
    const least = 2 * fixedMs;
    const isLong = ms > Math.max(this.#isAlone ? ALONE_MS : SHARED_MS, least);
    const wanted = (work * Math.max(SHARED_MS, least)) / Math.max(1, ms);
    const next = isLong
      ? Math.max(this.#shared / 2, wanted)
      : Math.min(this.#shared * 2, Math.max(this.#shared, wanted));
    // A small batch tells nothing of how long a larger one may take.
    if (isLong || work >= this.work / 2)
      this.#shared = Math.round(Math.min(this.#most, Math.max(LEAST, next)));
    this.#isAlone = now - this.#heardAt >= HEARD_MS;
  }
}

/** What batches take whatever they hold: the line through what the last of them took by their work, at none. */
class FixedPart {
  // Sums over the batches, each of which weighs less than the next one.
  #weight = 0;
  #n = 0;
  #t = 0;
  #nn = 0;
  #nt = 0;
  #ms = 0;

  /** Milliseconds, after one more batch. */
  after(work: number, took: number): number {
    // Of one that the machine held up, no more.
    const ms = this.#weight === 0 ? took : Math.min(took, (MOST_TIMES * this.#t) / this.#weight);
    this.#weight = this.#weight * MEMORY + 1;
    this.#n = this.#n * MEMORY + work;
    this.#t = this.#t * MEMORY + ms;
    this.#nn = this.#nn * MEMORY + work * work;
    this.#nt = this.#nt * MEMORY + work * ms;
    const [n, t] = [this.#n / this.#weight, this.#t / this.#weight];
    const spread = this.#nn / this.#weight - n * n;
    // Batches of nearly one size tell nothing of it.
    if (spread > (LEAST_SPREAD * n) ** 2) {
      const slope = (this.#nt / this.#weight - n * t) / spread;
      this.#ms = Math.min(t, Math.max(0, t - slope * n));
    }
    return Math.min(this.#ms, t);
  }
}

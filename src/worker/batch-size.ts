/** Covered by test/worker/batch-size.test.ts. */

const LEAST = 200;
const FIRST = 1000;
/** A batch takes so long, milliseconds, while others than those with a backlog send something, */
const SHARED_MS = 300;
/** and so long while nobody does: larger batches cost less for each message. */
const ALONE_MS = 800;
/** Others count as sending for so long, milliseconds, after something of theirs was taken up. */
const HEARD_MS = 10_000;
/** By so much the least time of a batch grows with each: it belongs to views that were smaller. */
const GROWTH = 1.02;

/**
 * How many messages a batch takes, so that nobody waits long for the next one. Only the pace depends on it: any
 * division of the stream into batches gives the same rows.
 */
export class BatchSize {
  readonly #most: number;
  #messages: number;
  #heardAt = -Infinity;
  /** About what a batch takes whatever it holds, milliseconds. */
  #leastMs = Infinity;

  constructor(most: number) {
    this.#most = most;
    this.#messages = Math.min(FIRST, most);
  }

  get messages(): number {
    return this.#messages;
  }

  /** Something of an instance without a backlog was taken up. `now`: milliseconds, never going backwards. */
  heard(now: number): void {
    this.#heardAt = now;
  }

  /** A batch of so many messages took so long. */
  took(messages: number, ms: number, now: number): void {
    this.#leastMs = Math.min(ms, this.#leastMs * GROWTH);
    // Smaller ones would take as long and hold less: the backlog would stand still.
    const aim = Math.max(now - this.#heardAt < HEARD_MS ? SHARED_MS : ALONE_MS, 2 * this.#leastMs);
    const factor = Math.min(2, Math.max(0.5, aim / Math.max(1, ms)));
    // A small batch tells nothing of how long a larger one may take.
    if (factor > 1 && messages < this.#messages / 2) return;
    this.#messages = Math.round(Math.min(this.#most, Math.max(LEAST, this.#messages * factor)));
  }
}

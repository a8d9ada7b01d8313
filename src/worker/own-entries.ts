/**
 * The entries of a shard in partitions that several shards read: those with nothing of its instances are passed over.
 * Keeps the invariant that the shard comes past them in the end, although nothing is applied for most of them.
 *
 * Test: test/worker/own-entries.test.ts.
 */
import { DecodeError, decodeRecord } from '../stream/log/codec.ts';
import type { Delivered, StreamConsumer } from '../stream/log/consumer.ts';

/**
 * One entry of others in so long is applied, so that the position of the shard comes past them: a batch costs a shard as
 * much whatever is in it.
 */
const PASS_EVERY_MS = 5000;

/** Finds the entries of a shard. */
export class OwnEntries {
  readonly #entries: Pick<StreamConsumer, 'next'>;
  readonly #isOurs: (instanceId: string) => boolean;
  readonly #now: () => number;
  /** The newest entry of others behind the last one that was applied. */
  #passed: Delivered | null = null;
  #appliedAt: number;

  /** `entries`: those of the partitions. `now`: milliseconds that never go back. */
  constructor(
    entries: Pick<StreamConsumer, 'next'>,
    isOurs: (instanceId: string) => boolean,
    now: () => number,
  ) {
    this.#entries = entries;
    this.#isOurs = isOurs;
    this.#now = now;
    this.#appliedAt = now();
  }

  /** The next entries to apply; waits for the first as long as `next` does. */
  async next(options: Parameters<StreamConsumer['next']>[0]): Promise<Delivered[]> {
    const until = this.#now() + options.waitMs;
    for (;;) {
      const waitMs = Math.max(0, until - this.#now());
      const read = await this.#entries.next({ ...options, waitMs });
      const ours = read.filter((entry) => this.#has(entry));
      const last = read.at(-1);
      if (last !== undefined) this.#passed = last === ours.at(-1) ? null : last;
      if (ours.length === 0 && this.#passed !== null && this.#now() - this.#appliedAt >= PASS_EVERY_MS) {
        ours.push(this.#passed);
        this.#passed = null;
      }
      if (ours.length > 0) this.#appliedAt = this.#now();
      // An empty read means that the time is over, or that the stream is closed.
      if (ours.length > 0 || read.length === 0 || waitMs === 0) return ours;
    }
  }

  /** What cannot be decoded is everybody's: it becomes a dead letter. */
  #has({ bytes }: Delivered): boolean {
    try {
      return decodeRecord(bytes).requests.some(({ instanceId }) => this.#isOurs(instanceId));
    } catch (error) {
      if (error instanceof DecodeError) return true;
      throw error;
    }
  }
}

/**
 * The source of entries for a replay. It ends at a fixed sequence, or follows the stream.
 *
 * Test: test/cli/rebuild.test.ts, test/cli/backup.test.ts.
 */
import { openArchiveConsumer, type StreamArchive } from '../../stream/archive/archive-consumer.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import {
  lastSequenceOf,
  openConsumer,
  type Delivered,
  type StreamConsumer,
  type TakeOptions,
} from '../../stream/log/consumer.ts';
import type { ShardSource, SourceStart } from '../shard.ts';

export interface ReplaySourceOptions {
  /** Returns the limit for the bytes of stream entries in the next batch. */
  readonly batchBytes: () => number;
  /** The source ends after this stream sequence, or after the newest entry. Null: it follows the stream. */
  readonly until: number | null;
  /** A backup's copy of the stream, which is read before the stream itself. */
  readonly archive: StreamArchive | null;
  /** Called with each pull before it is processed; the pull waits for it. Rejects to end the replay. */
  readonly onPull: (pull: Pull) => Promise<void>;
}

/** Entries on their way into a replay. */
export interface Pull {
  /** Stream sequence before the first entry, and of the last one; equal if none came. */
  readonly after: number;
  readonly sequence: number;
  /** Messages and bytes of all earlier pulls. */
  readonly messagesBefore: number;
  readonly bytesBefore: number;
}

/** The entries of a shard from a start position up to a sequence. */
export class ReplaySource implements ShardSource {
  readonly #connection: StreamConnection;
  readonly #consumer: Pick<StreamConsumer, 'next' | 'close'>;
  readonly #options: ReplaySourceOptions;
  readonly #start: SourceStart;
  #bytes = 0;
  #pulled: number;
  #exhausted = false;

  private constructor(
    connection: StreamConnection,
    consumer: Pick<StreamConsumer, 'next' | 'close'>,
    options: ReplaySourceOptions,
    start: SourceStart,
  ) {
    this.#connection = connection;
    this.#consumer = consumer;
    this.#options = options;
    this.#start = start;
    this.#pulled = start.sequence;
  }

  static async open(
    connection: StreamConnection,
    options: ReplaySourceOptions,
    start: SourceStart,
  ): Promise<ReplaySource> {
    const { archive } = options;
    const { sequence, lastEntry, partitions } = start;
    const from = { startSequence: sequence + 1, lastEntry, partitions };
    const consumer =
      archive === null
        ? await openConsumer(connection, from)
        : openArchiveConsumer(connection, { ...from, archive });
    return new ReplaySource(connection, consumer, options, start);
  }

  get ended(): boolean {
    return this.#exhausted || this.#pulled >= (this.#options.until ?? Infinity);
  }

  async next(limits: TakeOptions): Promise<Delivered[]> {
    if (this.ended) return [];
    const { until, batchBytes, onPull } = this.#options;
    const delivered = await this.#consumer.next({ ...limits, maxBytes: batchBytes() });
    const wanted = delivered.filter(({ sequence }) => sequence <= (until ?? Infinity));
    const after = this.#pulled;
    const bytesBefore = this.#bytes;
    for (const entry of wanted) this.#bytes += entry.bytes.length;
    this.#pulled = wanted.at(-1)?.sequence ?? this.#pulled;
    this.#exhausted = wanted.length < delivered.length;
    if (delivered.length === 0 && until !== null) {
      const last = await lastSequenceOf(this.#connection, this.#start.partitions).catch(() => Infinity);
      this.#exhausted = last <= this.#pulled;
    }
    const messagesBefore = this.#start.messages();
    await onPull({ after, sequence: this.#pulled, messagesBefore, bytesBefore });
    return wanted;
  }

  close(): Promise<void> {
    return this.#consumer.close();
  }
}

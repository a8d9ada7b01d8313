/**
 * Reads a stream in order, each entry once, from a sequence that the reader keeps itself.
 *
 * Test: test/stream/log/consumer.test.ts.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import type { StreamConnection } from '../connection.ts';
import { PullSession } from './pull-session.ts';

/** An entry of a stream. */
export interface LogEntry {
  readonly sequence: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Number of later entries of these subjects when the server sent this one. */
  readonly pending: number;
  /** A header of the entry; '' if it is missing. */
  header(name: string): string;
  /** All headers of the entry, in their order. */
  headers(): readonly (readonly [name: string, value: string])[];
}

/** The stream does not hold what was read last: it was emptied, lost its end, or was replaced. */
export class StreamRewoundError extends SetupError {
  constructor(fact: string) {
    super(
      `${fact}: its data was lost or replaced. Restore a backup, or delete the folder views of DATA_DIR: the worker ` +
        'makes it again from what the stream holds.',
    );
    this.name = 'StreamRewoundError';
  }
}

/** A digest that distinguishes an entry from another with the same sequence, also after a restore. */
export function digestOfEntry(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

export interface LogReaderOptions {
  readonly stream: string;
  readonly filterSubjects: readonly string[];
  /** First sequence to read, from 1. */
  readonly startSequence: number;
  /** Digest of the entry before it. Default: unknown. */
  readonly lastEntry?: string | null;
  /**
   * Receives ranges of sequences that the stream should hold but does not deliver. Useful only when all subjects are
   * read.
   */
  readonly onSkipped?: ((first: number, last: number) => void) | undefined;
  /** Limit for reading ahead, bytes; a single entry may exceed it. */
  readonly readAheadBytes: number;
}

/** The limits of one `take`. */
export interface TakeOptions {
  readonly maxMessages: number;
  /** At least one entry is returned, however large. */
  readonly maxBytes: number;
  /** Longest wait for the first entry, milliseconds. */
  readonly waitMs: number;
}

/**
 * The reader uses a consumer without acknowledgements, and checks its delivery numbers for gaps. When the consumer is
 * lost, silent or out of order, it creates another one that starts after the last entry received.
 */
export class LogReader {
  readonly #connection: StreamConnection;
  readonly #options: LogReaderOptions;
  #position: number;
  /** The entry at the position, or its digest; null: unknown. */
  #last: Uint8Array | string | null;
  #buffer: LogEntry[] = [];
  #taken = 0;
  #bufferedBytes = 0;
  #closed = false;
  #fault: Error | undefined;
  /** First and last sequence of the stream when reading began. */
  #extent: { readonly first: number; readonly last: number } | undefined;
  /** True once the server has delivered all that it can read of these. */
  #isGiven = false;
  #wake: () => void = () => undefined;
  #session: PullSession | null = null;
  readonly #opened = Promise.withResolvers<number>();
  readonly #finished: Promise<void>;

  constructor(connection: StreamConnection, options: LogReaderOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#position = options.startSequence - 1;
    this.#last = options.lastEntry ?? null;
    this.#opened.promise.catch(() => undefined);
    this.#finished = this.#run();
  }

  /** Resolves when reading has begun, with the number of entries that waited then. */
  get opened(): Promise<number> {
    return this.#opened.promise;
  }

  /** True once all entries were taken that existed when reading began. The server omits entries that it cannot read. */
  get isThrough(): boolean {
    return this.#isGiven && this.#buffer.length === this.#taken;
  }

  /**
   * Returns available entries, or none after `waitMs`, or as soon as the reader is through. One call at a time. Throws
   * StreamRewoundError when the stream no longer holds what was read.
   */
  async take(options: TakeOptions): Promise<LogEntry[]> {
    const isEmpty = this.#buffer.length === this.#taken;
    if (isEmpty && !this.#closed && this.#fault === undefined && options.waitMs > 0)
      await this.#waitForEntry(options.waitMs);
    const entries = this.#shift(options);
    this.#session?.pull();
    if (entries.length === 0 && this.#fault !== undefined) throw this.#fault;
    return entries;
  }

  async #waitForEntry(waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
    this.#wake = () => undefined;
  }

  /** Takes entries from the buffer; at least one if there is any. */
  #shift({ maxMessages, maxBytes }: TakeOptions): LogEntry[] {
    let end = this.#taken;
    let bytes = 0;
    for (; end < this.#buffer.length && end - this.#taken < maxMessages; end += 1) {
      const size = this.#buffer[end]?.bytes.length ?? 0;
      if (end > this.#taken && bytes + size > maxBytes) break;
      bytes += size;
    }
    const entries = this.#buffer.slice(this.#taken, end);
    this.#taken = end;
    if (this.#taken > 4096 || this.#taken === this.#buffer.length) {
      this.#buffer = this.#buffer.slice(this.#taken);
      this.#taken = 0;
    }
    this.#bufferedBytes -= bytes;
    return entries;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#opened.reject(new Error('the reader was closed'));
    this.#session?.end();
    this.#wake();
    await this.#finished;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#closed && this.#fault === undefined) {
      if (!(await this.#connection.whenConnected(1000))) {
        if (this.#connection.nats.isClosed()) this.#fail(new Error('the connection to NATS was closed'));
        continue;
      }
      let consumer: string | undefined;
      let manager: JetStreamManager | undefined;
      try {
        manager = await jetstreamManager(this.#connection.nats, { checkAPI: false, timeout: 5000 });
        const { state } = await manager.streams.info(this.#options.stream);
        await this.#checkPosition(manager, state.last_seq);
        const info = await manager.consumers.add(this.#options.stream, {
          ack_policy: AckPolicy.None,
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: this.#position + 1,
          filter_subjects: [...this.#options.filterSubjects],
          inactive_threshold: nanos(30_000),
          mem_storage: true,
          num_replicas: 1,
        });
        consumer = info.name;
        failures = 0;
        this.#extent ??= { first: state.first_seq, last: state.last_seq };
        if (info.num_pending === 0) this.#given();
        this.#opened.resolve(info.num_pending);
        if (!this.#closed) await this.#read(consumer);
      } catch (error) {
        if (error instanceof StreamRewoundError) this.#fail(error);
        failures++;
      }
      if (consumer !== undefined && manager !== undefined && this.#connection.connected) {
        // Best effort: the server deletes the consumer after its inactive threshold.
        await manager.consumers.delete(this.#options.stream, consumer).catch(() => undefined);
      }
      if (failures > 0 && !this.#closed && this.#fault === undefined)
        await sleep(Math.min(50 * 2 ** failures, 1000));
    }
  }

  /** Throws StreamRewoundError when the entry that was read last is gone or replaced. */
  async #checkPosition(manager: JetStreamManager, lastSequence: number): Promise<void> {
    const { stream } = this.#options;
    const position = this.#position;
    if (lastSequence < position) {
      throw new StreamRewoundError(
        `The stream ${stream} ends at sequence ${lastSequence}, but ${position} was already read`,
      );
    }
    if (this.#last === null || position < 1) return;
    const known = typeof this.#last === 'string' ? this.#last : digestOfEntry(this.#last);
    // Null when it has expired or cannot be read. An entry too large for the answer cannot be compared.
    const there = await manager.streams.getMessage(stream, { seq: position }).catch(() => null);
    if (there !== null && digestOfEntry(there.data) !== known) {
      throw new StreamRewoundError(`Entry ${position} of the stream ${stream} is not the one that was read`);
    }
  }

  #fail(error: Error): void {
    this.#fault = error;
    this.#opened.reject(error);
    this.#wake();
  }

  /** Reads from one consumer until it is lost or out of order, or the reader is closed. */
  async #read(consumer: string): Promise<void> {
    const { stream, readAheadBytes } = this.#options;
    const session = new PullSession(this.#connection, {
      stream,
      consumer,
      room: () => readAheadBytes - this.#bufferedBytes,
      accept: (entry) => this.#accept(entry),
      idle: (sequence) => {
        if (sequence >= (this.#extent?.last ?? Infinity)) this.#given();
      },
    });
    this.#session = session;
    await session.run();
    this.#session = null;
  }

  #accept(entry: LogEntry): boolean {
    if (entry.sequence <= this.#position) return false;
    const expected = Math.max(this.#position + 1, this.#extent?.first ?? 1);
    if (expected < entry.sequence) this.#options.onSkipped?.(expected, entry.sequence - 1);
    this.#position = entry.sequence;
    this.#last = entry.bytes;
    this.#bufferedBytes += entry.bytes.length;
    this.#buffer.push(entry);
    if (entry.pending === 0) this.#isGiven = true;
    this.#wake();
    return true;
  }

  #given(): void {
    if (this.#isGiven) return;
    this.#isGiven = true;
    this.#wake();
  }
}

const TO_END = { maxMessages: 500, maxBytes: 16 * 1024 * 1024, waitMs: 5000 } as const;
const TO_END_AHEAD_BYTES = 4 * 1024 * 1024;

/** Calls `hear` for each entry that the stream holds now, one after the other. */
export async function readToEnd(
  connection: StreamConnection,
  source: Pick<LogReaderOptions, 'stream' | 'filterSubjects'>,
  hear: (entry: LogEntry) => Promise<void>,
): Promise<void> {
  const options = { ...source, startSequence: 1, readAheadBytes: TO_END_AHEAD_BYTES };
  const reader = new LogReader(connection, options);
  try {
    await reader.opened;
    while (!reader.isThrough) for (const entry of await reader.take(TO_END)) await hear(entry);
  } finally {
    await reader.close();
  }
}

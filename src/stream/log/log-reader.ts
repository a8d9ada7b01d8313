import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { createInbox, nanos, type Msg } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import type { StreamConnection } from '../connection.ts';

/** An entry of a stream as it was stored. */
export interface LogEntry {
  readonly sequence: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  /** Entries of the chosen subjects that are stored after it, as the server knew when it sent this one. */
  readonly pending: number;
  /** One header of the entry, '' when it has none of the name. */
  header(name: string): string;
  /** All headers of the entry, as they came. */
  headers(): readonly (readonly [name: string, value: string])[];
}

/** The stream ends before the position of its reader: it was emptied or another one took its name. */
export class StreamRewoundError extends SetupError {
  constructor(stream: string, lastSequence: number, position: number) {
    super(
      `The stream ${stream} ends at sequence ${lastSequence}, but ${position} was already read: its data was lost or replaced. ` +
        'Restore a backup, or delete the folder views of DATA_DIR: it is made anew from what the stream holds.',
    );
    this.name = 'StreamRewoundError';
  }
}

export interface LogReaderOptions {
  readonly stream: string;
  readonly filterSubjects: readonly string[];
  /** First sequence wanted, from 1. */
  readonly startSequence: number;
  /** Entries are read ahead up to about this many bytes (one entry may exceed it). */
  readonly readAheadBytes: number;
}

export interface TakeOptions {
  readonly maxMessages: number;
  /** At least one entry is given, however large. */
  readonly maxBytes: number;
  /** How long to wait for the first entry. */
  readonly waitMs: number;
}

const IDLE_HEARTBEAT_MS = 1000;
/** Silent checks, one per heartbeat interval, after which the consumer counts as lost. */
const SILENT_CHECKS = 3;
const PULL_BATCH = 1000;
const PULL_EXPIRES_MS = 30_000;
/** With the end of a pull the server says how much of it was left; with that of the consumer it does not. */
const PULL_LEFT_HEADER = 'Nats-Pending-Messages';
/** The server counts subject, reply and headers into the size of a message. */
const ENVELOPE_BYTES = 64 * 1024;

/**
 * Reads a stream in order from a position of the reader's own. The server keeps no position: an
 * acknowledgement-free consumer is made, checked for gaps in its delivery numbers, and made anew behind the
 * last entry received whenever it is lost, silent or out of order. So each entry comes once, in order.
 */
export class LogReader {
  readonly #connection: StreamConnection;
  readonly #options: LogReaderOptions;
  #position: number;
  #buffer: LogEntry[] = [];
  #taken = 0;
  #bufferedBytes = 0;
  #closed = false;
  #fault: Error | undefined;
  #wake: () => void = () => undefined;
  #pull: () => void = () => undefined;
  #endSession: () => void = () => undefined;
  readonly #opened = Promise.withResolvers<number>();
  readonly #finished: Promise<void>;

  constructor(connection: StreamConnection, options: LogReaderOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#position = options.startSequence - 1;
    this.#opened.promise.catch(() => undefined);
    this.#finished = this.#run();
  }

  /** Resolves when reading has begun, with the number of entries that were waiting then. */
  get opened(): Promise<number> {
    return this.#opened.promise;
  }

  /**
   * Entries that are there, or after at most `waitMs` none. One call at a time. Throws StreamRewoundError
   * when the stream no longer holds what was read already.
   */
  async take(options: TakeOptions): Promise<LogEntry[]> {
    if (
      this.#buffer.length === this.#taken &&
      !this.#closed &&
      this.#fault === undefined &&
      options.waitMs > 0
    ) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, options.waitMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
      this.#wake = () => undefined;
    }
    let end = this.#taken;
    let bytes = 0;
    while (end < this.#buffer.length && end - this.#taken < options.maxMessages) {
      bytes += this.#buffer[end]?.bytes.length ?? 0;
      if (end > this.#taken && bytes > options.maxBytes) {
        bytes -= this.#buffer[end]?.bytes.length ?? 0;
        break;
      }
      end++;
    }
    const entries = this.#buffer.slice(this.#taken, end);
    this.#taken = end;
    if (this.#taken > 4096 || this.#taken === this.#buffer.length) {
      this.#buffer = this.#buffer.slice(this.#taken);
      this.#taken = 0;
    }
    this.#bufferedBytes -= bytes;
    this.#pull();
    if (entries.length === 0 && this.#fault !== undefined) throw this.#fault;
    return entries;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#opened.reject(new Error('the reader was closed'));
    this.#endSession();
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
        if (state.last_seq < this.#position) {
          throw new StreamRewoundError(this.#options.stream, state.last_seq, this.#position);
        }
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
        this.#opened.resolve(info.num_pending);
        if (!this.#closed) await this.#read(consumer);
      } catch (error) {
        if (error instanceof StreamRewoundError) this.#fail(error);
        failures++;
      }
      if (consumer !== undefined && manager !== undefined && this.#connection.connected) {
        // Best effort: the server drops it by itself after its inactive threshold.
        await manager.consumers.delete(this.#options.stream, consumer).catch(() => undefined);
      }
      if (failures > 0 && !this.#closed && this.#fault === undefined)
        await sleep(Math.min(50 * 2 ** failures, 1000));
    }
  }

  #fail(error: Error): void {
    this.#fault = error;
    this.#opened.reject(error);
    this.#wake();
  }

  /** Pulls from one consumer until it is lost, out of order, or the reader is closed. */
  async #read(consumer: string): Promise<void> {
    const { nats } = this.#connection;
    const { stream, readAheadBytes } = this.#options;
    const ended = Promise.withResolvers<void>();
    const inbox = createInbox();
    let expected = 1;
    let wanted = 0;
    let heard = true;
    let silent = 0;

    const pull = (): void => {
      if (wanted > 0 || this.#bufferedBytes >= readAheadBytes || nats.isClosed()) return;
      wanted = PULL_BATCH;
      heard = true;
      const request = {
        batch: PULL_BATCH,
        max_bytes: Math.max(
          readAheadBytes - this.#bufferedBytes,
          this.#connection.maxPayload + ENVELOPE_BYTES,
        ),
        expires: nanos(PULL_EXPIRES_MS),
        idle_heartbeat: nanos(IDLE_HEARTBEAT_MS),
      };
      nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), {
        reply: inbox,
      });
    };

    const receive = (message: Msg): void => {
      heard = true;
      const place = placeOf(message.reply);
      if (place === null) {
        const code = message.headers?.code ?? 0;
        if (code === 100) {
          const last = Number(message.headers?.get('Nats-Last-Consumer') || Number.NaN);
          if (last >= expected) ended.resolve();
          return;
        }
        // 404, 408 and a 409 that says what of the pull is left end one pull; any other 409 and 503 the consumer.
        const ofPull = code === 409 && message.headers?.has(PULL_LEFT_HEADER) === true;
        if (code !== 404 && code !== 408 && !ofPull) return ended.resolve();
        wanted = 0;
        return pull();
      }
      if (place.delivery !== expected || place.sequence <= this.#position) return ended.resolve();
      expected++;
      this.#position = place.sequence;
      this.#bufferedBytes += message.data.length;
      this.#buffer.push({
        sequence: place.sequence,
        subject: message.subject,
        bytes: message.data,
        timestamp: place.timestamp,
        pending: place.pending,
        header: (name) => message.headers?.get(name) ?? '',
        headers: () =>
          [...(message.headers ?? [])].flatMap(([name, values]) =>
            values.map((value): [string, string] => [name, value]),
          ),
      });
      this.#wake();
      if (--wanted === 0) pull();
    };

    let done = false;
    const subscription = nats.subscribe(inbox, {
      callback: (error, message) => {
        if (done) return;
        if (error === null) receive(message);
        else ended.resolve();
      },
    });
    // Ticks, not elapsed time: a process that was busy for seconds has not lost its consumer.
    const timer = setInterval(() => {
      silent = heard || wanted === 0 ? 0 : silent + 1;
      heard = false;
      if (silent >= SILENT_CHECKS) ended.resolve();
    }, IDLE_HEARTBEAT_MS);
    const stopListening = this.#connection.onStateChange(() => ended.resolve());
    this.#endSession = () => ended.resolve();
    this.#pull = pull;
    if (this.#closed || !this.#connection.connected) ended.resolve();
    pull();
    await ended.promise;
    done = true;
    this.#pull = () => undefined;
    stopListening();
    clearInterval(timer);
    if (!nats.isClosed()) subscription.unsubscribe();
  }
}

interface Place {
  readonly delivery: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly pending: number;
}

/**
 * Reads the reply subject of a delivered entry (NATS ADR-15):
 * `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<sequence>.<delivery>.<nanoseconds>.<pending>`.
 */
function placeOf(reply: string | undefined): Place | null {
  if (reply === undefined || !reply.startsWith('$JS.ACK.')) return null;
  const tokens = reply.split('.');
  const from = tokens.length === 9 ? 5 : 7;
  return {
    sequence: Number(tokens[from]),
    delivery: Number(tokens[from + 1]),
    timestamp: Number(BigInt(tokens[from + 2] ?? 0) / 1000n),
    pending: Number(tokens[from + 3]),
  };
}

/**
 * Pulls entries from one JetStream consumer. A gap in the delivery numbers ends the session.
 *
 * Test: test/stream/log/consumer.test.ts.
 */
import { createInbox, nanos, type Msg } from '@nats-io/transport-node';
import type { StreamConnection } from '../connection.ts';
import type { LogEntry } from './log-reader.ts';

const IDLE_HEARTBEAT_MS = 1000;
/** Checks without a message, one per heartbeat interval, after which the consumer counts as lost. */
const SILENT_CHECKS = 3;
const PULL_BATCH = 1000;
const PULL_EXPIRES_MS = 30_000;
/**
 * At the end of a pull, the server reports in this header how much of it was left; at the end of the consumer it does
 * not.
 */
const PULL_LEFT_HEADER = 'Nats-Pending-Messages';
/** The server includes subject, reply and headers in the size of a message. */
const ENVELOPE_BYTES = 64 * 1024;

export interface PullSessionOptions {
  readonly stream: string;
  readonly consumer: string;
  /** Bytes that the reader still wants; it pulls nothing for 0 or less. */
  readonly room: () => number;
  /** Accepts the next entry; false if the reader does not expect it. */
  readonly accept: (entry: LogEntry) => boolean;
  /** Called when the server has no further entries; it has searched up to a sequence. */
  readonly idle: (sequence: number) => void;
}

/** Pulls until the consumer is lost, silent or out of order, or `end` is called. */
export class PullSession {
  readonly #connection: StreamConnection;
  readonly #options: PullSessionOptions;
  readonly #inbox = createInbox();
  readonly #ended = Promise.withResolvers<void>();
  /** Number of the next delivery. */
  #expected = 1;
  /** Entries that the running pull may still deliver. */
  #wanted = 0;
  #received = true;
  #silentChecks = 0;
  #isDone = false;

  constructor(connection: StreamConnection, options: PullSessionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { nats } = this.#connection;
    const subscription = nats.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (this.#isDone) return;
        if (error === null) this.#receive(message);
        else this.end();
      },
    });
    // It counts checks, not time: a process that was busy for seconds has not lost its consumer.
    const timer = setInterval(() => this.#checkSilence(), IDLE_HEARTBEAT_MS);
    const stopListening = this.#connection.onStateChange(() => this.end());
    if (!this.#connection.connected) this.end();
    this.pull();
    await this.#ended.promise;
    this.#isDone = true;
    stopListening();
    clearInterval(timer);
    if (!nats.isClosed()) subscription.unsubscribe();
  }

  /** Ends the session; does nothing the second time. */
  end(): void {
    this.#ended.resolve();
  }

  /** Requests further entries, unless a pull is running or the reader wants none. */
  pull(): void {
    const { nats, maxPayload } = this.#connection;
    const { stream, consumer } = this.#options;
    const room = this.#options.room();
    if (this.#isDone || this.#wanted > 0 || room <= 0 || nats.isClosed()) return;
    this.#wanted = PULL_BATCH;
    this.#received = true;
    const request = {
      batch: PULL_BATCH,
      max_bytes: Math.max(room, maxPayload + ENVELOPE_BYTES),
      expires: nanos(PULL_EXPIRES_MS),
      idle_heartbeat: nanos(IDLE_HEARTBEAT_MS),
    };
    nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), {
      reply: this.#inbox,
    });
  }

  #receive(message: Msg): void {
    this.#received = true;
    const place = placeOf(message.reply);
    if (place === null) return this.#receiveStatus(message);
    if (place.delivery !== this.#expected || !this.#options.accept(entryOf(message, place)))
      return this.end();
    this.#expected += 1;
    this.#wanted -= 1;
    if (this.#wanted === 0) this.pull();
  }

  /** 404, 408, and a 409 with PULL_LEFT_HEADER end one pull; any other 409 and 503 end the consumer. */
  #receiveStatus({ headers }: Msg): void {
    const code = headers?.code ?? 0;
    if (code === 100) {
      const last = Number(headers?.get('Nats-Last-Consumer') || Number.NaN);
      if (last >= this.#expected) this.end();
      else this.#options.idle(Number(headers?.get('Nats-Last-Stream') || 0));
      return;
    }
    const endsPull =
      code === 404 || code === 408 || (code === 409 && headers?.has(PULL_LEFT_HEADER) === true);
    if (!endsPull) return this.end();
    this.#wanted = 0;
    this.pull();
  }

  #checkSilence(): void {
    this.#silentChecks = this.#received || this.#wanted === 0 ? 0 : this.#silentChecks + 1;
    this.#received = false;
    if (this.#silentChecks >= SILENT_CHECKS) this.end();
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

function entryOf(message: Msg, { sequence, timestamp, pending }: Place): LogEntry {
  return {
    sequence,
    subject: message.subject,
    bytes: message.data,
    timestamp,
    pending,
    header: (name) => message.headers?.get(name) ?? '',
    headers: () =>
      [...(message.headers ?? [])].flatMap(([name, values]) =>
        values.map((value): [string, string] => [name, value]),
      ),
  };
}

/**
 * Publishes requests to the stream; many share one message and one sync of the disk. Requests of one project in one
 * lane are stored in order, and none is split.
 *
 * Test: test/stream/log/group-commit.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { Shares } from '../../domain/shares.ts';
import { FairQueue } from '../../domain/turns.ts';
import { AppError, unavailable } from '../../errors.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import { encodeRecord, encodeRequest, MAX_INFLATED_BYTES, sizeOf, type EncodedRequest } from './codec.ts';
import { storedSequence } from '../acknowledgement.ts';
import { whileConnected, type StreamConnection } from '../connection.ts';
import { conversationsSubject, PARTITIONS, partitionOf, TRACES_SUBJECT } from '../subjects.ts';

/** The destinations of requests. Requests of one project in one lane are stored in order. */
export interface Lanes {
  readonly count: number;
  readonly laneOf: (request: EncodedRequest) => number;
  readonly subjectOf: (lane: number) => string;
}

const CONVERSATIONS: Lanes = {
  count: PARTITIONS,
  laneOf: ({ instanceId }) => partitionOf(instanceId),
  subjectOf: conversationsSubject,
};

export const TRACES: Lanes = { count: 1, laneOf: () => 0, subjectOf: () => TRACES_SUBJECT };

export interface PublisherOptions {
  /** Default: the partitions of the conversations. */
  readonly lanes?: Lanes;
  /**
   * Bytes of encoded requests that may wait or be in flight, shared by projects; further requests get 503. Default 64
   * MiB.
   */
  readonly maxPendingBytes?: number;
  /** Time for a request, queueing and retries included, after which it gets 503, milliseconds. Default 8 s. */
  readonly timeoutMs?: number;
  /** Returns false while the disk of the server is nearly full; requests then get 503. Default: always true. */
  readonly hasRoom?: () => boolean;
}

/** Publishes accepted requests. */
export interface Publisher {
  /**
   * Rejects what `publish` would reject now for its size, the disk or the queue, and stores nothing. Call it before
   * other writes for the request. `share`: the share of the largest record that it may take.
   */
  check(request: EncodedRequest, share?: number): Promise<void>;
  /**
   * Resolves with the stream sequence once the server has stored the request durably. Rejects with AppError:
   * PAYLOAD_TOO_LARGE above the server's message size, even compressed; SERVICE_UNAVAILABLE when the stream is full or
   * unreachable, or too many requests wait. When the server stopped answering, the request may have been stored; it may
   * be published again with the same `requestId`.
   */
  publish(request: RecordedRequest | EncodedRequest): Promise<number>;
  /** Bytes that wait or are in flight. */
  readonly pendingBytes: number;
  /** Accepts no further requests, and resolves when all accepted ones are answered. */
  drain(): Promise<void>;
}

const GROUP_MAX_REQUESTS = 500;
const GROUP_MAX_BYTES = 1024 * 1024;
/** Reserved below the server's message limit for subject and headers. */
const ENVELOPE_BYTES = 4096;
/** Bytes by which a request may grow between its check and its publication: ids and times. */
const CHECK_MARGIN_BYTES = 4096;
/** Time after the server reported that it is full in which checks fail without asking it, milliseconds. */
const FULL_FOR_MS = 1000;
const ATTEMPT_TIMEOUT_MS = 3000;
/** JetStream error codes for a full stream. */
const FULL = new Set([10077, 10023, 10047]);
const MESSAGE_TOO_LARGE = 10054;

interface Waiting {
  readonly request: EncodedRequest;
  readonly size: number;
  readonly deadline: number;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * While one record of a lane is in flight, further requests of the lane wait, and then form one record, so that one
 * synced write serves many. Projects take turns.
 */
export function createPublisher(connection: StreamConnection, options: PublisherOptions = {}): Publisher {
  return new GroupCommit(connection, options);
}

class GroupCommit implements Publisher {
  readonly #connection: StreamConnection;
  readonly #jetstream: JetStreamClient;
  readonly #pending: Shares;
  readonly #timeoutMs: number;
  readonly #lanes: Lanes;
  readonly #queues: readonly FairQueue<Waiting>[];
  readonly #senders: (Promise<void> | undefined)[];
  readonly #hasRoom: () => boolean;
  #draining = false;
  #fullUntil = 0;

  constructor(connection: StreamConnection, options: PublisherOptions) {
    this.#connection = connection;
    this.#lanes = options.lanes ?? CONVERSATIONS;
    this.#queues = Array.from({ length: this.#lanes.count }, () => new FairQueue<Waiting>());
    this.#senders = this.#queues.map(() => undefined);
    this.#jetstream = jetstream(connection.nats);
    this.#pending = new Shares(options.maxPendingBytes ?? 64 * 1024 * 1024);
    this.#hasRoom = options.hasRoom ?? (() => true);
    this.#timeoutMs = options.timeoutMs ?? 8000;
  }

  get pendingBytes(): number {
    return this.#pending.held;
  }

  async check(request: EncodedRequest, share = 1): Promise<void> {
    this.#admit(request.projectId, sizeOf(request));
    if (performance.now() < this.#fullUntil) throw full();
    const maxBytes = share * this.#maxRecordBytes;
    if (sizeOf(request) <= maxBytes - CHECK_MARGIN_BYTES) return;
    this.#checkPayload((await encodeRecord([request])).length + CHECK_MARGIN_BYTES, maxBytes);
  }

  get #maxRecordBytes(): number {
    return this.#connection.maxPayload - ENVELOPE_BYTES;
  }

  #checkPayload(bytes: number, maxBytes = this.#maxRecordBytes): void {
    if (bytes <= maxBytes) return;
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The request is ${bytes} bytes compressed; the stream takes ${Math.floor(maxBytes)}. Send fewer ` +
        'messages per request.',
    );
  }

  /** Rejects requests that cannot succeed. */
  #admit(projectId: string, size: number): void {
    if (this.#draining) throw unavailable('The service is shutting down. Try again.');
    if (!this.#hasRoom()) {
      throw unavailable('The disk of the stream is nearly full. Try again when its operator has made room.', {
        retryAfter: 30,
      });
    }
    // A body can grow when encoded: 1e20 is written with all digits. What no reader would inflate must not be accepted.
    if (size > MAX_INFLATED_BYTES - ENVELOPE_BYTES) {
      throw new AppError('PAYLOAD_TOO_LARGE', 'The request is too large. Send fewer messages per request.');
    }
    if (!this.#pending.fits(projectId, size)) {
      throw unavailable('Too many messages are waiting to be stored. Try again.');
    }
  }

  async publish(given: RecordedRequest | EncodedRequest): Promise<number> {
    const request = 'parts' in given ? given : encodeRequest(given);
    const { projectId } = request;
    const size = sizeOf(request);
    this.#admit(projectId, size);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const lane = this.#lanes.laneOf(request);
    this.#pending.take(projectId, size);
    const deadline = performance.now() + this.#timeoutMs;
    this.#queues[lane]?.push(projectId, { request, size, deadline, resolve, reject });
    this.#senders[lane] ??= this.#send(lane);
    try {
      return await promise;
    } finally {
      this.#pending.giveBack(projectId, size);
    }
  }

  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all(this.#senders);
  }

  async #send(lane: number): Promise<void> {
    const queue = this.#queues[lane] as FairQueue<Waiting>;
    while (queue.size > 0) {
      // While the server is away, each request waits until its own deadline, however many others wait.
      const deadline = Math.min(...[...queue.firsts()].map((first) => first.deadline));
      const left = Math.max(0, deadline - performance.now());
      if (!this.#connection.connected && !(await this.#connection.whenConnected(left))) {
        queue.take((_, waiting) => waiting.deadline === deadline)?.reject(unreachable());
        continue;
      }
      const group = this.#takeGroup(queue);
      try {
        const sequence = await this.#store(lane, group);
        for (const { resolve } of group) resolve(sequence);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#senders[lane] = undefined;
  }

  /** A request that is too large for a group keeps its project's turn, and goes alone. */
  #takeGroup(queue: FairQueue<Waiting>): Waiting[] {
    const maxBytes = Math.min(GROUP_MAX_BYTES, this.#connection.maxPayload / 2);
    const group: Waiting[] = [];
    let bytes = 0;
    const fits = (_: string, { size }: Waiting): boolean => group.length === 0 || bytes + size <= maxBytes;
    while (group.length < GROUP_MAX_REQUESTS) {
      const next = queue.take(fits);
      if (next === undefined) break;
      group.push(next);
      bytes += next.size;
    }
    return group;
  }

  /**
   * Stores one record, and tries again while the server is away or has not stored it yet. By the message id, the server
   * recognises a record that it stored although its answer was lost; after its window, the worker's request ids do.
   */
  async #store(lane: number, group: readonly Waiting[]): Promise<number> {
    const payload = await encodeRecord(group.map(({ request }) => request));
    this.#checkPayload(payload.length);
    const id = randomUUID();
    const deadline = Math.max(...group.map((waiting) => waiting.deadline));
    for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
      let fault: unknown;
      const left = deadline - performance.now();
      if (left <= 0 || !(await this.#connection.whenConnected(left))) {
        throw unreachable();
      }
      try {
        const timeout = Math.max(100, Math.min(ATTEMPT_TIMEOUT_MS, deadline - performance.now()));
        const ack = await whileConnected(this.#connection, () =>
          this.#jetstream.publish(this.#lanes.subjectOf(lane), payload, {
            msgID: id,
            timeout,
            retries: 0,
          }),
        );
        return storedSequence(ack);
      } catch (error) {
        fault = error;
      }
      if (fault instanceof JetStreamApiError) {
        if (FULL.has(fault.code)) {
          this.#fullUntil = performance.now() + FULL_FOR_MS;
          throw full(fault);
        }
        if (fault.code === MESSAGE_TOO_LARGE) {
          throw new AppError(
            'PAYLOAD_TOO_LARGE',
            'The stream refuses a record of this size. Send fewer messages.',
            {
              cause: fault,
            },
          );
        }
      }
      if (performance.now() + pause >= deadline) {
        throw unavailable('The stream does not answer. Try again.', { retryAfter: 2, cause: fault });
      }
      await sleep(pause);
    }
  }
}

function full(cause?: unknown): AppError {
  return unavailable('The stream is full. Try again when its operator has made room.', {
    retryAfter: 30,
    cause,
  });
}

function unreachable(): AppError {
  return unavailable('The stream cannot be reached. Try again.', { retryAfter: 2 });
}

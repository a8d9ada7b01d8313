/**
 * The loop that reads the stream and assembles traces. Keeps the invariant that what it holds is on the stream until it
 * is done. Test: test/doors/traces/assembly/assembler.test.ts.
 */
import type { Logger } from '../../../logger.ts';
import { DecodeError, inflatedSizeOf } from '../../../stream/log/codec.ts';
import type { TraceLog } from '../../../stream/log/trace-log.ts';
import { decodeTraceEntries, type TraceEntry } from '../trace-entry.ts';
import { Assembly, isForGood, RoundFailure, type AssembledCounts } from './assembly.ts';
import type { AssemblyParts } from './assembly-parts.ts';
import { Backlog } from './backlog.ts';
import { GiveWay } from './give-way.ts';
import { TraceBuffer, type TraceBufferOptions } from './trace-buffer.ts';
import { traceKey } from './trace-plan.ts';

export interface AssemblerOptions extends TraceBufferOptions {
  readonly log: TraceLog;
  readonly parts: AssemblyParts;
  readonly logger: Logger;
  /** Hears of each round. */
  readonly onRound?: (counts: AssembledCounts) => void;
  readonly pause: (ms: number) => Promise<void>;
}

/** What waits to be assembled, in memory and on the stream. */
export interface Waiting {
  /** In memory. */
  readonly traces: number;
  /** Entries of the stream up to this one are counted in. */
  readonly read: number;
  /** Spans and log records, by project. */
  readonly spans: ReadonlyMap<string, number>;
}

/** What is taken from the stream before traces are assembled, bytes inflated. */
const TAKEN_AT_ONCE = 4 * 1024 * 1024;
/** Records that are looked up before others have their turn. */
const RECALLED_AT_ONCE = 200;
const IDLE_MS = 1000;
/** How long a project that is behind waits at most for a look whether there is room. */
const BEHIND_MS = 50;
/** Between two removals of what is done, and of keys that are no longer needed. */
const SETTLE_EVERY_MS = 500;
const MAX_PAUSE_MS = 5000;

/**
 * Reads the stream of traces, and turns it into messages of conversations. What it holds is on the stream as long as it
 * is not done: whoever goes on after it begins with the first entry that is there. It does a little of each thing at a
 * time, and projects take turns in each, so nobody waits long for what somebody else has sent.
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #buffer: TraceBuffer;
  readonly #backlog: Backlog;
  readonly #assembly: Assembly;
  readonly #giveWay = new GiveWay();
  readonly #finished: Promise<void>;
  #ended = false;
  #read = 0;
  #settledAt = -Infinity;
  #removing: Promise<void> | null = null;
  /** So many traces are assembled one by one: one of them cannot be assembled. */
  #suspects = 0;
  #pauseMs = 0;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#buffer = new TraceBuffer(options);
    this.#backlog = new Backlog(this.#buffer);
    this.#assembly = new Assembly(options.parts);
    this.#finished = this.#run();
  }

  get waiting(): Waiting {
    const spans = new Map<string, number>();
    for (const projectId of new Set([...this.#buffer.projects, ...this.#backlog.projects]))
      spans.set(projectId, this.#buffer.spansOf(projectId) + this.#backlog.spansOf(projectId));
    return { traces: this.#buffer.traces, read: this.#read, spans };
  }

  /** Resolves when it reads no more: closed, or the stream was emptied or replaced. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** Resolves when the round that is under way is over. What waits is read again by whoever goes on. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#options.log.close();
    await this.#finished;
    await this.#removing;
    // Of rounds that did not fail, everything is stored.
    await this.#options.parts.outboxKeys.settle(1, this.#read).catch(() => undefined);
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      try {
        await this.#takeEntries();
      } catch (error) {
        this.#options.logger.error({ event: 'traces_unreadable', err: error }, 'the stream of traces ended');
        return;
      }
      await this.#lookUp();
      if (!this.#ended) await this.#assemble();
      await this.#settle();
    }
  }

  /** How long to wait for an entry. */
  get #waitMs(): number {
    const { nextMs } = this.#buffer;
    return Math.min(nextMs ?? IDLE_MS, IDLE_MS, this.#backlog.size > 0 ? BEHIND_MS : IDLE_MS);
  }

  async #takeEntries(): Promise<void> {
    let waitMs = this.#waitMs;
    for (let taken = 0; taken < TAKEN_AT_ONCE; waitMs = 0) {
      const [entry] = await this.#options.log.take({ maxMessages: 1, maxBytes: Infinity, waitMs });
      if (entry === undefined) return;
      const { sequence, bytes } = entry;
      const requests = this.#decode(sequence, bytes);
      this.#backlog.take(sequence, requests);
      this.#read = Math.max(this.#read, sequence);
      taken += inflatedSizeOf(bytes);
      await this.#giveWayAfter(requests);
    }
  }

  #decode(sequence: number, bytes: Uint8Array): readonly TraceEntry[] {
    try {
      return decodeTraceEntries(bytes);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const fields = { event: 'trace_entry_unreadable', sequence, err: error };
      this.#options.logger.error(fields, 'an entry of the stream of traces is left out');
      return [];
    }
  }

  async #giveWayAfter(requests: readonly TraceEntry[]): Promise<void> {
    for (const { observations } of requests) await this.#giveWay.after(observations.length);
  }

  /** Reads what was deferred, and what is known of traces that lack something. */
  async #lookUp(): Promise<void> {
    const { log, parts, logger } = this.#options;
    try {
      await this.#backlog.refill(async (sequence) => {
        const bytes = await log.read(sequence);
        if (bytes === null) return null;
        const requests = this.#decode(sequence, bytes);
        await this.#giveWayAfter(requests);
        return requests;
      });
      await recall(this.#buffer, parts.traces);
    } catch (error) {
      logger.warn({ event: 'traces_unknown', err: error }, 'spans wait for what may be known');
    }
  }

  /** A round. What fails is tried again; what no attempt can store is left out, alone. */
  async #assemble(): Promise<void> {
    const { onRound } = this.#options;
    try {
      const counts = await this.#assembly.round(this.#buffer, this.#suspects > 0 ? 1 : Infinity);
      this.#suspects = Math.max(0, this.#suspects - counts.traces);
      this.#pauseMs = 0;
      if (counts.traces + counts.messages + counts.lostFeedback + counts.leftOut.length > 0)
        onRound?.(counts);
    } catch (error) {
      if (!(error instanceof RoundFailure)) throw error;
      await this.#failed(error);
    }
  }

  async #failed({ traces, cause }: RoundFailure): Promise<void> {
    const { logger, pause } = this.#options;
    const [trace] = traces;
    if (traces.length === 1 && trace !== undefined && isForGood(cause)) {
      const { projectId, traceId } = trace;
      const fields = { event: 'trace_left_out', projectId, traceId, err: cause };
      logger.error(fields, 'a trace is left out: it cannot be assembled');
      this.#suspects = Math.max(0, this.#suspects - 1);
      return;
    }
    for (const one of traces.toReversed()) this.#buffer.giveBack(one);
    if (traces.length > 1 && isForGood(cause)) {
      this.#suspects = traces.length;
      return;
    }
    logger.warn({ event: 'traces_delayed', err: cause }, 'traces could not be assembled; trying again');
    this.#pauseMs = Math.min(Math.max(50, 2 * this.#pauseMs), MAX_PAUSE_MS);
    await pause(this.#pauseMs);
  }

  /** Removes what is done. Entries are overwritten one by one, which rounds do not wait for. */
  async #settle(): Promise<void> {
    const now = this.#options.now();
    // Of what was under way when this ended, nothing says whether it is stored.
    if (this.#ended || now - this.#settledAt < SETTLE_EVERY_MS) return;
    this.#settledAt = now;
    const { log, parts, logger } = this.#options;
    const oldest = Math.min(this.#buffer.oldestSequence, this.#backlog.oldestSequence, this.#read + 1);
    this.#removing ??= log
      .removeBefore(oldest)
      .catch((error: unknown) => {
        logger.warn({ event: 'traces_kept', err: error }, 'done traces could not be removed yet');
      })
      .finally(() => {
        this.#removing = null;
      });
    try {
      await parts.outboxKeys.settle(oldest, this.#read);
    } catch (error) {
      logger.warn({ event: 'outbox_keys_kept', err: error }, 'keys of an outbox could not be erased yet');
    }
  }
}

/** Looks up what is known of traces that lack something, so that late spans of them need not wait. */
export async function recall(buffer: TraceBuffer, traces: AssemblyParts['traces']): Promise<void> {
  await Promise.all(
    buffer.takeLacking(RECALLED_AT_ONCE).map(async (trace) => {
      const record = await traces.get(traceKey(trace));
      if (record !== null) buffer.recall(trace, record.spans);
    }),
  );
  traces.release();
}

import type { Logger } from '../../logger.ts';
import type { TraceLog } from '../../stream/log/trace-log.ts';
import { DecodeError } from '../../stream/log/codec.ts';
import { decodeTraceEntries } from '../trace-entry.ts';
import { ValueTooLargeError } from '../../stream/kv/key-value.ts';
import { assemble, type ArrivedTrace, type AssemblyParts, type AssembledCounts } from './assembly.ts';
import { keyOf } from './records.ts';
import { TraceBuffer, type TraceBufferOptions } from './trace-buffer.ts';

export interface AssemblerOptions extends TraceBufferOptions {
  readonly log: TraceLog;
  readonly parts: AssemblyParts;
  readonly logger: Logger;
  /** Hears of each round. */
  readonly onRound?: (counts: AssembledCounts) => void;
  readonly pause: (ms: number) => Promise<void>;
}

const TAKE = { maxMessages: 500, maxBytes: 8 * 1024 * 1024 };
/** Traces of one round: what is written at once. */
const ROUND_TRACES = 500;
const IDLE_MS = 1000;
/** Between two removals of what is done. */
const REMOVE_EVERY_MS = 500;
const MAX_PAUSE_MS = 5000;

/**
 * Reads the stream of traces, and turns it into messages of conversations. What it holds is on the stream as long as it
 * is not done: whoever goes on after it begins with the first entry that is there.
 */
export class Assembler {
  readonly #options: AssemblerOptions;
  readonly #buffer: TraceBuffer;
  readonly #finished: Promise<void>;
  #ended = false;
  #read = 0;
  #removedAt = -Infinity;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#buffer = new TraceBuffer(options);
    this.#finished = this.#run();
  }

  /** Traces that wait for the rest of them. */
  get waiting(): number {
    return this.#buffer.traces;
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
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      const waitMs = Math.min(this.#buffer.nextMs ?? IDLE_MS, IDLE_MS);
      try {
        for (const { sequence, bytes } of await this.#options.log.take({ ...TAKE, waitMs })) {
          this.#take(sequence, bytes);
        }
      } catch (error) {
        this.#options.logger.error({ event: 'traces_unreadable', err: error }, 'the stream of traces ended');
        return;
      }
      await this.#recall();
      for (;;) {
        const ready = this.#ended ? [] : this.#buffer.takeReady(ROUND_TRACES);
        if (ready.length === 0) break;
        await this.#assemble(ready);
      }
      await this.#removeDone();
    }
  }

  async #recall(): Promise<void> {
    try {
      await recall(this.#buffer, this.#options.parts.traces);
    } catch (error) {
      this.#options.logger.warn({ event: 'traces_unknown', err: error }, 'spans wait for what may be known');
    }
  }

  #take(sequence: number, bytes: Uint8Array): void {
    this.#read = Math.max(this.#read, sequence);
    try {
      for (const entry of decodeTraceEntries(bytes)) this.#buffer.add(entry, sequence);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const fields = { event: 'trace_entry_unreadable', sequence, err: error };
      this.#options.logger.error(fields, 'an entry of the stream of traces is left out');
    }
  }

  /** Again and again, until all of it is stored. What no attempt can store is left out, alone. */
  async #assemble(ready: readonly ArrivedTrace[]): Promise<void> {
    const { parts, logger, pause } = this.#options;
    for (let pauseMs = 50; !this.#ended; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        this.#options.onRound?.(await assemble(ready, parts));
        return;
      } catch (error) {
        for (const bucket of [parts.conversations, parts.candidates, parts.pages, parts.traces])
          bucket.clear();
        const [trace] = ready;
        if (isForGood(error) && ready.length > 1) {
          for (const one of ready) await this.#assemble([one]);
          return;
        }
        if (isForGood(error) && trace !== undefined) {
          const { projectId, traceId } = trace;
          const fields = { event: 'trace_left_out', projectId, traceId, err: error };
          logger.error(fields, 'a trace is left out: it cannot be assembled');
          return;
        }
        logger.warn({ event: 'traces_delayed', err: error }, 'traces could not be assembled; trying again');
        await pause(pauseMs);
      }
    }
  }

  async #removeDone(): Promise<void> {
    const now = this.#options.now();
    // Of what was under way when this ended, nothing says whether it is stored.
    if (this.#ended || now - this.#removedAt < REMOVE_EVERY_MS) return;
    this.#removedAt = now;
    try {
      await this.#options.log.removeBefore(this.#buffer.oldestSequence ?? this.#read + 1);
    } catch (error) {
      this.#options.logger.warn({ event: 'traces_kept', err: error }, 'done traces could not be removed yet');
    }
  }
}

/** Looks up what is known of traces that lack something, so that late spans of them need not wait. */
export async function recall(buffer: TraceBuffer, traces: AssemblyParts['traces']): Promise<void> {
  await Promise.all(
    buffer.takeLacking().map(async (trace) => {
      const record = await traces.get(keyOf(trace.projectId, trace.traceId));
      if (record !== null) buffer.recall(trace, record.spans);
    }),
  );
  traces.release();
}

/** A fault in what is assembled, or in how, and none of what it is stored in. */
function isForGood(error: unknown): boolean {
  return (
    error instanceof ValueTooLargeError ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}

/**
 * The stream of traces, as a queue. Entries are removed when they are done, so its first entry is the checkpoint. Keeps
 * the invariant that the server's files hold nothing of an entry that was removed.
 *
 * Test: test/e2e/otlp-rules.test.ts, test/doors/traces/assembly/assembler.test.ts.
 */
import { jetstreamManager, JetStreamApiError, type StreamAPI } from '@nats-io/jetstream';
import type { StreamConnection } from '../connection.ts';
import { TRACES_STREAM, TRACES_SUBJECT } from '../subjects.ts';
import { readExtent, type StreamExtent } from './consumer.ts';
import { eraseMessage } from './redacted-entries.ts';
import { LogReader, type LogEntry, type TakeOptions } from './log-reader.ts';

/** JetStream error codes for a missing message. */
const MESSAGE_NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);

const ERASED_AT_ONCE = 16;

/** The stream of traces from its first entry on. */
export interface TraceLog {
  readonly firstSequence: number;
  take(options: TakeOptions): Promise<readonly Pick<LogEntry, 'sequence' | 'bytes' | 'pending'>[]>;
  /** Reads the payload of an entry again; null if the stream no longer holds it. */
  read(sequence: number): Promise<Uint8Array | null>;
  /** Removes the entries before a sequence, and overwrites their bytes. */
  removeBefore(sequence: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stream of traces. `readAheadBytes`: limit for reading ahead. */
export async function openTraceLog(connection: StreamConnection, readAheadBytes: number): Promise<TraceLog> {
  const extent: StreamExtent = await readExtent(connection, TRACES_STREAM);
  let { firstSequence } = extent;
  const reader = new LogReader(connection, {
    stream: TRACES_STREAM,
    filterSubjects: [TRACES_SUBJECT],
    startSequence: Math.max(firstSequence, 1),
    readAheadBytes,
  });
  return {
    get firstSequence() {
      return firstSequence;
    },
    take: (options) => reader.take(options),
    async read(sequence) {
      const streams = await streamsOf(connection);
      try {
        return (await streams.getMessage(TRACES_STREAM, { seq: sequence }))?.data ?? null;
      } catch (error) {
        if (error instanceof JetStreamApiError && MESSAGE_NOT_FOUND.has(error.code)) return null;
        throw error;
      }
    },
    async removeBefore(sequence) {
      // Behind the purges of earlier versions, entries may be missing at the beginning.
      let next = Math.max(firstSequence, 1);
      const erase = async (): Promise<void> => {
        while (next < sequence) await eraseMessage(connection, TRACES_STREAM, next++);
      };
      await Promise.all(Array.from({ length: ERASED_AT_ONCE }, erase));
      firstSequence = Math.max(firstSequence, sequence);
    },
    close: () => reader.close(),
  };
}

async function streamsOf(connection: StreamConnection): Promise<StreamAPI> {
  return (await jetstreamManager(connection.nats, { checkAPI: false })).streams;
}

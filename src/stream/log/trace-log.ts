/** Covered by test/e2e/otlp-rules.test.ts and test/faults/traces.ts. */
import { jetstreamManager } from '@nats-io/jetstream';
import type { StreamConnection } from '../connection.ts';
import { TRACES_STREAM, TRACES_SUBJECT } from '../subjects.ts';
import { readExtent, type StreamExtent } from './consumer.ts';
import { LogReader, type LogEntry, type TakeOptions } from './log-reader.ts';

/** The stream of traces from its first entry on. What is done is removed, so that its beginning is the checkpoint. */
export interface TraceLog {
  readonly firstSequence: number;
  take(options: TakeOptions): Promise<readonly Pick<LogEntry, 'sequence' | 'bytes' | 'pending'>[]>;
  /** Removes the entries before a sequence. */
  removeBefore(sequence: number): Promise<void>;
  close(): Promise<void>;
}

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
    async removeBefore(sequence) {
      if (sequence <= firstSequence) return;
      const manager = await jetstreamManager(connection.nats, { checkAPI: false });
      await manager.streams.purge(TRACES_STREAM, { seq: sequence });
      firstSequence = sequence;
    },
    close: () => reader.close(),
  };
}

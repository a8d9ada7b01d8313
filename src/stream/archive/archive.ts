/**
 * Copies streams into the files of a backup, and back. Streams whose sequences are referred to keep them.
 *
 * Test: test/cli/backup.test.ts.
 */
import { createReadStream } from 'node:fs';
import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { headers as newHeaders } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import type { StreamConnection } from '../connection.ts';
import { LogReader } from '../log/log-reader.ts';
import {
  CONVERSATIONS_STREAM,
  CONVERSATIONS_SUBJECTS,
  DEAD_LETTERS_STREAM,
  REDACTED_STREAM,
  REDACTED_SUBJECTS,
  TRACES_STREAM,
  TRACES_SUBJECT,
} from '../subjects.ts';

/** A stream that a backup contains. */
export interface ArchivedStream {
  readonly name: string;
  readonly subjects: string;
  /** True if positions elsewhere refer to its sequences, so that a restore must keep them. */
  readonly keepsSequences: boolean;
}

const bucketOf = (bucket: string): ArchivedStream => ({
  name: `KV_${bucket}`,
  subjects: `$KV.${bucket}.>`,
  keepsSequences: false,
});

/**
 * The streams of a backup, in the order of copying: what an entry depends on is copied after it. Leases are omitted, as
 * they expire. Traces come first, then the records about them, so that spans which become messages meanwhile are copied
 * as traces or as messages.
 */
export const ARCHIVED_STREAMS: readonly ArchivedStream[] = [
  { name: TRACES_STREAM, subjects: TRACES_SUBJECT, keepsSequences: true },
  ...['traces', 'conversations'].map(bucketOf),
  { name: CONVERSATIONS_STREAM, subjects: CONVERSATIONS_SUBJECTS, keepsSequences: true },
  { name: REDACTED_STREAM, subjects: REDACTED_SUBJECTS, keepsSequences: false },
  { name: DEAD_LETTERS_STREAM, subjects: '>', keepsSequences: false },
  ...[
    'registry',
    'sessions',
    'idempotency',
    'alerts',
    'alert-outbox',
    'audit',
    'erasures',
    'retention',
    'backups',
  ].map(bucketOf),
];

/** A stream entry in a backup. */
export interface ArchivedEntry {
  readonly sequence: number;
  readonly subject: string;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bytes: Uint8Array;
}

/** Receives a copy in pieces. */
export interface ArchiveOutput {
  write(bytes: Uint8Array): Promise<void>;
}

/** A copy of a stream that `archiveStream` wrote. */
export interface ArchiveInput {
  /** Name of the file in errors. */
  readonly file: string;
  read(): AsyncIterable<Uint8Array>;
}

/** The extent of a copied stream. */
export interface Archived {
  readonly entries: number;
  /** Sequences of the stream when it was copied; all values are 0 if the stream did not exist. */
  readonly firstSequence: number;
  readonly lastSequence: number;
}

const READ_AHEAD_BYTES = 16 * 1024 * 1024;
const SILENCE_MS = 10_000;
const WRITE_BYTES = 1024 * 1024;
/** Most entries that are published at once. */
const IN_FLIGHT = 256;
/** Two lengths, 32 bit little-endian: of the JSON about the entry, and of its payload. */
const LENGTHS_BYTES = 8;
const STREAM_NOT_FOUND = 10059;
/** Headers that only the server may set, or that would make it drop an entry as repeated. */
const NOT_RESTORED = /^Nats-/i;

/** Copies a stream as it is now. Rejects when the server stops answering or the disk is full. */
export async function archiveStream(
  connection: StreamConnection,
  { name, subjects }: ArchivedStream,
  output: ArchiveOutput,
): Promise<Archived> {
  const extent = await extentOf(connection, name);
  const { lastSequence } = extent;
  let entries = 0;
  if (extent.entries > 0) {
    const reader = new LogReader(connection, {
      stream: name,
      filterSubjects: [subjects],
      startSequence: 1,
      readAheadBytes: READ_AHEAD_BYTES,
    });
    try {
      await reader.opened;
      for (let ended = false; !ended && !reader.isThrough;) {
        const taken = await reader.take({ maxMessages: 1000, maxBytes: WRITE_BYTES, waitMs: SILENCE_MS });
        if (taken.length === 0 && !reader.isThrough) {
          // The rest was removed meanwhile.
          if ((await extentOf(connection, name)).firstSequence > lastSequence) break;
          throw new Error(`NATS fell silent while the stream ${name} was copied`);
        }
        const frames: Uint8Array[] = [];
        for (const { sequence, subject, timestamp, bytes, headers } of taken) {
          if (sequence <= lastSequence) {
            entries += 1;
            frames.push(...frameOf({ sequence, subject, timestamp, bytes, headers: headers() }));
          }
          ended ||= sequence >= lastSequence;
        }
        await output.write(Buffer.concat(frames));
      }
    } finally {
      await reader.close();
    }
  }
  return { entries, firstSequence: extent.firstSequence, lastSequence };
}

/** Reads a file that contains a copy as `archiveStream` wrote it. */
export function plainArchive(file: string): ArchiveInput {
  return {
    file,
    read: () => createReadStream(file, { highWaterMark: WRITE_BYTES }) as AsyncIterable<Buffer>,
  };
}

/** Yields the entries of a copy, in order. Throws SetupError if it is damaged. */
export async function* readArchive({ file, read }: ArchiveInput): AsyncGenerator<ArchivedEntry> {
  let left: Buffer = Buffer.alloc(0);
  for await (const chunk of read()) {
    left =
      left.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([left, chunk]);
    let at = 0;
    while (left.length - at >= LENGTHS_BYTES) {
      const about = left.readUInt32LE(at);
      const payload = left.readUInt32LE(at + 4);
      const end = at + LENGTHS_BYTES + about + payload;
      if (end > left.length) break;
      const json = left.toString('utf8', at + LENGTHS_BYTES, at + LENGTHS_BYTES + about);
      yield { ...aboutFrom(json, file), bytes: left.subarray(end - payload, end) };
      at = end;
    }
    left = left.subarray(at);
  }
  if (left.length > 0) throw new SetupError(`${file} is damaged: it ends within an entry.`);
}

/**
 * Publishes the entries of a copy to the existing stream; where sequences are kept, it must be new (`makeAnew`).
 * `onStored` receives the number of stored entries.
 *
 * @returns the number of stored entries
 *
 * @throws SetupError when the server stores an entry at another sequence
 */
export async function restoreStream(
  connection: StreamConnection,
  { name, subjects, keepsSequences }: ArchivedStream,
  input: ArchiveInput,
  archived: Archived,
  onStored: (entries: number) => void = () => undefined,
): Promise<number> {
  const client = jetstream(connection.nats);
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  let stored = 0;
  /** Sequence of the next entry. */
  let next = archived.firstSequence;
  const inFlight: Promise<void>[] = [];
  const publish = async (entry: ArchivedEntry): Promise<void> => {
    const hdrs = newHeaders();
    for (const [header, value] of entry.headers) if (!NOT_RESTORED.test(header)) hdrs.append(header, value);
    const { seq } = await client.publish(entry.subject, entry.bytes, { headers: hdrs, timeout: 30_000 });
    if (keepsSequences && seq !== entry.sequence) {
      throw new SetupError(
        `The server stored entry ${entry.sequence} of ${name} as entry ${seq}: the stream was in use. Empty ` +
          'it and start again.',
      );
    }
  };
  const settle = async (): Promise<void> => {
    await Promise.all(inFlight.splice(0));
    onStored(stored);
  };
  /** Stores and deletes placeholders, so that deleted entries keep their sequences. */
  const fillUpTo = async (sequence: number): Promise<void> => {
    if (!keepsSequences || next >= sequence) return;
    await settle();
    const subject = subjects.replace('*', '0');
    for (; next < sequence; next++) {
      await publish({ sequence: next, subject, timestamp: 0, headers: [], bytes: new Uint8Array() });
      await manager.streams.deleteMessage(name, next, false);
    }
  };
  for await (const entry of readArchive(input)) {
    await fillUpTo(entry.sequence);
    next = entry.sequence + 1;
    stored += 1;
    inFlight.push(publish({ ...entry, bytes: Buffer.from(entry.bytes) }));
    if (inFlight.length >= IN_FLIGHT) await settle();
  }
  await settle();
  if (stored > 0) await fillUpTo(archived.lastSequence + 1);
  return stored;
}

/** Creates the empty stream again before `restoreStream`, so that it begins at the old first sequence. */
export async function makeAnew(
  connection: StreamConnection,
  name: string,
  { entries, firstSequence, lastSequence }: Archived,
): Promise<void> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { config } = await manager.streams.info(name);
  await manager.streams.delete(name);
  await manager.streams.add(config);
  // `first_seq` of the configuration would not do: a server 2.10 empties such a stream at every start.
  const begin = entries > 0 ? firstSequence : lastSequence + 1;
  if (begin > 1) await manager.streams.purge(name, { seq: begin });
}

/** Number and sequences of a stream's entries; all 0 if the stream does not exist. */
export async function extentOf(connection: StreamConnection, stream: string): Promise<Archived> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    const { state } = await manager.streams.info(stream);
    return { entries: state.messages, firstSequence: state.first_seq, lastSequence: state.last_seq };
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND)
      return { entries: 0, firstSequence: 0, lastSequence: 0 };
    throw error;
  }
}

function frameOf({ bytes, ...about }: ArchivedEntry): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(about));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(bytes.length, 4);
  return [lengths, json, bytes];
}

function aboutFrom(json: string, file: string): Omit<ArchivedEntry, 'bytes'> {
  try {
    return JSON.parse(json) as Omit<ArchivedEntry, 'bytes'>;
  } catch (error) {
    throw new SetupError(`${file} is damaged: ${(error as Error).message}.`, { cause: error });
  }
}

/**
 * Reads a backup's copy of the conversations, and then the stream. Each entry comes once, in order.
 *
 * Test: test/cli/backup.test.ts.
 */
import { readArchive, type ArchivedEntry, type ArchiveInput } from './archive.ts';
import type { StreamConnection } from '../connection.ts';
import { openConsumer, type Delivered, type StreamConsumer } from '../log/consumer.ts';
import type { TakeOptions } from '../log/log-reader.ts';
import { RedactedEntries } from '../log/redacted-entries.ts';
import { WithRedacted } from '../log/with-redacted.ts';
import { conversationsSubject } from '../subjects.ts';

/** The stream of conversations in a backup. */
export interface StreamArchive extends ArchiveInput {
  /** Last sequence of the stream when the backup was taken. */
  readonly lastSequence: number;
}

export interface ArchiveConsumerOptions {
  readonly archive: StreamArchive;
  /** First sequence to read. */
  readonly startSequence: number;
  readonly partitions: readonly number[];
}

/**
 * Reads the entries of these partitions from a backup, and then those of the stream that follow. Entries in both are
 * read from the backup, and redacted ones from their copies.
 */
export function openArchiveConsumer(
  connection: StreamConnection,
  { archive, startSequence, partitions }: ArchiveConsumerOptions,
): Pick<StreamConsumer, 'next' | 'close'> {
  const subjects = new Set(partitions.map(conversationsSubject));
  const entries = readArchive(archive);
  let ahead: ArchivedEntry | null = null;
  let exhausted = false;
  let closed = false;
  let stream: Promise<StreamConsumer> | null = null;
  // Entries that were erased since the backup, or are redacted in it, are read from their copies.
  let merged: Promise<WithRedacted> | null = null;
  const withRedacted = async (): Promise<WithRedacted> =>
    new WithRedacted({ take }, await RedactedEntries.open(connection), {
      partitions,
      after: startSequence - 1,
    });

  const nextArchived = async (): Promise<ArchivedEntry | null> => {
    while (!exhausted && !closed) {
      const { value, done } = await entries.next();
      if (done === true) exhausted = true;
      else if (value.sequence >= startSequence && subjects.has(value.subject)) return value;
    }
    return null;
  };

  const take = async ({ maxMessages, maxBytes }: TakeOptions): Promise<Delivered[]> => {
    const taken: Delivered[] = [];
    let bytes = 0;
    while (taken.length < maxMessages) {
      ahead ??= await nextArchived();
      if (ahead === null || (taken.length > 0 && bytes + ahead.bytes.length > maxBytes)) break;
      bytes += ahead.bytes.length;
      // The bytes are copied, as they would keep the whole chunk of the file in memory.
      taken.push({ ...ahead, bytes: Buffer.from(ahead.bytes) });
      ahead = null;
    }
    return taken;
  };

  return {
    async next(options) {
      merged ??= withRedacted();
      const archived = await merged;
      const taken = closed ? [] : await archived.take(options);
      if (taken.length > 0 || closed) return taken;
      stream ??= openConsumer(connection, {
        startSequence: Math.max(startSequence, archive.lastSequence + 1),
        redactedAfter: archived.position,
        partitions,
      });
      return (await stream).next(options);
    },
    async close() {
      closed = true;
      await entries.return(undefined);
      await (await stream?.catch(() => undefined))?.close();
    },
  };
}

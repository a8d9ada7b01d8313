/**
 * Notes on messages that count without findings. A note is stored before its message counts, so that every later reader
 * treats the message the same way.
 *
 * Test: test/worker/unanalysed.test.ts.
 */
import type { RecordedMessage, RecordedRequest } from '../../domain/records.ts';
import { encodeRecord, encodeRequest } from '../log/codec.ts';
import type { StreamConnection } from '../connection.ts';
import type { Delivered } from '../log/consumer.ts';
import { noteMessage, readDeadLetters, type MessageName } from './dead-letters.ts';
import { MESSAGE_NOTES_SUBJECT } from '../subjects.ts';

/** Characters of a message that a note contains, UTF-16 units; the stream keeps the whole message. */
const NOTED_LENGTH = 65_536;

/** A message with its index in the whole request, of which `request` may hold a part. */
interface NotedMessage {
  readonly request: RecordedRequest;
  readonly message: RecordedMessage;
  readonly index: number;
}

/**
 * The messages whose analysis was given up. A timeout decides that once: a worker that comes to the message later,
 * after a restart or in a rebuild on another machine, finds the note and does not analyse it. A message is identified
 * by the id of its request, so that a request which was published twice is noted once.
 */
export class MessageNotes {
  readonly #connection: StreamConnection;
  readonly #known = new Set<string>();

  private constructor(connection: StreamConnection) {
    this.#connection = connection;
  }

  /** Reads the existing notes. Rejects when the server cannot be reached. */
  static async read(connection: StreamConnection): Promise<MessageNotes> {
    const notes = new MessageNotes(connection);
    for await (const { message } of readDeadLetters(connection, MESSAGE_NOTES_SUBJECT))
      if (message !== null) notes.#known.add(keyOf(message));
    return notes;
  }

  has(message: MessageName): boolean {
    return this.#known.size > 0 && this.#known.has(keyOf(message));
  }

  /** Resolves once the note is stored. Rejects when the server cannot be reached. */
  async add(
    entry: Pick<Delivered, 'sequence' | 'subject'>,
    { request, message, index }: NotedMessage,
    reason: string,
  ): Promise<void> {
    const name: MessageName = { requestId: request.requestId, index };
    const { metadata: _, ...rest } = message;
    const { metadata: __, ...bare } = request;
    const noted = { ...bare, messages: [{ ...rest, content: rest.content.slice(0, NOTED_LENGTH) }] };
    await noteMessage(this.#connection, entry, name, reason, await encodeRecord([encodeRequest(noted)]));
    this.#known.add(keyOf(name));
  }
}

/** Normalises the id, a UUID in any notation. */
function keyOf({ requestId, index }: MessageName): string {
  return `${requestId.toLowerCase().replaceAll('-', '')} ${index}`;
}

/**
 * Reads a session's transcript: its messages in order, with their findings. All rows come from one snapshot.
 *
 * Test: test/e2e/session-rules.test.ts.
 */
import { KINDS } from '../domain/kinds.ts';
import type { RecordedMessage } from '../domain/records.ts';
import { formatInstant } from '../domain/time.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import { noSuch } from './no-such.ts';
import { InstanceReader, processedAt, readInstanceRow, type InstanceReading } from './instance-reader.ts';
import { named, readMessages, readSessions, type FoundMessage } from './session-rows.ts';
import {
  writeCursor,
  type SessionParameters,
  type SessionResponse,
  type TranscriptMessage,
} from './session-schema.ts';

/** A message as accepted, or the reason why its text is gone. */
export type ReadMessage =
  | { readonly message: RecordedMessage }
  | { readonly gone: NonNullable<TranscriptMessage['gone']> };

export interface SessionReaderOptions extends InstanceReading {
  /** Reads messages by stream position. Throws AppError SERVICE_UNAVAILABLE while the stream cannot be read. */
  readonly texts: { read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>> };
}

type Page = Omit<SessionResponse, 'messages'> & { readonly messages: readonly FoundMessage[] };

export class SessionReader extends InstanceReader<SessionReaderOptions> {
  /**
   * The caller checks that the instance exists. Throws AppError NOT_FOUND for an unknown session, SERVICE_UNAVAILABLE
   * while the views or the texts cannot be read.
   */
  async read(sessionId: string, parameters: SessionParameters, caller = ''): Promise<SessionResponse> {
    const { readerOf, texts } = this.options;
    const page = await readerOf(parameters.instanceId).read(
      (snapshot) => this.#page(snapshot, sessionId, parameters),
      caller,
    );
    const read = await texts.read(page.messages.map(({ position }) => position));
    return {
      ...page,
      messages: page.messages.map((message) => transcriptOf(message, read.get(message.position))),
    };
  }

  async #page(snapshot: Snapshot, sessionId: string, parameters: SessionParameters): Promise<Page> {
    const row = await readInstanceRow(snapshot, parameters.instanceId);
    if (row === undefined) throw noSuch('session', sessionId);
    const instance = row['instance'] as number;
    const [session] = await readSessions(snapshot, instance, 'id = $id::uuid', { id: sessionId });
    if (session === undefined) throw noSuch('session', sessionId);
    const { limit } = parameters;
    const { found, next } = await readMessages(snapshot, instance, session, parameters);
    return {
      session: session.session,
      messages: found,
      pagination: { limit, next: next === null ? null : writeCursor(next) },
      lastProcessedAt: processedAt(row, this.options),
    };
  }
}

/** Returns a message of a transcript: its text and findings. */
export function transcriptOf(
  { position, at, rowsOf, feedback }: FoundMessage,
  read: ReadMessage = { gone: 'UNREADABLE' },
): TranscriptMessage {
  const message = 'message' in read ? read.message : null;
  const [topic] = rowsOf(KINDS.topic);
  const [gap] = rowsOf(KINDS.gap);
  const [asked] = rowsOf(KINDS.repeatedRequest);
  return {
    position,
    role: message?.role ?? null,
    content: message?.content ?? null,
    gone: 'gone' in read ? read.gone : null,
    externalId: message?.userId ?? null,
    createdAt: formatInstant(at),
    metadata: message?.metadata ?? null,
    topic: topic === undefined ? null : named(topic),
    labels: rowsOf(KINDS.label).map(named),
    signals: rowsOf(KINDS.signal).flatMap((row) =>
      row['source'] !== 'INFERRED'
        ? []
        : [{ ...named(row), signalType: row['signal_type'] as 'SAT' | 'DSAT' }],
    ),
    feedback,
    gap: gap === undefined ? null : { ...named(gap), gapType: gap['gap_type'] as 'TOOL' | 'KNOWLEDGE' },
    repeatedRequest: asked === undefined ? null : named(asked),
  };
}

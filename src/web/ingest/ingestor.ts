/**
 * Ingests requests: parses and checks them, stores them durably, and only then answers.
 *
 * Test: test/web/ingest/ingestor.test.ts.
 */
import type { Accepted, Acceptor } from './acceptor.ts';
import { countingRead, createIngestBatch, type LineOutcome } from './batch-ingestor.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { emptyBody } from './json.ts';
import type { ReceivedBody } from './prepared-request.ts';
import type { Preparer } from './preparer.ts';
import type { IngestWarnings } from './warnings.ts';

/** A received request of a route that accepts messages. */
export interface MessageRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  /** The project; callers take turns when many bodies wait. */
  readonly caller: string;
  /** Undefined without a body. */
  readonly body: ReceivedBody | undefined;
  /** Returns true once the client has disconnected. */
  readonly abandoned: () => boolean;
  /** Called before a large body is parsed. If it throws, the request is refused. */
  readonly mayBegin: () => void;
  /**
   * Called with the request's size, before it is stored or refused for its content. If it throws, the request is
   * refused.
   */
  readonly onPrepared: (size: PreparedSize) => void;
}

/** A received request of POST /v1/ingest/. */
export interface IngestRequest extends MessageRequest {
  /** The raw header. */
  readonly idempotencyKey: string | string[] | undefined;
}

export interface PreparedSize {
  /** Number of messages that were parsed. */
  readonly messages: number;
  /** Bytes of the encoded request; 0 if it is refused. */
  readonly bytes: number;
}

export interface Ingested extends Accepted {
  readonly warnings: IngestWarnings;
}

export interface Ingestor {
  /**
   * Throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, FORBIDDEN, NOT_FOUND, CONFLICT or
   * SERVICE_UNAVAILABLE.
   */
  ingest(request: IngestRequest): Promise<Ingested>;
  /**
   * Ingests a request on each line; each is stored whole or refused by itself. Resolves with an outcome for each line
   * that is not blank, in order, once all accepted lines are stored durably. Lines of one session are stored in order.
   * Throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE (also if every line failed
   * with it).
   */
  ingestBatch(request: MessageRequest): Promise<readonly LineOutcome[]>;
}

export function createIngestor(
  { prepare, prepareBatch }: Pick<Preparer, 'prepare' | 'prepareBatch'>,
  { accept }: Acceptor,
): Ingestor {
  return {
    ingestBatch: createIngestBatch({ prepareBatch }, { accept }),
    async ingest({ projectId, body, idempotencyKey: header, onPrepared, ...context }) {
      const idempotencyKey = readIdempotencyKey(header);
      if (body === undefined) throw emptyBody();
      const prepared = await prepare(body, { ...context, keyed: idempotencyKey !== undefined }).catch(
        countingRead(onPrepared),
      );
      onPrepared({ messages: prepared.messages, bytes: prepared.draft.bytes.length });
      const accepted = await accept({ projectId, body: prepared, idempotencyKey });
      return { ...accepted, warnings: prepared.warnings };
    },
  };
}

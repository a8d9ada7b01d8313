import type { Accepted, Acceptor } from './acceptor.ts';
import { countingRead, createIngestBatch, type LineOutcome } from './batch-ingestor.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { emptyBody } from './json.ts';
import type { ReceivedBody } from './prepared-request.ts';
import type { Preparer } from './preparer.ts';
import type { IngestWarnings } from './warnings.ts';

/** A request to a route that takes messages, as it came. */
export interface MessageRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  /** Whose turn it is when many bodies wait: the project. */
  readonly caller: string;
  /** Undefined when there is none. */
  readonly body: ReceivedBody | undefined;
  /** True when nobody waits for the answer any more. */
  readonly abandoned: () => boolean;
  /** Asked before a large body is read, when its turn has come. What it throws refuses the request. */
  readonly mayBegin: () => void;
  /** Hears what the request comes to, before it is stored or refused for what is in it. What it throws refuses the request. */
  readonly onPrepared: (size: PreparedSize) => void;
}

/** A request of POST /v1/ingest/ as it came. */
export interface IngestRequest extends MessageRequest {
  /** The header as sent. */
  readonly idempotencyKey: string | string[] | undefined;
}

/** What a request comes to. */
export interface PreparedSize {
  /** That were read. */
  readonly messages: number;
  /** As written out for the stream; 0: it is refused. */
  readonly bytes: number;
}

export interface Ingested extends Accepted {
  readonly warnings: IngestWarnings;
}

/** Takes messages in: reads and checks the request, stores it durably, and only then answers. */
export interface Ingestor {
  /**
   * @throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, FORBIDDEN, NOT_FOUND, CONFLICT,
   * SERVICE_UNAVAILABLE
   */
  ingest(request: IngestRequest): Promise<Ingested>;
  /**
   * Takes many requests in one; each is stored whole or refused, by itself. Resolves when everything that is not
   * refused is stored durably: one outcome for each line that is not blank, in their order. Lines of one session are
   * stored in their order.
   *
   * @throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE (also when that is what
   * every line came to)
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

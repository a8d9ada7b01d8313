/**
 * Options of the client.
 *
 * Test: test/doors/client/undertone.test.ts.
 */
import type { UndertoneError } from './errors.ts';
import type { Lost } from './outbox.ts';
import type { Fetch, Retry } from './transport.ts';

export interface UndertoneOptions {
  /** Address of the service, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** An API key. Ingest needs its scope `ingest`, reads `query`, decisions `curate`. */
  readonly key: string;
  /**
   * Default: the default instance of the key's project, asked for once. Ingest creates it where it is missing (scope
   * `ingest`); reads do not.
   */
  readonly instanceId?: string | undefined;
  /**
   * Called for each error that no call rejects with, and the messages lost by it. Default: a line on `console.error`
   * with their number, at most once a minute.
   */
  readonly onError?: ((error: UndertoneError, lost: Lost) => void) | undefined;
  /**
   * Called for each failed try that is repeated, with its error, the number of tries and the pause. Default: a line on
   * `console.warn` from the fifth try of a request on, at most once a minute.
   */
  readonly onRetry?: ((error: UndertoneError, retry: Retry) => void) | undefined;
  /** Called with parts of a logged message that have no effect, such as a role that is not analysed (`X-Warnings`). */
  readonly onWarning?: ((warning: string, sessionId: string) => void) | undefined;
  /** Time for which a message waits for others of its session. Default 500 ms. */
  readonly batchMs?: number | undefined;
  /** Maximum messages of a request. Default 200. */
  readonly batchMessages?: number | undefined;
  /** Size of the buffer of unstored messages. Default 10,000 messages and 16 million UTF-16 units of JSON. */
  readonly maxMessages?: number | undefined;
  readonly maxUnits?: number | undefined;
  /**
   * Behaviour of a full buffer. `wait` (default): `log` resolves when there is room, and messages of callers that do
   * not await it are lost once the buffer is twice full. `drop`: new messages are lost.
   */
  readonly whenFull?: 'wait' | 'drop' | undefined;
  /** Sessions sent concurrently. Default 8. */
  readonly concurrency?: number | undefined;
  /** Limit on one try of a request, and on the pause between two chunks of `rows`. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** A larger answer, or row of `rows`, is an `UNEXPECTED_ANSWER`. Default 128 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Time for which logged messages are retried. Default 5 minutes. */
  readonly patienceMs?: number | undefined;
  /** Time for which every other call is retried. Default 30 s. */
  readonly callPatienceMs?: number | undefined;
  /** First pause between tries; it doubles. Default 200 ms, up to 10 s. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

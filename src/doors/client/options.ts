import type { UndertoneError } from './errors.ts';
import type { Lost } from './outbox.ts';
import type { Fetch, Retry } from './transport.ts';

export interface UndertoneOptions {
  /** Where the service listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** An API key. Messages need its scope `ingest`, everything that reads `query`, decisions `curate`. */
  readonly key: string;
  /**
   * Default: the default instance of the key's project, which the client asks for once. What sends makes it where there
   * is none (scope `ingest`); what reads does not.
   */
  readonly instanceId?: string | undefined;
  /**
   * Hears of every error that no call rejects with, and of the messages that are lost by it. Default: a line on
   * `console.error` with their number, at most once a minute.
   */
  readonly onError?: ((error: UndertoneError, lost: Lost) => void) | undefined;
  /**
   * Hears of every try that failed and is made again: why, how many there were of this request, and how long the pause
   * is. Default: a line on `console.warn` from the fifth try of a request on, at most once a minute.
   */
  readonly onRetry?: ((error: UndertoneError, retry: Retry) => void) | undefined;
  /** Hears what of a logged message has no effect, such as a role that is not analysed (`X-Warnings`). */
  readonly onWarning?: ((warning: string, sessionId: string) => void) | undefined;
  /** How long a message waits for others of its session. Default 500 ms. */
  readonly batchMs?: number | undefined;
  /** Messages of a request. Default 200. */
  readonly batchMessages?: number | undefined;
  /** The buffer: messages that are not stored yet. Default 10,000, and 16 million UTF-16 units of JSON. */
  readonly maxMessages?: number | undefined;
  readonly maxUnits?: number | undefined;
  /**
   * While the buffer is full: `wait` (default): `log` resolves when there is room, and messages of callers that do not
   * wait for it are lost once the buffer is twice full. `drop`: new messages are lost.
   */
  readonly whenFull?: 'wait' | 'drop' | undefined;
  /** Sessions whose messages are sent at the same time. Default 8. */
  readonly concurrency?: number | undefined;
  /** One try of a request takes no longer; between two pieces of `rows` passes no more. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** A larger answer, or row of `rows`, is an `UNEXPECTED_ANSWER`. Default 128 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Logged messages are tried for so long. Default 5 minutes. */
  readonly patienceMs?: number | undefined;
  /** Every other call is tried for so long. Default 30 s. */
  readonly callPatienceMs?: number | undefined;
  /** The first pause between tries; it doubles. Default 200 ms, up to 10 s. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

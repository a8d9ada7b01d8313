/**
 * Errors of the client. `code` is for programs; `message` is for people and may change.
 *
 * Test: test/doors/client/transport.test.ts.
 */
import type { ServiceErrorCode } from './contract.ts';

export type { ServiceErrorCode } from './contract.ts';

/** Codes that only the client uses. */
export type ClientErrorCode =
  /** No answer: the connection failed, or a try took longer than `timeoutMs`. */
  | 'UNREACHABLE'
  /** The answer is not from the service, or from a newer version. */
  | 'UNEXPECTED_ANSWER'
  /** The message cannot be serialised to JSON. */
  | 'INVALID_MESSAGE'
  /** The buffer is full. */
  | 'BUFFER_FULL'
  /** The client is closed. */
  | 'CLOSED';

export interface ErrorDetail {
  /** Path in the request, such as `messages.0.content`, or the name of a parameter. */
  readonly path: string;
  readonly message: string;
}

interface UndertoneErrorOptions {
  readonly status?: number | null;
  readonly details?: readonly ErrorDetail[];
  readonly requestId?: string | null;
  readonly cause?: unknown;
}

/** The error of a call. */
export class UndertoneError extends Error {
  readonly code: ServiceErrorCode | ClientErrorCode;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The wrong parts of the request. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id`, which the service also logs. */
  readonly requestId: string | null;

  constructor(code: UndertoneError['code'], message: string, options: UndertoneErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'UndertoneError';
    this.code = code;
    this.status = options.status ?? null;
    this.details = options.details ?? [];
    this.requestId = options.requestId ?? null;
  }
}

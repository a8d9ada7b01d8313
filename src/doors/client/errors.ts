import type { ServiceErrorCode } from './contract.ts';

export type { ServiceErrorCode } from './contract.ts';

/** What only the client says. */
export type ClientErrorCode =
  /** No answer came: the connection failed, or a try took longer than `timeoutMs`. */
  | 'UNREACHABLE'
  /** What answered is not the service, or a newer one. */
  | 'UNEXPECTED_ANSWER'
  /** The message cannot be written as JSON. */
  | 'INVALID_MESSAGE'
  /** The buffer is full. */
  | 'BUFFER_FULL'
  /** The client is closed. */
  | 'CLOSED';

export interface ErrorDetail {
  /** Such as `messages.0.content`, or the name of a parameter. */
  readonly path: string;
  readonly message: string;
}

interface UndertoneErrorOptions {
  readonly status?: number | null;
  readonly details?: readonly ErrorDetail[];
  readonly requestId?: string | null;
  readonly cause?: unknown;
}

/** Why a call has no answer. `code` is for programs; `message` is for people and may change. */
export class UndertoneError extends Error {
  readonly code: ServiceErrorCode | ClientErrorCode;
  /** HTTP status; null: no answer came. */
  readonly status: number | null;
  /** The parts of the request that are wrong. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id`: the service's log repeats it. */
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

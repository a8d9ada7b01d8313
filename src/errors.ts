/**
 * Every error code of the API with its HTTP status. Keeps the invariant that `docs/errors.md` lists the same codes.
 *
 * Test: test/errors.test.ts.
 */
export const ERROR_CODES = {
  VALIDATION_ERROR: 400,
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  MISSING_API_KEY: 401,
  INVALID_API_KEY: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A wrong part of a request: a dotted path such as `messages.0.content`, and the reason. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** Maximum `details` of an answer. */
export const MAX_DETAILS = 100;

/** Maximum characters of names and paths, and of messages, that an answer repeats from a request. */
const MAX_PATH_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 1000;

/** Makes an external text safe to display: cut, with control and other invisible characters escaped as in JSON. */
export function displayText(text: string, length = MAX_PATH_LENGTH): string {
  const whole = text.slice(0, length + 1).replace(/\p{C}/gu, escapeCharacter);
  return whole.length <= length ? whole : `${whole.slice(0, length - 1)}…`;
}

function escapeCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/**
 * An error for the caller; its message states the fact and what to do. Text that it repeats from a request is cut and
 * escaped.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Seconds until a retry makes sense (`Retry-After`). */
  readonly retryAfter: number | undefined;
  /** Messages that were read before the refusal. */
  readonly messagesRead: number;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: readonly ErrorDetail[] | undefined;
      retryAfter?: number;
      messagesRead?: number;
      cause?: unknown;
    } = {},
  ) {
    super(
      displayText(message, MAX_MESSAGE_LENGTH),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'AppError';
    this.code = code;
    this.details = options.details?.slice(0, MAX_DETAILS).map((detail) => ({
      path: displayText(detail.path),
      message: displayText(detail.message, MAX_MESSAGE_LENGTH),
    }));
    this.retryAfter = options.retryAfter;
    this.messagesRead = options.messagesRead ?? 0;
  }
}

/** The error for what fails now, and may succeed after `retryAfter` seconds. */
export function unavailable(
  message: string,
  { retryAfter = 1, cause }: { readonly retryAfter?: number; readonly cause?: unknown } = {},
): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfter, cause });
}

/** An AppError in a form that can cross threads. */
export type Refusal = Pick<AppError, 'code' | 'message' | 'details' | 'messagesRead'>;

/** Copies the members that can cross threads. */
export function refusalOf({ code, message, details, messagesRead }: AppError): Refusal {
  return { code, message, details, messagesRead };
}

/** A fault of the setup; ends the process with its one-line message. */
export class SetupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'SetupError';
  }
}

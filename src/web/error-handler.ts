/**
 * Turns every error into a status and the envelope of docs/errors.md; no other code does. Internal errors are logged,
 * and answered without their text.
 *
 * Test: test/web/app.test.ts, test/web/sockets.test.ts.
 */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorEnvelope } from '../contract/errors.ts';
import { AppError, ERROR_CODES } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { GUARD_LINES } from './answer-headers.ts';
import { SlowBodyError } from './body.ts';
import { sayFarewell, type DropLog } from './connections.ts';

export function envelopeOf({ code, message, details }: AppError): ErrorEnvelope {
  const error = { code, message, ...(details === undefined ? {} : { details: [...details] }) };
  return { success: false, error };
}

/** An error that is neither an AppError nor a fault of the request is logged with the request's id. */
export function createErrorHandler(
  log: Logger,
  drops: DropLog,
): (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (thrown, request, reply) => {
    const error = toAppError(thrown, request);
    if (error.code === 'INTERNAL_ERROR') {
      log.error(
        { event: 'request_failed', requestId: request.id, route: routeOf(request), err: thrown },
        'request failed',
      );
    }
    // Fastify closes the connection when it refuses a body, and a client that is still sending would see a broken pipe
    // instead of the response. Left open, Node reads the rest of the body and drops it.
    if (thrown instanceof SlowBodyError) {
      drops.dropped('slow-body');
      reply.header('connection', 'close');
    } else reply.removeHeader('connection');
    if (error.retryAfter !== undefined) reply.header('Retry-After', String(Math.ceil(error.retryAfter)));
    void reply.code(ERROR_CODES[error.code]).send(envelopeOf(error));
  };
}

/** Returns the pattern of the route, which bounds the number of labels and log values. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

function toAppError(thrown: unknown, request: FastifyRequest): AppError {
  if (thrown instanceof AppError) return thrown;
  const message = messageOfFrameworkFault(thrown);
  if (message !== null) return new AppError('BAD_REQUEST', message, { cause: thrown });
  return new AppError(
    'INTERNAL_ERROR',
    `The request failed in the service. Its id in the log is ${request.id}.`,
    {
      cause: thrown,
    },
  );
}

/** Words faults that fastify finds in a request; null for other errors. */
function messageOfFrameworkFault(thrown: unknown): string | null {
  switch (codeOf(thrown)) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'The Content-Type header is not valid; send application/json.';
    case 'FST_ERR_BAD_URL':
      return 'The path is not a valid URL.';
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return 'The path is too long.';
    default:
      return null;
  }
}

function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
}

/** Answers what is not HTTP, has oversized headers or arrives too late, and closes the connection. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  drops: DropLog,
  farewellMs: number,
): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') drops.dropped('timeout');
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(envelopeOf(new AppError('BAD_REQUEST', messageOfClientError(error.code))));
  sayFarewell(
    socket,
    `HTTP/1.1 400 Bad Request\r\n${GUARD_LINES}Content-Type: application/json; charset=utf-8\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    farewellMs,
  );
}

function messageOfClientError(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'The address and headers are too long.';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request did not arrive in time.';
    default:
      return 'This is not a valid HTTP request.';
  }
}

/**
 * POST /mcp: the Model Context Protocol over streamable HTTP. It has no sessions, so any web process can answer.
 *
 * Test: test/web/mcp-route.test.ts, test/e2e/mcp-rules.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, ERROR_CODES } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { Reading, type ReadingDoor } from '../../doors/mcp/reading.ts';
import { inTime } from '../answer-time.ts';
import { callerOf, countRequest } from '../auth.ts';
import { SlowBodyError, takeJson, type BodyReader } from '../body.ts';
import type { HttpDependencies } from '../dependencies.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { createReadingDoors } from '../reading-door.ts';

export type { ReadingDoor };

/** Limit of a body: tools take short texts and numbers. */
const BODY_BYTES = 64 * 1024;
/** Error codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export function registerMcpRoute(
  scope: FastifyInstance,
  query: NonNullable<HttpDependencies['query']> & { readonly answerMs: number },
  { instances, now, log }: Pick<HttpDependencies, 'instances' | 'now'> & { readonly log: Logger },
  { bodies, limiter }: { readonly bodies: Pick<BodyReader, 'readJson'>; readonly limiter: RateLimiter },
): void {
  const doorOf = createReadingDoors(query, instances);
  const config = { scope: 'query', instance: 'own' } as const;
  takeJson(scope, bodies, BODY_BYTES);
  // This handler runs after the key is checked, so only body faults are reported in JSON-RPC.
  scope.setErrorHandler((thrown, _, reply) => {
    if (!(thrown instanceof AppError) || !isBodyFault(thrown)) throw thrown;
    reply.removeHeader('connection');
    return reply.code(ERROR_CODES[thrown.code]).send(rpcError(PARSE_ERROR, thrown.message));
  });

  scope.post('/mcp', { config }, async (request, reply) => {
    checkOrigin(request.headers.origin);
    if (Array.isArray(request.body)) {
      const message = 'Batches are not accepted: send each message in a request of its own.';
      return reply.code(400).send(rpcError(INVALID_REQUEST, message));
    }
    // Loaded on the first request, because most services never get one.
    const { answerPost } = await import('../../doors/mcp/server.ts');
    const door = counted(doorOf(callerOf(request)), limiter, request, reply);
    const answer = await answerPost(
      { headers: headersOf(request), body: request.body },
      { reading: new Reading(timed(door, query.answerMs)), now },
      (error) => log.error({ event: 'tool_failed', requestId: request.id, err: error }, 'an MCP tool failed'),
    );
    for (const [name, value] of answer.headers) reply.header(name, value);
    return reply.code(answer.status).send(answer.body === null ? undefined : await answer.text());
  });

  scope.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH'],
    url: '/mcp',
    config,
    // Responds before a body is read.
    onRequest: async (_, reply) => {
      const error = rpcError(INVALID_REQUEST, 'There is no stream and no session: send a POST.');
      return reply.code(405).header('Allow', 'POST').send(error);
    },
    handler: () => undefined,
  });
}

/** Charges each read of a tool as an HTTP request, except the first, for which the POST was charged. */
function counted(
  door: ReadingDoor,
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
): ReadingDoor {
  let isFirst = true;
  return {
    async get(path, parameters) {
      if (!isFirst) countRequest(limiter, request, reply);
      isFirst = false;
      return door.get(path, parameters);
    },
  };
}

/** Limits the reads of a tool to `ms` in all. */
function timed(door: ReadingDoor, ms: number): ReadingDoor {
  const until = performance.now() + ms;
  return { get: (path, parameters) => inTime(door.get(path, parameters), until - performance.now()) };
}

/**
 * Refuses web pages of other machines, which could reach this one by DNS rebinding. Browsers send an Origin with every
 * POST; programs send none, or no http(s) one.
 */
function checkOrigin(origin: string | undefined): void {
  if (origin === undefined || origin === '') return;
  if (URL.canParse(origin)) {
    const { protocol, hostname } = new URL(origin);
    const isPage = protocol === 'http:' || protocol === 'https:';
    if (!isPage || LOOPBACK.includes(hostname) || hostname.endsWith('.localhost')) return;
  }
  throw new AppError('FORBIDDEN', `Requests of web pages of ${origin} are refused.`);
}

function isBodyFault(error: AppError): boolean {
  if (error instanceof SlowBodyError) return false;
  return ERROR_CODES[error.code] === 400 || error.code === 'PAYLOAD_TOO_LARGE';
}

function rpcError(code: number, message: string): object {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

function headersOf({ headers }: FastifyRequest): Headers {
  const own = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== 'x-api-key' && name !== 'authorization') own.set(name, value);
  }
  return own;
}

/** Covered by test/http/app.test.ts and test/e2e/auth-rules.test.ts. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyScope } from '../domain/key-scopes.ts';
import { AppError } from '../errors.ts';
import { addressOf } from './address.ts';
import type { FoundKey, HttpDependencies } from './dependencies.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The project of the request's key; '' outside `/v1` and before the key was checked. */
    projectId: string;
    /** The request's key; null where `projectId` is ''. */
    key: FoundKey | null;
  }
  interface FastifyContextConfig {
    /** What the key of a request to this route has to have; null: nothing. Each route below `/v1` says it. */
    scope?: KeyScope | null;
    /** It takes no body: a type that a client names for none is no fault. */
    isBodiless?: boolean;
  }
}

/**
 * Checks the key of every request of this scope before its body is read, and counts it: per key, per
 * address when there is no valid key. Unknown routes of the scope are answered here as well, and keys without the
 * scope that the route asks for.
 */
export function registerAuth(
  scope: FastifyInstance,
  dependencies: Pick<HttpDependencies, 'keys'>,
  limiter: RateLimiter,
): void {
  const { keys } = dependencies;
  scope.addHook('onRoute', ({ url, config }) => {
    if (config?.scope === undefined) throw new Error(`${url} does not say which scope its key needs`);
  });
  scope.addHook('onRequest', async (request, reply) => {
    const found = knownKey(request) ?? (await askedKey(request, reply));
    const caller = `key ${found.keyId}`;
    countRequest(limiter, reply, caller);
    request.projectId = found.projectId;
    request.key = found;
    request.held.caller = caller;
    if (request.is404) throw notFound(request);
    const needed = request.routeOptions.config.scope ?? null;
    if (needed !== null && !found.scopes.includes(needed)) {
      challenge(reply, `, error="insufficient_scope", scope="${needed}"`);
      throw lacksScope(needed, found.scopes);
    }
  });

  function knownKey({ headers }: FastifyRequest): FoundKey | null {
    const given = givenKey(headers);
    return (keys.loaded && given !== null && keys.known(given)) || null;
  }

  /** Counted per address before anybody is asked: who sends random keys asks no more often than the limit. */
  async function askedKey(request: FastifyRequest, reply: FastifyReply): Promise<FoundKey> {
    countRequest(limiter, reply, addressOf(request));
    if (!keys.loaded) {
      const message = 'The service is starting and has not read its keys yet. Try again in a moment.';
      throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
    }
    const given = givenKey(request.headers);
    if (given === null) {
      challenge(reply);
      throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    }
    const found = await keys.find(given);
    if (found === null) {
      challenge(reply, ', error="invalid_token"');
      throw new AppError('INVALID_API_KEY', 'The API key is invalid or inactive.');
    }
    return found;
  }
}

/** Counts one request of a caller, and says in the answer what is left. Throws AppError RATE_LIMIT_EXCEEDED. */
export function countRequest(limiter: RateLimiter, reply: FastifyReply, caller: string): void {
  const allowance = limiter.take(caller);
  setRateLimitHeaders(reply, allowance);
  if (!allowance.allowed) throw rateLimitExceeded(allowance);
}

/** What the request gives as its key: in `x-api-key`, else as `Authorization: Bearer`; null: nothing. */
function givenKey(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-api-key'];
  // A repeated header is one text with a comma in it, which is no key.
  if (given !== undefined && given.length > 0) return String(given);
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** Says how a key can be given (RFC 6750). */
function challenge(reply: FastifyReply, why = ''): void {
  reply.header('WWW-Authenticate', `Bearer realm="undertone"${why}`);
}

function lacksScope(needed: KeyScope, scopes: readonly KeyScope[]): AppError {
  const has = scopes.length === 0 ? 'none that is known' : new Intl.ListFormat('en-GB').format(scopes);
  const message = `The API key lacks the scope ${needed}; it has ${has}. Use a key with this scope.`;
  return new AppError('FORBIDDEN', message);
}

export function setRateLimitHeaders(reply: FastifyReply, allowance: Allowance): void {
  reply.header('X-RateLimit-Limit', String(allowance.limit));
  reply.header('X-RateLimit-Remaining', String(allowance.remaining));
  reply.header('X-RateLimit-Reset', String(allowance.resetAt));
}

function rateLimitExceeded(allowance: Allowance): AppError {
  const message = `More than ${allowance.limit} requests in one second. Wait, then try again more slowly.`;
  return new AppError('RATE_LIMIT_EXCEEDED', message, { retryAfter: 1 });
}

/** The answer for a path or method that this process does not serve. */
export function notFound(request: FastifyRequest): AppError {
  return notFoundPath(request.method, request.url.split('?', 1)[0] ?? '');
}

export function notFoundPath(method: string, path: string): AppError {
  return new AppError('NOT_FOUND', `There is no ${method} ${path.slice(0, 200)} here. See /docs.`);
}

/**
 * Authenticates requests and charges them to their key before the body is read. A request without a valid key is
 * charged to its address.
 *
 * Test: test/web/app.test.ts, test/e2e/auth-rules.test.ts.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyScope } from '../domain/key-scopes.ts';
import { LINK_HEADER } from '../domain/shared-views.ts';
import { PAGE_HEADER } from '../domain/page-sign-in.ts';
import { AppError, unavailable } from '../errors.ts';
import { addressOf } from './address.ts';
import type { FoundKey, HttpDependencies, KeyFinder } from './dependencies.ts';
import { checkNamedInstance, checkSaysInstance } from './instance-access.ts';
import { createLinkFinder } from './link-finder.ts';
import { holdToView } from './shared-view.ts';
import { nearerToItsEnd, type Allowance, type MessageBudget, type RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The project of the request's key; '' outside of `/v1` and before the key is checked. */
    projectId: string;
    /** The request's key; null while `projectId` is ''. */
    key: FoundKey | null;
    /** The remaining requests of the key; null before anything was charged. */
    allowance: Allowance | null;
    /** Messages that were charged for the request. */
    counted: number;
  }
  interface FastifyContextConfig {
    /** Scope that the key needs; null: none. Every route below `/v1` sets it. */
    scope?: KeyScope | null;
    /** The route takes no body, so a content type without one is accepted. */
    isBodiless?: boolean;
    /** Its messages are charged. */
    takesMessages?: boolean;
  }
}

/** Limits of each key. */
export interface Limits {
  readonly requests: RateLimiter;
  readonly messages: MessageBudget;
}

/**
 * Checks and charges the key of every request in the scope before its body is read. Rejects unknown routes, keys
 * without the scope of the route, and messages of a key that has exceeded its budget.
 */
export function registerAuth(
  scope: FastifyInstance,
  dependencies: Pick<HttpDependencies, 'keys' | 'signIns' | 'people' | 'links' | 'query' | 'now'>,
  limits: Limits,
): void {
  const { keys, signIns, people, query, now } = dependencies;
  const links = createLinkFinder(dependencies.links, people);
  scope.addHook('onRoute', ({ url, config }) => {
    if (config?.scope === undefined) throw new Error(`${url} does not say which scope its key needs`);
  });
  scope.addHook('onRequest', async (request, reply) => {
    const found = knownKey(request) ?? (await person(request)) ?? (await askedKey(request, reply));
    request.projectId = found.projectId;
    request.key = found;
    // All keys of a project share its turns.
    request.held.caller = found.projectId;
    countRequest(limits.requests, request, reply);
    if (request.is404) throw notFound(request);
    const needed = request.routeOptions.config.scope ?? null;
    if (found.link !== undefined) {
      const { view, instanceId } = found.link;
      const zone = (await query?.instances.defaultsOf(instanceId))?.timeZone ?? 'UTC';
      holdToView(request, view, { ms: now(), zone });
    } else if (needed !== null && !found.scopes.includes(needed)) {
      challenge(reply, `, error="insufficient_scope", scope="${needed}"`);
      throw lacksScope(needed, found.scopes);
    }
    checkSaysInstance(request, found);
    if (request.routeOptions.config.takesMessages === true) checkMessages(limits.messages, request, reply);
  });
  scope.addHook('preHandler', async (request) => checkNamedInstance(request));
  scope.addHook('onSend', (request, reply, payload, done) => {
    if (isOurFault(reply.statusCode)) giveBackMessages(limits.messages, request, request.counted);
    done(null, payload);
  });

  /** Returns the credential of a request and its finder: the token of a link, a key, or the token of a sign-in. */
  function credentialOf(
    request: FastifyRequest,
  ): readonly [string, Pick<KeyFinder, 'known' | 'find'>] | null {
    // A link comes first: it grants less than, for example, the sign-in of the person who opens it.
    const link = request.headers[LINK_HEADER];
    if (link !== undefined) return [String(link), links];
    const key = givenKey(request.headers);
    if (key !== null) return [key, keys];
    const token = tokenOf(request);
    return token === null ? null : [token, signIns];
  }

  function knownKey(request: FastifyRequest): FoundKey | null {
    const [credential, finder] = (keys.loaded && credentialOf(request)) || [];
    return (credential !== undefined && finder?.known(credential)) || null;
  }

  /** Finds the person whom a proxy has signed in. The request's own key or sign-in comes first. */
  async function person(request: FastifyRequest): Promise<FoundKey | null> {
    // A foreign token or an ended sign-in does not count: proxies forward tokens of their own.
    if (people === undefined || !keys.loaded || showsKey(request.headers)) return null;
    return people.find(request);
  }

  /**
   * Charges the address before the registry is asked, so that random keys cannot cause more requests than the limit.
   */
  async function askedKey(request: FastifyRequest, reply: FastifyReply): Promise<FoundKey> {
    countRequest(limits.requests, request, reply);
    if (!keys.loaded)
      throw unavailable('The service is starting and has not read its keys yet. Try again in a moment.');
    const [credential, finder] = credentialOf(request) ?? [];
    if (credential === undefined || finder === undefined) {
      challenge(reply);
      throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    }
    const found = await finder.find(credential);
    if (found === null) {
      challenge(reply, ', error="invalid_token"');
      const message =
        finder === keys
          ? 'The API key is invalid or inactive.'
          : finder === links
            ? 'The link has ended, was revoked, or is not whole.'
            : 'You are no longer signed in, or the key that you signed in with was revoked.';
      throw new AppError('INVALID_API_KEY', message);
    }
    return found;
  }
}

/** Charges a request to a caller and sets the rate-limit headers. Throws AppError RATE_LIMIT_EXCEEDED. */
export function countRequest(
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  caller = countedAs(request),
): void {
  request.allowance = limiter.take(caller);
  setRateLimitHeaders(reply, request.allowance);
  if (!request.allowance.allowed) throw rateLimitExceeded(request.allowance);
}

/** Throws AppError RATE_LIMIT_EXCEEDED if the key may send no messages now. */
export function checkMessages(budget: MessageBudget, request: FastifyRequest, reply: FastifyReply): void {
  admit(budget.look(countedAs(request)), request, reply);
}

/** Charges the messages of a request before they are stored; all or none. Throws AppError RATE_LIMIT_EXCEEDED. */
export function countMessages(
  budget: MessageBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  messages: number,
): void {
  admit(budget.take(countedAs(request), messages), request, reply);
  request.counted += messages;
}

/**
 * Returns true for a status after which the caller will send the messages again: the service was at its limits or at
 * fault.
 */
export function isOurFault(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Refunds messages that were charged and then refused by the service's fault. */
export function giveBackMessages(budget: MessageBudget, request: FastifyRequest, messages: number): void {
  if (messages === 0) return;
  budget.giveBack(countedAs(request), messages);
  request.counted -= messages;
}

/** Sets the headers of the budget that the key will exhaust first. */
function admit(allowance: Allowance, { allowance: ofRequests }: FastifyRequest, reply: FastifyReply): void {
  const isFirst = ofRequests === null || !allowance.allowed;
  setRateLimitHeaders(reply, isFirst ? allowance : nearerToItsEnd(ofRequests, allowance));
  if (!allowance.allowed) throw rateLimitExceeded(allowance);
}

/** Returns the checked key. Throws AppError MISSING_API_KEY without one. */
export function callerOf({ key }: FastifyRequest): FoundKey {
  if (key === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
  return key;
}

/** Returns the key, or the address until there is one. */
function countedAs(request: FastifyRequest): string {
  return request.key === null ? addressOf(request) : `key ${request.key.keyId}`;
}

/** Returns true if the request has a link or what looks like a key of ours. */
function showsKey(headers: IncomingHttpHeaders): boolean {
  return (
    headers[LINK_HEADER] !== undefined ||
    headers['x-api-key'] !== undefined ||
    givenKey(headers)?.startsWith('ut_') === true
  );
}

/** Reads the key from `x-api-key`, else from `Authorization: Bearer`; null without one. */
function givenKey(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-api-key'];
  // Node joins repeated headers with commas, which no key contains.
  if (given !== undefined && given.length > 0) return String(given);
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** Reads the token of a sign-in from a request of the page; null without one. */
export function tokenOf(request: FastifyRequest): string | null {
  if (request.headers[PAGE_HEADER] === undefined) return null;
  const name = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length) ?? null;
}

/**
 * The name contains the port, because browsers separate cookies by host only: two services on one host would sign each
 * other out.
 */
export function cookieName({ headers }: FastifyRequest): string {
  return `undertone${/:(\d+)$/.exec(headers.host ?? '')?.[1] ?? ''}`;
}

/** Tells the client how to send a key (RFC 6750). */
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
  reply.header('X-RateLimit-Unit', allowance.unit);
}

function rateLimitExceeded({ unit, perSecond, retryAfter }: Allowance): AppError {
  const message =
    unit === 'requests'
      ? `More than ${perSecond} requests in one second. Wait, then try again more slowly.`
      : `More than the budget of ${perSecond} messages a second. Send the same again in ${retryAfter} s.`;
  return new AppError('RATE_LIMIT_EXCEEDED', message, { retryAfter });
}

/** The error for a path or method that this process does not serve. */
export function notFound(request: FastifyRequest): AppError {
  return notFoundPath(request.method, request.url.split('?', 1)[0] ?? '');
}

export function notFoundPath(method: string, path: string): AppError {
  return new AppError('NOT_FOUND', `There is no ${method} ${path.slice(0, 200)} here. See /docs.`);
}

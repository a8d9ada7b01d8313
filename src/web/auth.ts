/** Covered by test/web/app.test.ts and test/e2e/auth-rules.test.ts. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyScope } from '../domain/key-scopes.ts';
import { LINK_HEADER } from '../domain/shared-views.ts';
import { PAGE_HEADER } from '../domain/page-sign-in.ts';
import { AppError } from '../errors.ts';
import { addressOf } from './address.ts';
import type { FoundKey, HttpDependencies, KeyFinder } from './dependencies.ts';
import { checkNamedInstance, checkSaysInstance } from './instance-access.ts';
import { createLinkFinder } from './link-finder.ts';
import { holdToView } from './shared-view.ts';
import { nearerToItsEnd, type Allowance, type MessageBudget, type RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The project of the request's key; '' outside `/v1` and before the key was checked. */
    projectId: string;
    /** The request's key; null where `projectId` is ''. */
    key: FoundKey | null;
    /** What is left of the key's requests; null where nothing was counted. */
    allowance: Allowance | null;
    /** Messages of it that were counted. */
    counted: number;
  }
  interface FastifyContextConfig {
    /** What the key of a request to this route has to have; null: nothing. Each route below `/v1` says it. */
    scope?: KeyScope | null;
    /** It takes no body: a type that a client names for none is no fault. */
    isBodiless?: boolean;
    /** Its messages count. */
    takesMessages?: boolean;
  }
}

/** What each key may send. */
export interface Limits {
  readonly requests: RateLimiter;
  readonly messages: MessageBudget;
}

/**
 * Checks the key of every request of this scope before its body is read, and counts it: per key, per
 * address when there is no valid key. Unknown routes of the scope are answered here as well, keys without the
 * scope that the route asks for, and messages of a key that has sent too many.
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
    // Whoever has many keys has one turn all the same.
    request.held.caller = found.projectId;
    countRequest(limits.requests, request, reply);
    if (request.is404) throw notFound(request);
    const needed = request.routeOptions.config.scope ?? null;
    if (found.link !== undefined) {
      const { view, instanceId } = found.link;
      const zone = (await query?.instances.timeZoneOf(instanceId)) ?? 'UTC';
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

  /** What the request shows, and who knows it: the token of a link, a key, or the token of a sign-in to the page. */
  function shownBy(request: FastifyRequest): readonly [string, Pick<KeyFinder, 'known' | 'find'>] | null {
    // It may less than what comes along with it, such as the sign-in of whoever opens the link.
    const link = request.headers[LINK_HEADER];
    if (link !== undefined) return [String(link), links];
    const key = givenKey(request.headers);
    if (key !== null) return [key, keys];
    const token = tokenOf(request);
    return token === null ? null : [token, signIns];
  }

  function knownKey(request: FastifyRequest): FoundKey | null {
    const [shown, finder] = (keys.loaded && shownBy(request)) || [];
    return (shown !== undefined && finder?.known(shown)) || null;
  }

  /** Whom a proxy has signed in. A key or a sign-in of the request's own goes first. */
  async function person(request: FastifyRequest): Promise<FoundKey | null> {
    // Proxies pass tokens of their own on; a sign-in that has ended says nothing any more.
    if (people === undefined || !keys.loaded || showsKey(request.headers)) return null;
    return people.find(request);
  }

  /** Counted per address before anybody is asked: who sends random keys asks no more often than the limit. */
  async function askedKey(request: FastifyRequest, reply: FastifyReply): Promise<FoundKey> {
    countRequest(limits.requests, request, reply);
    if (!keys.loaded) {
      const message = 'The service is starting and has not read its keys yet. Try again in a moment.';
      throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
    }
    const [shown, finder] = shownBy(request) ?? [];
    if (shown === undefined || finder === undefined) {
      challenge(reply);
      throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    }
    const found = await finder.find(shown);
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

/** Counts one request of a caller, and says in the answer what is left. Throws AppError RATE_LIMIT_EXCEEDED. */
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

/** Throws AppError RATE_LIMIT_EXCEEDED when the key may send no messages now. */
export function checkMessages(budget: MessageBudget, request: FastifyRequest, reply: FastifyReply): void {
  admit(budget.look(countedAs(request)), request, reply);
}

/** Counts messages of the request before they are stored; all or none. Throws AppError RATE_LIMIT_EXCEEDED. */
export function countMessages(
  budget: MessageBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  messages: number,
): void {
  admit(budget.take(countedAs(request), messages), request, reply);
  request.counted += messages;
}

/** They are refused for our want of room or for a fault of ours: the caller will send them again. */
export function isOurFault(status: number): boolean {
  return status === 429 || status >= 500;
}

/** They were counted, and then refused by our fault. */
export function giveBackMessages(budget: MessageBudget, request: FastifyRequest, messages: number): void {
  if (messages === 0) return;
  budget.giveBack(countedAs(request), messages);
  request.counted -= messages;
}

/** The answer describes the budget that the key meets the end of first. */
function admit(allowance: Allowance, { allowance: ofRequests }: FastifyRequest, reply: FastifyReply): void {
  const isFirst = ofRequests === null || !allowance.allowed;
  setRateLimitHeaders(reply, isFirst ? allowance : nearerToItsEnd(ofRequests, allowance));
  if (!allowance.allowed) throw rateLimitExceeded(allowance);
}

/** Whose key was checked. Throws AppError MISSING_API_KEY where none was. */
export function callerOf({ key }: FastifyRequest): FoundKey {
  if (key === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
  return key;
}

/** Its key, or its address as long as it has none. */
function countedAs(request: FastifyRequest): string {
  return request.key === null ? addressOf(request) : `key ${request.key.keyId}`;
}

/** Whether it gives a link, or what looks like a key of ours. */
function showsKey(headers: IncomingHttpHeaders): boolean {
  return (
    headers[LINK_HEADER] !== undefined ||
    headers['x-api-key'] !== undefined ||
    givenKey(headers)?.startsWith('ut_') === true
  );
}

/** What the request gives as its key: in `x-api-key`, else as `Authorization: Bearer`; null: nothing. */
function givenKey(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-api-key'];
  // A repeated header is one text with a comma in it, which is no key.
  if (given !== undefined && given.length > 0) return String(given);
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The token of a sign-in that the page's request shows; null: none. */
export function tokenOf(request: FastifyRequest): string | null {
  if (request.headers[PAGE_HEADER] === undefined) return null;
  const name = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length) ?? null;
}

/** Browsers tell hosts apart, not ports: two services on one host would sign each other out. */
export function cookieName({ headers }: FastifyRequest): string {
  return `undertone${/:(\d+)$/.exec(headers.host ?? '')?.[1] ?? ''}`;
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
  reply.header('X-RateLimit-Unit', allowance.unit);
}

function rateLimitExceeded({ unit, perSecond, retryAfter }: Allowance): AppError {
  const message =
    unit === 'requests'
      ? `More than ${perSecond} requests in one second. Wait, then try again more slowly.`
      : `More than the budget of ${perSecond} messages a second. Send the same again in ${retryAfter} s.`;
  return new AppError('RATE_LIMIT_EXCEEDED', message, { retryAfter });
}

/** The answer for a path or method that this process does not serve. */
export function notFound(request: FastifyRequest): AppError {
  return notFoundPath(request.method, request.url.split('?', 1)[0] ?? '');
}

export function notFoundPath(method: string, path: string): AppError {
  return new AppError('NOT_FOUND', `There is no ${method} ${path.slice(0, 200)} here. See /docs.`);
}

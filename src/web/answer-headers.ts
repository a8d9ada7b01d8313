/**
 * Cache and sniffing headers of every response. No response is cached, unless its route says otherwise.
 *
 * Test: test/web/answer-headers.test.ts.
 */
import type { FastifyReply } from 'fastify';

/** Returns true for a path below /v1, where the key is checked first. */
export function isUnderV1(url: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(url);
}

/** Returns true if the response may depend on the key. */
function isKeyed(url: string): boolean {
  return isUnderV1(url) || /^\/mcp(?:[/?]|$)/.test(url);
}

/**
 * Forbids caching (files override it) and content sniffing on every response, whatever its status. `Vary` keeps caches
 * that ignore this from mixing keys.
 */
export function guardAnswer(reply: FastifyReply, url: string): void {
  void reply.header('Cache-Control', 'no-store').header('X-Content-Type-Options', 'nosniff');
  if (isKeyed(url)) void reply.header('Vary', 'x-api-key, Authorization');
}

/** The same headers for a response that is written to a socket directly. */
export const GUARD_LINES = 'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n';

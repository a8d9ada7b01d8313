/** What every answer says to caches and browsers. Covered by test/web/answer-headers.test.ts. */
import type { FastifyReply } from 'fastify';

/** Whether a path is below /v1, where the key comes before anything else. */
export function isUnderV1(url: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(url);
}

/** Whether the answer may be for one key only. */
function isKeyed(url: string): boolean {
  return isUnderV1(url) || /^\/mcp(?:[/?]|$)/.test(url);
}

/**
 * Of every answer, whatever becomes of the request: nobody keeps it (files say otherwise of themselves), and no browser
 * takes it for something else. Who keeps answers of the interface all the same must tell keys apart.
 */
export function guardAnswer(reply: FastifyReply, url: string): void {
  void reply.header('Cache-Control', 'no-store').header('X-Content-Type-Options', 'nosniff');
  if (isKeyed(url)) void reply.header('Vary', 'x-api-key, Authorization');
}

/** The same for an answer that is written to a socket. */
export const GUARD_LINES = 'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n';

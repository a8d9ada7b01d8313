/**
 * Parses the header `Retry-After` of services that we call (RFC 9110, 10.2.3). `undertone/client` ships alone and has
 * its own.
 *
 * Test: test/domain/retry-after.test.ts.
 */

const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the pause in milliseconds for a number of seconds, which may have decimals, or a date; null for anything
 * else. `now` is in milliseconds since 1970-01-01 UTC.
 */
export function retryAfterOf(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (SECONDS.test(header)) return Number(header) * 1000;
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

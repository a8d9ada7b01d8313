/**
 * Identifies callers without a valid key by their network.
 *
 * Test: test/web/open-routes.test.ts.
 */
import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * Returns the caller that a request without a valid key is charged to: its network, because one caller has many IPv6
 * addresses.
 */
export function addressOf({ ip }: FastifyRequest): string {
  return `address ${networkOf(ip)}`;
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address: providers assign that many to one caller. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%', 1).join().split('::');
  const groups = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const [first = [], last = []] = groups;
  const between = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array.from({ length: Math.max(between, 0) }, () => '0'), ...last];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

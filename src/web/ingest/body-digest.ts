/**
 * Digests JSON bodies. Bodies that differ only in the order of members have the same digest.
 *
 * Test: test/web/ingest/acceptor.test.ts.
 */
import { createHash } from 'node:crypto';

/** Returns SHA-256 in hex. */
export function bodyDigest(body: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Validates the shape of an erasure in a record.
 *
 * Test: test/stream/log/codec.test.ts.
 */
import { ERASED_KINDS } from '../../domain/erasures.ts';

/** Longest text of an erasure, UTF-16 units. */
const MOST_UNITS = 100;

export function isErasure(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, kind, digest } = value as Readonly<Record<string, unknown>>;
  return isText(id) && isText(digest) && (ERASED_KINDS as readonly unknown[]).includes(kind);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MOST_UNITS;
}

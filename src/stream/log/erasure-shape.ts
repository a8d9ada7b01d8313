/** Whether a value of a record is an erasure. Covered by test/stream/log/codec.test.ts. */
import { ERASED_KINDS } from '../../domain/erasures.ts';

/** No part of an erasure is longer, in UTF-16 units. */
const MOST_UNITS = 100;

export function isErasure(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, kind, digest } = value as Readonly<Record<string, unknown>>;
  return isText(id) && isText(digest) && (ERASED_KINDS as readonly unknown[]).includes(kind);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MOST_UNITS;
}

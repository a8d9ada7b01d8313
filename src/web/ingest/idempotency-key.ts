/**
 * Validates idempotency keys. It is separate from the store, because threads that parse bodies need no stream.
 *
 * Test: test/web/ingest/acceptor.test.ts.
 */
import { invalidHeader } from './validation.ts';

/** Pattern of an idempotency key and of a `deduplicationId`. */
export const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

export const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 printable ASCII characters';

export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value);
}

/** Returns the `Idempotency-Key` header; undefined without one. Throws AppError VALIDATION_ERROR. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (isIdempotencyKey(header)) return header;
  throw invalidHeader('Idempotency-Key', IDEMPOTENCY_KEY_RULE);
}

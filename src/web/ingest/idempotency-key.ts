/**
 * The key itself, without the store: threads that read bodies need no stream. Covered by test/web/ingest/acceptor.test.ts.
 */
import { AppError } from '../../errors.ts';

/** What a key may be, and a `deduplicationId`. */
export const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

export const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 printable ASCII characters';

export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value);
}

/**
 * Reads the `Idempotency-Key` header; undefined when there is none.
 *
 * @throws AppError VALIDATION_ERROR
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (isIdempotencyKey(header)) return header;
  throw new AppError('VALIDATION_ERROR', `The Idempotency-Key header ${IDEMPOTENCY_KEY_RULE}.`, {
    details: [{ path: 'Idempotency-Key', message: IDEMPOTENCY_KEY_RULE }],
  });
}

/**
 * The schema of `limit` for routes with a cursor.
 *
 * Test: test/e2e/session-rules.test.ts, test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';

/** `most`: the largest limit; `usual`: the default. */
export function pageLimit(most: number, usual: number) {
  const message = `must be a whole number from 1 to ${most}`;
  return z
    .string()
    .regex(new RegExp(`^\\d{1,${String(most).length}}$`), message)
    .transform(Number)
    .pipe(z.int(message).min(1, message).max(most, message))
    .default(usual);
}

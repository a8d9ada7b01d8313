/**
 * The schema of error responses.
 *
 * Test: test/web/docs.test.ts.
 */
import { z } from 'zod';
import { ERROR_CODES, MAX_DETAILS, type ErrorCode } from '../errors.ts';

/** The body of an error response (docs/errors.md). */
export const errorEnvelopeSchema = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    details: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .max(MAX_DETAILS)
      .optional(),
  }),
});
export type ErrorEnvelope = z.output<typeof errorEnvelopeSchema>;

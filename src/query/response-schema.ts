/**
 * The schema of the answer of GET /v1/query/.
 *
 * Test: test/query/query-runner.test.ts, test/web/docs-content.test.ts.
 */
import { z } from 'zod';
import { dimensionShape } from '../domain/groupings.ts';
import { dateTime, metricsSchema } from '../domain/metrics.ts';

const count = z.int().min(0);

/** The entity of a row, and its bucket if there are buckets. */
const dimensionsSchema = z.strictObject({
  ...dimensionShape,
  date: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00(?:Z|[+-]\d{2}:\d{2})$/)
    .describe(
      'Start of the bucket, with Z or, where a timeZone is asked for, its offset; absent for timeGranularity=ALL.',
    )
    .optional(),
});

/** Strict: rejects members that are not declared. */
export const queryResponseSchema = z.strictObject({
  elements: z.array(z.strictObject({ dimensions: dimensionsSchema, fields: metricsSchema })),
  pagination: z.strictObject({
    total: count.describe('Rows on all pages.'),
    limit: count,
    offset: count,
  }),
  emptiedBy: z
    .string()
    .describe('With a segment, and without rows: what leaves the answer empty, in words.')
    .optional(),
  lastProcessedAt: dateTime
    .nullable()
    .describe(
      'When the newest message of the instance that this answer contains was processed. Null: none was yet.',
    ),
});

export type QueryResponse = z.output<typeof queryResponseSchema>;

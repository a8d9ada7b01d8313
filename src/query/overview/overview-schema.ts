/**
 * The parameters and the answer of GET /v1/overview.
 *
 * Test: test/e2e/overview-rules.test.ts.
 */
import { z } from 'zod';
import { sessionOutcome } from '../../domain/groupings.ts';
import { dateTime, metricsSchema, type Metric } from '../../domain/metrics.ts';

export const OVERVIEW_METRICS = [
  'sessions',
  'users',
  'messages',
  'avgMessagesPerSession',
  'sat',
  'dsat',
  'netSat',
  'repeatedRequests',
] as const satisfies readonly Metric[];

export { whyParameterSchemas as overviewParameterSchemas } from '../why/why-schema.ts';
export type { WhyParameters as OverviewParameters } from '../why/why-schema.ts';

const agreementSchema = z.strictObject({
  both: z
    .int()
    .min(0)
    .describe(
      'Sessions in which the feedback points up or down, and the inferred signals do: towards what there is more of. ' +
        'A session with as much of both is left out.',
    ),
  agreed: z.int().min(0).describe('Those of them in which both point the same way.'),
  kappa: z
    .number()
    .min(-1)
    .max(1)
    .nullable()
    .describe(
      "Cohen's kappa, the agreement beyond chance: 1 is always; null: no such session, or both only point one way.",
    ),
});
export type Agreement = z.output<typeof agreementSchema>;

/** Strict: rejects members that are not declared. */
export const overviewResponseSchema = z.strictObject({
  fields: metricsSchema.describe('The metrics of the whole instance in the range.'),
  trend: z
    .array(z.strictObject({ date: z.string().describe('Start of the bucket.'), fields: metricsSchema }))
    .describe('The same by bucket, oldest first. A bucket without messages is not there.'),
  languages: z
    .array(
      z.strictObject({
        language: z.string().nullable().describe('ISO 639-1; null: not known.'),
        sessions: z.int().min(0).describe('Sessions in this language.'),
        withTopic: z
          .int()
          .min(0)
          .describe(
            'Those of them that have a topic. Far fewer than in other languages: the model may not know this one.',
          ),
      }),
    )
    .describe('The sessions of the range by language, most frequent first.'),
  outcomes: z
    .array(
      z.strictObject({
        outcome: sessionOutcome,
        sessions: z.int().min(0).describe('Sessions that ended so.'),
        costUsd: z
          .number()
          .min(0)
          .nullable()
          .describe('What their messages in the range cost, US dollars; null: nothing is said of any.'),
      }),
    )
    .describe('The sessions of the range by how they ended, most frequent first.'),
  agreement: agreementSchema
    .nullable()
    .describe(
      'How far what end users said by feedback agrees with what was inferred from texts. Null: the range has no feedback.',
    ),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type OverviewResponse = z.output<typeof overviewResponseSchema>;

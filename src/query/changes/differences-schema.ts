/**
 * The parameters and the answer of GET /v1/differences.
 *
 * Test: test/e2e/differences-rules.test.ts.
 */
import { z } from 'zod';
import { dimensionShape } from '../../domain/groupings.ts';
import { dateTime } from '../../domain/metrics.ts';
import { queryParameterSchemas, rangeInOrder } from '../parameters.ts';
import { attributeNameSchema, attributeValueSchema } from '../segments.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const { shape } = queryParameterSchemas;

export const differencesParameterSchemas = z
  .strictObject({
    instanceId: shape.instanceId,
    segmentKey: attributeNameSchema.describe(
      'The attribute of sessions, such as the version of the application.',
    ),
    value: attributeValueSchema.describe('The value that is compared.'),
    against: attributeValueSchema.describe('The value that it is compared with.'),
    'dateRange.start': shape['dateRange.start'],
    'dateRange.end': shape['dateRange.end'],
    timeZone: shape.timeZone,
    segment: shape.segment,
    limit: shape.limit.describe('The most differences to answer.'),
  })
  .refine(...rangeInOrder())
  .refine(({ value, against }) => value !== against, {
    path: ['against'],
    message: 'must be another value',
  });

export type DifferencesParameters = z.output<typeof differencesParameterSchemas>;

const side = z.strictObject({
  value: z.string().describe('The value, as asked.'),
  sessions: count.describe('Sessions with this value on the days on which both occur.'),
});

const differenceSchema = z.strictObject({
  topic: dimensionShape.topic,
  gap: dimensionShape.gap,
  csatDsatSignal: dimensionShape.csatDsatSignal,
  difference: z
    .enum(['only', 'more', 'less', 'never'])
    .describe(
      'only: no session of the other value has it; never: none of this value has; else whether its share is larger.',
    ),
  sessions: count.describe('Sessions of the value that have it.'),
  sessionsAgainst: count.describe('Sessions of the other value that have it.'),
  share: share.describe('sessions / all sessions of the value.'),
  shareAgainst: share.describe('The same of the other value.'),
  chance: share.describe(
    'How likely such a difference is while the values make none: an exact test, two-sided, of the shares of each day.',
  ),
});

/** Strict: rejects members that are not declared. */
export const differencesResponseSchema = z.strictObject({
  segmentKey: z.string().describe('The attribute.'),
  value: side.describe('The value that is compared.'),
  against: side.describe('The value that it is compared with.'),
  range: z
    .strictObject({ start: dateTime, end: dateTime })
    .nullable()
    .describe('From the first to the last day on which both values occur; null: there is no such day.'),
  differences: z
    .array(differenceSchema)
    .describe(
      'What is not chance, the least likely first. While the values make no difference, an answer lists anything in at ' +
        "most one case of twenty (Holm's correction over all topics, gaps and signals).",
    ),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type DifferencesResponse = z.output<typeof differencesResponseSchema>;
export type Difference = DifferencesResponse['differences'][number];

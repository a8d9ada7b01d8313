/**
 * The parameters and the answer of GET /v1/topics/{id} and its siblings.
 *
 * Test: test/e2e/why-rules.test.ts.
 */
import { z } from 'zod';
import { dimensionShape, type GroupBy } from '../../domain/groupings.ts';
import { lifeSchema } from '../../domain/life-schema.ts';
import { uuid } from '../../domain/uuid.ts';
import { dateTime, metricsSchema } from '../../domain/metrics.ts';
import type { Granularity } from '../../domain/time.ts';
import { estimateSchema } from '../checks/checks-schema.ts';
import { queryParameterSchemas, rangeInOrder } from '../parameters.ts';

/** Grouping by path segment. */
export const WHY_PATHS = {
  topics: 'TOPIC',
  'topic-clusters': 'TOPIC_CLUSTER',
  gaps: 'GAP',
  'repeated-requests': 'REPEATED_REQUEST',
  labels: 'LABEL',
  'end-users': 'END_USER',
} as const satisfies Readonly<Record<string, GroupBy>>;
export type WhyPath = keyof typeof WHY_PATHS;
export type WhyGroupBy = (typeof WHY_PATHS)[WhyPath];

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const TREND_GRANULARITIES = ['HOUR', 'DAY', 'WEEK', 'MONTH'] as const satisfies readonly Granularity[];

export const whyParameterSchemas = z
  .strictObject({
    instanceId: queryParameterSchemas.shape.instanceId,
    'dateRange.start': queryParameterSchemas.shape['dateRange.start'],
    'dateRange.end': queryParameterSchemas.shape['dateRange.end'],
    timeGranularity: z
      .enum(TREND_GRANULARITIES, `must be one of ${TREND_GRANULARITIES.join(', ')}`)
      .default('DAY')
      .describe('The buckets of the trend; weeks start on Monday.'),
    timeZone: queryParameterSchemas.shape.timeZone,
    segment: queryParameterSchemas.shape.segment,
    signals: queryParameterSchemas.shape.signals,
  })
  .refine(...rangeInOrder());

export type WhyParameters = z.output<typeof whyParameterSchemas>;

const named = { id: uuid, name: z.string() };
const occurrences = {
  sessions: count.describe('Sessions in which it occurred.'),
  messages: count.describe('How often it occurred.'),
};

const signalSchema = z.strictObject({
  ...named,
  signalType: z.enum(['SAT', 'DSAT']).describe('SAT: satisfied; DSAT: dissatisfied.'),
  ...occurrences,
  share: share.describe('sessions / sessions of the entity.'),
  instanceShare: share.describe('The same of all sessions of the instance in the range, or of the segment.'),
  lift: z.number().min(0).nullable().describe('share / instanceShare; null when the latter is 0.'),
});

const wordingSchema = z.strictObject({
  sessionId: uuid.describe('The session of the message.'),
  position: count.describe('The place of the message in the stream.'),
  createdAt: dateTime.describe('Event time of the message, UTC.'),
  text: z.string().describe('What was said, without personal data, at most 280 characters.'),
});

/** Strict: rejects members that are not declared. */
export const whyResponseSchema = z.strictObject({
  topic: dimensionShape.topic,
  cluster: dimensionShape.cluster,
  gap: dimensionShape.gap,
  repeatedRequest: dimensionShape.repeatedRequest,
  label: dimensionShape.label,
  endUser: dimensionShape.endUser,
  heir: z
    .strictObject(named)
    .nullable()
    .describe('What it merged into: all numbers here are those of its heir. Null: it lives.'),
  fields: metricsSchema.describe('Its metrics in the range, as queries have them.'),
  trend: z
    .array(z.strictObject({ date: z.string().describe('Start of the bucket.'), fields: metricsSchema }))
    .describe('The same by bucket, oldest first. A bucket without messages is not there.'),
  signals: z
    .array(signalSchema)
    .describe(
      'Satisfaction signals, most frequent first: of topics, topic clusters and end users those in their messages, ' +
        'else those in the sessions in which the entity occurred.',
    ),
  topics: z
    .array(z.strictObject({ ...named, ...occurrences }))
    .describe('Topics, where they occurred together.'),
  gaps: z
    .array(
      z.strictObject({
        ...named,
        gapType: z
          .enum(['TOOL', 'KNOWLEDGE'])
          .describe('TOOL: an ability is missing; KNOWLEDGE: knowledge is.'),
        ...occurrences,
      }),
    )
    .describe('Gaps, likewise.'),
  repeatedRequests: z
    .array(z.strictObject({ ...named, ...occurrences }))
    .describe('Repeated requests, likewise.'),
  languages: z
    .array(
      z.strictObject({
        language: z.string().nullable().describe('ISO 639-1; null: not known.'),
        sessions: count.describe('Its sessions in this language.'),
      }),
    )
    .describe('Its sessions by language, most frequent first.'),
  endUsers: z
    .array(
      z.strictObject({
        id: uuid,
        externalId: z.string().describe('The userId of the messages.'),
        ...occurrences,
      }),
    )
    .describe('The end users with most of its messages; at most ten. None for an end user.'),
  checked: estimateSchema
    .nullable()
    .describe(
      'How sure its number of sessions is, as in an answer of GET /v1/checks; null: nobody has checked it, or it is a ' +
        'topic cluster or an end user.',
    ),
  life: lifeSchema,
  wordings: z
    .strictObject({
      typical: z.array(wordingSchema).describe('How it is mostly said; at most five.'),
      newest: z.array(wordingSchema).describe('The newest first; at most ten, one for each session.'),
    })
    .describe('Messages in which it occurred.'),
  lastProcessedAt: dateTime.describe('As in an answer of GET /v1/query/.'),
});

export type WhyResponse = z.output<typeof whyResponseSchema>;

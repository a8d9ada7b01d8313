import { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';

const uuid = z
  .string()
  .regex(new RegExp(UUID_PATTERN.source), 'must be a lower-case UUID')
  .meta({ format: 'uuid' });
const dateTime = z.iso.datetime().describe('UTC, event time.');
const count = z.int().min(0);

const named = z.strictObject({ id: uuid, name: z.string() });
const topics = z.array(named);

/** The group's own entity, and the bucket when there are buckets. */
export const dimensionsSchema = z.strictObject({
  topic: z
    .strictObject({
      id: uuid,
      name: z.string(),
      clusterId: uuid.nullable().describe('Null: the topic is in no cluster.'),
    })
    .describe('With groupBy=TOPIC.')
    .optional(),
  cluster: named.describe('With groupBy=TOPIC_CLUSTER.').optional(),
  session: z
    .strictObject({
      id: uuid,
      title: z.string().nullable().describe('Null: the user has said nothing yet.').optional(),
      summary: z.string().nullable().describe('Null: the user has said nothing yet.').optional(),
      topics: topics.describe('The most discussed first.').optional(),
      language: z
        .string()
        .nullable()
        .describe('ISO 639-1, of the user turns; null: too little text, or undecided.')
        .optional(),
      externalId: z
        .string()
        .nullable()
        .describe("The caller's own name: metadata.session.externalId, as last sent; null: none.")
        .optional(),
    })
    .describe('With groupBy=SESSION: the id, and the dimensionFields that were asked for.')
    .optional(),
  csatDsatSignal: z
    .strictObject({
      id: uuid,
      name: z.string(),
      signalType: z.enum(['SAT', 'DSAT']).describe('SAT: satisfied; DSAT: dissatisfied.'),
      description: z.string(),
    })
    .describe('With groupBy=CSAT_DSAT.')
    .optional(),
  repeatedRequest: z
    .strictObject({ id: uuid, name: z.string(), description: z.string() })
    .describe('With groupBy=REPEATED_REQUEST.')
    .optional(),
  gap: z
    .strictObject({
      id: uuid,
      name: z.string(),
      description: z.string(),
      gapType: z
        .enum(['TOOL', 'KNOWLEDGE'])
        .describe('TOOL: an action that the assistant cannot perform; KNOWLEDGE: what it does not know.'),
      topics: topics.describe('Topics in which it occurred, the most frequent first.').optional(),
    })
    .describe('With groupBy=GAP.')
    .optional(),
  endUser: z
    .strictObject({
      id: uuid,
      externalId: z
        .string()
        .describe('The userId of the messages; of more than 1,024 characters the beginning and an ellipsis.')
        .optional(),
      topTopics: topics.describe('At most five, the most discussed first.').optional(),
      createdAt: dateTime.describe('First activity of all time, whatever the range.').optional(),
      lastActiveAt: dateTime.nullable().describe('Last activity of all time, whatever the range.').optional(),
    })
    .describe('With groupBy=END_USER: the id, and the dimensionFields that were asked for.')
    .optional(),
  date: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:00:00Z$/)
    .describe('Start of the bucket, UTC; absent for timeGranularity=ALL.')
    .optional(),
});

/** Exactly those that were asked for. */
export const metricsSchema = z
  .strictObject({
    sessions: count
      .describe('Sessions with a message of the group in the range (in the bucket, where there are buckets).')
      .optional(),
    users: count.describe('End users with a message of the group in the range; each counts once.').optional(),
    messages: count
      .describe(
        'Messages of the group in the range, of any role. For a signal, gap or repeated request: how often it occurred, which may be more than once in a session.',
      )
      .optional(),
    avgMessagesPerSession: z.number().min(0).describe('messages / sessions.').optional(),
    sat: count
      .describe('SAT signals on messages of the group. A message may have several; each counts.')
      .optional(),
    dsat: count
      .describe('DSAT signals on messages of the group. A message may have several; each counts.')
      .optional(),
    netSat: z
      .number()
      .nullable()
      .describe(
        'Percent: (sat - dsat) / messages * 100. Signals count, not messages, so it may lie beyond ±100. Null without messages.',
      )
      .optional(),
    duration: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'Seconds from the first to the last message of the session in the range. Null with fewer than two.',
      )
      .optional(),
    lastActiveAt: dateTime
      .nullable()
      .describe('Event time of the last message of the session in the range, UTC.')
      .optional(),
    repeatedRequests: count.describe('Requests that had to be made again in the same session.').optional(),
  })
  .describe('The metrics that were asked for.');

/** The answer of GET /v1/query/: no member that is not here. */
export const queryResponseSchema = z.strictObject({
  elements: z.array(z.strictObject({ dimensions: dimensionsSchema, fields: metricsSchema })),
  pagination: z.strictObject({
    total: count.describe('Rows on all pages.'),
    limit: count,
    offset: count,
  }),
  lastProcessedAt: dateTime
    .nullable()
    .describe(
      'When the newest message of the instance that this answer contains was processed. Null: none was yet.',
    ),
});

export type QueryResponse = z.output<typeof queryResponseSchema>;

import { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';

const uuid = z
  .string()
  .regex(new RegExp(UUID_PATTERN.source), 'must be a lower-case UUID')
  .meta({ format: 'uuid' });
const dateTime = z.iso.datetime().describe('UTC, event time.');
const count = z.int().min(0);

const named = z.strictObject({ id: uuid, name: z.string() });

/** SPEC "dimensions members": the group's own entity, and the bucket when there are buckets. */
export const dimensionsSchema = z.strictObject({
  topic: z.strictObject({ id: uuid, name: z.string(), clusterId: uuid.nullable() }).optional(),
  cluster: named.optional(),
  session: z
    .strictObject({
      id: uuid,
      title: z.string().nullable().optional(),
      summary: z.string().nullable().optional(),
      topics: z.array(named).optional(),
      language: z.string().nullable().optional(),
    })
    .optional(),
  csatDsatSignal: z
    .strictObject({
      id: uuid,
      name: z.string(),
      signalType: z.enum(['SAT', 'DSAT']),
      description: z.string(),
    })
    .optional(),
  repeatedRequest: z.strictObject({ id: uuid, name: z.string(), description: z.string() }).optional(),
  gap: z
    .strictObject({
      id: uuid,
      name: z.string(),
      description: z.string(),
      gapType: z.enum(['TOOL', 'KNOWLEDGE']),
      topics: z.array(named).optional(),
    })
    .optional(),
  endUser: z
    .strictObject({
      id: uuid,
      externalId: z.string().optional(),
      topTopics: z.array(named).optional(),
      createdAt: dateTime.optional(),
      lastActiveAt: dateTime.nullable().optional(),
    })
    .optional(),
  date: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:00:00Z$/)
    .describe('Start of the bucket, UTC; absent for timeGranularity=ALL.')
    .optional(),
});

/** SPEC "Metrics": exactly those that were asked for. */
export const metricsSchema = z.strictObject({
  sessions: count.optional(),
  users: count.optional(),
  messages: count.describe('For a signal, gap or repeated request: how often it occurred.').optional(),
  avgMessagesPerSession: z.number().min(0).optional(),
  sat: count.optional(),
  dsat: count.optional(),
  netSat: z.number().nullable().describe('(sat - dsat) / messages * 100').optional(),
  duration: z.number().min(0).nullable().describe('Seconds.').optional(),
  lastActiveAt: dateTime.nullable().optional(),
  repeatedRequests: count.optional(),
});

/** The answer of GET /v1/query/: no member that is not here. */
export const queryResponseSchema = z.strictObject({
  elements: z.array(z.strictObject({ dimensions: dimensionsSchema, fields: metricsSchema })),
  pagination: z.strictObject({ total: count, limit: count, offset: count }),
  lastProcessedAt: dateTime
    .nullable()
    .describe('When the newest message of the instance that this answer contains was processed.'),
});

export type QueryResponse = z.output<typeof queryResponseSchema>;

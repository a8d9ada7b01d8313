/**
 * The parameters and the answer of GET /v1/sessions/{sessionId}.
 *
 * Test: test/e2e/session-rules.test.ts.
 */
import { z } from 'zod';
import { sessionOutcome } from '../domain/groupings.ts';
import { uuid } from '../domain/uuid.ts';
import { dateTime } from '../domain/metrics.ts';
import { pageLimit } from './page-limit.ts';
import { queryParameterSchemas } from './parameters.ts';

const count = z.int().min(0);
const metadata = z.record(z.string(), z.unknown());

/** A message's place in a session: its event time (microseconds), then its stream position. */
export interface TranscriptPlace {
  readonly at: number;
  readonly position: number;
}

const CURSOR = /^(-?\d{1,16})\.(\d{1,16})$/;

export function writeCursor({ at, position }: TranscriptPlace): string {
  return `${at}.${position}`;
}

const cursor = z
  .string()
  .transform((text, context): TranscriptPlace => {
    const [, at, position] = CURSOR.exec(text) ?? [];
    if (at !== undefined && position !== undefined) return { at: Number(at), position: Number(position) };
    context.addIssue('must be the pagination.next of the page before');
    return z.NEVER;
  })
  .meta({ type: 'string' });

/** Limit of messages on a page: their texts are read from the stream one entry at a time. */
const MAX_PAGE = 1000;

export const sessionParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance that the session belongs to.'),
  limit: pageLimit(MAX_PAGE, 100).describe('The most messages to answer.'),
  cursor: cursor
    .optional()
    .describe('Where the page begins: pagination.next of the page before. Left out: at the start.'),
});

export type SessionParameters = z.output<typeof sessionParameterSchemas>;

const named = { id: uuid, name: z.string() };

export const messageSchema = z.strictObject({
  position: count.describe('Its place in the stream: it names the message for ever.'),
  role: z.string().nullable().describe('As it was sent; null: the text is gone.'),
  content: z.string().nullable().describe('What was said, to the letter; null: the text is gone.'),
  gone: z
    .enum(['EXPIRED', 'DELETED', 'ERASED', 'UNREADABLE'])
    .nullable()
    .describe(
      'Why the stream has no text: EXPIRED: it keeps none so old (STREAM_MAX_AGE_DAYS); DELETED: it was taken out; ' +
        'ERASED: somebody asked for that; ' +
        'UNREADABLE: its entry is damaged; null: it has. What was found in it stays.',
    ),
  externalId: z
    .string()
    .nullable()
    .describe('The userId that was sent with it; null: none, or the text is gone.'),
  createdAt: dateTime.describe('Event time, UTC.'),
  metadata: metadata.nullable().describe('As it was sent; null: none, or the text is gone.'),
  topic: z.strictObject(named).nullable().describe('The topic under discussion; null: none.'),
  labels: z.array(z.strictObject(named)).describe('The labels of the request under discussion.'),
  signals: z
    .array(
      z.strictObject({
        ...named,
        signalType: z.enum(['SAT', 'DSAT']).describe('SAT: satisfied; DSAT: dissatisfied.'),
      }),
    )
    .describe('Satisfaction signals that were found in it.'),
  feedback: z
    .strictObject({
      up: count.describe('End users whose last feedback on it is good.'),
      down: count.describe('End users whose last feedback on it is bad.'),
    })
    .describe('What end users gave on it (POST /v1/feedback/).'),
  gap: z
    .strictObject({
      ...named,
      gapType: z
        .enum(['TOOL', 'KNOWLEDGE'])
        .describe('TOOL: an ability is missing; KNOWLEDGE: knowledge is.'),
    })
    .nullable()
    .describe('The gap that it admits; null: none.'),
  repeatedRequest: z
    .strictObject(named)
    .nullable()
    .describe('The request that it asks again; null: it repeats nothing.'),
});

export const sessionSchema = z.strictObject({
  id: uuid,
  externalId: z
    .string()
    .nullable()
    .describe("The caller's own name: metadata.session.externalId, as last sent; null: none."),
  endUser: z
    .strictObject({ id: uuid, externalId: z.string().describe('The userId of the messages.') })
    .nullable()
    .describe('Who started the conversation; null: nobody was named.'),
  title: z.string().nullable().describe('Null: the user has said nothing yet.'),
  summary: z.string().nullable().describe('Null: the user has said nothing yet.'),
  language: z
    .string()
    .nullable()
    .describe('ISO 639-1, of the user turns; null: too little text, or undecided.'),
  outcome: sessionOutcome,
  createdAt: dateTime.describe('Event time of the first message, UTC.'),
  lastActiveAt: dateTime.describe('Event time of the last message, UTC.'),
  messages: count.describe('Messages of any role, on all pages.'),
  sat: count.describe('SAT signals in it.'),
  dsat: count.describe('DSAT signals in it.'),
  repeatedRequests: count.describe('Repeated requests in it.'),
  metadata: metadata.describe('metadata.session of its ingest requests; the last write of each member wins.'),
});

/** Strict: rejects members that are not declared. */
export const sessionResponseSchema = z.strictObject({
  session: sessionSchema.describe('The conversation as a whole.'),
  messages: z
    .array(messageSchema)
    .describe('In the order of event time; of equal times in the order of the stream.'),
  pagination: z.strictObject({
    limit: count,
    next: z.string().nullable().describe('The cursor of the page that follows; null: this is the last.'),
  }),
  lastProcessedAt: dateTime.describe('As in an answer of GET /v1/query/.'),
});

export type SessionResponse = z.output<typeof sessionResponseSchema>;
export type TranscriptMessage = SessionResponse['messages'][number];

/**
 * The parameters and the answer of GET /v1/sessions, which searches texts.
 *
 * Test: test/e2e/text-search-rules.test.ts.
 */
import { z } from 'zod';
import { GROUPINGS } from '../../domain/groupings.ts';
import { dateTime } from '../../domain/metrics.ts';
import { pageLimit } from '../page-limit.ts';
import { queryParameterSchemas } from '../parameters.ts';
import { queryResponseSchema } from '../response-schema.ts';

const count = z.int().min(0);

/** The place up to which a search has come. */
export interface TextSearchPlace {
  /** Messages at later positions are left out on all pages, so that pages stay consistent. */
  readonly until: number;
  /** Newest position, up to `until`, of the session that was searched last. */
  readonly newest: number;
  /** Position that was searched last in that session; 0: the session is finished. */
  readonly position: number;
}

const CURSOR = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/;

export function writeTextSearchPlace({ until, newest, position }: TextSearchPlace): string {
  return `${until}.${newest}.${position}`;
}

const cursor = z
  .string()
  .transform((text, context): TextSearchPlace => {
    const [until, newest, position] = (CURSOR.exec(text) ?? []).slice(1).map(Number);
    if (until !== undefined && newest !== undefined && position !== undefined)
      return { until, newest, position };
    context.addIssue('must be the pagination.next of the page before');
    return z.NEVER;
  })
  .meta({ type: 'string' });

const MAX_PAGE = 100;
const { shape } = queryParameterSchemas;

/** Filters of sessions, as in GET /v1/query with groupBy=SESSION. */
const CHOOSING = queryParameterSchemas.pick({
  instanceId: true,
  'dateRange.start': true,
  'dateRange.end': true,
  timeZone: true,
  segment: true,
  ids: true,
  topicIds: true,
  clusterIds: true,
  signalIds: true,
  repeatedRequestIds: true,
  gapIds: true,
  endUserIds: true,
  language: true,
  outcome: true,
  externalId: true,
  titleContains: true,
  textContains: true,
  signals: true,
  minSat: true,
  minDsat: true,
  minRepeatedRequests: true,
  minMessages: true,
}).shape;

export const textSearchParameterSchemas = z.strictObject({
  ...CHOOSING,
  said: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(200, 'must be at most 200 characters long')
    .meta({ type: 'string', minLength: 1, maxLength: 200, examples: ['kettle'] })
    .describe(
      'What a message of the session contains, as a part of it: in capital or small letters, with or without accents, ' +
        'whatever spaces stand between its words.',
    ),
  fields: shape.fields.optional().describe('Comma-separated metrics of each session. Left out: messages.'),
  dimensionFields: shape.dimensionFields.describe(
    `Comma-separated members of each session: ${Object.keys(GROUPINGS.SESSION.members).join(', ')}.`,
  ),
  limit: pageLimit(MAX_PAGE, 25).describe('The most sessions to answer.'),
  cursor: cursor
    .optional()
    .describe('Where to go on: pagination.next of the page before. Left out: at the newest messages.'),
});

export type TextSearchParameters = z.output<typeof textSearchParameterSchemas>;

const element = queryResponseSchema.shape.elements.element;

export const textSearchResponseSchema = z.strictObject({
  elements: z
    .array(
      element.extend({
        said: z
          .strictObject({
            position: count.describe('Its place in the stream, as in GET /v1/sessions/{sessionId}.'),
            role: z.string().describe('As it was sent.'),
            createdAt: dateTime.describe('Event time, UTC.'),
            excerpt: z.string().describe('What was found, to the letter, and a few words around it.'),
          })
          .describe('The newest message that contains it.'),
      }),
    )
    .describe('Sessions in which it was said, those with the newest messages (as they were accepted) first.'),
  searched: z
    .strictObject({
      messages: count.describe('Messages that were looked at for this page.'),
      gone: count.describe(
        'Of them, those whose text the stream no longer holds: what they said is not known.',
      ),
      left: count.describe('Messages that were not looked at yet; 0: the search is through.'),
    })
    .describe('How far it has looked.'),
  pagination: z.strictObject({
    limit: count,
    next: z
      .string()
      .nullable()
      .describe(
        'The cursor to go on with, also where the time was over before the page was full; null: all is found.',
      ),
  }),
  lastProcessedAt: queryResponseSchema.shape.lastProcessedAt,
});

export type TextSearchResponse = z.output<typeof textSearchResponseSchema>;

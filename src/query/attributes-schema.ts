/**
 * The parameters and the answer of GET /v1/attributes.
 *
 * Test: test/e2e/segment-rules.test.ts.
 */
import { z } from 'zod';
import { dateTime } from '../domain/metrics.ts';
import { queryParameterSchemas, rangeInOrder } from './parameters.ts';

/** An attribute with more values is not listed: it tells sessions apart, but makes no groups of them. */
export const MOST_LISTED_VALUES = 200;
/** Limit of listed attributes. */
export const MOST_LISTED_ATTRIBUTES = 100;

const { shape } = queryParameterSchemas;

export const attributesParameterSchemas = z
  .strictObject({
    instanceId: shape.instanceId,
    'dateRange.start': shape['dateRange.start'],
    'dateRange.end': shape['dateRange.end'],
    timeZone: shape.timeZone,
  })
  .refine(...rangeInOrder());

export type AttributesParameters = z.output<typeof attributesParameterSchemas>;

/** Strict: rejects members that are not declared. */
export const attributesResponseSchema = z.strictObject({
  attributes: z
    .array(
      z.strictObject({
        name: z.string().describe('What segment.NAME and segmentKey take.'),
        values: z
          .array(
            z.strictObject({
              value: z.string().describe('The value, as text.'),
              sessions: z
                .int()
                .min(0)
                .describe('Sessions that have it, with a message in the range; without one, of all time.'),
              firstAt: dateTime
                .nullable()
                .describe(
                  'When the first of these sessions began: the event time of its first message, UTC; null: none of them ' +
                    'has a message.',
                ),
            }),
          )
          .describe('The most frequent of all time first.'),
      }),
    )
    .describe(
      `Attributes of sessions with at most ${MOST_LISTED_VALUES} values, and with more than ten only where two sessions ` +
        `have each on average; those of most sessions first; at most ` +
        `${MOST_LISTED_ATTRIBUTES}.`,
    ),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type AttributesResponse = z.output<typeof attributesResponseSchema>;

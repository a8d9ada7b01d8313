/**
 * The parameters and the answer of GET /v1/changes.
 *
 * Test: test/e2e/changes-rules.test.ts.
 */
import { z } from 'zod';
import { dimensionShape, type GroupBy } from '../../domain/groupings.ts';
import { dateTime } from '../../domain/metrics.ts';
import { queryParameterSchemas, rangeInOrder } from '../parameters.ts';

/** Groupings that are compared. */
export const CHANGE_GROUPS = ['TOPIC', 'GAP', 'CSAT_DSAT'] as const satisfies readonly GroupBy[];

/** Probability that an answer lists any change although nothing has changed. */
export const FALSE_ALARMS = 0.05;

const count = z.int().min(0);
const COMPARE = ['previous', 'year'] as const;
const instant = queryParameterSchemas.shape['dateRange.start'].unwrap();

export const changesParameterSchemas = z
  .strictObject({
    instanceId: queryParameterSchemas.shape.instanceId,
    'dateRange.start': instant.describe('The start of the period (inclusive), written as in queries.'),
    'dateRange.end': instant.describe('The end of the period (exclusive), written as in queries.'),
    compare: z
      .enum(COMPARE, `must be one of ${COMPARE.join(', ')}`)
      .default('previous')
      .describe(
        'previous: the period as long that is as many whole weeks earlier as the period takes; year: the one 52 ' +
          'weeks earlier, or more for a longer period. So both have the same weekdays.',
      ),
    timeZone: queryParameterSchemas.shape.timeZone.describe(
      'Whose weeks are meant, and whose days in dates of dateRange: a name of the IANA database. ' +
        'Left out: that of the instance, which is UTC until somebody sets it.',
    ),
    segment: queryParameterSchemas.shape.segment,
    limit: queryParameterSchemas.shape.limit.describe('The most changes to answer.'),
  })
  .refine(...rangeInOrder());

export type ChangesParameters = z.output<typeof changesParameterSchemas>;

const period = z.strictObject({
  start: dateTime.describe('UTC, inclusive.'),
  end: dateTime.describe('UTC, exclusive.'),
  sessions: count.describe('All sessions of the instance in the period, or of the segment.'),
});

const changeSchema = z.strictObject({
  topic: dimensionShape.topic,
  gap: dimensionShape.gap,
  csatDsatSignal: dimensionShape.csatDsatSignal,
  change: z
    .enum(['new', 'rising', 'falling', 'gone'])
    .describe(
      'new: it had no session before; gone: it has none now; else whether its share of all sessions rose.',
    ),
  sessions: count.describe('Its sessions in the period.'),
  sessionsBefore: count.describe('Its sessions in the period before.'),
  share: z.number().min(0).max(1).describe('sessions / all sessions of the period.'),
  shareBefore: z.number().min(0).max(1).describe('The same before.'),
  chance: z
    .number()
    .min(0)
    .max(1)
    .describe("How likely shares so far apart are while nothing changes: Fisher's exact test, two-sided."),
});

/** Strict: rejects members that are not declared. */
export const changesResponseSchema = z.strictObject({
  period: period.describe('As asked, cut at what is processed.'),
  before: period.describe('What it is compared with.'),
  changes: z
    .array(changeSchema)
    .describe(
      'What is not chance, the least likely first. While nothing changes, an answer lists anything in at most one ' +
        "case of twenty (Holm's correction over all topics, gaps and signals).",
    ),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type ChangesResponse = z.output<typeof changesResponseSchema>;
export type Change = ChangesResponse['changes'][number];

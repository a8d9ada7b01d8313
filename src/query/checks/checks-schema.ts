/**
 * The parameters and the answer of GET /v1/checks.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';
import { CHECKED } from '../../domain/checks.ts';
import { checkedId, refuseOtherId } from '../../domain/checked-id.ts';
import { dateTime } from '../../domain/metrics.ts';
import { uuid } from '../../domain/uuid.ts';
import { pageLimit } from '../page-limit.ts';
import { queryParameterSchemas, rangeInOrder } from '../parameters.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const MOST_DRAWN = 100;

export const checksParameterSchemas = z
  .strictObject({
    instanceId: queryParameterSchemas.shape.instanceId,
    of: z.enum(CHECKED, `must be one of ${CHECKED.join(', ')}`).describe('What is checked.'),
    id: checkedId,
    'dateRange.start': queryParameterSchemas.shape['dateRange.start'],
    'dateRange.end': queryParameterSchemas.shape['dateRange.end'],
    timeZone: queryParameterSchemas.shape.timeZone,
    segment: queryParameterSchemas.shape.segment,
    reviewerError: z.coerce
      .number('must be a number')
      .min(0, 'must be a number from 0 to 0.4')
      .max(0.4, 'must be a number from 0 to 0.4')
      .default(0)
      .describe('The share of verdicts that you expect to be wrong; it is taken out of the shares.'),
    limit: pageLimit(MOST_DRAWN, 20).describe('The most sessions to draw.'),
  })
  .refine(...rangeInOrder())
  .superRefine(refuseOtherId);

export type ChecksParameters = z.output<typeof checksParameterSchemas>;

const interval = z.strictObject({
  share: share.describe('The estimate.'),
  low: share.describe('Where the interval begins, which holds the truth with a confidence of 95 %.'),
  high: share.describe('Where it ends.'),
});

const stratum = z.strictObject({
  sessions: count.describe('Sessions in the range and segment.'),
  yes: count.describe('Of those drawn: verdicts YES.'),
  no: count.describe('Verdicts NO.'),
  unsure: count.describe('Verdicts UNSURE, which count for nothing.'),
  share: interval.nullable().describe('The share that is YES; null: nothing was checked.'),
});

/** What verdicts tell about the sessions of a range and segment. */
export const estimateSchema = z.strictObject({
  foundShare: share
    .nullable()
    .describe('The share of sessions that count, after what people corrected; null: no sessions.'),
  share: interval
    .nullable()
    .describe('The share of sessions that truly show it; null until found and other sessions were checked.'),
  found: stratum.describe(
    'Sessions in which it was found, before people corrected messages and outcomes. Their share is the precision.',
  ),
  notFound: stratum.describe('The other sessions. Their share is what was missed.'),
  recall: share
    .nullable()
    .describe(
      'The share of the sessions that truly show it in which it was found, estimated; null: unknown.',
    ),
});

export type Estimate = z.output<typeof estimateSchema>;

/** Strict: rejects members that are not declared. */
export const checksResponseSchema = z.strictObject({
  checked: z
    .strictObject({
      of: z.enum(CHECKED).describe('As asked.'),
      id: z.string().describe('Of what merged into another: that one.'),
      name: z.string().describe('As queries show it.'),
    })
    .describe('What is checked.'),
  ...estimateSchema.shape,
  uncounted: count.describe(
    'Verdicts of people that do not count in the range and segment: their sessions lie outside of it, or the draw has ' +
      'not come to them.',
  ),
  secondReader: z
    .strictObject({
      model: z.string().describe('The language model that judged last.'),
      judged: count.describe('Drawn sessions that it judged.'),
      both: count.describe('Those on which a person and it both said YES or NO.'),
      agreed: count.describe('Those on which both said the same.'),
      kappa: z
        .number()
        .min(-1)
        .max(1)
        .nullable()
        .describe(
          "Cohen's kappa, the agreement beyond chance: 1 is always; null: no such session, or both only said one word.",
        ),
    })
    .nullable()
    .describe(
      'A language model that judges sessions, too; no estimate counts its verdicts. Null: there is none.',
    ),
  sample: z
    .array(
      z.strictObject({
        sessionId: uuid.describe('The session to read.'),
        title: z.string().nullable().describe('As in an answer of GET /v1/sessions/{sessionId}.'),
        found: z.boolean().describe('Whether it was found there.'),
      }),
    )
    .describe(
      'Sessions to check next, found and as many others, shuffled, each in the order of the MD5 digest of "{id} {sessionId}".',
    ),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type ChecksResponse = z.output<typeof checksResponseSchema>;

/**
 * The parameters and the answer of GET /v1/effects.
 *
 * Test: test/e2e/effects-rules.test.ts.
 */
import { z } from 'zod';
import { dimensionShape, type GroupBy } from '../../domain/groupings.ts';
import { lifeSchema } from '../../domain/life-schema.ts';
import { dateTime } from '../../domain/metrics.ts';
import { queryParameterSchemas } from '../parameters.ts';
import { EFFECT_VERDICTS } from '../../domain/effects.ts';
import { WEEKS_AFTER, WEEKS_BEFORE, WEEKS_WATCHED } from './effect.ts';

/** Groupings whose entities have a life. */
export const EFFECT_GROUPS = [
  'GAP',
  'TOPIC',
  'REPEATED_REQUEST',
  'CSAT_DSAT',
] as const satisfies readonly GroupBy[];

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const difference = z.number().min(-1).max(1);
const { shape } = queryParameterSchemas;

/** Entities whose effect one answer tells: each takes several counts. */
const MOST_EFFECTS = 100;

export const effectsParameterSchemas = z.strictObject({
  instanceId: shape.instanceId,
  id: z
    .string()
    .pipe(shape.instanceId)
    .optional()
    .describe('Only this topic, gap, repeated request or signal. Left out: all that are fixed.'),
  timeZone: shape.timeZone.describe('Whose days are meant. Left out: that of the instance.'),
  segment: shape.segment,
  limit: shape.limit
    .refine((limit) => limit <= MOST_EFFECTS, `must be a whole number from 1 to ${MOST_EFFECTS}`)
    .default(20)
    .describe(`The most effects to answer: 1 to ${MOST_EFFECTS}.`),
});

export type EffectsParameters = z.output<typeof effectsParameterSchemas>;

/** Counts of the weeks on one side of a change. */
export const effectSideSchema = z.strictObject({
  start: dateTime.describe('UTC, inclusive.'),
  end: dateTime.describe('UTC, exclusive.'),
  sessions: count.describe('Sessions that have it.'),
  of: count.describe('All sessions of the time, or of the segment; of a release those with its value alone.'),
  share: share.describe('sessions / of.'),
});

const effectSchema = z.strictObject({
  topic: dimensionShape.topic,
  gap: dimensionShape.gap,
  repeatedRequest: dimensionShape.repeatedRequest,
  csatDsatSignal: dimensionShape.csatDsatSignal,
  life: lifeSchema,
  verdict: z
    .enum(EFFECT_VERDICTS)
    .describe(
      'HELPED: its share of sessions fell in the weeks after. CAME_BACK: it fell, and rose again. WORSE: it rose in the ' +
        'weeks after. AS_USUAL: it differs, but a steady trend, or what happened a year before, explains that as well. ' +
        'NO_DIFFERENCE: none is larger than chance. TOO_EARLY: no whole week with sessions has passed. NOTHING_BEFORE: ' +
        `no session of the ${WEEKS_BEFORE} weeks before had it.`,
    ),
  before: effectSideSchema
    .nullable()
    .describe(
      `The whole weeks before the day of the change, ${WEEKS_BEFORE} at most; null: there was no session.`,
    ),
  after: effectSideSchema
    .nullable()
    .describe(
      `The whole weeks since then that are over, ${WEEKS_AFTER} at most, of what came back those before that; null: ` +
        'there is none with a session.',
    ),
  again: effectSideSchema.nullable().describe('CAME_BACK: the weeks in which it is more frequent again.'),
  latest: effectSideSchema
    .nullable()
    .describe(
      `The newest whole weeks that are over and later than those of after, ${WEEKS_AFTER} at most. No verdict rests on ` +
        'them; null: there are none with a session.',
    ),
  soFar: effectSideSchema
    .nullable()
    .describe(
      'TOO_EARLY: the days since the day of the change, the current one too; null: another verdict, or there is no session.',
    ),
  difference: z
    .strictObject({
      share: difference.describe('The share of after less that of before.'),
      low: difference.describe('Where the interval begins, which holds the truth with a confidence of 95 %.'),
      high: difference.describe('Where it ends.'),
    })
    .nullable()
    .describe('Null: before or after is.'),
  chance: share
    .nullable()
    .describe(
      'How likely shares so far apart are while nothing changes: an exact test, two-sided, of the shares of each weekday; ' +
        'null: they cannot be compared.',
    ),
});

/** Strict: rejects members that are not declared. */
export const effectsResponseSchema = z.strictObject({
  effects: z
    .array(effectSchema)
    .describe(
      'What people said is fixed, the latest statement first. While nothing changes, each is NO_DIFFERENCE in at least ' +
        `nineteen cases of twenty, however often it is looked at, for ${WEEKS_WATCHED} weeks.`,
    ),
  total: count.describe('How many are fixed.'),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type EffectsResponse = z.output<typeof effectsResponseSchema>;
export type EffectAnswer = EffectsResponse['effects'][number];

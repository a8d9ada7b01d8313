/**
 * The tool `effects`: whether what people said is fixed comes up less often since then.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { EFFECT_VERDICTS, EFFECT_WORDS } from '../../../domain/effects.ts';
import type { EffectAnswer } from '../../../query/effects/effects-schema.ts';
import { cell, table } from '../data-text.ts';
import { findInstance } from '../find.ts';
import { changedEntity } from '../kinds.ts';
import { counted, percent } from '../numbers.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import { freshness, instance, limit, named, picked, source, tool } from '../tool.ts';

const side = z
  .object({ start: z.string(), end: z.string(), sessions: z.number(), of: z.number(), share: z.number() })
  .nullable();

const row = named.extend({
  kind: z.enum(['topics', 'gaps', 'signals', 'repeats']),
  verdict: z.enum(EFFECT_VERDICTS),
  fixed: z.string().describe('Since when, or in which release.'),
  before: side,
  after: side,
  again: side.describe('CAME_BACK: the weeks in which it is more frequent again.'),
  latest: side.describe('The newest whole weeks, later than those of after. No verdict rests on them.'),
  soFar: side.describe('TOO_EARLY: the days since the day of the change.'),
  differenceLow: z.number().nullable().describe('95 % interval of the share after less that before.'),
  differenceHigh: z.number().nullable(),
});

const { period: _, ...whence } = source;

export const effects = tool({
  name: 'effects',
  title: 'What helped',
  description:
    'Of each gap, topic, repeated request and signal that people marked as fixed: whether its share of conversations fell ' +
    'since then by more than chance and trend explain, and whether it came back.',
  input: z.strictObject({ segment, limit: limit(20), instance }),
  output: z.object({
    ...whence,
    segment: segmentSchema,
    effects: z.array(row),
    total: z.number(),
  }),

  async read(args, { reading }) {
    const instanceId = await findInstance(reading, args.instance);
    const answer = await reading.effects({
      instanceId,
      ...segmentParameters(args.segment),
      limit: String(args.limit),
    });
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      lastProcessedAt: answer.lastProcessedAt,
      effects: answer.effects.map(effectRow),
      total: answer.total,
    };
  },

  page({ effects: found, total, lastProcessedAt, segment: chosen }) {
    const shown = (value: z.output<typeof side>): string =>
      value === null ? '' : `${percent(value.share)} (${value.sessions} of ${value.of})`;
    return {
      head:
        `${counted(total, 'thing')} marked as fixed. ${freshness(lastProcessedAt)}${segmentText(chosen)} ` +
        'Shares are of all conversations in the whole weeks before and after; those so far, in the days since.',
      data: table(
        ['verdict', 'kind', 'id', 'name', 'fixed', 'before', 'after', 'again', 'latest', 'so far'],
        found.map((each) => [
          EFFECT_WORDS[each.verdict].label,
          each.kind,
          each.id,
          cell(each.name),
          cell(each.fixed),
          shown(each.before),
          shown(each.after),
          shown(each.again),
          shown(each.latest),
          shown(each.soFar),
        ]),
      ),
      foot: total > found.length ? 'There are more: ask again with a higher limit.' : '',
    };
  },
});

function effectRow(effect: EffectAnswer): z.output<typeof row> {
  const { life, difference } = effect;
  const release = life?.release;
  return picked(row, {
    ...effect,
    ...changedEntity(effect),
    fixed: release == null ? `since ${life?.fixedAt ?? ''}` : `in ${release.name} ${release.value}`,
    differenceLow: difference?.low ?? null,
    differenceHigh: difference?.high ?? null,
  });
}

/**
 * The tool `changes`: differences between two periods that exceed chance.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import type { Change } from '../../../query/changes/changes-schema.ts';
import { cell, table } from '../data-text.ts';
import { findInstance } from '../find.ts';
import { changedEntity } from '../kinds.ts';
import { counted, percent } from '../numbers.ts';
import { periodText, rangeParameters, readPeriod } from '../period.ts';
import { AppError } from '../../../errors.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import { freshness, instance, limit, named, period, picked, source, tool } from '../tool.ts';

const side = z.object({ start: z.string(), end: z.string(), sessions: z.number() });
const row = named.extend({
  kind: z.enum(['topics', 'gaps', 'signals']),
  type: z.string().optional(),
  change: z.enum(['new', 'rising', 'falling', 'gone']),
  sessions: z.number(),
  sessionsBefore: z.number(),
  share: z.number(),
  shareBefore: z.number(),
});

export const changes = tool({
  name: 'changes',
  title: 'What changed',
  description:
    'Which topics, gaps and kinds of (dis)satisfaction are new, rising, falling or gone in a period against the one ' +
    'before, by share of conversations. Only changes larger than chance explains.',
  input: z.strictObject({
    period: period('7d'),
    compare: z
      .enum(['previous', 'year'], 'must be previous or year')
      .default('previous')
      .describe('The period before, or the same a year ago.'),
    segment,
    limit: limit(20),
    instance,
  }),
  output: z.object({
    ...source,
    segment: segmentSchema,
    period: side,
    before: side,
    changes: z.array(row),
    isCut: z.boolean(),
  }),

  async read(args, { reading, now }) {
    const instanceId = await findInstance(reading, args.instance);
    const asked = readPeriod(args.period, now());
    if (asked.start === null)
      throw new AppError(
        'VALIDATION_ERROR',
        'The argument period must have a start: all time has nothing before it.',
      );
    const answer = await reading.changes({
      instanceId,
      ...rangeParameters(asked),
      compare: args.compare,
      ...segmentParameters(args.segment),
      // One more than shown reveals if there are more.
      limit: String(args.limit + 1),
    });
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      period: answer.period,
      lastProcessedAt: answer.lastProcessedAt,
      before: answer.before,
      changes: answer.changes.slice(0, args.limit).map(changeRow),
      isCut: answer.changes.length > args.limit,
    };
  },

  page({ changes: found, period: now, before, isCut, lastProcessedAt, segment: chosen }) {
    return {
      head:
        `${periodText(now)}: ${counted(now.sessions, 'session')}. ` +
        `Before, ${periodText(before)}: ${counted(before.sessions, 'session')}. ` +
        `${freshness(lastProcessedAt)}${segmentText(chosen)} ${verdict(found.length, now.sessions, before.sessions)}`,
      data: table(
        ['change', 'kind', 'id', 'name', 'sessions', 'before', 'share', 'before'],
        found.map((each) => [
          each.change,
          each.type === undefined ? each.kind : `${each.kind} ${each.type}`,
          each.id,
          cell(each.name),
          each.sessions,
          each.sessionsBefore,
          percent(each.share),
          percent(each.shareBefore),
        ]),
      ),
      foot: isCut ? 'There are more: ask again with a higher limit.' : '',
    };
  },
});

function changeRow(of: Change): z.output<typeof row> {
  const { kind, ...entity } = changedEntity(of);
  const type = of.gap?.gapType ?? of.csatDsatSignal?.signalType;
  return picked(row, { ...of, ...entity, kind: kind as 'topics' | 'gaps' | 'signals', type });
}

function verdict(found: number, now: number, before: number): string {
  if (now === 0) return 'There is nothing in this period.';
  if (before === 0) return 'There is nothing before to compare with.';
  if (found > 0) return 'Those least likely to be chance come first.';
  return 'No change is larger than chance explains (topics, sorted by growth, has the plain differences).';
}

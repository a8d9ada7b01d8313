import { z } from 'zod';
import type { Metric } from '../../domain/metrics.ts';
import { cell, table } from '../data-text.ts';
import { best, entityOf, findInstance } from '../find.ts';
import { KIND_NAMES, KINDS } from '../kinds.ts';
import { periodText, rangeParameters, readPeriod } from '../period.ts';
import { freshness, instance, limit, offset, period, rest, source, text, tool } from '../tool.ts';
import { number } from '../numbers.ts';

const SORTS = ['sessions', 'messages', 'users', 'sat', 'dsat', 'netSat'] as const satisfies readonly Metric[];
const MOST = 10_000;

const row = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string().optional().describe('SAT or DSAT of signals; TOOL or KNOWLEDGE of gaps.'),
  description: z.string().optional(),
  sessions: z.number(),
  users: z.number().optional(),
  messages: z.number(),
  sat: z.number().optional(),
  dsat: z.number().optional(),
  netSat: z.number().nullable().optional(),
  repeatedRequests: z.number().optional(),
});
type Row = z.output<typeof row>;

/** What people talk about, and what else can be listed. */
export const topics = tool({
  name: 'topics',
  title: 'Topics and what else is counted',
  description:
    'Lists what people ask about, with counts. kind: topics; clusters (groups of topics); gaps (what the assistant ' +
    'could not do or did not know); signals (kinds of satisfaction SAT and dissatisfaction DSAT); repeats (requests ' +
    'that had to be made again); users.',
  input: z.strictObject({
    kind: z.enum(KIND_NAMES, `must be one of ${KIND_NAMES.join(', ')}`).default('topics'),
    name: text('Only those whose name has these words.').optional(),
    period: period('30d'),
    sort: z
      .enum(SORTS, `must be one of ${SORTS.join(', ')}`)
      .default('sessions')
      .describe(
        'Most first; netSat: the worst first. Gaps, signals and repeats: sessions, users or messages.',
      ),
    limit: limit(15),
    offset,
    instance,
  }),
  output: z.object({
    ...source,
    kind: z.enum(KIND_NAMES),
    total: z.number(),
    offset: z.number(),
    rows: z.array(row),
  }),

  async read(args, { reading, now }) {
    const instanceId = await findInstance(reading, args.instance);
    const { start, end } = readPeriod(args.period, now());
    const { groupBy, dimension, metrics, dimensionFields } = KINDS[args.kind];
    const asked = {
      instanceId,
      groupBy,
      fields: metrics.join(','),
      ...rangeParameters({ start, end }),
      ...(dimensionFields === '' ? {} : { dimensionFields }),
      'sort.field': args.sort,
      'sort.order': args.sort === 'netSat' ? 'ASC' : 'DESC',
    };
    // Names are looked through here: queries do not filter by them.
    const isNamed = args.name !== undefined;
    const window = isNamed ? { limit: MOST, offset: 0 } : args;
    const answer = await reading.query({
      ...asked,
      limit: String(window.limit),
      offset: String(window.offset),
    });
    const all = answer.elements.map((element): Row => {
      const entity = element.dimensions[dimension] as
        | { readonly signalType?: string; readonly gapType?: string; readonly description?: string }
        | undefined;
      const type = entity?.signalType ?? entity?.gapType;
      return {
        ...entityOf(args.kind, element),
        ...(type === undefined ? {} : { type }),
        ...(args.kind === 'signals' ? { description: entity?.description ?? '' } : {}),
        ...(element.fields as Pick<Row, 'sessions' | 'messages'>),
      };
    });
    const matches = isNamed ? best(all, args.name ?? '', ({ name }) => name) : all;
    return {
      instance: instanceId,
      period: { start, end },
      lastProcessedAt: answer.lastProcessedAt,
      kind: args.kind,
      total: isNamed ? matches.length : answer.pagination.total,
      offset: args.offset,
      rows: isNamed ? matches.slice(args.offset, args.offset + args.limit) : [...matches],
    };
  },

  page({ kind, rows, total, offset: from, ...of }) {
    const { metrics } = KINDS[kind];
    const hasType = rows.some(({ type }) => type !== undefined);
    const columns = ['id', 'name', ...(hasType ? ['type'] : []), ...metrics];
    return {
      head: `${total} ${kind}, ${periodText(of.period)}. ${freshness(of.lastProcessedAt)}`,
      data:
        rows.length === 0
          ? ''
          : table(
              columns,
              rows.map((each) => [
                each.id,
                cell(each.name),
                ...(hasType ? [each.type ?? ''] : []),
                ...metrics.map((metric) => number((each as Readonly<Record<string, unknown>>)[metric])),
              ]),
            ),
      foot: rest(rows.length, from, total),
    };
  },
});

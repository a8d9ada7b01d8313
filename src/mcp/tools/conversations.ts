import { z } from 'zod';
import { sessionOutcome } from '../../domain/groupings.ts';
import { SESSION_OUTCOMES } from '../../domain/session-outcomes.ts';
import { cell, joined, table } from '../data-text.ts';
import { findEntities, findInstance } from '../find.ts';
import type { KindName } from '../kinds.ts';
import { number } from '../numbers.ts';
import { periodText, rangeParameters, readPeriod } from '../period.ts';
import type { Reading } from '../reading.ts';
import { freshness, instance, limit, offset, named, period, rest, source, text, tool } from '../tool.ts';

const WENT = {
  badly: { minDsat: '1', 'sort.field': 'dsat' },
  well: { minSat: '1', maxDsat: '0', 'sort.field': 'sat' },
} as const;
/** A filter takes at most so many of the entities that a name means. */
const MOST_MATCHES = 50;

const NOTHING =
  'Nothing fits all of these filters in this period: leave one out, or ask for a longer period or all.';

/** What can be filtered by, and the filter of the API. */
const FILTERS = {
  topic: ['topics', 'topicIds'],
  gap: ['gaps', 'gapIds'],
  signal: ['signals', 'signalIds'],
  repeat: ['repeats', 'repeatedRequestIds'],
  user: ['users', 'endUserIds'],
} as const satisfies Readonly<Record<string, readonly [KindName, string]>>;
type FilterName = keyof typeof FILTERS;

const row = z.object({
  id: z.string(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  topics: z.array(named),
  language: z.string().nullable(),
  outcome: sessionOutcome,
  lastActiveAt: z.string().nullable(),
  messages: z.number(),
  durationSeconds: z.number().nullable(),
  sat: z.number(),
  dsat: z.number(),
  repeatedRequests: z.number(),
});

/** Conversations behind a number. */
export const conversations = tool({
  name: 'conversations',
  title: 'Conversations',
  description:
    'Lists conversations, newest first: by topic, gap, signal, repeat or user (an id, or words of its name), by how ' +
    'they went (badly: with dissatisfaction, the worst first), by words in the title, by language, by how ' +
    'they ended. Read one with transcript.',
  input: z.strictObject({
    topic: text('Id, or words of the name.').optional(),
    gap: text('Likewise.').optional(),
    signal: text('Likewise.').optional(),
    repeat: text('A repeated request, likewise.').optional(),
    user: text('Id, or the whole name.').optional(),
    went: z.enum(['badly', 'well'], 'must be badly or well').optional(),
    title: text('Only those with this text in the title.').optional(),
    language: text('Such as en.').optional(),
    outcome: z
      .array(z.enum(SESSION_OUTCOMES, `must be of ${SESSION_OUTCOMES.join(', ')}`))
      .describe('How they ended: any of these.')
      .optional(),
    period: period('4w'),
    limit: limit(10),
    offset,
    instance,
  }),
  output: z.object({
    ...source,
    filters: z.array(z.object({ by: z.string(), matches: z.array(named) })),
    total: z.number(),
    offset: z.number(),
    rows: z.array(row),
  }),

  async read(args, { reading, now }) {
    const instanceId = await findInstance(reading, args.instance);
    const { start, end } = readPeriod(args.period, now());
    const found = await findFilters(reading, instanceId, args);
    const answer = await reading.query({
      instanceId,
      groupBy: 'SESSION',
      fields: 'messages,duration,lastActiveAt,sat,dsat,repeatedRequests',
      dimensionFields: 'title,summary,topics,language,outcome',
      ...rangeParameters({ start, end }),
      ...(args.went === undefined ? {} : WENT[args.went]),
      ...(args.title === undefined ? {} : { titleContains: args.title }),
      ...(args.language === undefined ? {} : { language: args.language }),
      ...(args.outcome === undefined ? {} : { outcome: args.outcome.join(',') }),
      ...Object.fromEntries(
        found.map(({ filter, matches }) => [filter, matches.map(({ id }) => id).join(',')]),
      ),
      limit: String(args.limit),
      offset: String(args.offset),
    });
    return {
      instance: instanceId,
      period: { start, end },
      lastProcessedAt: answer.lastProcessedAt,
      filters: found.map(({ by, matches }) => ({ by, matches })),
      total: answer.pagination.total,
      offset: args.offset,
      rows: answer.elements.map(({ dimensions: { session }, fields }) => ({
        id: session?.id ?? '',
        title: session?.title ?? null,
        summary: session?.summary ?? null,
        topics: session?.topics ?? [],
        language: session?.language ?? null,
        outcome: session?.outcome ?? null,
        lastActiveAt: fields.lastActiveAt ?? null,
        messages: fields.messages ?? 0,
        durationSeconds: fields.duration ?? null,
        sat: fields.sat ?? 0,
        dsat: fields.dsat ?? 0,
        repeatedRequests: fields.repeatedRequests ?? 0,
      })),
    };
  },

  page({ rows, total, offset: from, filters, ...of }) {
    const matched = filters
      .filter(({ matches }) => matches.some(({ name }) => name !== ''))
      .map(({ by, matches }) => `${by}: ${matches.map(({ name }) => cell(name)).join('; ')}`);
    const blocks = rows.map((each) =>
      [
        [
          each.id,
          cell(each.title ?? '(no title)', 120),
          each.language ?? '-',
          each.outcome ?? '-',
          (each.lastActiveAt ?? '').slice(0, 16),
          each.messages,
          number(each.sat),
          number(each.dsat),
          number(each.repeatedRequests),
          each.topics.map(({ name }) => cell(name, 40)).join('; ') || '-',
        ].join(' | '),
        ...(each.summary === null ? [] : [`  ${cell(each.summary, 240)}`]),
      ].join('\n'),
    );
    const columns = [
      'id',
      'title',
      'language',
      'outcome',
      'last active',
      'messages',
      'sat',
      'dsat',
      'repeats',
      'topics',
    ];
    return {
      head: `conversations: ${total}, ${periodText(of.period)}. ${freshness(of.lastProcessedAt)}`,
      data: joined([matched.join('\n'), rows.length === 0 ? '' : [table(columns, []), ...blocks].join('\n')]),
      foot: total === 0 ? NOTHING : rest(rows.length, from, total),
    };
  },
});

/** What each filter names means. Throws ToolError. */
async function findFilters(
  reading: Reading,
  instanceId: string,
  args: { readonly [Name in FilterName]?: string | undefined },
) {
  const given = (Object.keys(FILTERS) as FilterName[]).flatMap((by) => {
    const wanted = args[by];
    return wanted === undefined ? [] : [{ by, wanted }];
  });
  return Promise.all(
    given.map(async ({ by, wanted }) => {
      const [kind, filter] = FILTERS[by];
      const matches = await findEntities(reading, instanceId, kind, wanted);
      return { by, filter, matches: matches.slice(0, MOST_MATCHES) };
    }),
  );
}

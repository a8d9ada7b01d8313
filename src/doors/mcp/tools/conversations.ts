/**
 * The tool `conversations`: lists or searches sessions.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { sessionOutcome } from '../../../domain/groupings.ts';
import { SESSION_OUTCOMES } from '../../../domain/session-outcomes.ts';
import type { QueryResponse } from '../../../query/response-schema.ts';
import type { TextSearchResponse } from '../../../query/text-search/text-search-schema.ts';
import { cell, joined } from '../data-text.ts';
import { findEntities, findInstance } from '../find.ts';
import type { KindName } from '../kinds.ts';
import { counted, number } from '../numbers.ts';
import { periodText, rangeParameters, readPeriod } from '../period.ts';
import type { QueryString, Reading } from '../reading.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import {
  freshness,
  instance,
  limit,
  offset,
  named,
  period,
  refused,
  rest,
  source,
  text,
  tool,
} from '../tool.ts';

const WENT = {
  badly: { minDsat: '1', 'sort.field': 'dsat' },
  well: { minSat: '1', maxDsat: '0', 'sort.field': 'sat' },
} as const;
/** Maximum entities of a name in a filter. */
const MOST_MATCHES = 50;

const NOTHING =
  'Nothing fits all of these filters in this period: leave one out, or ask for a longer period or all.';

/** Argument → kind and filter of the API. */
const FILTERS = {
  topic: ['topics', 'topicIds'],
  gap: ['gaps', 'gapIds'],
  label: ['labels', 'labelIds'],
  signal: ['signals', 'signalIds'],
  repeat: ['repeats', 'repeatedRequestIds'],
  user: ['users', 'endUserIds'],
} as const satisfies Readonly<Record<string, readonly [KindName, string]>>;
type FilterName = keyof typeof FILTERS;

const NO_MATCH = 'Nobody said it in this period: try a part of it, or ask for a longer period or all.';

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
  said: z
    .object({ role: z.string(), createdAt: z.string(), excerpt: z.string() })
    .nullable()
    .describe('The newest message with the text that said names.'),
});
type Row = z.output<typeof row>;

/** Progress of a search in messages. */
const searched = z.object({ messages: z.number(), gone: z.number(), left: z.number() });

export const conversations = tool({
  name: 'conversations',
  title: 'Conversations',
  description:
    'Lists conversations, newest first: by topic, gap, label, signal, repeat or user (id or words of a name), how ' +
    'they went (badly: worst first), words in the title, what was said, language, how they ended. Read ' +
    'one with transcript.',
  input: z.strictObject({
    topic: text('Id, or words of the name.').optional(),
    gap: text('Likewise.').optional(),
    label: text('Likewise.').optional(),
    signal: text('Likewise.').optional(),
    repeat: text('A repeated request, likewise.').optional(),
    user: text('Id, or the whole name.').optional(),
    went: z.enum(['badly', 'well'], 'must be badly or well').optional(),
    title: text('Only those with this text in the title.').optional(),
    said: text(
      'Only those with this text in a message. It takes cursor, not offset, and went only badly.',
    ).optional(),
    cursor: text('With said, where to go on: next of the answer before.').optional(),
    language: text('Such as en.').optional(),
    outcome: z
      .array(z.enum(SESSION_OUTCOMES, `must be of ${SESSION_OUTCOMES.join(', ')}`))
      .describe('How they ended: any of these.')
      .optional(),
    period: period('4w'),
    segment,
    limit: limit(10),
    offset,
    instance,
  }),
  output: z.object({
    ...source,
    segment: segmentSchema,
    filters: z.array(z.object({ by: z.string(), matches: z.array(named) })),
    total: z.number().nullable().describe('Null with said: nobody counts before the search is through.'),
    offset: z.number(),
    searched: searched
      .nullable()
      .describe('With said: messages looked at, of them without a text, and left.'),
    next: z.string().nullable().describe('With said: the cursor of what follows.'),
    rows: z.array(row),
  }),

  async read(args, { reading, now }) {
    checkSearch(args);
    const instanceId = await findInstance(reading, args.instance);
    const { start, end } = readPeriod(args.period, now());
    const found = await findFilters(reading, instanceId, args);
    const choice = {
      instanceId,
      fields: 'messages,duration,lastActiveAt,sat,dsat,repeatedRequests',
      dimensionFields: 'title,summary,topics,language,outcome',
      ...rangeParameters({ start, end }),
      ...segmentParameters(args.segment),
      ...(args.title === undefined ? {} : { titleContains: args.title }),
      ...(args.language === undefined ? {} : { language: args.language }),
      ...(args.outcome === undefined ? {} : { outcome: args.outcome.join(',') }),
      ...Object.fromEntries(
        found.map(({ filter, matches }) => [filter, matches.map(({ id }) => id).join(',')]),
      ),
      limit: String(args.limit),
    };
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      period: { start, end },
      filters: found.map(({ by, matches }) => ({ by, matches })),
      offset: args.offset,
      ...(args.said === undefined
        ? await listed(reading, choice, args)
        : await searchedFor(reading, choice, { ...args, said: args.said })),
    };
  },

  page({ rows, total, offset: from, filters, searched: looked, next, ...of }) {
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
        ...(each.said === null ? [] : [`  said: ${matchText(each.said)}`]),
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
    const count = looked === null ? total : `${rows.length} found`;
    return {
      head:
        `conversations: ${count}, ${periodText(of.period)}. ${freshness(of.lastProcessedAt)}${segmentText(of.segment)}` +
        (looked === null ? '' : ` ${searchText(looked)}`),
      data: joined([
        matched.join('\n'),
        rows.length === 0 ? '' : [columns.join(' | '), ...blocks].join('\n'),
      ]),
      foot: looked === null ? listEnd(rows.length, from, total ?? 0) : searchEnd(rows.length, next),
    };
  },
});

/** Resolves each filter. Throws ToolError. */
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

/** Returns a page of rows and their total. */
async function listed(
  reading: Reading,
  choice: QueryString,
  { went, offset: from }: { readonly went?: keyof typeof WENT | undefined; readonly offset: number },
) {
  const { elements, pagination, lastProcessedAt } = await reading.query({
    ...choice,
    groupBy: 'SESSION',
    ...(went === undefined ? {} : WENT[went]),
    offset: String(from),
  });
  const rows = elements.map((element) => rowOf(element, null));
  return { lastProcessedAt, total: pagination.total, searched: null, next: null, rows };
}

/** Searches for about a second; returns the cursor to continue. */
async function searchedFor(
  reading: Reading,
  choice: QueryString,
  {
    said,
    went,
    cursor,
  }: { readonly said: string; readonly went?: string | undefined; cursor?: string | undefined },
) {
  const answer = await reading.textSearch({
    ...choice,
    said,
    ...(went === undefined ? {} : { minDsat: WENT.badly.minDsat }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  const rows = answer.elements.map((element) => rowOf(element, element.said));
  const { searched: looked, pagination, lastProcessedAt } = answer;
  return { lastProcessedAt, total: null, searched: looked, next: pagination.next, rows };
}

function rowOf(
  { dimensions: { session }, fields }: QueryResponse['elements'][number],
  match: TextSearchResponse['elements'][number]['said'] | null,
): Row {
  return {
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
    said: match === null ? null : { role: match.role, createdAt: match.createdAt, excerpt: match.excerpt },
  };
}

/** Rejects arguments that a search cannot use: it has its own order and no count. Throws AppError VALIDATION_ERROR. */
function checkSearch({
  said,
  cursor,
  went,
  offset: from,
}: {
  readonly said?: string | undefined;
  readonly cursor?: string | undefined;
  readonly went?: string | undefined;
  readonly offset: number;
}): void {
  if (said === undefined && cursor !== undefined)
    throw refused('cursor', 'goes with said; without it, use offset');
  if (said === undefined) return;
  if (from > 0) throw refused('offset', 'does not go with said: use cursor');
  if (went === 'well') throw refused('went', 'must be badly with said');
}

function matchText({ role, createdAt, excerpt }: NonNullable<Row['said']>): string {
  return `${cell(role)} ${createdAt.slice(0, 16)}: ${cell(excerpt, 240)}`;
}

function searchText({ messages, gone, left }: z.output<typeof searched>): string {
  const without = gone === 0 ? '' : `, ${gone} of them without a text any more`;
  return `Searched: ${counted(messages, 'message')}${without}; left: ${left}.`;
}

function listEnd(count: number, from: number, total: number): string {
  return total === 0 ? NOTHING : rest(count, from, total);
}

function searchEnd(found: number, next: string | null): string {
  if (next !== null) return `The search is not through. Go on with cursor ${next}.`;
  return found === 0 ? NO_MATCH : '';
}

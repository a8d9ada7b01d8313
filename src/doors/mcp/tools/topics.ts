/**
 * The tool `topics`: lists topics and the other kinds with their counts.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { METRICS } from '../../../domain/metrics.ts';
import { AppError } from '../../../errors.ts';
import type { Life } from '../../../domain/life-schema.ts';
import { LIFE_STATES, trackedAs, type LifeState } from '../../../domain/lives.ts';
import type { QueryResponse } from '../../../query/response-schema.ts';
import { beforeSchema, beforeText, readBefore } from '../before.ts';
import { cell, table } from '../data-text.ts';
import { best, entityOf, findInstance, LARGEST_PAGE, typeOf } from '../find.ts';
import { KIND_NAMES, KINDS, SORTS, type KindName } from '../kinds.ts';
import { number } from '../numbers.ts';
import { periodBefore, periodText, rangeParameters, readPeriod, type Period } from '../period.ts';
import type { QueryString, Reading } from '../reading.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import {
  freshness,
  instance,
  limit,
  metricsOf,
  named,
  offset,
  period,
  refused,
  rest,
  source,
  text,
  tool,
} from '../tool.ts';

type Sort = (typeof SORTS)[number];

/** Metrics of any kind. */
const LISTED = METRICS.filter((metric) => KIND_NAMES.some((kind) => KINDS[kind].metrics.includes(metric)));
const row = named.extend({
  type: z.string().optional().describe('SAT or DSAT of signals; TOOL or KNOWLEDGE of gaps.'),
  state: z
    .enum(LIFE_STATES)
    .optional()
    .describe('Where people say it stands; left out: nobody has said anything.'),
  ...metricsOf(LISTED).partial().shape,
  sessions: z.number(),
  sessionsBefore: z.number().nullable().describe('In the period before.'),
  messages: z.number(),
});
type Row = z.output<typeof row>;

export const topics = tool({
  name: 'topics',
  title: 'Topics and other counts',
  description:
    'Lists what people ask about, with counts, beside the period before. kind: topics; clusters (groups of topics); ' +
    'gaps (what the assistant could not do or did not know); signals (kinds of satisfaction SAT and dissatisfaction ' +
    'DSAT); repeats (requests that had to be made again); users.',
  input: z.strictObject({
    kind: z.enum(KIND_NAMES, `must be one of ${KIND_NAMES.join(', ')}`).default('topics'),
    name: text('Only those whose name has these words.').optional(),
    period: period('4w'),
    segment,
    sort: z
      .enum(SORTS, `must be one of ${SORTS.join(', ')}`)
      .default('sessions')
      .describe('Most first; netSat: worst first; growth: how many sessions more than before.'),
    limit: limit(15),
    offset,
    instance,
  }),
  output: z.object({
    ...source,
    segment: segmentSchema,
    before: beforeSchema,
    kind: z.enum(KIND_NAMES),
    total: z.number(),
    offset: z.number(),
    rows: z.array(row),
  }),

  async read(args, { reading, now }) {
    checkSort(args.kind, args.sort);
    const asked = readPeriod(args.period, now());
    const earlier = periodBefore(asked, now());
    const instanceId = await findInstance(reading, args.instance);
    const choice = { instanceId, ...segmentParameters(args.segment) };
    // Queries neither search names nor sort by growth, so all rows are read.
    const isWhole = args.name !== undefined || args.sort === 'growth';
    const answer = await queryWithLife(reading, args.kind, {
      ...rowsOf(choice, args.kind, asked),
      ...orderOf(args.sort),
      limit: String(isWhole ? LARGEST_PAGE : args.limit),
      offset: String(isWhole ? 0 : args.offset),
    });
    const all = answer.elements.map((element) => rowOf(args.kind, element));
    const matching = args.name === undefined ? all : [...best(all, args.name, ({ name }) => name)];
    const page = (rows: Row[]): Row[] => (isWhole ? rows.slice(args.offset, args.offset + args.limit) : rows);
    const compared = args.sort === 'growth' ? matching : page(matching);
    const rows = await withBefore(reading, choice, args.kind, earlier, compared);
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      period: { start: asked.start, end: asked.end },
      before: await readBefore(reading, instanceId, earlier),
      lastProcessedAt: answer.lastProcessedAt,
      kind: args.kind,
      total: isWhole ? matching.length : answer.pagination.total,
      offset: args.offset,
      rows: args.sort === 'growth' ? page(rows.toSorted((a, b) => growthOf(b) - growthOf(a))) : rows,
    };
  },

  page({ kind, rows, total, offset: from, before, ...of }) {
    const hasType = rows.some(({ type }) => type !== undefined);
    const hasState = rows.some(({ state }) => state !== undefined);
    const [first = 'sessions', ...metrics] = KINDS[kind].metrics;
    const head = [
      'id',
      'name',
      ...(hasType ? ['type'] : []),
      ...(hasState ? ['state'] : []),
      first,
      ...(before === null ? [] : ['sessions before']),
    ];
    const lines = rows.map((each) => [
      each.id,
      cell(each.name),
      ...(hasType ? [each.type ?? ''] : []),
      ...(hasState ? [each.state ?? ''] : []),
      each.sessions,
      ...(before === null ? [] : [number(each.sessionsBefore)]),
      ...metrics.map((metric) => number((each as Readonly<Record<string, unknown>>)[metric])),
    ]);
    return {
      head: `${kind}: ${total}, ${periodText(of.period)}. ${freshness(of.lastProcessedAt)}${segmentText(of.segment)}${beforeText(before)}`,
      data: table([...head, ...metrics], lines),
      foot: rest(rows.length, from, total),
    };
  },
});

/** Throws AppError VALIDATION_ERROR if the kind cannot be sorted so. */
function checkSort(kind: KindName, sort: Sort): void {
  const { metrics } = KINDS[kind];
  const able = SORTS.filter((each) => each === 'growth' || metrics.includes(each));
  if (able.includes(sort)) return;
  throw refused('sort', `must be one of ${able.join(', ')} for ${kind}`);
}

function rowsOf(choice: QueryString, kind: KindName, during: Pick<Period, 'start' | 'end'>): QueryString {
  const { groupBy, metrics, dimensionFields } = KINDS[kind];
  return {
    ...choice,
    groupBy,
    fields: metrics.join(','),
    ...rangeParameters(during),
    ...(dimensionFields === '' ? {} : { dimensionFields }),
  };
}

/** Asks also for the lives of entities that have one; a service of an earlier version refuses to tell them. */
async function queryWithLife(
  reading: Reading,
  kind: KindName,
  parameters: QueryString,
): Promise<QueryResponse> {
  if (trackedAs(KINDS[kind].groupBy) === null) return reading.query(parameters);
  try {
    return await reading.query({ ...parameters, dimensionFields: 'life' });
  } catch (error) {
    const isUnknown =
      error instanceof AppError && (error.details ?? []).some(({ path }) => path === 'dimensionFields');
    if (!isUnknown) throw error;
    return reading.query(parameters);
  }
}

function stateOf(
  kind: KindName,
  { dimensions }: QueryResponse['elements'][number],
): { readonly state?: LifeState } {
  const entity = dimensions[KINDS[kind].dimension] as { readonly life?: Life | null } | undefined;
  return entity?.life == null ? {} : { state: entity.life.state };
}

function orderOf(sort: Sort): QueryString {
  return {
    'sort.field': sort === 'growth' ? 'sessions' : sort,
    'sort.order': sort === 'netSat' ? 'ASC' : 'DESC',
  };
}

function rowOf(kind: KindName, element: QueryResponse['elements'][number]): Row {
  return {
    ...entityOf(kind, element),
    ...typeOf(kind, element),
    ...stateOf(kind, element),
    sessionsBefore: null,
    ...(element.fields as Pick<Row, 'sessions' | 'messages'>),
  };
}

/** Adds the sessions of the period before. */
async function withBefore(
  reading: Reading,
  choice: QueryString,
  kind: KindName,
  earlier: Period | null,
  rows: Row[],
): Promise<Row[]> {
  if (earlier === null || rows.length === 0) return rows;
  const { elements } = await reading.query({
    ...rowsOf(choice, kind, earlier),
    fields: 'sessions',
    limit: String(LARGEST_PAGE),
    // More ids would make the URL too long.
    ...(rows.length > 100 ? {} : { ids: rows.map(({ id }) => id).join(',') }),
  });
  const was = new Map(elements.map((each) => [entityOf(kind, each).id, each.fields.sessions ?? 0]));
  return rows.map((each) => ({ ...each, sessionsBefore: was.get(each.id) ?? 0 }));
}

function growthOf({ sessions, sessionsBefore }: Row): number {
  return sessions - (sessionsBefore ?? 0);
}

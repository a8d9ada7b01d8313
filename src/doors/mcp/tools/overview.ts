/**
 * The tool `overview`: the state of an instance in one answer.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { sessionOutcome } from '../../../domain/groupings.ts';
import { OVERVIEW_METRICS, type OverviewResponse } from '../../../query/overview/overview-schema.ts';
import { beforeSchema, beforeText, readBefore } from '../before.ts';
import { cell, joined, section } from '../data-text.ts';
import { entityOf, findInstance, typeOf } from '../find.ts';
import { KINDS, type KindName } from '../kinds.ts';
import { beforeOf, number } from '../numbers.ts';
import { periodBefore, periodText, rangeParameters, readPeriod, type Period } from '../period.ts';
import type { QueryString, Reading } from '../reading.ts';
import { languageSection, MOST_BUCKETS, trendSection } from '../sections.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import { freshness, instance, metricsOf, named, period, source, tool } from '../tool.ts';

const TOP = 6;

const values = metricsOf(OVERVIEW_METRICS);
const top = z.array(
  named.extend({ type: z.string().optional(), sessions: z.number(), dsat: z.number().optional() }),
);

export const overview = tool({
  name: 'overview',
  title: 'Overview',
  description:
    'Start here: how many conversations, users and messages in a period against the period before, how satisfied ' +
    'people are, the trend, the most frequent and the most complained-about topics, kinds of dissatisfaction, gaps.',
  input: z.strictObject({ period: period('7d'), segment, instance }),
  output: z.object({
    ...source,
    segment: segmentSchema,
    now: values,
    before: values.nullable(),
    beforePeriod: beforeSchema,
    buckets: z.string(),
    trend: z.array(z.object({ date: z.string(), sessions: z.number(), sat: z.number(), dsat: z.number() })),
    topics: top,
    unhappyTopics: top,
    dissatisfaction: top,
    gaps: top,
    languages: z.array(z.object({ language: z.string().nullable(), sessions: z.number() })),
    outcomes: z.array(
      z.object({ outcome: sessionOutcome, sessions: z.number(), costUsd: z.number().nullable() }),
    ),
    newestMessageAt: z.string().nullable().describe('Of all time; only where the period is empty.'),
  }),

  async read(args, { reading, now }) {
    const instanceId = await findInstance(reading, args.instance);
    const asked = readPeriod(args.period, now());
    const earlier = periodBefore(asked, now());
    const chosen = segmentParameters(args.segment);
    const [beforePeriod, whole, before, topics, unhappy, signals, gaps] = await Promise.all([
      readBefore(reading, instanceId, earlier),
      overviewOf(reading, instanceId, asked, chosen),
      earlier === null ? null : overviewOf(reading, instanceId, earlier, chosen),
      topOf(reading, instanceId, asked, 'topics', { 'sort.field': 'sessions', ...chosen }),
      topOf(reading, instanceId, asked, 'topics', { 'sort.field': 'dsat', minDsat: '1', ...chosen }),
      topOf(reading, instanceId, asked, 'signals', { limit: '50', ...chosen }),
      topOf(reading, instanceId, asked, 'gaps', chosen),
    ]);
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      period: { start: asked.start, end: asked.end },
      lastProcessedAt: whole.lastProcessedAt,
      now: valuesOf(whole),
      before: before === null ? null : valuesOf(before),
      beforePeriod,
      buckets: asked.buckets,
      trend: whole.trend.slice(-MOST_BUCKETS).map(({ date, fields }) => ({
        date,
        sessions: fields.sessions ?? 0,
        sat: fields.sat ?? 0,
        dsat: fields.dsat ?? 0,
      })),
      topics,
      unhappyTopics: unhappy,
      dissatisfaction: signals.filter(({ type }) => type === 'DSAT').slice(0, TOP),
      gaps,
      languages: whole.languages.slice(0, TOP).map(({ language, sessions }) => ({ language, sessions })),
      outcomes: whole.outcomes,
      newestMessageAt: whole.fields.messages === 0 ? await newestOf(reading, instanceId, chosen) : null,
    };
  },

  page({ now, before, ...answer }) {
    const lines = OVERVIEW_METRICS.map((metric) => {
      const unit = metric === 'netSat' ? ' (percent: (sat - dsat) / messages)' : '';
      const was = before === null ? '' : ` (before: ${beforeOf(metric, now[metric], before[metric])})`;
      return `${metric}: ${number(now[metric])}${was}${unit}`;
    });
    return {
      head: [
        `${periodText(answer.period)}. ${freshness(answer.lastProcessedAt)}${segmentText(answer.segment)}${beforeText(answer.beforePeriod)}`,
        ...lines,
      ].join('\n'),
      data: joined([
        trendSection(answer.buckets, answer.trend),
        section('Most frequent topics', ['id', 'name', 'sessions', 'dsat'], rowsOf(answer.topics)),
        section(
          'Topics with most dissatisfaction',
          ['id', 'name', 'sessions', 'dsat'],
          rowsOf(answer.unhappyTopics),
        ),
        section('Kinds of dissatisfaction', ['id', 'name', 'sessions'], rowsOf(answer.dissatisfaction)),
        section('Gaps of the assistant', ['id', 'name', 'type', 'sessions'], rowsOf(answer.gaps, true)),
        languageSection(answer.languages),
        section(
          'How they ended',
          ['outcome', 'sessions', 'costUsd'],
          answer.outcomes.map(({ outcome, sessions, costUsd }) => [
            outcome ?? 'nothing asked',
            sessions,
            costUsd ?? '-',
          ]),
        ),
      ]),
      foot: now.messages === 0 ? emptyText(answer.newestMessageAt, answer.segment !== null) : '',
    };
  },
});

type Values = z.output<typeof values>;
type Top = z.output<typeof top>;

function rowsOf(found: Top, withType = false): (string | number)[][] {
  return found.map(({ id, name, type, sessions, dsat }) => [
    id,
    cell(name),
    ...(withType ? [type ?? ''] : []),
    sessions,
    ...(dsat === undefined ? [] : [dsat]),
  ]);
}

function overviewOf(
  reading: Reading,
  instanceId: string,
  asked: Period,
  chosen: QueryString,
): Promise<OverviewResponse> {
  return reading.overview({
    ...chosen,
    instanceId,
    ...rangeParameters(asked),
    timeGranularity: asked.buckets,
  });
}

function valuesOf({ fields }: OverviewResponse): Values {
  return Object.fromEntries(OVERVIEW_METRICS.map((metric) => [metric, fields[metric] ?? null])) as Values;
}

async function topOf(
  reading: Reading,
  instanceId: string,
  asked: Period,
  kind: KindName,
  how: QueryString,
): Promise<Top> {
  const { elements } = await reading.query({
    instanceId,
    groupBy: KINDS[kind].groupBy,
    fields: kind === 'topics' ? 'sessions,dsat' : 'sessions',
    'sort.field': 'sessions',
    limit: String(TOP),
    ...rangeParameters(asked),
    ...how,
  });
  return elements.map((element) => ({
    ...entityOf(kind, element),
    ...typeOf(kind, element),
    sessions: element.fields.sessions ?? 0,
    ...(element.fields.dsat === undefined ? {} : { dsat: element.fields.dsat }),
  }));
}

/** Returns the time of the newest message, for an empty period. */
async function newestOf(reading: Reading, instanceId: string, chosen: QueryString): Promise<string | null> {
  const { elements } = await reading.query({
    instanceId,
    groupBy: 'SESSION',
    fields: 'lastActiveAt',
    'sort.field': 'lastActiveAt',
    limit: '1',
    ...chosen,
  });
  return elements[0]?.fields.lastActiveAt ?? null;
}

function emptyText(newest: string | null, isSegment: boolean): string {
  if (newest === null)
    return isSegment ? 'No conversation has these attributes.' : 'This instance has no messages at all.';
  return `No messages in this period. The newest message is from ${newest}: ask for a period that includes it, or all.`;
}

/**
 * The tool `why`: explains the numbers of one entity.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import type { Metric } from '../../../domain/metrics.ts';
import { LIFE_STATES } from '../../../domain/lives.ts';
import type { WhyResponse } from '../../../query/why/why-schema.ts';
import { beforeSchema, beforeText, readBefore } from '../before.ts';
import { cell, joined, section } from '../data-text.ts';
import { findEntities, findInstance, type Found } from '../find.ts';
import { KINDS, WHY_KINDS } from '../kinds.ts';
import { beforeOf, number, percent } from '../numbers.ts';
import { periodBefore, periodText, rangeParameters, readPeriod, type Period } from '../period.ts';
import { languageSection, MOST_BUCKETS, trendSection } from '../sections.ts';
import { segment, segmentOf, segmentParameters, segmentSchema, segmentText } from '../segment.ts';
import { freshness, instance, named, period, picked, source, text, tool } from '../tool.ts';

const TOP = 5;
const TYPICAL = 4;
const NEWEST = 4;
const SIGNAL_COLUMNS = [
  'type',
  'id',
  'name',
  'sessions',
  'before',
  'share of its sessions',
  'share of all sessions',
];

const fields = z.record(z.string(), z.number().nullable());
const counted = z.array(named.extend({ type: z.string().optional(), sessions: z.number() }));
const interval = z.object({ share: z.number(), low: z.number(), high: z.number() });
const quotes = z.array(z.object({ conversation: z.string(), createdAt: z.string(), text: z.string() }));

const status = z.object({
  state: z.enum(LIFE_STATES),
  fixedAt: z.string().nullable(),
  release: z.object({ name: z.string(), value: z.string() }).nullable(),
  owner: z.string().nullable(),
  note: z.string().nullable(),
  link: z.string().nullable(),
});

const output = z.object({
  ...source,
  segment: segmentSchema,
  kind: z.enum(WHY_KINDS),
  about: named.extend({ type: z.string().optional(), description: z.string().optional() }),
  otherMatches: z.array(named),
  mergedInto: named.nullable(),
  now: fields,
  before: fields.nullable(),
  beforePeriod: beforeSchema,
  buckets: z.string(),
  trend: z.array(
    z.object({
      date: z.string(),
      sessions: z.number(),
      sat: z.number().optional(),
      dsat: z.number().optional(),
    }),
  ),
  signals: z.array(
    named.extend({
      type: z.string(),
      sessions: z.number(),
      sessionsBefore: z.number().nullable(),
      share: z.number().describe('Of its sessions.'),
      shareOfAll: z.number().describe('Of all sessions.'),
    }),
  ),
  topics: counted,
  gaps: counted,
  repeats: counted,
  languages: z.array(z.object({ language: z.string().nullable(), sessions: z.number() })),
  users: z.array(z.object({ id: z.string(), name: z.string(), sessions: z.number() })),
  checked: z
    .object({
      yes: z.number(),
      no: z.number(),
      precision: interval.nullable(),
      trueShare: interval.nullable(),
    })
    .nullable()
    .describe(
      'What people who read conversations said: yes and no of those in which it was found, the share of these in which ' +
        'it is there, and the share of all conversations in which it truly is. Null: nobody has checked it.',
    ),
  status: status
    .nullable()
    .describe('Where people say it stands, and who takes care of it. Null: nobody has said anything.'),
  typicalQuotes: quotes,
  newestQuotes: quotes,
});
type Answer = z.output<typeof output>;

export const why = tool({
  name: 'why',
  title: 'Why',
  description:
    'Explains the numbers of one topic (or cluster, gap, repeated request, user): against the period before, its ' +
    'trend, signals of (dis)satisfaction beside the average of all conversations, what occurs with it, quotes.',
  input: z.strictObject({
    about: text('Id, or words of the name.'),
    kind: z.enum(WHY_KINDS, `must be one of ${WHY_KINDS.join(', ')}`).default('topics'),
    period: period('4w'),
    segment,
    instance,
  }),
  output,

  async read(args, { reading, now }) {
    const instanceId = await findInstance(reading, args.instance);
    const asked = readPeriod(args.period, now());
    const earlier = periodBefore(asked, now());
    const path = KINDS[args.kind].why ?? 'topics';
    const [found = { id: '', name: '' }, ...others] = await findEntities(
      reading,
      instanceId,
      args.kind,
      args.about,
    );
    const ask = (range: Period): Promise<WhyResponse> =>
      reading.why(path, found.id, {
        instanceId,
        ...rangeParameters(range),
        timeGranularity: range.buckets,
        ...segmentParameters(args.segment),
      });
    const [answer, before, beforePeriod] = await Promise.all([
      ask(asked),
      earlier === null ? null : ask(earlier),
      readBefore(reading, instanceId, earlier),
    ]);
    return {
      instance: instanceId,
      segment: segmentOf(args.segment),
      period: { start: asked.start, end: asked.end },
      lastProcessedAt: answer.lastProcessedAt,
      kind: args.kind,
      about: entityOf(answer, found),
      otherMatches: others.slice(0, 10),
      mergedInto: answer.heir,
      now: fieldsOf(answer),
      before: before === null ? null : fieldsOf(before),
      beforePeriod,
      buckets: asked.buckets,
      trend: answer.trend.slice(-MOST_BUCKETS).map(({ date, fields: each }) => ({
        date,
        sessions: each.sessions ?? 0,
        // Gaps and repeated requests have no satisfaction.
        ...(each.sat === undefined ? {} : { sat: each.sat, dsat: each.dsat }),
      })),
      signals: signalsOf(answer, before),
      topics: answer.topics.slice(0, TOP).map(countedOf),
      gaps: answer.gaps.slice(0, TOP).map((gap) => ({ ...countedOf(gap), type: gap.gapType })),
      repeats: answer.repeatedRequests.slice(0, TOP).map(countedOf),
      languages: answer.languages.slice(0, TOP),
      users: answer.endUsers
        .slice(0, TOP)
        .map(({ id, externalId, sessions }) => ({ id, name: externalId, sessions })),
      checked: checkedOf(answer),
      status: statusOf(answer),
      typicalQuotes: answer.wordings.typical.slice(0, TYPICAL).map(quoteOf),
      newestQuotes: newestOf(answer).slice(0, NEWEST).map(quoteOf),
    };
  },

  page(answer) {
    return { head: headOf(answer), data: dataOf(answer), foot: '' };
  },
});

function entityOf(answer: WhyResponse, { id, name }: Found): Answer['about'] {
  const { topic, cluster, gap, repeatedRequest, endUser } = answer;
  const entity: {
    readonly id?: string;
    readonly name?: string;
    readonly externalId?: string | undefined;
    readonly description?: string | null | undefined;
    readonly gapType?: string;
  } = topic ?? cluster ?? gap ?? repeatedRequest ?? endUser ?? {};
  return {
    id: entity.id ?? id,
    name: entity.name ?? entity.externalId ?? name,
    ...(entity.gapType === undefined ? {} : { type: entity.gapType }),
    ...(typeof entity.description === 'string' ? { description: entity.description } : {}),
  };
}

/** A service of an earlier version does not say it. */
function checkedOf({ checked = null }: Partial<WhyResponse>): Answer['checked'] {
  if (checked === null) return null;
  const { found, share } = checked;
  return { yes: found.yes, no: found.no, precision: found.share, trueShare: share };
}

/** A service of an earlier version does not say it. */
function statusOf({ life = null }: Partial<WhyResponse>): Answer['status'] {
  return life === null ? null : picked(status, life);
}

function fieldsOf({ fields: all }: WhyResponse): Answer['now'] {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      typeof value === 'number' || value === null ? [[name, value]] : [],
    ),
  );
}

/** Merges the signals of both periods, those of this one first. */
function signalsOf(now: WhyResponse, before: WhyResponse | null): Answer['signals'] {
  const was = new Map((before?.signals ?? []).map((signal) => [signal.id, signal]));
  const gone = [...was.values()].filter(({ id }) => !now.signals.some((signal) => signal.id === id));
  return [
    ...now.signals.map((signal) => ({
      id: signal.id,
      name: signal.name,
      type: signal.signalType,
      sessions: signal.sessions,
      sessionsBefore: before === null ? null : (was.get(signal.id)?.sessions ?? 0),
      share: signal.share,
      shareOfAll: signal.instanceShare,
    })),
    ...gone.map((signal) => ({
      id: signal.id,
      name: signal.name,
      type: signal.signalType,
      sessions: 0,
      sessionsBefore: signal.sessions,
      share: 0,
      shareOfAll: 0,
    })),
  ].slice(0, 10);
}

function countedOf({ id, name, sessions }: Found & { readonly sessions: number }) {
  return { id, name, sessions };
}

/** Returns the newest wordings that are not shown as typical. */
function newestOf({ wordings: { typical, newest } }: WhyResponse): WhyResponse['wordings']['newest'] {
  const known = new Set(typical.slice(0, TYPICAL).map(({ position }) => position));
  return newest.filter(({ position }) => !known.has(position));
}

function quoteOf({ sessionId, createdAt, text: quote }: WhyResponse['wordings']['newest'][number]) {
  return { conversation: sessionId, createdAt, text: quote };
}

function headOf({ about, kind, period: during, beforePeriod, lastProcessedAt, ...answer }: Answer): string {
  const lines = Object.entries(answer.now).map(([name, value]) => {
    const was = answer.before?.[name];
    if (was === undefined) return `${name}: ${number(value)}`;
    return `${name}: ${number(value)} (before: ${beforeOf(name as Metric, value, was)})`;
  });
  const nothing = answer.now['messages'] === 0 ? ['It does not occur in this period.'] : [];
  return [
    `${KINDS[kind].word} ${about.id}, ${periodText(during)}. ${freshness(lastProcessedAt)}${segmentText(answer.segment)}${beforeText(beforePeriod)}`,
    ...nothing,
    ...lines,
    ...checkedText(answer.checked),
  ].join('\n');
}

/** Example: “Checked by people: 38 of 40 conversations that count for it are right, so 84% to 99% of all that count are.” */
function checkedText(checked: Answer['checked']): string[] {
  if (checked === null) return [];
  const { yes, no, precision, trueShare } = checked;
  const range = ({ low, high }: z.output<typeof interval>): string => `${percent(low)} to ${percent(high)}`;
  return [
    precision === null
      ? 'Checked by people: none of the conversations that count for it yet.'
      : `Checked by people: ${yes} of ${yes + no} conversations that count for it are right, ` +
        `so ${range(precision)} of all that count are.`,
    ...(trueShare === null ? [] : [`It is truly in ${range(trueShare)} of all conversations.`]),
  ];
}

function dataOf(answer: Answer): string {
  return joined([
    aboutText(answer),
    signalSection(answer),
    countedSection('Topics', answer.topics),
    countedSection('Gaps', answer.gaps),
    countedSection('Repeated requests', answer.repeats),
    languageSection(answer.languages),
    countedSection('Users', answer.users),
    trendSection(answer.buckets, answer.trend),
    quotesText('Typical messages', answer.typicalQuotes),
    quotesText('Newest messages', answer.newestQuotes),
  ]);
}

/** Example: “Status, as people said: FIXED since 2026-03-01. Owner: Ann. Note: …” */
function statusText(status: Answer['status']): string[] {
  if (status === null) return [];
  const { state, fixedAt, release, owner, note, link } = status;
  const since =
    release !== null
      ? ` in ${cell(release.name)} ${cell(release.value)}`
      : fixedAt === null
        ? ''
        : ` since ${fixedAt.slice(0, 10)}`;
  const said = [
    ...(owner === null ? [] : [`Owner: ${cell(owner, 100)}.`]),
    ...(note === null ? [] : [`Note: ${cell(note, 300)}`]),
    ...(link === null ? [] : [`Link: ${cell(link, 300)}`]),
  ];
  return [[`Status, as people said: ${state}${since}.`, ...said].join(' ')];
}

function aboutText({ about, status, mergedInto, otherMatches }: Answer): string {
  const others = otherMatches.map(({ id, name }) => `${cell(name)} (${id})`).join('; ');
  return [
    `Name: ${cell(about.name)}${about.type === undefined ? '' : ` (${about.type})`}`,
    ...(about.description === undefined ? [] : [`Description: ${cell(about.description, 300)}`]),
    ...statusText(status),
    ...(mergedInto === null ? [] : [`It became part of ${cell(mergedInto.name)}.`]),
    ...(others === '' ? [] : [`The name also fits: ${others}`]),
  ].join('\n');
}

function signalSection({ signals, before }: Answer): string {
  return section(
    'Signals',
    SIGNAL_COLUMNS.filter((column) => column !== 'before' || before !== null),
    signals.map((each) => [
      each.type,
      each.id,
      cell(each.name),
      each.sessions,
      ...(each.sessionsBefore === null ? [] : [each.sessionsBefore]),
      percent(each.share),
      percent(each.shareOfAll),
    ]),
  );
}

function countedSection(title: string, found: z.output<typeof counted>): string {
  return section(
    title,
    ['id', 'name', 'sessions'],
    found.map(({ id, name, type, sessions }) => [
      id,
      type === undefined ? cell(name) : `${cell(name)} (${type})`,
      sessions,
    ]),
  );
}

function quotesText(title: string, quotes: Answer['newestQuotes']): string {
  const lines = quotes.map(
    (quote) => `${quote.conversation} | ${quote.createdAt.slice(0, 10)} | ${cell(quote.text, 280)}`,
  );
  return lines.length === 0 ? '' : [`${title} (conversation, day, text):`, ...lines].join('\n');
}

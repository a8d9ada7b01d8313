/**
 * Reads the figures of a weekly digest; `digest-words.ts` writes its text. An entity is in only one of the lists of
 * new, rising and falling ones.
 *
 * Test: test/doors/alerts/digest.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { isTold } from '../../domain/effects.ts';
import { localBucketAt, weeksEarlier } from '../../domain/local-time.ts';
import { risingOf } from './evaluation.ts';
import type { DigestFigures } from './body-schema.ts';
import type { EntityFigures, Figures, FixedFigures, Listed } from './figures.ts';
import type { Counted } from './rule.ts';
import type { Span } from './windows.ts';

/** The figures that the API answers and posts. */
type Posted = { readonly [Name in keyof DigestFigures]: Readonly<DigestFigures[Name]> };

/** A number of the week, and the same of the week before. */
export type Compared = Posted['sessions'];

/** An entity that came up more or less often than in the week before, or than in an average week of several. */
export type Changed = Posted['rising'][number];

/** A topic of the week with its conversations in the week before. */
export type Discussed = Posted['topics'][number];

/** The lists of a digest, sorted by conversations or by clarity of the change. */
export type Lists = Omit<Posted, 'sessions' | 'users' | 'dissatisfied'>;

/** The figures of a week. */
export interface Digest extends Posted {
  readonly span: Span;
  /** Only conversations of this segment count; empty: all. */
  readonly segment: readonly SegmentChoice[];
  /** Time zone whose week it is. */
  readonly timeZone: string;
  /** What was fixed before the end of the week, whatever the verdict: lines about it say so. */
  readonly known: readonly FixedFigures[];
  /** End of the figures in a week that is not over, microseconds since 1970; null if it is over. */
  readonly until: number | null;
  /** Number of elements cut from each list. */
  readonly others: Readonly<Record<keyof Lists, number>>;
}

const MOST_TOPICS = 5;
const MOST_OTHERS = 3;
/** Of each list the most elements, and their grouping where no element says its own. */
export const LISTS: Readonly<Record<keyof Lists, { readonly most: number; readonly groupBy?: Listed }>> = {
  topics: { most: MOST_TOPICS, groupBy: 'TOPIC' },
  newTopics: { most: MOST_TOPICS, groupBy: 'TOPIC' },
  rising: { most: MOST_TOPICS },
  falling: { most: MOST_TOPICS },
  fixed: { most: MOST_TOPICS },
  gaps: { most: MOST_OTHERS, groupBy: 'GAP' },
  dissatisfaction: { most: MOST_OTHERS, groupBy: 'CSAT_DSAT' },
  repeatedRequests: { most: MOST_OTHERS, groupBy: 'REPEATED_REQUEST' },
};
/** Fewest conversations of a new or changed entity; in quiet weeks smaller changes are not news. */
const FEWEST = 3;
/** Factor over an average week from which an entity rises; the default of alerts. */
const FACTOR = 2;

/**
 * Reads the digest of a week from the figures of an instance. A week that is not over at `now` (microseconds) is
 * compared with the same part of the week before.
 */
export async function readDigest(
  all: Figures,
  segment: readonly SegmentChoice[],
  span: Span,
  timeZone: string,
  now = Infinity,
): Promise<Digest> {
  const figures = all.of(segment);
  const until = now < span.end ? Math.max(now, span.start) : null;
  const whole = localBucketAt('WEEK', timeZone, span.start - 1);
  const before = until === null ? whole : { ...whole, end: weeksEarlier(until, 1, timeZone) };
  const compared = async (read: (span: Span) => Promise<number>): Promise<Compared> => {
    const [inside, then] = await Promise.all([read(span), read(before)]);
    return { now: inside, before: then };
  };
  const list = (groupBy: Listed): Promise<readonly EntityFigures[]> =>
    figures.entities({ groupBy, span, window: 'WEEK', atLeast: 1, ids: null });
  const [topics, gaps, signals, repeatedRequests] = await Promise.all([
    list('TOPIC'),
    list('GAP'),
    list('CSAT_DSAT'),
    list('REPEATED_REQUEST'),
  ]);
  const newTopics = await newIn(topics, figures, span);
  const listed = new Set(newTopics.map(({ id }) => id));
  const changes = (await figures.changes(span, before)).filter(
    ({ id, ...counts }) => !listed.has(id) && Math.max(counts.sessions, counts.sessionsBefore) >= FEWEST,
  );
  for (const { id } of changes) listed.add(id);
  const week = { span, before, timeZone, figures };
  const risen = await Promise.all([
    risenIn('TOPIC', topics, listed, week),
    risenIn('GAP', gaps, listed, week),
    risenIn('CSAT_DSAT', signals, listed, week),
  ]);
  const effects = await figures.effects(timeZone, until ?? span.end);
  const lists: Lists = {
    topics: await withBefore('TOPIC', topics, week),
    newTopics,
    rising: [...changes.flatMap(({ rises, ...one }) => (rises ? one : [])), ...risen.flat()],
    falling: changes.flatMap(({ rises, ...one }) => (rises ? [] : one)),
    fixed: await toldIn(effects, figures, timeZone, span),
    gaps,
    dissatisfaction: signals.filter(({ signalType }) => signalType === 'DSAT'),
    repeatedRequests,
  };
  return {
    span,
    segment,
    timeZone,
    until,
    known: effects.filter(({ fixedAt, after }) =>
      fixedAt === null ? after !== null : Date.parse(fixedAt) * 1000 < span.end,
    ),
    sessions: await compared((of) => figures.sessions(of)),
    users: await compared((of) => figures.users(of)),
    dissatisfied: await compared((of) => figures.sessions(of, true)),
    ...(await cutLists(lists, figures)),
  };
}

/** Cuts the lists, and says of what is left how far people found it right. */
async function cutLists(lists: Lists, figures: Figures): Promise<Lists & Pick<Digest, 'others'>> {
  const cut: [name: string, entities: unknown][] = [];
  const others: [name: string, count: number][] = [];
  for (const [name, { most, groupBy }] of Object.entries(LISTS)) {
    const all: readonly { readonly id: string }[] = lists[name as keyof Lists];
    const left = all.slice(0, most).map(async (entity) => {
      const precision = groupBy === undefined ? null : await figures.precision(groupBy, entity.id);
      return precision === null ? entity : { ...entity, precision };
    });
    cut.push([name, await Promise.all(left)]);
    others.push([name, all.length - left.length]);
  }
  return {
    ...(Object.fromEntries(cut) as unknown as Lists),
    others: Object.fromEntries(others) as Digest['others'],
  };
}

/** Finds what is fixed whose verdict is another one at the end of the week (`effects`) than at its start. */
async function toldIn(
  effects: readonly FixedFigures[],
  figures: Figures,
  timeZone: string,
  { start }: Span,
): Promise<readonly FixedFigures[]> {
  const now = effects.filter(({ verdict }) => isTold(verdict));
  if (now.length === 0) return [];
  const before = new Map((await figures.effects(timeZone, start)).map(({ id, verdict }) => [id, verdict]));
  return now.filter(({ id, verdict }) => before.get(id) !== verdict);
}

/** The week of a digest, and the span that it is compared with. */
interface Week {
  readonly span: Span;
  readonly before: Span;
  readonly timeZone: string;
  readonly figures: Figures;
}

async function withBefore(
  groupBy: Counted,
  entities: readonly EntityFigures[],
  { before, figures }: Week,
): Promise<readonly Discussed[]> {
  if (entities.length === 0) return [];
  const ids = entities.map(({ id }) => id);
  const then = await figures.entities({ groupBy, span: before, window: 'WEEK', atLeast: 1, ids });
  const sessionsBefore = new Map(then.map(({ id, sessions }) => [id, sessions]));
  return entities.map((entity) => ({ ...entity, sessionsBefore: sessionsBefore.get(entity.id) ?? 0 }));
}

/**
 * Finds entities that rise against the eight weeks before, by the rule of alerts, and against the last week: changes
 * that one week alone cannot separate from chance. `listed` are entities already listed.
 */
async function risenIn(
  groupBy: Counted,
  entities: readonly EntityFigures[],
  listed: ReadonlySet<string>,
  week: Week,
): Promise<readonly Changed[]> {
  const often = entities.filter(({ id, sessions }) => sessions >= FEWEST && !listed.has(id));
  const risen = await risingOf(often, { ...week, groupBy, window: 'WEEK', factor: FACTOR });
  const found = await withBefore(
    groupBy,
    often.filter(({ id }) => risen.has(id)),
    week,
  );
  return found
    .filter(({ sessions, sessionsBefore }) => sessions > sessionsBefore)
    .map(({ id, name, sessions, sessionsBefore }) => {
      const { sessions: earlier = 0, windows = 1 } = risen.get(id)?.before ?? {};
      const weeksBefore = { sessions: earlier, weeks: windows };
      return { groupBy, id, name, sessions, sessionsBefore, weeksBefore };
    });
}

/** Finds topics without an earlier conversation; empty in the first week of an instance, when all are new. */
async function newIn(
  topics: readonly EntityFigures[],
  figures: Figures,
  { start }: Span,
): Promise<readonly EntityFigures[]> {
  const often = topics.filter(({ sessions }) => sessions >= FEWEST);
  if (often.length === 0) return [];
  const span = { start: -Infinity, end: start };
  if ((await figures.sessions(span)) === 0) return [];
  const ids = often.map(({ id }) => id);
  const old = await figures.entities({ groupBy: 'TOPIC', span, window: null, atLeast: 1, ids });
  const known = new Set(old.map(({ id }) => id));
  return often.filter(({ id }) => !known.has(id));
}

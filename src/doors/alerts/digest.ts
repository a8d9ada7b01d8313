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
import type { EntityChange, EntityFigures, Figures, FixedFigures, Listed } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Counted, Rule } from './rule.ts';
import type { Span } from './windows.ts';

/** A number of the week, and the same of the week before. */
export interface Compared {
  readonly now: number;
  readonly before: number;
}

/** An entity that came up more or less often than in the week before. */
export interface Changed extends Omit<EntityChange, 'rises'> {
  /** Set if the entity rises against several weeks: its conversations in all of them, and their number. */
  readonly weeksBefore?: { readonly sessions: number; readonly weeks: number };
}

/** A topic of the week with its conversations in the week before. */
export type Discussed = EntityFigures & Pick<Changed, 'sessionsBefore'>;

/** The lists of a digest, sorted by conversations or by clarity of the change. */
export interface Lists {
  readonly topics: readonly Discussed[];
  readonly newTopics: readonly EntityFigures[];
  readonly rising: readonly Changed[];
  readonly falling: readonly Changed[];
  /** What is fixed, and of which this week tells that it comes up less or more often, or came back. */
  readonly fixed: readonly FixedFigures[];
  readonly gaps: readonly EntityFigures[];
  readonly dissatisfaction: readonly EntityFigures[];
  readonly repeatedRequests: readonly EntityFigures[];
}

/** The figures of a week. */
export interface Digest extends Lists {
  readonly span: Span;
  /** Only conversations of this segment count; empty: all. */
  readonly segment: readonly SegmentChoice[];
  /** Time zone whose week it is. */
  readonly timeZone: string;
  /** What was fixed before the end of the week, whatever the verdict: lines about it say so. */
  readonly known: readonly FixedFigures[];
  /** End of the figures in a week that is not over, microseconds since 1970; null if it is over. */
  readonly until: number | null;
  readonly sessions: Compared;
  readonly users: Compared;
  /** Conversations with a signal of dissatisfaction. */
  readonly dissatisfied: Compared;
  /** Number of elements cut from each list. */
  readonly others: Readonly<Record<keyof Lists, number>>;
}

const MOST_TOPICS = 5;
const MOST_OTHERS = 3;
const MOST_LISTED: Readonly<Record<keyof Lists, number>> = {
  topics: MOST_TOPICS,
  newTopics: MOST_TOPICS,
  rising: MOST_TOPICS,
  falling: MOST_TOPICS,
  fixed: MOST_TOPICS,
  gaps: MOST_OTHERS,
  dissatisfaction: MOST_OTHERS,
  repeatedRequests: MOST_OTHERS,
};
/** Fewest conversations of a new or changed entity; in quiet weeks smaller changes are not news. */
const FEWEST = 3;
/** Factor over an average week from which an entity rises; the default of alerts. */
const FACTOR = 2;

/** Derives the message id, the same for every evaluation of this week. */
export function digestIdOf(rule: Rule, { start }: Span): string {
  return messageIdOf(rule.id, 'digest', '', start);
}

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
  const cut = cutLists(lists);
  const sure = async <Entity extends EntityFigures>(
    groupBy: Listed,
    entities: readonly Entity[],
  ): Promise<readonly Entity[]> =>
    Promise.all(
      entities.map(async (entity) => {
        const precision = await figures.precision(groupBy, entity.id);
        return precision === null ? entity : { ...entity, precision };
      }),
    );
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
    ...cut,
    topics: await sure('TOPIC', cut.topics),
    newTopics: await sure('TOPIC', cut.newTopics),
    gaps: await sure('GAP', cut.gaps),
    dissatisfaction: await sure('CSAT_DSAT', cut.dissatisfaction),
    repeatedRequests: await sure('REPEATED_REQUEST', cut.repeatedRequests),
  };
}

function cutLists(lists: Lists): Lists & Pick<Digest, 'others'> {
  const names = Object.keys(MOST_LISTED) as (keyof Lists)[];
  const others = names.map((name) => [name, Math.max(0, lists[name].length - MOST_LISTED[name])]);
  const cut = names.map((name) => [name, lists[name].slice(0, MOST_LISTED[name])]);
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

/** What a week was like: from the figures to the words of it. Covered by test/alerts/digest.test.ts. */
import { wallClock, weeksEarlier } from '../domain/local-time.ts';
import { formatInstant } from '../domain/time.ts';
import { linkTo, type Content, type Section } from './body.ts';
import { risingOf } from './evaluation.ts';
import type { EntityFigures, Figures, Listed } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Counted, Rule } from './rule.ts';
import { clock, conversations, counted, dayName, namedAs, number, oneLine, percent } from './texts.ts';
import { windowAt, type Span } from './windows.ts';

/** A number of the week, and of the week before. */
interface Compared {
  readonly now: number;
  readonly before: number;
}

interface Changed extends Pick<EntityFigures, 'id' | 'name' | 'sessions'> {
  readonly groupBy: Counted;
  readonly sessionsBefore: number;
}

/** A topic of the week, and its conversations in the week before. */
type Discussed = EntityFigures & Pick<Changed, 'sessionsBefore'>;

/** The lists of a digest, the most conversations or the clearest change first. */
interface Lists {
  readonly topics: readonly Discussed[];
  readonly newTopics: readonly EntityFigures[];
  readonly rising: readonly Changed[];
  readonly falling: readonly Changed[];
  readonly gaps: readonly EntityFigures[];
  readonly dissatisfaction: readonly EntityFigures[];
  readonly repeatedRequests: readonly EntityFigures[];
}

export interface Digest extends Lists {
  readonly span: Span;
  /** Whose week it is. */
  readonly timeZone: string;
  /** Where the numbers end in a week that is not over, microseconds since 1970; null: it is over. */
  readonly until: number | null;
  readonly sessions: Compared;
  readonly users: Compared;
  /** Conversations with a signal of dissatisfaction. */
  readonly dissatisfied: Compared;
  /** How many more each list would have. */
  readonly others: Readonly<Record<keyof Lists, number>>;
}

const MOST_TOPICS = 5;
const MOST_OTHERS = 3;
const MOST_TOLD: Readonly<Record<keyof Lists, number>> = {
  topics: MOST_TOPICS,
  newTopics: MOST_TOPICS,
  rising: MOST_TOPICS,
  falling: MOST_TOPICS,
  gaps: MOST_OTHERS,
  dissatisfaction: MOST_OTHERS,
  repeatedRequests: MOST_OTHERS,
};
/** Of what has changed: in a week with few conversations, little of it is news. */
const FEWEST = 3;
/** What rises in a week has so many times the conversations of an average week before, as an alert does by default. */
const FACTOR = 2;

export function digestIdOf(rule: Rule, { start }: Span): string {
  return messageIdOf(rule.id, 'digest', '', start);
}

/**
 * Reads the digest of a week of a time zone. `now`: of a week that is not over then, what there is is compared with the
 * same part of the week before.
 */
export async function readDigest(
  figures: Figures,
  span: Span,
  timeZone: string,
  now = Infinity,
): Promise<Digest> {
  const until = now < span.end ? Math.max(now, span.start) : null;
  const whole = windowAt('WEEK', timeZone, span.start - 1);
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
  const told = new Set(newTopics.map(({ id }) => id));
  const changes = changesIn(await figures.changes(span, timeZone), told);
  for (const { id } of changes) told.add(id);
  const week = { span, before, timeZone, figures };
  const risen = [
    ...(await risenIn('TOPIC', topics, told, week)),
    ...(await risenIn('GAP', gaps, told, week)),
    ...(await risenIn('CSAT_DSAT', signals, told, week)),
  ];
  const lists: Lists = {
    topics: await withBefore('TOPIC', topics, week),
    newTopics,
    rising: [...changes.flatMap(({ rises, ...one }) => (rises ? one : [])), ...risen],
    falling: changes.flatMap(({ rises, ...one }) => (rises ? [] : one)),
    gaps,
    dissatisfaction: signals.filter(({ signalType }) => signalType === 'DSAT'),
    repeatedRequests,
  };
  return {
    span,
    timeZone,
    until,
    sessions: await compared((of) => figures.sessions(of)),
    users: await compared((of) => figures.users(of)),
    dissatisfied: await compared((of) => figures.sessions(of, true)),
    ...cutLists(lists),
  };
}

function cutLists(lists: Lists): Lists & Pick<Digest, 'others'> {
  const names = Object.keys(MOST_TOLD) as (keyof Lists)[];
  const others = names.map((name) => [name, Math.max(0, lists[name].length - MOST_TOLD[name])]);
  const cut = names.map((name) => [name, lists[name].slice(0, MOST_TOLD[name])]);
  return {
    ...(Object.fromEntries(cut) as unknown as Lists),
    others: Object.fromEntries(others) as Digest['others'],
  };
}

/** A week that is told, and what it is compared with. */
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
 * What rises against the eight weeks before, as an alert decides it, and is more than in the week before: what one week
 * alone does not tell from chance. `told`: of these it is said already.
 */
async function risenIn(
  groupBy: Counted,
  entities: readonly EntityFigures[],
  told: ReadonlySet<string>,
  week: Week,
): Promise<readonly Changed[]> {
  const often = entities.filter(({ id, sessions }) => sessions >= FEWEST && !told.has(id));
  const risen = await risingOf(often, { ...week, groupBy, window: 'WEEK', factor: FACTOR });
  const found = await withBefore(
    groupBy,
    often.filter(({ id }) => risen.has(id)),
    week,
  );
  return found
    .filter(({ sessions, sessionsBefore }) => sessions > sessionsBefore)
    .map(({ id, name, sessions, sessionsBefore }) => ({ groupBy, id, name, sessions, sessionsBefore }));
}

/** Topics without a conversation before; in the first week of an instance none of them is news. */
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

function changesIn(
  changes: Awaited<ReturnType<Figures['changes']>>,
  told: ReadonlySet<string>,
): readonly (Changed & { readonly rises: boolean })[] {
  return changes.flatMap(({ topic, gap, csatDsatSignal, change, ...counts }) => {
    const entity = topic ?? gap ?? csatDsatSignal;
    if (entity === undefined || told.has(entity.id)) return [];
    const groupBy = topic === undefined ? (gap === undefined ? 'CSAT_DSAT' : 'GAP') : 'TOPIC';
    const { sessions, sessionsBefore } = counts;
    if (Math.max(sessions, sessionsBefore) < FEWEST) return [];
    const rises = change === 'new' || change === 'rising';
    return [{ groupBy, id: entity.id, name: entity.name, sessions, sessionsBefore, rises }];
  });
}

/** The figures of a digest, as they are answered and posted. */
export function figuresOf(digest: Digest): Omit<Digest, 'span' | 'timeZone' | 'until' | 'others'> {
  const { span: _, timeZone: __, until: ___, others: ____, ...figures } = digest;
  return figures;
}

/** What a digest is part of. */
interface DigestMessage {
  /** The name of the instance; null: it has none. */
  readonly instance: string | null;
  /** The stream sequence that its numbers contain. */
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A digest as a message. */
export function digestContent(
  rule: Rule,
  digest: Digest,
  { instance, position, at }: DigestMessage,
): Content {
  const sections = sectionsOf(digest, instance);
  const { span, timeZone } = digest;
  return {
    type: 'digest.weekly',
    rule,
    at,
    text: plainText(sections),
    sections,
    link: linkToDigest(rule.instanceId, digest),
    more: {
      window: {
        granularity: 'WEEK',
        start: formatInstant(span.start),
        end: formatInstant(span.end),
        timeZone,
      },
      ...figuresOf(digest),
      position,
    },
  };
}

/** The page of the dashboard about the week. */
export function linkToDigest(
  instanceId: string,
  { span, timeZone }: Pick<Digest, 'span' | 'timeZone'>,
): string {
  const [first, last] = [span.start, span.end - 1].map((at) =>
    wallClock(at, timeZone).toISOString().slice(0, 10),
  );
  return linkTo(instanceId, null, `${first}/${last}`);
}

export function plainText(sections: readonly Section[]): string {
  return sections.map(plain).join('\n\n');
}

function plain({ title, lines }: Section): string {
  return title === undefined ? lines.join('\n') : [title, ...lines.map((line) => `- ${line}`)].join('\n');
}

/**
 * The words of a digest: first its numbers, then what they are about. A list that is empty is left out. `instance`: its
 * name, where the words have to say it.
 */
export function sectionsOf(digest: Digest, instance: string | null = null): Section[] {
  const { span, timeZone, until, sessions, others } = digest;
  const whose = instance === null ? '' : `${oneLine(instance)}, `;
  const week = `${whose}${dayName(span.start, timeZone)} to ${dayName(span.end - 1, timeZone)}, ${timeZone}.`;
  if (until === span.start) return [{ lines: [week, 'This week has not begun.'] }];
  const first = until === null ? [week] : [week, soFar(until, timeZone)];
  if (sessions.now === 0) {
    const before = sessions.before === 0 ? '' : ` In the week before, there ${were(sessions.before)}.`;
    return [{ lines: [...first, `There were no conversations.${before}`] }];
  }
  const discussed = sessions.before === 0 ? digest.topics.map(counts) : digest.topics.map(changedTopic);
  return [
    { lines: [...first, sizeSentence(digest), dissatisfactionSentence(digest)] },
    { title: 'Most discussed', lines: [...discussed, ...more(others.topics, 'topic')] },
    { title: 'New topics', lines: [...digest.newTopics.map(counts), ...more(others.newTopics, 'new topic')] },
    {
      title: 'More often than in the week before',
      lines: [...digest.rising.map(changed), ...more(others.rising, 'change')],
    },
    {
      title: 'Less often than in the week before',
      lines: [...digest.falling.map(changed), ...more(others.falling, 'change')],
    },
    {
      title: 'What the assistant could not do (ability) or did not know (knowledge)',
      lines: [...digest.gaps.map(countsOfGap), ...more(others.gaps, 'gap')],
    },
    {
      title: 'Signals of dissatisfaction',
      lines: [...digest.dissatisfaction.map(counts), ...more(others.dissatisfaction, 'signal')],
    },
    {
      title: 'Requests that users made again, with or without a signal of dissatisfaction',
      lines: [...digest.repeatedRequests.map(counts), ...more(others.repeatedRequests, 'request')],
    },
  ].filter(({ lines }) => lines.length > 0);
}

/** “and 6 other topics”; nothing where the list is whole. */
function more(count: number, unit: string): string[] {
  return count === 0 ? [] : [`and ${number(count)} other ${unit}${count === 1 ? '' : 's'}`];
}

/** “The week is not over: these are the numbers up to Saturday, 28 November 2026, 20:40, …” */
function soFar(until: number, timeZone: string): string {
  return (
    `The week is not over. These are its numbers up to ${dayName(until, timeZone)}, ${clock(until, timeZone)}; ` +
    'they are compared with the same part of the week before.'
  );
}

function were(count: number): string {
  return `${count === 1 ? 'was' : 'were'} ${conversations(count)}`;
}

/** “There were 1,204 conversations (12 % more than in the week before) with 830 users (5 % fewer).” */
function sizeSentence({ sessions, users }: Digest): string {
  const size = `There ${were(sessions.now)}${comparison(sessions, ' than in the week before')}`;
  if (users.now === 0) return `${size}.`;
  return `${size} with ${counted(users.now, 'user')}${comparison(users, '')}.`;
}

/** Of fewer, and from as many times as much on, per cent say more than there is: as the dashboard decides it. */
const [ENOUGH, MANIFOLD] = [5, 10];

/** “ (12 % more than in the week before)”, “ (3 fewer)”; nothing where there was no week before. */
function comparison({ now, before }: Compared, than: string): string {
  if (before === 0) return '';
  const change = Math.round((now / before - 1) * 100);
  const isFew = Math.min(now, before) < ENOUGH || now >= MANIFOLD * before;
  if (now === before || (change === 0 && !isFew)) {
    const about = now === before ? '' : 'about ';
    return ` (${about}as many${than === '' ? '' : ' as in the week before'})`;
  }
  const amount = isFew ? number(Math.abs(now - before)) : `${number(Math.abs(change))}\u00a0%`;
  return ` (${amount} ${now > before ? 'more' : 'fewer'}${than})`;
}

/** “99 of the 1,204 conversations (8.2 %) had a signal of dissatisfaction, against 7.5 % in the week before.” */
function dissatisfactionSentence({ sessions, dissatisfied }: Digest): string {
  const share = dissatisfied.now / sessions.now;
  const before =
    sessions.before === 0
      ? ''
      : `, against ${percent(dissatisfied.before / sessions.before)} in the week before`;
  if (sessions.now === 1)
    return `The conversation had ${dissatisfied.now === 1 ? 'a' : 'no'} signal of dissatisfaction.`;
  const which = `${number(dissatisfied.now)} of the ${conversations(sessions.now)} (${percent(share)})`;
  return `${which} had a signal of dissatisfaction${before}.`;
}

/** “‘Cancel order’: 120 conversations” */
function counts({ name, sessions }: EntityFigures): string {
  return `‘${oneLine(name)}’: ${conversations(sessions)}`;
}

/** “‘Cancel order’ (ability): 120 conversations” */
function countsOfGap({ name, sessions, gapType }: EntityFigures): string {
  const type = gapType === undefined ? '' : ` (${gapType === 'TOOL' ? 'ability' : 'knowledge'})`;
  return `‘${oneLine(name)}’${type}: ${conversations(sessions)}`;
}

function changedTopic(topic: Discussed): string {
  return changed({ ...topic, groupBy: 'TOPIC' });
}

/** “‘Cancel order’: 40 conversations, 12 in the week before”; a gap or signal says what it is. */
function changed({ sessions, sessionsBefore, ...entity }: Changed): string {
  const before = sessionsBefore === 0 ? 'none' : number(sessionsBefore);
  const now = sessions === 0 ? 'no conversations' : conversations(sessions);
  return `${namedAs(entity)}: ${now}, ${before} in the week before`;
}

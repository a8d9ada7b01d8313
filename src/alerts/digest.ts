/** What a week was like: from the figures to the words of it. Covered by test/alerts/digest.test.ts. */
import { formatInstant } from '../domain/time.ts';
import { linkTo, type Content, type Section } from './body.ts';
import type { EntityFigures, Figures, Listed } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Counted, Rule } from './rule.ts';
import { conversations, counted, dayName, namedAs, number, oneLine, percent } from './texts.ts';
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

export interface Digest {
  readonly span: Span;
  /** Whose week it is. */
  readonly timeZone: string;
  readonly sessions: Compared;
  readonly users: Compared;
  /** Conversations with a signal of dissatisfaction. */
  readonly dissatisfied: Compared;
  readonly topics: readonly EntityFigures[];
  readonly newTopics: readonly EntityFigures[];
  readonly rising: readonly Changed[];
  readonly falling: readonly Changed[];
  readonly gaps: readonly EntityFigures[];
  readonly dissatisfaction: readonly EntityFigures[];
  readonly repeatedRequests: readonly EntityFigures[];
}

const MOST_TOPICS = 5;
const MOST_OTHERS = 3;
/** Of what has changed: in a week with few conversations, little of it is news. */
const FEWEST = 3;

export function digestIdOf(rule: Rule, { start }: Span): string {
  return messageIdOf(rule.id, 'digest', '', start);
}

/** Reads the digest of a week of a time zone that is over. */
export async function readDigest(figures: Figures, span: Span, timeZone: string): Promise<Digest> {
  const before = windowAt('WEEK', timeZone, span.start - 1);
  const compared = async (read: (span: Span) => Promise<number>): Promise<Compared> => {
    const [now, then] = await Promise.all([read(span), read(before)]);
    return { now, before: then };
  };
  const list = (groupBy: Listed): Promise<readonly EntityFigures[]> =>
    figures.entities({ groupBy, span, window: 'WEEK', atLeast: 1, ids: null });
  const [topics, gaps, signals, repeatedRequests] = await Promise.all([
    list('TOPIC'),
    list('GAP'),
    list('CSAT_DSAT'),
    list('REPEATED_REQUEST'),
  ]);
  const newTopics = (await newIn(topics, figures, span)).slice(0, MOST_TOPICS);
  const told = new Set(newTopics.map(({ id }) => id));
  const changes = changesIn(await figures.changes(span, timeZone), told);
  return {
    span,
    timeZone,
    sessions: await compared((of) => figures.sessions(of)),
    users: await compared((of) => figures.users(of)),
    dissatisfied: await compared((of) => figures.sessions(of, true)),
    topics: topics.slice(0, MOST_TOPICS),
    newTopics,
    rising: changes.flatMap(({ rises, ...one }) => (rises ? one : [])).slice(0, MOST_TOPICS),
    falling: changes.flatMap(({ rises, ...one }) => (rises ? [] : one)).slice(0, MOST_TOPICS),
    gaps: gaps.slice(0, MOST_OTHERS),
    dissatisfaction: signals.filter(({ signalType }) => signalType === 'DSAT').slice(0, MOST_OTHERS),
    repeatedRequests: repeatedRequests.slice(0, MOST_OTHERS),
  };
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

/** A digest as a message. `position`: the stream sequence that its numbers contain; `at`: milliseconds since 1970. */
export function digestContent(rule: Rule, digest: Digest, position: number, at: number): Content {
  const sections = sectionsOf(digest);
  const { span, timeZone, sessions, users, dissatisfied, ...lists } = digest;
  return {
    type: 'digest.weekly',
    rule,
    at,
    text: plainText(sections),
    sections,
    link: linkTo(rule.instanceId, null),
    more: {
      window: {
        granularity: 'WEEK',
        start: formatInstant(span.start),
        end: formatInstant(span.end),
        timeZone,
      },
      sessions,
      users,
      dissatisfied,
      ...lists,
      position,
    },
  };
}

export function plainText(sections: readonly Section[]): string {
  return sections.map(plain).join('\n\n');
}

function plain({ title, lines }: Section): string {
  return title === undefined ? lines.join('\n') : [title, ...lines.map((line) => `- ${line}`)].join('\n');
}

/** The words of a digest: first its numbers, then what they are about. A list that is empty is left out. */
export function sectionsOf(digest: Digest): Section[] {
  const { span, timeZone, sessions } = digest;
  const week = `${dayName(span.start, timeZone)} to ${dayName(span.end - 1, timeZone)}, ${timeZone}.`;
  if (sessions.now === 0) {
    const before = sessions.before === 0 ? '' : ` In the week before, there ${were(sessions.before)}.`;
    return [{ lines: [week, `There were no conversations.${before}`] }];
  }
  return [
    { lines: [week, sizeSentence(digest), dissatisfactionSentence(digest)] },
    { title: 'Most discussed', lines: digest.topics.map(counts) },
    { title: 'New topics', lines: digest.newTopics.map(counts) },
    { title: 'More often than in the week before', lines: digest.rising.map(changed) },
    { title: 'Less often than in the week before', lines: digest.falling.map(changed) },
    { title: 'What the assistant could not do or did not know', lines: digest.gaps.map(counts) },
    { title: 'Signals of dissatisfaction', lines: digest.dissatisfaction.map(counts) },
    { title: 'Requests that had to be repeated', lines: digest.repeatedRequests.map(counts) },
  ].filter(({ lines }) => lines.length > 0);
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

/** “ (12 % more than in the week before)”; nothing where there was no week before. */
function comparison({ now, before }: Compared, than: string): string {
  if (before === 0) return '';
  const change = Math.round((now / before - 1) * 100);
  if (change === 0) {
    const about = now === before ? '' : 'about ';
    return ` (${about}as many${than === '' ? '' : ' as in the week before'})`;
  }
  return ` (${number(Math.abs(change))}\u00a0% ${change > 0 ? 'more' : 'fewer'}${than})`;
}

/** “8.2 % of them had a signal of dissatisfaction, against 7.5 % in the week before.” */
function dissatisfactionSentence({ sessions, dissatisfied }: Digest): string {
  const share = dissatisfied.now / sessions.now;
  const before =
    sessions.before === 0
      ? ''
      : `, against ${percent(dissatisfied.before / sessions.before)} in the week before`;
  if (sessions.now === 1) return `It had ${dissatisfied.now === 1 ? 'a' : 'no'} signal of dissatisfaction.`;
  return `${percent(share)} of them had a signal of dissatisfaction${before}.`;
}

/** “‘Cancel order’: 120 conversations” */
function counts({ name, sessions }: EntityFigures): string {
  return `‘${oneLine(name)}’: ${conversations(sessions)}`;
}

/** “‘Cancel order’: 40 conversations, 12 in the week before”; a gap or signal says what it is. */
function changed({ sessions, sessionsBefore, ...entity }: Changed): string {
  const before = sessionsBefore === 0 ? 'none' : number(sessionsBefore);
  const now = sessions === 0 ? 'no conversations' : conversations(sessions);
  return `${namedAs(entity)}: ${now}, ${before} in the week before`;
}

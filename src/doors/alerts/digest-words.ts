/**
 * Writes the text of a digest, and the message that contains it.
 *
 * Test: test/doors/alerts/digest.test.ts.
 */
import { formatInstant } from '../../domain/time.ts';
import { textOfLine } from './html.ts';
import { digestFigures, type DigestFigures } from './body-schema.ts';
import { linkToSpan, VIEW_OF, type Content, type Line, type Section } from './body.ts';
import { LISTS, type Changed, type Compared, type Digest, type Lists } from './digest.ts';
import type { EntityFigures, FixedFigures, Listed } from './figures.ts';
import type { Rule } from './rule.ts';
import {
  clock,
  conversations,
  counted,
  dayName,
  fixedWords,
  namedAs,
  number,
  oneLine,
  percent,
  segmentSentence,
  shortDay,
  sureness,
  tenths,
  usually,
} from './texts.ts';

/** Returns the figures as the API answers and posts them. */
export function figuresOf(digest: Digest): Pick<Digest, keyof DigestFigures> {
  const names = Object.keys(digestFigures) as (keyof DigestFigures)[];
  const figures = Object.fromEntries(names.map((name) => [name, digest[name]]));
  return figures as ReturnType<typeof figuresOf>;
}

/**
 * Builds the content of a digest message. `instance`: its name, or null; `position`: the stream sequence that the
 * numbers include; `at`: milliseconds since 1970.
 */
export function digestContent(
  rule: Rule,
  digest: Digest,
  { instance, position, at }: { instance: string | null; position: number; at: number },
): Content {
  const sections = sectionsOf(digest, instance, rule.instanceId);
  const { span, segment, timeZone } = digest;
  return {
    type: 'digest.weekly',
    rule,
    at,
    text: plainText(sections),
    sections,
    link: linkToSpan(rule.instanceId, span, timeZone, segment),
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

/** Joins sections with blank lines; the lines of a titled section become a list. */
export function plainText(sections: readonly Section[]): string {
  return sections.map(plain).join('\n\n');
}

function plain({ title, lines }: Section): string {
  const texts = lines.map(textOfLine);
  return title === undefined ? texts.join('\n') : [title, ...texts.map((line) => `- ${line}`)].join('\n');
}

/** The lists of a digest, the news first: their titles, and what an element is called. */
const SECTIONS: readonly (readonly [list: keyof Lists, title: string, unit: string])[] = [
  ['newTopics', 'New topics', 'new topic'],
  ['fixed', 'What was fixed', 'change'],
  ['rising', 'More often than in the week before', 'change'],
  ['falling', 'Less often than in the week before', 'change'],
  ['topics', 'Most discussed', 'topic'],
  ['gaps', 'What the assistant could not do (ability) or did not know (knowledge)', 'gap'],
  ['dissatisfaction', 'Signals of dissatisfaction', 'signal'],
  [
    'repeatedRequests',
    'Requests that users made again, with or without a signal of dissatisfaction',
    'request',
  ],
];

/** An element of one of the lists. */
type Entity = Lists[keyof Lists][number];

/**
 * Writes the sections of a digest: first its totals, then its lists, the news first; empty lists are left out.
 * `instance` is the name to mention, or null. With `instanceId`, the lines of lists lead to what they are about, in that
 * week.
 */
export function sectionsOf(
  digest: Digest,
  instance: string | null = null,
  instanceId: string | null = null,
): Section[] {
  const { span, segment, timeZone, until, sessions, others } = digest;
  const named = instance === null ? '' : `${oneLine(instance)}, `;
  const week = `${named}${dayName(span.start, timeZone)} to ${dayName(span.end - 1, timeZone)}, ${timeZone}.`;
  if (until === span.start) return [{ lines: [week, 'This week has not begun.'] }];
  const first = [week, segmentSentence(segment) ?? [], until === null ? [] : soFar(until, timeZone)].flat();
  if (sessions.now === 0) {
    const before = sessions.before === 0 ? '' : ` In the week before, there ${were(sessions.before)}.`;
    return [{ lines: [...first, `There were no conversations.${before}`] }];
  }
  const lineOf = (entity: Entity, ofList: Listed | undefined): Line => {
    const sure = sureness('precision' in entity ? entity.precision : undefined);
    const stated = 'verdict' in entity ? '' : statedOf(digest, entity.id);
    const text = `${written(entity, ofList, digest)}${sure}${stated}`;
    const groupBy = ofList ?? ('groupBy' in entity ? entity.groupBy : 'TOPIC');
    if (instanceId === null) return text;
    const page = { view: VIEW_OF[groupBy], id: entity.id };
    return { text, link: linkToSpan(instanceId, span, timeZone, segment, page) };
  };
  const lists = SECTIONS.map(([name, title, unit]) => {
    const entities: readonly Entity[] = digest[name];
    const lines = entities.map((entity) => lineOf(entity, LISTS[name].groupBy));
    return { title, lines: [...lines, ...more(others[name], unit)] };
  });
  return [
    { lines: [...first, sizeSentence(digest), dissatisfactionSentence(digest)] },
    ...lists.filter(({ lines }) => lines.length > 0),
  ];
}

/**
 * Examples: “; marked as fixed since 20 May”, “; marked as fixed in version ‘3.2’, came back”; empty if nobody said that it
 * is fixed.
 */
function statedOf({ known, timeZone }: Digest, id: string): string {
  const found = known.find((one) => one.id === id);
  if (found === undefined) return '';
  return `; marked as ${fixedWords(found, timeZone)}${found.verdict === 'CAME_BACK' ? ', came back' : ''}`;
}

/** Example: “and 6 other topics”; empty if the list is complete. */
function more(count: number, unit: string): string[] {
  return count === 0 ? [] : [`and ${number(count)} other ${unit}${count === 1 ? '' : 's'}`];
}

/** Example: “The week is not over. These are its numbers up to Saturday, 28 November 2026, 20:40; …” */
function soFar(until: number, timeZone: string): string {
  return (
    `The week is not over. These are its numbers up to ${dayName(until, timeZone)}, ${clock(until, timeZone)}; ` +
    'they are compared with the same part of the week before.'
  );
}

function were(count: number): string {
  return `${count === 1 ? 'was' : 'were'} ${conversations(count)}`;
}

/** Example: “There were 1,204 conversations (12 % more than in the week before) with 830 users (5 % fewer).” */
function sizeSentence({ sessions, users }: Digest): string {
  const size = `There ${were(sessions.now)}${comparison(sessions, ' than in the week before')}`;
  if (users.now === 0) return `${size}.`;
  return `${size} with ${counted(users.now, 'user')}${comparison(users, '')}.`;
}

/**
 * Below ENOUGH conversations, and from MANIFOLD times as many on, a percentage misleads. The dashboard uses the same
 * limits.
 */
const [ENOUGH, MANIFOLD] = [5, 10];

/** Examples: “ (12 % more than in the week before)”, “ (3 fewer)”; empty if there was none in the week before. */
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

/**
 * Example: “99 of the 1,204 conversations (8.2 %) had a signal of dissatisfaction, against 7.5 % in the week before.”
 */
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

/**
 * Writes an element of a list. `ofList`: the grouping of all its elements. Topics are compared where there were
 * conversations in the week before.
 */
function written(entity: Entity, ofList: Listed | undefined, { timeZone, sessions }: Digest): string {
  if ('verdict' in entity) return fixedLine(entity, timeZone);
  if (ofList === undefined && 'groupBy' in entity) return changed(entity);
  if ('sessionsBefore' in entity && sessions.before > 0) return changed({ ...entity, groupBy: 'TOPIC' });
  return counts(entity);
}

/** Example: “‘Cancel order’ (ability): 120 conversations” */
function counts({ name, sessions, gapType }: EntityFigures): string {
  const type = gapType === undefined ? '' : ` (${gapType === 'TOOL' ? 'ability' : 'knowledge'})`;
  return `‘${oneLine(name)}’${type}: ${conversations(sessions)}`;
}

/**
 * Examples: “The gap ‘Cancel orders’, fixed since 20 May, comes up less often: in 0.6 % of conversations in the weeks
 * after, 6.1 % before”; “…, came back: in 5.8 % of conversations from 1 July to 28 July, 0.6 % in the weeks after the
 * change”
 */
function fixedLine(one: FixedFigures, timeZone: string): string {
  const { verdict, before, after, again } = one;
  const what = `${namedAs(one)}, ${fixedWords(one, timeZone)}`;
  const [was, is] = [before, after].map((side) => percent(side?.share ?? 0));
  if (verdict !== 'CAME_BACK' || again === null) {
    const told = verdict === 'WORSE' ? 'comes up more often' : 'comes up less often';
    return `${what}, ${told}: in ${is} of conversations in the weeks after, ${was} before`;
  }
  const [from, to] = [Date.parse(again.start), Date.parse(again.end) - 1].map((at) =>
    shortDay(at * 1000, timeZone),
  );
  return `${what}, came back: in ${percent(again.share)} of conversations from ${from} to ${to}, ${is} in the weeks after the change`;
}

/**
 * Example: “‘Cancel order’: 40 conversations, 12 in the week before, 9.5 in an average week of the last eight weeks”; a
 * gap or signal is named as such.
 */
function changed({ sessions, sessionsBefore, weeksBefore, ...entity }: Changed): string {
  const before = sessionsBefore === 0 ? 'none' : number(sessionsBefore);
  const now = sessions === 0 ? 'no conversations' : conversations(sessions);
  const usual =
    weeksBefore === undefined
      ? ''
      : `, ${tenths(weeksBefore.sessions / weeksBefore.weeks)} ${usually('WEEK', weeksBefore.weeks)}`;
  return `${namedAs(entity)}: ${now}, ${before} in the week before${usual}`;
}

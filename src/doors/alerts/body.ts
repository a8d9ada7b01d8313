/**
 * Renders a message for its receiver: JSON with all figures, Slack's incoming webhooks, or e-mail. Keeps the invariant
 * that text of users cannot become markup, a link or a mention.
 *
 * Test: test/doors/alerts/body.test.ts.
 */
import { nameOfChoice, type SegmentChoice } from '../../domain/attributes.ts';
import { wallClock } from '../../domain/local-time.ts';
import { formatInstant } from '../../domain/time.ts';
import { htmlOf, textOfLine } from './html.ts';
import type { MailBody } from './mail.ts';
import { MOST_DIFFERENCES_LISTED, MOST_HELD_BACK_NAMED, type PostedType } from './body-schema.ts';
import type { Firing } from './evaluation.ts';
import type { FixedFigures, Listed, Precision } from './figures.ts';
import type { ValueFiring } from './new-values.ts';
import type { Message } from './outbox.ts';
import type { Format, Rule } from './rule.ts';
import { segmentChoices } from './segment.ts';
import { oneLine, precisionSentence, textOf } from './texts.ts';
import type { Span } from './windows.ts';

/** A message before it is rendered. */
export interface Content {
  readonly type: PostedType;
  readonly rule: Rule;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly at: number;
  readonly text: string;
  /** Sections of the text for Slack and e-mail, plain and not escaped. Default: the text. */
  readonly sections?: readonly Section[];
  /** Path on the dashboard. */
  readonly link: string;
  readonly more: Readonly<Record<string, unknown>>;
}

/** A section of a message; its title is a heading. */
export interface Section {
  readonly title?: string;
  readonly lines: readonly Line[];
}

/** A line of a section: its text, and the dashboard path that it leads to. */
export type Line = string | { readonly text: string; readonly link: string };

/** Base URL of the dashboard; '' leaves links as paths. */
export type PublicUrl = string;

/** Renders the text and the body that `format` requires; links start with `publicUrl`. */
export function render(
  content: Content,
  format: Format,
  publicUrl: PublicUrl,
): Pick<Message, 'text' | 'body'> {
  const { text } = content;
  const link = `${publicUrl}${content.link}`;
  const bodyOf = { undertone: undertoneBody, slack: slackBody, email: mailBody }[format];
  return { text, body: JSON.stringify(bodyOf(content, link, publicUrl)) };
}

function undertoneBody({ type, rule, at, text, more }: Content, link: string): unknown {
  const { id, name, condition, instanceId } = rule;
  return {
    type,
    timestamp: formatInstant(at * 1000),
    data: { alert: { id, name, kind: condition.kind }, instanceId, text, link, ...more },
  };
}

/** Longest subject of a mail, characters; mail clients cut longer ones off. */
const LONGEST_SUBJECT = 120;

function mailBody(
  { rule, text, sections = [{ lines: [text] }] }: Content,
  link: string,
  publicUrl: PublicUrl,
): MailBody {
  const title = oneLine(rule.name);
  const mailText = /^https?:/.test(link) ? `${text}\n\n${link}\n` : `${text}\n`;
  const [first = ''] = sections[0]?.lines ?? [];
  const subject = cut(`${title}: ${oneLine(textOfLine(first))}`, LONGEST_SUBJECT);
  return { subject, text: mailText, html: htmlOf({ title, sections, link, publicUrl }) };
}

/** Slack's maximum characters of a section and of a header. */
const SLACK_SECTION = 3000;
const SLACK_HEADER = 150;

function slackBody(
  { rule, text, sections = [{ lines: [text] }] }: Content,
  link: string,
  publicUrl: PublicUrl,
): unknown {
  const header = { type: 'plain_text', text: cut(oneLine(rule.name), SLACK_HEADER), emoji: false };
  const blocks = sections.map((section) => {
    const linked = slackSection(section, publicUrl);
    // A link that is cut would show as text.
    const written = linked.length <= SLACK_SECTION ? linked : slackSection(section, '');
    return { type: 'section', text: { type: 'mrkdwn', text: cut(written, SLACK_SECTION), verbatim: true } };
  });
  const isUrl = /^https?:/.test(link);
  const open = {
    type: 'section',
    text: { type: 'mrkdwn', text: `<${link.replaceAll('&', '&amp;')}|Open in Undertone>` },
  };
  return {
    text: escapeMrkdwn(`${oneLine(rule.name)}: ${text}`),
    blocks: [{ type: 'header', text: header }, ...blocks, ...(isUrl ? [open] : [])],
  };
}

/** Without a `publicUrl`, its lines have no links. */
function slackSection({ title, lines }: Section, publicUrl: PublicUrl): string {
  const escaped = lines.map((line) => slackLine(line, publicUrl));
  return (title === undefined ? escaped : [`*${escapeMrkdwn(title)}*`, ...escaped]).join('\n');
}

function slackLine(line: Line, publicUrl: PublicUrl): string {
  const text = escapeMrkdwn(textOfLine(line));
  if (typeof line === 'string' || !/^https?:/.test(publicUrl)) return text;
  return `${text} (<${`${publicUrl}${line.link}`.replaceAll('&', '&amp;')}|open>)`;
}

/**
 * Escapes text for Slack: `&`, `<` and `>`, so that it contains no link or mention (`<!channel>`, `<@U…>`). A
 * zero-width space after characters that format text or mention somebody without brackets disables them.
 */
export function escapeMrkdwn(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`@#]/g, '$&\u200b');
}

/** Cuts at a character, never inside an escape or a surrogate pair. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text
    .slice(0, longest - 1)
    .replace(/&[a-z]*$/, '')
    .replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The views of the dashboard. */
export const VIEW_OF: Readonly<Record<Listed, string>> = {
  TOPIC: 'topic',
  GAP: 'gap',
  CSAT_DSAT: 'signal',
  REPEATED_REQUEST: 'repeat',
};

/** Returns the dashboard path of an entity, or of the instance. */
export function linkTo(
  instanceId: string,
  entity: Pick<NonNullable<Firing['entity']>, 'groupBy' | 'id'> | null,
): string {
  const page = entity === null ? {} : { view: VIEW_OF[entity.groupBy], id: entity.id };
  return `/?${new URLSearchParams({ instance: instanceId, ...page }).toString()}`;
}

/** Returns the dashboard path of the days of a span, with the conversations of a segment alone. */
export function linkToSpan(
  instanceId: string,
  { start, end }: Span,
  zone: string,
  segment: readonly SegmentChoice[],
  more: Readonly<Record<string, string>> = {},
): string {
  const [first, last] = [start, end - 1].map((at) => wallClock(at, zone).toISOString().slice(0, 10));
  const parameters = new URLSearchParams({ instance: instanceId, range: `${first}/${last}`, ...more });
  for (const choice of segment)
    for (const one of choice.values) parameters.append(`segment.${nameOfChoice(choice)}`, one);
  return `/?${parameters.toString()}`;
}

/** Builds a message that has not been sent yet. */
export function messageOf(
  id: string,
  type: Message['type'],
  content: Content,
  publicUrl: PublicUrl,
): Message {
  const { rule, at } = content;
  return {
    id,
    instanceId: rule.instanceId,
    ruleId: rule.id,
    type,
    ...render(content, rule.delivery.format, publicUrl),
    createdAt: at,
    state: 'pending',
    attempts: 0,
    nextAt: at,
    last: null,
  };
}

/** Returns the dashboard path of what differs between two values: the overview of the days and the segment that count. */
function linkToPair({ instanceId, condition, timeZone }: Rule, span: Span, compared: ValueFiring): string {
  const { segmentKey, value, against } = compared;
  const pair = { attribute: segmentKey, value, against };
  return linkToSpan(instanceId, span, timeZone, segmentChoices(condition.segment), pair);
}

function comparedOf({ segmentKey, value, against, sessionsAgainst, found }: ValueFiring): unknown {
  const differences = found.slice(0, MOST_DIFFERENCES_LISTED);
  return { segmentKey, value, against, sessionsAgainst, differences };
}

function fixedOf({ fixedAt, release, before, after }: FixedFigures): unknown {
  return { fixedAt, release, before, after };
}

/** Builds the content of a firing. `position` is the stream sequence that its numbers include. */
export function contentOf(
  firing: Firing & { readonly quotes: readonly string[]; readonly precision: Precision | null },
  position: number,
  at: number,
): Content {
  const { rule, window, span, value, bound, sessions, before, entity, compared, fixed } = firing;
  const { quotes, precision } = firing;
  // Reads as current only if the window is still open now, however far behind the worker is.
  const told = textOf({ ...firing, isOpen: firing.isOpen && span.end > at * 1000 });
  const text = precision === null ? told : `${told} ${precisionSentence(precision)}`;
  const timesOf = ({ start, end }: Span) => ({ start: formatInstant(start), end: formatInstant(end) });
  const { timeZone } = rule;
  const counted = { window: { granularity: window, ...timesOf(span), timeZone }, value, bound };
  if (firing.heldBack !== undefined) {
    const heldBack = firing.heldBack
      .slice(0, MOST_HELD_BACK_NAMED)
      .map(({ groupBy, id, name, sessions: count }) => ({ groupBy, id, name, sessions: count }));
    const more = { ...counted, heldBack, position };
    return { type: 'alert.held_back', rule, at, text, link: linkTo(rule.instanceId, null), more };
  }
  return {
    type: 'alert.fired',
    rule,
    at,
    text,
    ...(quotes.length === 0
      ? {}
      : { sections: [{ lines: [text] }, { lines: quotes.map((quote) => `“${quote}”`) }] }),
    link: compared === undefined ? linkTo(rule.instanceId, entity) : linkToPair(rule, span, compared),
    more: {
      ...counted,
      ...(compared === undefined ? {} : { compared: comparedOf(compared) }),
      ...(fixed === undefined ? {} : { fixed: fixedOf(fixed) }),
      ...(sessions === undefined ? {} : { sessions }),
      ...(before === undefined ? {} : { before: { ...before, ...timesOf(before) } }),
      entity: entity === null ? null : { groupBy: entity.groupBy, id: entity.id, name: entity.name },
      precision,
      quotes,
      position,
    },
  };
}

/**
 * Writes a brief as Markdown and as CSV, and marks drafts. Keeps the invariant that what users said cannot become markup.
 *
 * Test: test/query/briefs/brief-text.test.ts.
 */
import { toCsv } from '../../domain/csv.ts';
import { wallClock } from '../../domain/local-time.ts';
import type { MaskedKind } from '../../domain/placeholders.ts';
import type { BriefParameters, BriefResponse } from './brief-schema.ts';

const TYPES = {
  TOOL: 'The assistant said that it cannot do this. To close the gap, build an action that does it.',
  KNOWLEDGE:
    'The assistant said that it does not know this. To close the gap, write an article that it can use.',
} as const;

const ARGUMENT_WORDS: Readonly<Record<MaskedKind, string>> = {
  EMAIL: 'an e-mail address',
  PHONE: 'a phone number',
  CARD: 'a card number',
  IBAN: 'an account number',
  ID: 'a number, such as of an order',
  IP: 'an IP address',
  LINK: 'a link',
  HANDLE: 'a user name',
  NAME: 'a name',
  ADDRESS: 'an address',
  BIRTHDATE: 'a date of birth',
  SECRET: 'a code or a password',
};

/** Whose conversations a brief counts. */
export type BriefPeriod = Pick<BriefParameters, 'dateRange.start' | 'dateRange.end' | 'timeZone'>;

/** Writes the brief for whoever closes the gap: an article for missing knowledge, an action for a missing ability. */
export function briefMarkdown(brief: BriefResponse, period: BriefPeriod): string {
  const { gap, groups, others, read, answers } = brief;
  const held = brief.arguments.map(
    ({ kind, requests }) => `- ${requests} of ${read}: ${ARGUMENT_WORDS[kind]}`,
  );
  const parts = [
    `# ${plain(gap.name)}`,
    TYPES[gap.gapType],
    `${numbersOf(brief)} ${periodOf(brief, period)}`,
    ...(groups.length === 0 ? [] : ['## What people ask']),
    ...groups.flatMap(({ topic, sessions, questions }, index) => [
      `### ${index + 1}. ${topic === null ? 'Something else' : plain(topic.name)}: ${conversations(sessions)}`,
      questions.length === 0 ? 'The texts are gone.' : quotes(questions),
    ]),
    ...(others === 0
      ? []
      : [`${others} more ${others === 1 ? 'conversation is' : 'conversations are'} about other things.`]),
    ...(held.length === 0 ? [] : ['## What the requests hold', held.join('\n')]),
    ...(answers.length === 0 ? [] : ['## What the assistant says now', quotes(answers)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Example: “Counted from 2026-11-03 to 2026-11-30, UTC.”; never later than the newest entry that counts. */
function periodOf({ lastProcessedAt }: BriefResponse, period: BriefPeriod): string {
  const { timeZone = 'UTC', 'dateRange.start': start = null, 'dateRange.end': end = null } = period;
  const day = (at: number): string => wallClock(at, timeZone).toISOString().slice(0, 10);
  const from = start === null ? '' : ` from ${day(start)}`;
  const last = Math.min((end ?? Infinity) - 1, Date.parse(lastProcessedAt) * 1000);
  return `Counted${from} to ${day(last)}, ${timeZone}.`;
}

function quotes(said: readonly { readonly text: string }[]): string {
  return said.map(({ text }) => `> ${plain(text)}`).join('\n>\n');
}

/** Example: “8 conversations of 8 people; 6 of them dissatisfied, 4 more than usual; 1 went on with a person.” */
function numbersOf({ fields }: BriefResponse): string {
  const {
    sessions = 0,
    users = 0,
    dissatisfied = 0,
    excessDissatisfied,
    handedOver = 0,
    cameBack = 0,
  } = fields;
  if (sessions === 0) return 'No conversation has it in this time.';
  const people = users === 0 ? '' : ` of ${users === 1 ? 'one person' : `${users} people`}`;
  const more = Math.round(excessDissatisfied ?? 0);
  const than = more === 0 ? '' : `, ${Math.abs(more)} ${more > 0 ? 'more' : 'fewer'} than usual`;
  const endings = [
    `${dissatisfied} of them dissatisfied${than}`,
    ...(handedOver === 0 ? [] : [`${handedOver} went on with a person`]),
    ...(cameBack === 0 ? [] : [`after ${cameBack} the user asked again within 7 days`]),
  ];
  return `${conversations(sessions)}${people}; ${endings.join('; ')}.`;
}

function conversations(count: number): string {
  return count === 1 ? '1 conversation' : `${count} conversations`;
}

/** Escapes what Markdown or HTML would take for markup, on one line. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>()#+!|~&:@]|^-|(?<=^\d{1,9}|www)\./giu, '\\$&');
}

/** Puts the mark of its model above a draft, so that it goes along with a copy. */
export function draftMarkdown({ gap, read }: BriefResponse, text: string, model: string): string {
  const kind = gap.gapType === 'TOOL' ? 'requirement' : 'article';
  const mark =
    `> Draft of ${kind === 'article' ? 'an' : 'a'} ${kind}, written by the language model ${plain(model)} from ` +
    `${read === 1 ? 'one request' : `${read} requests`}. It knows the questions, not the answers: check every ` +
    'sentence, and fill in what is open.';
  return `${mark}\n\n${text.trim()}\n`;
}

/** A row for each question, the most frequent group first. */
export function briefCsv({ gap, groups }: BriefResponse): string {
  return toCsv([
    ['gap', 'type', 'group', 'topic', 'sessions', 'question', 'createdAt', 'sessionId'],
    ...groups.flatMap(({ topic, sessions, questions }, index) =>
      questions.map(({ text, createdAt, sessionId }) => [
        gap.name,
        gap.gapType,
        index + 1,
        topic?.name ?? '',
        sessions,
        text,
        createdAt,
        sessionId,
      ]),
    ),
  ]);
}

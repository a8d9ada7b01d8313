/**
 * Reads Slack exports: a folder for each channel, with a file of messages for each day. A conversation is a thread, or
 * messages outside of threads without a long pause. Source: slack.com/help/articles/220556107 "How to read Slack data
 * exports"; docs.slack.dev/reference/events/message.
 *
 * Test: test/doors/import/formats/slack.test.ts.
 */
import { basename, dirname } from 'node:path';
import { roleOf } from '../../../domain/records.ts';
import { formatInstant } from '../../../domain/time.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, PAUSE_MS, type Placement, type RowFormat, type Turn } from './format.ts';
import { slackText } from './slack-text.ts';

export interface SlackUser {
  /** Display name. */
  readonly name: string;
  readonly isBot: boolean;
  /** Id and names that `--map role:…` may use. */
  readonly names: readonly string[];
}

/** The users and channels that the lists of an export name. */
export interface SlackNames {
  readonly users: ReadonlyMap<string, SlackUser>;
  /** Folder name → channel. */
  readonly channels: ReadonlyMap<string, { readonly id: string; readonly name: string }>;
}

const NO_NAMES: SlackNames = { users: new Map(), channels: new Map() };
/** Seconds, and after the dot a counter within the second. */
const TS = /^(\d{9,11})\.(\d{6})$/;
/** Subtypes that are messages of people or bots. */
const MESSAGE_SUBTYPES = new Set([
  'bot_message',
  'thread_broadcast',
  'file_share',
  'me_message',
  'bot_thread_broadcast',
]);
/** Slack's own bot; the list of users does not mark it as one. */
const SLACKBOT = 'USLACKBOT';

interface Kept {
  readonly turn: Turn;
  readonly channel: string;
}

/** Creates the format for one export. `roles` maps ids and names to roles. */
export function slackFormat(names: SlackNames, roles: ReadonlyMap<string, string>): RowFormat {
  return {
    kind: 'rows',
    name: 'slack',
    title: 'Slack export',
    joins: true,
    recognise: (sample) =>
      sample.shape === 'json' || sample.shape === 'jsonl' ? recogniseMessages(sample) : null,
    begin: () => {
      const stretches = new Map<string, { start: string; last: number }>();
      return (value, file) => placeMessage(value, file, { names, roles, stretches });
    },
    place: (value, file) => placeMessage(value, file, { names, roles, stretches: new Map() }),
    assemble: (conversation, rows) => {
      const kept = rows.filter(isObject) as unknown as readonly Kept[];
      const channel = kept[0]?.channel ?? '';
      const turns = kept.flatMap(({ turn }) => turn ?? []);
      return {
        line: { id: conversation, source: 'slack', turns, metadata: { channel } },
        omitted: new Map(),
      };
    },
  };
}

const recogniseMessages = byShare({
  holds: isSlackMessage,
  confidence: 0.9,
  reason: 'entries are messages with a ts',
});

export const slack = slackFormat(NO_NAMES, new Map());

export function isSlackMessage(value: Record<string, unknown>): boolean {
  return value['type'] === 'message' && TS.test(textOf(value['ts']) ?? '');
}

interface Reading {
  readonly names: SlackNames;
  readonly roles: ReadonlyMap<string, string>;
  /** By channel: `ts` of the first message of the open conversation, and time of its last one in microseconds. */
  readonly stretches: Map<string, { start: string; last: number }>;
}

function placeMessage(value: unknown, file: string, { names, roles, stretches }: Reading): Placement {
  if (!isObject(value)) return { fault: 'not a JSON object' };
  const subtype = textOf(value['subtype']);
  if (value['hidden'] === true || (subtype !== undefined && !MESSAGE_SUBTYPES.has(subtype)))
    return { leftOut: 'event' };
  const ts = textOf(value['ts']) ?? '';
  const at = microsOf(ts);
  if (at === null) return { fault: 'ts: missing; it says when the message was sent (1764407701.000100)' };
  const content = slackText(value, (id) => names.users.get(id)?.name);
  if (content === '') return { leftOut: Array.isArray(value['files']) ? 'file' : 'message without text' };
  const folder = basename(dirname(file));
  const channel = names.channels.get(folder) ?? { id: folder, name: folder };
  const turn: Turn = { ...speakerOf(value, names, roles), content, createdAt: formatInstant(at) };
  const kept: Kept = { turn, channel: channel.name };
  const thread = textOf(value['thread_ts']);
  const start = thread ?? stretchOf(channel.id, ts, at, stretches);
  const conversation = `${channel.id}/${start}`;
  return { conversation, part: conversation, at, kept };
}

function stretchOf(channel: string, ts: string, at: number, stretches: Reading['stretches']): string {
  const open = stretches.get(channel);
  const start = open === undefined || at - open.last > PAUSE_MS * 1000 ? ts : open.start;
  stretches.set(channel, { start, last: Math.max(at, open?.last ?? at) });
  return start;
}

function microsOf(ts: string): number | null {
  const [, seconds, micros] = TS.exec(ts) ?? [];
  return seconds === undefined ? null : Number(seconds) * 1e6 + Number(micros);
}

function speakerOf(
  { user, bot_id: bot, subtype, username, bot_profile: profile }: Record<string, unknown>,
  { users }: SlackNames,
  roles: ReadonlyMap<string, string>,
): { role: string; userId?: string } {
  const id = textOf(user);
  const known = id === undefined ? undefined : users.get(id);
  const isBot =
    textOf(bot) !== undefined || subtype === 'bot_message' || known?.isBot === true || id === SLACKBOT;
  const called = [
    id,
    ...(known?.names ?? []),
    textOf(username),
    isObject(profile) ? textOf(profile['name']) : undefined,
  ];
  const given = called.flatMap((name) => (name === undefined ? [] : (roles.get(name) ?? [])))[0];
  const role = given ?? (isBot ? 'assistant' : 'user');
  return { role, ...(id !== undefined && roleOf(role) === 'user' ? { userId: id } : {}) };
}

/**
 * The tool `transcript`: one conversation with the findings of each message.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { sessionOutcome } from '../../../domain/groupings.ts';
import { parseInstant } from '../../../domain/time.ts';
import { UUID_PATTERN } from '../../../domain/ids.ts';
import { writeCursor, type TranscriptMessage } from '../../../query/session-schema.ts';
import { cell } from '../data-text.ts';
import { findInstance } from '../find.ts';
import { counted } from '../numbers.ts';
import { freshness, instance, limit, named, picked, source, text, tool, whole } from '../tool.ts';

/** Maximum characters of messages in one answer. */
const MOST_CHARACTERS = 6000;

const message = z.object({
  role: z.string().nullable(),
  user: z.string().nullable(),
  createdAt: z.string(),
  text: z.string().nullable(),
  cutCharacters: z.number().describe('Characters at the end that are not shown.'),
  gone: z.string().nullable(),
  topic: named.nullable(),
  signals: z.array(named.extend({ type: z.string() })),
  feedback: z.object({ up: z.int(), down: z.int() }),
  gap: named.extend({ type: z.string() }).nullable(),
  repeats: named.nullable().describe('The request that it asks again.'),
});

const conversation = z.object({
  id: z.string(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  language: z.string().nullable(),
  outcome: sessionOutcome,
  user: z.string().nullable(),
  createdAt: z.string(),
  lastActiveAt: z.string(),
  messages: z.number(),
  sat: z.number(),
  dsat: z.number(),
  repeatedRequests: z.number(),
});

export const transcript = tool({
  name: 'transcript',
  title: 'Transcript',
  description:
    'Reads one conversation, message by message, with what was found in each: topic, signals of (dis)satisfaction, ' +
    'gap, repeated request.',
  input: z.strictObject({
    conversation: text('The id of the conversation.').regex(
      UUID_PATTERN,
      'must be an id, as conversations lists them',
    ),
    limit: limit(30),
    cursor: text('Where to go on: next of the answer before.').optional(),
    characters: whole(100, 20_000, 1200).describe('The most to show of one message.'),
    instance,
  }),
  output: z.object({
    instance: source.instance,
    lastProcessedAt: source.lastProcessedAt,
    conversation,
    messages: z.array(message),
    next: z.string().nullable().describe('The cursor of what follows.'),
  }),

  async read(args, { reading }) {
    const instanceId = await findInstance(reading, args.instance);
    const { session, messages, pagination, lastProcessedAt } = await reading.session(args.conversation, {
      instanceId,
      limit: String(args.limit),
      ...(args.cursor === undefined ? {} : { cursor: args.cursor }),
    });
    const fitted = fitting(messages, args.characters);
    return {
      instance: instanceId,
      lastProcessedAt,
      conversation: picked(conversation, { ...session, user: session.endUser?.externalId ?? null }),
      messages: fitted.map((each) => messageRow(each, args.characters)),
      next: fitted.length < messages.length ? cursorAfter(fitted.at(-1)) : pagination.next,
    };
  },

  page({ conversation: of, messages, next, lastProcessedAt }) {
    const about = [
      `Title: ${cell(of.title ?? '(none)', 200)}`,
      ...(of.summary === null ? [] : [`Summary: ${cell(of.summary, 600)}`]),
      ...(of.user === null ? [] : [`User: ${cell(of.user)}`]),
    ];
    return {
      head:
        `Conversation ${of.id}: ${counted(of.messages, 'message')}, ${of.createdAt} to ${of.lastActiveAt} (UTC), ` +
        `language ${of.language ?? 'unknown'}, outcome ${of.outcome ?? 'none'}, sat ${of.sat}, dsat ${of.dsat}, ` +
        `repeated requests ${of.repeatedRequests}. ${freshness(lastProcessedAt)} Lines of a message begin with ">".`,
      data: [...about, ...messages.map(messageText)].join('\n'),
      foot: next === null ? '' : `Shown: ${counted(messages.length, 'message')}. Go on with cursor ${next}.`,
    };
  },
});

type Message = z.output<typeof message>;

/** Returns the messages that fit, at least one. */
function fitting(messages: readonly TranscriptMessage[], most: number): readonly TranscriptMessage[] {
  let used = 0;
  const end = messages.findIndex(({ content }, index) => {
    used += Math.min(content?.length ?? 0, most);
    return index > 0 && used > Math.max(MOST_CHARACTERS, most);
  });
  return end === -1 ? messages : messages.slice(0, end);
}

/** Returns the cursor after a message. */
function cursorAfter(last: TranscriptMessage | undefined): string | null {
  if (last === undefined) return null;
  return writeCursor({ at: parseInstant(last.createdAt) ?? 0, position: last.position });
}

function messageRow(sent: TranscriptMessage, most: number): Message {
  const characters = [...(sent.content ?? '')];
  return {
    role: sent.role,
    user: sent.externalId,
    createdAt: sent.createdAt,
    text: sent.content === null ? null : characters.slice(0, most).join(''),
    cutCharacters: Math.max(0, characters.length - most),
    gone: sent.gone,
    topic: sent.topic,
    signals: sent.signals.map(({ id, name, signalType }) => ({ id, name, type: signalType })),
    feedback: sent.feedback,
    gap: sent.gap === null ? null : { id: sent.gap.id, name: sent.gap.name, type: sent.gap.gapType },
    repeats: sent.repeatedRequest,
  };
}

function messageText(each: Message): string {
  const found = [
    ...(each.topic === null ? [] : [`topic ${cell(each.topic.name)}`]),
    ...each.signals.map(({ type, name }) => `${type}: ${cell(name)}`),
    ...(each.feedback.up === 0 ? [] : [`thumbs up by ${each.feedback.up}`]),
    ...(each.feedback.down === 0 ? [] : [`thumbs down by ${each.feedback.down}`]),
    ...(each.gap === null ? [] : [`${each.gap.type} gap: ${cell(each.gap.name)}`]),
    ...(each.repeats === null ? [] : [`asks again: ${cell(each.repeats.name)}`]),
  ];
  const findings = found.length === 0 ? '' : ` [${found.join('; ')}]`;
  const head = `${cell(each.role ?? 'unknown role')} ${each.createdAt.slice(0, 19)}${findings}`;
  if (each.text === null) return `${head}\n> (the text is gone: ${each.gone ?? ''})`;
  const lines = each.text.split('\n').map((line) => `> ${line}`);
  const cut =
    each.cutCharacters === 0
      ? []
      : [`(${each.cutCharacters} more characters: ask with a larger value of characters)`];
  return [head, ...lines, ...cut].join('\n');
}

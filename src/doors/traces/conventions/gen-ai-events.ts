/**
 * OpenTelemetry GenAI up to 1.36, whose messages are events, of the span or as log records; and the event that holds
 * the structured messages since 1.37. Keeps the invariant that a message of an event is read alike wherever the event
 * is. Test: test/doors/traces/conventions/gen-ai-events.test.ts.
 * https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md
 */
import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { AttributeValue, SpanEvent } from '../span.ts';
import { isObject } from '../values.ts';
import type { Source } from './convention.ts';
import { contentOf, ofTexts, parsed, recorded } from './recorded.ts';
import { inputIn, outputIn } from './sources.ts';

/** Whose message it is, unless the event says so itself. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);
const CHOICE = 'gen_ai.choice';
const DETAILS = 'gen_ai.client.inference.operation.details';
/** Up to 1.27: all messages in one event. */
const PROMPT = 'gen_ai.content.prompt';
const COMPLETION = 'gen_ai.content.completion';
/** Azure writes the whole message, as JSON, into this. */
const CONTENT = 'gen_ai.event.content';

const ASKED: ReadonlySet<string> = new Set([...ROLES.keys(), PROMPT, DETAILS]);
const ANSWERED: ReadonlySet<string> = new Set([CHOICE, COMPLETION, DETAILS]);

const MEMBERS: ReadonlySet<string> = new Set(['role', 'content', 'parts', 'tool_calls']);

/** An event of a span, or a log record, whose message is in its body. */
export interface MessageEvent extends SpanEvent {
  readonly body?: AttributeValue;
}

export function isMessageEvent(name: string): boolean {
  return ASKED.has(name) || ANSWERED.has(name);
}

export const genAiEvents: { readonly asked: Source; readonly answered: Source } = {
  asked: { names: [CONTENT], read: ({ events }, _, omitted) => askedIn(events, omitted) },
  answered: { names: [CONTENT], read: ({ events }, _, omitted) => answeredIn(events, omitted) },
};

/** What was asked, in the order of the events; undefined: no event tells of it. */
export function askedIn(
  events: readonly MessageEvent[],
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  const found = events.filter(({ name }) => ASKED.has(name));
  return found.length === 0 ? undefined : found.flatMap((event) => askedOf(event, omitted));
}

export function answeredIn(
  events: readonly MessageEvent[],
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  const found = events.filter(({ name }) => ANSWERED.has(name));
  return found.length === 0 ? undefined : found.flatMap((event) => answerOf(event, omitted));
}

function askedOf(event: MessageEvent, omitted: OmissionCounts): readonly Message[] {
  const role = ROLES.get(event.name);
  const attributes = event.attributes;
  if (role !== undefined) return messageOf(payloadOf(event), role, omitted);
  // LiteLLM writes an event for each message, with its role in the body.
  if (event.name === PROMPT && isObject(event.body)) return messageOf(event.body, 'user', omitted);
  if (event.name === PROMPT) {
    const prompt = attributes.get('gen_ai.prompt');
    const lines = typeof prompt === 'string' ? linesOf(prompt) : undefined;
    return lines ?? recorded(ofTexts(prompt, 'user'), 'user', omitted) ?? [];
  }
  return inputIn(attributes, omitted) ?? [];
}

const LINE_BEGINS = /^(system|developer|user|assistant|tool): /gm;

/** OpenLIT writes a conversation as lines, `user: Hello?`; undefined: the text is none. */
function linesOf(prompt: string): readonly Message[] | undefined {
  const begins = [...prompt.matchAll(LINE_BEGINS)];
  if (begins[0]?.index !== 0 || !begins.some(([, role]) => role === 'user')) return undefined;
  return begins.map(({ 0: begin, 1: role = '', index }, place) => {
    const text = prompt.slice(index + begin.length, begins[place + 1]?.index).trimEnd();
    return { role: role === 'developer' ? 'system' : role, content: textOfParts(text) };
  });
}

/** Of parts it writes `text: Hello?, image_url: …`. */
function textOfParts(text: string): string {
  if (!text.startsWith('text: ')) return text;
  const [own = ''] = text.slice('text: '.length).split(', image_url: ', 1);
  return own;
}

function answerOf(event: MessageEvent, omitted: OmissionCounts): readonly Message[] {
  const { name, attributes } = event;
  if (name === COMPLETION && !isObject(event.body))
    return recorded(ofTexts(attributes.get('gen_ai.completion'), 'assistant'), 'assistant', omitted) ?? [];
  if (name === DETAILS) return outputIn(attributes, omitted) ?? [];
  const choice = payloadOf(event);
  if (Number(choice['index'] ?? 0) > 0) {
    omitted.add('alternative answer');
    return [];
  }
  const { message, content } = choice;
  const member = parsed(message);
  return messageOf(
    isMessage(member) ? member : { ...choice, content: message ?? content },
    'assistant',
    omitted,
  );
}

/** The members of the message: of the body, of JSON in an attribute, or the attributes themselves. */
function payloadOf({ body, attributes }: MessageEvent): Record<string, unknown> {
  if (isObject(body)) return body;
  if (typeof body === 'string') {
    const value = parsed(body);
    return isObject(value) ? value : { content: body };
  }
  const content = parsed(attributes.get(CONTENT));
  if (isObject(content)) return content;
  return content === undefined ? Object.fromEntries(attributes) : { content };
}

/** An object that is empty is a message whose content was not recorded; any other may be what was said, as JSON. */
function isMessage(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  return names.length === 0 || names.some((name) => MEMBERS.has(name));
}

function messageOf(member: Record<string, unknown>, role: string, omitted: OmissionCounts): Message[] {
  const content = contentOf(member['content']) ?? '';
  const message = { ...member, role: typeof member['role'] === 'string' ? member['role'] : role, content };
  return messagesOf(message, 'user', omitted) ?? [];
}

/**
 * Reads the ids of conversation, end user and instance from attributes. The lists hold their names, the most specific
 * first.
 *
 * Test: test/doors/traces/conventions/ids.test.ts.
 */
import { UUID_PATTERN } from '../../../domain/ids.ts';
import { MAX_LABEL_BYTES } from '../../../domain/limits.ts';
import type { SpanIds } from '../observation.ts';
import type { Attributes, AttributeValue } from '../span.ts';
import { isObject } from '../values.ts';
import { parsed } from './recorded.ts';

/** Prefixes of free metadata, in which users choose the names. */
export const METADATA = [
  'langfuse.trace.metadata.',
  'langsmith.metadata.',
  'traceloop.association.properties.',
  'ai.telemetry.metadata.',
  'ai.settings.context.',
  'trace.metadata.',
  'metadata.',
];

/** What ids are called there, in the order in which they are looked for. */
const CONVERSATION_MEMBERS = [
  ['conversationId', 'conversation_id', 'conversation.id'],
  ['sessionId', 'session_id', 'session.id', 'langfuseSessionId', 'langfuse_session_id'],
  ['threadId', 'thread_id', 'thread.id'],
  ['chatId', 'chat_id', 'chat.id'],
].flat();
const USER_MEMBERS = ['userId', 'user_id', 'user.id', 'langfuseUserId', 'langfuse_user_id'];
export const ID_MEMBERS: ReadonlySet<string> = new Set([...CONVERSATION_MEMBERS, ...USER_MEMBERS]);

const inMetadata = (names: readonly string[]): string[] =>
  names.flatMap((name) => METADATA.map((prefix) => prefix + name));

const CONVERSATION = [
  // OpenTelemetry GenAI
  'gen_ai.conversation.id',
  // OpenInference, Langfuse, OpenRouter; OpenTelemetry's sessions of clients
  'session.id',
  'langfuse.session.id',
  'mlflow.trace.session',
  'gcp.vertex.agent.session_id',
  'gen_ai.session.id',
  'gen_ai.thread.id',
  'gen_ai.openai.thread.id',
  'gen_ai.realtime_session.id',
  'conversation.id',
  ...inMetadata(CONVERSATION_MEMBERS),
  'conversation_id',
  'session_id',
  'thread_id',
  'chat_id',
];

const USER = [
  // OpenInference, Langfuse, OpenRouter, OpenTelemetry
  'user.id',
  'langfuse.user.id',
  'enduser.id',
  'enduser.pseudo.id',
  'gen_ai.user.id',
  'mlflow.trace.user',
  ...inMetadata(USER_MEMBERS),
  'metadata.user_api_key_end_user_id',
  'llm.user',
  'gen_ai.request.user',
  'user_id',
];

const INSTANCE = 'undertone.instance.id';

/** OpenInference writes all metadata as JSON into one attribute. */
export const JSON_METADATA = 'metadata';

/** OpenInference writes request parameters as JSON; those of OpenAI and Anthropic may contain the end user. */
const JSON_PARAMETERS = 'llm.invocation_parameters';

export const ID_NAMES: ReadonlySet<string> = new Set([
  ...CONVERSATION,
  ...USER,
  INSTANCE,
  JSON_METADATA,
  JSON_PARAMETERS,
]);

/** Reads the ids of the span; its resource is the fallback for each. */
export function idsOf(span: Attributes, resource: Attributes): SpanIds {
  const attributes = withMetadata(span);
  const conversationId = firstOf(CONVERSATION, attributes) ?? firstOf(CONVERSATION, resource);
  const userId = firstOf(USER, attributes) ?? userInParameters(span) ?? firstOf(USER, resource);
  const instanceId = instanceOf(attributes) ?? instanceOf(resource);
  return {
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(userId === undefined ? {} : { userId }),
    ...(instanceId === undefined ? {} : { instanceId }),
  };
}

/** Adds the members of JSON metadata under the names of other libraries. */
function withMetadata(attributes: Attributes): Attributes {
  const metadata = parsed(attributes.get(JSON_METADATA));
  if (!isObject(metadata)) return attributes;
  const members = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[`metadata.${name}`, value] as const] : [],
  );
  return new Map<string, AttributeValue>([...members, ...attributes]);
}

/** Reads OpenAI's `user` or Anthropic's `metadata.user_id`. */
function userInParameters(attributes: Attributes): string | undefined {
  const parameters = parsed(attributes.get(JSON_PARAMETERS));
  if (!isObject(parameters)) return undefined;
  const { user, metadata } = parameters;
  return idOf(user) ?? (isObject(metadata) ? idOf(metadata['user_id']) : undefined);
}

function firstOf(names: readonly string[], attributes: Attributes): string | undefined {
  if (attributes.size === 0) return undefined;
  for (const name of names) {
    const id = idOf(attributes.get(name));
    if (id !== undefined) return id;
  }
  return undefined;
}

function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  const isId = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_LABEL_BYTES;
  return isId ? value : undefined;
}

function instanceOf(attributes: Attributes): string | undefined {
  const value = attributes.get(INSTANCE);
  return typeof value === 'string' && UUID_PATTERN.test(value) ? value.toLowerCase() : undefined;
}

/**
 * Sends messages on to ingest, each emission as one request. Keeps the invariant that an emission has the same request
 * id and session whenever it is sent, and that no token is stored.
 *
 * Test: test/doors/traces/assembly/emit.test.ts, test/e2e/otlp-rules.test.ts, test/faults/traces.ts.
 */
import { v5 } from 'uuid';
import { isExternalId, UUID_PATTERN } from '../../../domain/ids.ts';
import { MAX_LABEL_BYTES } from '../../../domain/limits.ts';
import { placeholderOf, type MaskedKind } from '../../../domain/placeholders.ts';
import type { RecordedRequest } from '../../../domain/records.ts';
import { usageMetadata } from '../../../domain/usage.ts';
import type { Acceptor } from '../../../web/ingest/acceptor.ts';
import type { FeedbackTaker } from '../../../web/ingest/feedback-taker.ts';
import { placeholderNumber } from '../../../web/ingest/placeholder-number.ts';
import { authorsIn } from '../../../web/ingest/prepared-request.ts';
import { NO_WARNINGS } from '../../../web/ingest/warnings.ts';
import type { Registry } from '../../../web/registry/registry.ts';
import { draftRequest } from '../../../stream/log/codec.ts';
import { fillTokens, hasToken, openedId, tokenKeys } from '../tokens.ts';
import type { ObservedAttributes } from '../observation.ts';
import type { Conversation, ConversationName, EmittedMessage, Emission } from './records.ts';
import type { AssemblyHost, EmittedRequest } from './thread-protocol.ts';

/** As ingest bounds event times: the year 1700, and a day ahead of our clock; microseconds. */
const MIN_AT = Date.UTC(1700, 0, 1) * 1000;
const MAX_AHEAD = 24 * 3600 * 1_000_000;

/**
 * The session of a conversation with an id: the id if that is a UUID, else the UUIDv5 that docs/concepts.md tells
 * callers.
 */
export function sessionIdOf(instanceId: string, id: string): string {
  return UUID_PATTERN.test(id) ? id.toLowerCase() : v5(id, instanceId);
}

/** Writes an emission out as a request to ingest. */
export function requestOf(
  { projectId, name }: Conversation,
  { seed, acceptedAt, messages, attributes = {}, feedback: given }: Emission,
): EmittedRequest {
  const drafted = messages.map(({ role, content, at, userId, usage }) => ({
    content: content.toWellFormed(),
    role,
    ...(isLabel(userId) || isToken(userId) ? { userId: userId.toWellFormed() } : {}),
    at: boundedAt(at, acceptedAt),
    ...(usage === undefined ? {} : { metadata: usageMetadata(usage) }),
  }));
  const { bytes } = draftRequest({ messages: drafted, ...metadataOf(name, attributes) });
  const authors = authorsIn(drafted);
  const hasTokens =
    isToken(name.id) ||
    Object.values(attributes).some((value) => typeof value === 'string' && hasToken(value)) ||
    drafted.some(({ content, userId }) => hasToken(content) || isToken(userId));
  const feedback = given === undefined ? {} : { feedback: { ...given, at: boundedAt(given.at, acceptedAt) } };
  const request = { projectId, name, seed, acceptedAt, messages: messages.length, authors, hasTokens, bytes };
  return { ...request, ...feedback };
}

function boundedAt(at: number, acceptedAt: number): number {
  return Math.round(Math.min(Math.max(at, MIN_AT), acceptedAt + MAX_AHEAD));
}

/**
 * Sends an emission. If it is refused for good, what each trace brought is sent on its own: a late span from before an
 * erasure takes nothing along that was said after it. Returns the messages that are refused.
 */
export async function sendEmission(
  host: Pick<AssemblyHost, 'emit'>,
  conversation: Conversation,
  emission: Emission,
): Promise<readonly EmittedMessage[]> {
  const { seed, messages, runs = [] } = emission;
  const isDivisible = runs.length > 1;
  if (await host.emit({ ...requestOf(conversation, emission), isDivisible })) return [];
  if (!isDivisible) return messages;
  const refused: EmittedMessage[] = [];
  let from = 0;
  for (const [index, length] of runs.entries()) {
    const part = { ...emission, seed: `${seed}:${index}`, messages: messages.slice(from, from + length) };
    if (!(await host.emit(requestOf(conversation, part)))) refused.push(...part.messages);
    from += length;
  }
  return refused;
}

/** Returns the name with the caller's own id. */
export function openedName(
  registry: Pick<Registry, 'maskDigest'>,
  projectId: string,
  name: ConversationName,
): ConversationName {
  if (!isToken(name.id)) return name;
  return { ...name, id: openedId(name.id, tokenKeys(registry.maskDigest, projectId)) };
}

/** Where an emission goes. */
export interface EmissionTakers {
  readonly acceptor: Acceptor;
  readonly feedback: FeedbackTaker;
  readonly registry: IssuesSessions;
}

/** Stores a request; its seed decides its id. Rejects as Acceptor and FeedbackTaker do. */
export async function acceptEmitted(
  { acceptor, feedback, registry }: EmissionTakers,
  request: EmittedRequest,
): Promise<void> {
  const { projectId, seed, acceptedAt, messages } = request;
  const name = openedName(registry, projectId, request.name);
  const sessionId = await sessionOf(registry, name);
  if (request.feedback !== undefined) {
    const piece = { sessionId, instanceId: name.instanceId, feedback: request.feedback };
    const body = { pieces: [piece], isList: false };
    await feedback.take({ projectId, body, idempotencyKey: undefined, claim: { seed, acceptedAt } });
    return;
  }
  const { bytes, authors } = request.hasTokens ? await filled(registry, request, name, sessionId) : request;
  await acceptor.accept({
    projectId,
    idempotencyKey: undefined,
    claim: { seed, acceptedAt },
    body: {
      projectId: undefined,
      instanceId: name.instanceId,
      sessionId,
      instanceName: undefined,
      draft: { bytes, untimed: new Uint32Array() },
      authors,
      messages,
      digest: '',
      warnings: NO_WARNINGS,
    },
  });
}

/**
 * Puts placeholders of the session in place of tokens, and the originals where the instance masks no texts and they can
 * be read again.
 */
async function filled(
  registry: IssuesSessions,
  { projectId, bytes }: EmittedRequest,
  name: ConversationName,
  sessionId: string,
): Promise<Pick<EmittedRequest, 'bytes' | 'authors'>> {
  const { instanceId } = name;
  const masksTexts = (await registry.findInstance(instanceId))?.masking?.texts === true;
  const { maskDigest } = registry;
  const keys = tokenKeys(maskDigest, projectId);
  const fill = (kind: MaskedKind, digest: string, original: string): string =>
    original !== '' && !masksTexts
      ? original
      : placeholderOf(kind, placeholderNumber(maskDigest, digest, { instanceId, sessionId }));
  // A draft is the end of an object.
  const draft = JSON.parse(`{${Buffer.from(bytes).toString().slice(1)}`) as Pick<
    RecordedRequest,
    'messages' | 'metadata'
  >;
  const messages = draft.messages.map(({ userId: stored, ...message }) => {
    const userId = stored === undefined ? undefined : openedId(stored, keys);
    const content = fillTokens(message.content, keys, fill);
    return { ...message, content, ...(isLabel(userId) ? { userId } : {}) };
  });
  const { externalId: _, ...session } = draft.metadata?.session ?? {};
  const attributes = Object.entries(session).map(([member, value]) => [
    member,
    typeof value === 'string' ? fillTokens(value, keys, fill) : value,
  ]);
  const metadata = metadataOf(name, Object.fromEntries(attributes) as ObservedAttributes);
  return { bytes: draftRequest({ messages, ...metadata }).bytes, authors: authorsIn(messages) };
}

/** The session of a conversation. A trace without an id has a session that we issue: it need not be claimed, which is a write. */
export async function sessionOf(
  registry: IssuesSessions,
  { instanceId, id, trace = '' }: ConversationName,
): Promise<string> {
  if (id !== undefined) return sessionIdOf(instanceId, id);
  const instance = await registry.findInstance(instanceId);
  const seed = `trace:${trace}`;
  return instance === null ? v5(seed, instanceId) : registry.issueSessionId(instance, seed);
}

export type IssuesSessions = Pick<Registry, 'findInstance' | 'issueSessionId' | 'maskDigest'>;

function isLabel(userId: string | undefined): userId is string {
  return userId !== undefined && userId !== '' && Buffer.byteLength(userId) <= MAX_LABEL_BYTES;
}

function isToken(id: string | undefined): id is string {
  return id !== undefined && hasToken(id);
}

/** The caller's own name of the conversation, for who looks for it, and its attributes. */
function metadataOf(
  { id }: ConversationName,
  attributes: ObservedAttributes,
): Pick<RecordedRequest, 'metadata'> {
  const named = isExternalId(id) && !UUID_PATTERN.test(id) ? { externalId: id.toWellFormed() } : {};
  const session = { ...attributes, ...named };
  return Object.keys(session).length === 0 ? {} : { metadata: { session } };
}

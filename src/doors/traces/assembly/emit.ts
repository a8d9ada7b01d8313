/**
 * Sends messages on to ingest, each emission as one request. Keeps the invariant that an emission has the same request
 * id and session whenever it is sent. Test: test/e2e/otlp-rules.test.ts, test/faults/traces.ts.
 */
import { v5 } from 'uuid';
import { isExternalId, UUID_PATTERN } from '../../../domain/ids.ts';
import { MAX_LABEL_BYTES } from '../../../domain/limits.ts';
import type { RecordedRequest } from '../../../domain/records.ts';
import type { Acceptor } from '../../../web/ingest/acceptor.ts';
import { authorsIn } from '../../../web/ingest/prepared-request.ts';
import { NO_WARNINGS } from '../../../web/ingest/warnings.ts';
import type { Registry } from '../../../web/registry/registry.ts';
import { draftRequest } from '../../../stream/log/codec.ts';
import type { Conversation, ConversationName, Emission } from './records.ts';
import type { EmittedRequest } from './thread-protocol.ts';

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
  { seed, acceptedAt, messages }: Emission,
): EmittedRequest {
  const drafted = messages.map(({ role, content, at, userId }) => ({
    content: content.toWellFormed(),
    role,
    ...(isLabel(userId) ? { userId: userId.toWellFormed() } : {}),
    at: Math.round(Math.min(Math.max(at, MIN_AT), acceptedAt + MAX_AHEAD)),
  }));
  const { bytes } = draftRequest({ messages: drafted, ...metadataOf(name) });
  const authors = authorsIn(drafted);
  return { projectId, name, seed, acceptedAt, messages: messages.length, authors, bytes };
}

/** Stores a request; its seed decides its id. Rejects as Acceptor does. */
export async function acceptEmitted(
  { acceptor, registry }: { readonly acceptor: Acceptor; readonly registry: IssuesSessions },
  { projectId, name, seed, acceptedAt, messages, authors, bytes }: EmittedRequest,
): Promise<void> {
  await acceptor.accept({
    projectId,
    idempotencyKey: undefined,
    claim: { seed, acceptedAt },
    body: {
      projectId: undefined,
      instanceId: name.instanceId,
      sessionId: await sessionOf(registry, name),
      instanceName: undefined,
      draft: { bytes, untimed: new Uint32Array() },
      authors,
      messages,
      digest: '',
      warnings: NO_WARNINGS,
    },
  });
}

/** A trace without an id of a conversation has a session that we issue: it need not be claimed, which is a write. */
async function sessionOf(
  registry: IssuesSessions,
  { instanceId, id, trace = '' }: ConversationName,
): Promise<string> {
  if (id !== undefined) return sessionIdOf(instanceId, id);
  const instance = await registry.findInstance(instanceId);
  const seed = `trace:${trace}`;
  return instance === null ? v5(seed, instanceId) : registry.issueSessionId(instance, seed);
}

type IssuesSessions = Pick<Registry, 'findInstance' | 'issueSessionId'>;

function isLabel(userId: string | undefined): userId is string {
  return userId !== undefined && userId !== '' && Buffer.byteLength(userId) <= MAX_LABEL_BYTES;
}

/** The caller's own name of the conversation, for who looks for it. */
function metadataOf({ id }: ConversationName): Pick<RecordedRequest, 'metadata'> {
  return isExternalId(id) && !UUID_PATTERN.test(id)
    ? { metadata: { session: { externalId: id.toWellFormed() } } }
    : {};
}

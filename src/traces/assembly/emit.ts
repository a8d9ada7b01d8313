/** Covered by test/e2e/otlp-rules.test.ts and test/faults/traces.ts. */
import { v5 } from 'uuid';
import { isExternalId, UUID_PATTERN } from '../../domain/ids.ts';
import { MAX_LABEL_BYTES } from '../../domain/limits.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import type { Acceptor } from '../../ingest/acceptor.ts';
import { saidByIn } from '../../ingest/prepared-request.ts';
import { NO_WARNINGS } from '../../ingest/warnings.ts';
import type { Registry } from '../../registry/registry.ts';
import { draftRequest } from '../../stream/log/codec.ts';
import type { Conversation, ConversationName, Emission } from './records.ts';
import type { EmittedRequest } from './thread-protocol.ts';

/** As ingest bounds event times: the year 1700, and a day ahead of our clock; microseconds. */
const MIN_AT = Date.UTC(1700, 0, 1) * 1000;
const MAX_AHEAD = 24 * 3600 * 1_000_000;

/**
 * The session of a conversation with an id: the id where that is a UUID, else the UUIDv5 that the README tells callers
 * who have ids of their own. One without an id is named by the trace that began it; since 2026-11-24, such a session is
 * one that we issue.
 */
export function sessionIdOf({ instanceId, id, trace }: ConversationName): string {
  if (id !== undefined && UUID_PATTERN.test(id)) return id.toLowerCase();
  return v5(id ?? traceSeed(trace), instanceId);
}

function traceSeed(trace: string | undefined): string {
  return `trace:${trace}`;
}

/** Writes an emission out as a request to ingest. */
export function requestOf(
  { projectId, name, isIssued = false }: Conversation,
  { seed, acceptedAt, messages }: Emission,
): EmittedRequest {
  const drafted = messages.map(({ role, content, at, userId }) => ({
    content: content.toWellFormed(),
    role,
    ...(isLabel(userId) ? { userId: userId.toWellFormed() } : {}),
    at: Math.round(Math.min(Math.max(at, MIN_AT), acceptedAt + MAX_AHEAD)),
  }));
  const { bytes } = draftRequest({ messages: drafted, ...metadataOf(name) });
  const saidBy = saidByIn(drafted);
  return { projectId, name, isIssued, seed, acceptedAt, messages: messages.length, saidBy, bytes };
}

/** Stores a request; its seed decides its id. Rejects as Acceptor does. */
export async function acceptEmitted(
  { acceptor, registry }: { readonly acceptor: Acceptor; readonly registry: IssuesSessions },
  { projectId, name, isIssued, seed, acceptedAt, messages, saidBy, bytes }: EmittedRequest,
): Promise<void> {
  const instance = isIssued ? await registry.findInstance(name.instanceId) : null;
  await acceptor.accept({
    projectId,
    idempotencyKey: undefined,
    claim: { seed, acceptedAt },
    body: {
      projectId: undefined,
      instanceId: name.instanceId,
      // Ours need not be claimed, which is a write.
      sessionId:
        instance === null ? sessionIdOf(name) : registry.issueSessionId(instance, traceSeed(name.trace)),
      instanceName: undefined,
      draft: { bytes, untimed: new Uint32Array() },
      saidBy,
      messages,
      digest: '',
      warnings: NO_WARNINGS,
    },
  });
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

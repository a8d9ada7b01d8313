/** Covered by test/e2e/otlp-rules.test.ts and test/faults/traces.ts. */
import { v5 } from 'uuid';
import { isExternalId, UUID_PATTERN } from '../../domain/ids.ts';
import { MAX_LABEL_BYTES } from '../../domain/limits.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import type { Acceptor } from '../../ingest/acceptor.ts';
import { NO_WARNINGS } from '../../ingest/warnings.ts';
import { draftRequest } from '../../stream/log/codec.ts';
import type { Conversation, ConversationName, Emission } from './records.ts';

/** As ingest bounds event times: the year 1700, and a day ahead of our clock; microseconds. */
const MIN_AT = Date.UTC(1700, 0, 1) * 1000;
const MAX_AHEAD = 24 * 3600 * 1_000_000;

/**
 * The session of a conversation: its id where that is a UUID, else the UUIDv5 that the README tells callers who have
 * ids of their own. One without an id is named by the trace that began it.
 */
export function sessionIdOf({ instanceId, id, trace }: ConversationName): string {
  if (id !== undefined && UUID_PATTERN.test(id)) return id.toLowerCase();
  return v5(id ?? `trace:${trace}`, instanceId);
}

/** Stores an emission as a request to ingest whose id the emission decides. Rejects as Acceptor does. */
export async function emitThrough(
  acceptor: Acceptor,
  { projectId, name }: Conversation,
  { seed, acceptedAt, messages }: Emission,
): Promise<void> {
  await acceptor.accept({
    projectId,
    idempotencyKey: undefined,
    claim: { seed, acceptedAt },
    body: {
      projectId: undefined,
      instanceId: name.instanceId,
      sessionId: sessionIdOf(name),
      instanceName: undefined,
      draft: draftRequest({
        messages: messages.map(({ role, content, at, userId }) => ({
          content: content.toWellFormed(),
          role,
          ...(isLabel(userId) ? { userId: userId.toWellFormed() } : {}),
          at: Math.round(Math.min(Math.max(at, MIN_AT), acceptedAt + MAX_AHEAD)),
        })),
        ...metadataOf(name),
      }),
      messages: messages.length,
      digest: '',
      warnings: NO_WARNINGS,
    },
  });
}

function isLabel(userId: string | undefined): userId is string {
  return userId !== undefined && userId !== '' && Buffer.byteLength(userId) <= MAX_LABEL_BYTES;
}

/** The caller's own name of the conversation, for who looks for it. */
function metadataOf({ id }: ConversationName): Pick<RecordedRequest, 'metadata'> {
  return isExternalId(id) && !UUID_PATTERN.test(id)
    ? { metadata: { session: { externalId: id.toWellFormed() } } }
    : {};
}

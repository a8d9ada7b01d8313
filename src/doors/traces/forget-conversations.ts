/**
 * Takes what an erasure covers out of the bucket of conversations out of traces: the digests of turns. Digests of spans
 * stay, by which an export that comes again is known. Keeps the invariant that a conversation which goes on counts
 * nothing of its history.
 *
 * Test: test/e2e/otlp-erasure-rules.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import type { KeyValueBucket } from '../../stream/kv/key-value.ts';
import { eraseMessage } from '../../stream/log/redacted-entries.ts';
import { readToEnd } from '../../stream/log/log-reader.ts';
import { forgottenConversation, type ConversationName } from './assembly/records.ts';

const PREFIX = '$KV.conversations.';
/** The stream of the bucket, and its states; keys of outboxes have two parts. */
export const CONVERSATION_STATES = { stream: 'KV_conversations', filterSubjects: [`${PREFIX}*`] } as const;

export interface ForgetConversationsSettings {
  readonly connection: StreamConnection;
  readonly conversations: Pick<KeyValueBucket, 'create'>;
  readonly digest: ErasureDigest;
  /** The session of a conversation. */
  readonly sessionOf: (projectId: string, name: ConversationName) => Promise<string>;
  readonly signal: AbortSignal;
}

/**
 * Forgets the conversations of an erasure. `sessions`: those that go whole. Of sessions that lose single messages,
 * digests of all turns stay. Returns the number of conversations. Idempotent.
 */
export async function forgetConversations(
  settings: ForgetConversationsSettings,
  erasure: Erasure,
  sessions: ReadonlySet<string>,
): Promise<number> {
  const { connection, conversations, digest, sessionOf, signal } = settings;
  const { kind, instanceId } = erasure;
  if (kind === 'MESSAGES') return 0;
  const goes = async (projectId: string, name: ConversationName): Promise<boolean> => {
    if (projectId !== erasure.projectId || name.instanceId.toLowerCase() !== instanceId) return false;
    if (kind === 'INSTANCE') return true;
    const session = await sessionOf(projectId, name);
    return kind === 'SESSION'
      ? digest('SESSION', instanceId, session) === erasure.digest
      : sessions.has(session);
  };
  const erasedAt = Date.parse(erasure.requestedAt) * 1000;
  let forgotten = 0;
  await readToEnd(connection, CONVERSATION_STATES, async ({ subject, sequence, bytes }) => {
    signal.throwIfAborted();
    const found = forgottenConversation(Buffer.from(bytes).toString(), erasedAt);
    if (found === null || !(await goes(found.projectId, found.name))) return;
    // Whoever assembles meanwhile fails to write over what it read before, and reads it again.
    if (!(await eraseMessage(connection, CONVERSATION_STATES.stream, sequence))) return;
    await conversations.create(subject.slice(PREFIX.length), found.text);
    forgotten += 1;
  });
  return forgotten;
}

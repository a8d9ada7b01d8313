/**
 * The buckets in which the assembler keeps what it knows. Keeps the invariant that nothing stays longer than 30 days
 * after its last change. Test: test/cli/backup.test.ts.
 */
import type { StreamConnection } from '../../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../../stream/kv/key-value.ts';
import { eraseMessage } from '../../../stream/log/redacted-entries.ts';
import type { OutboxKey, OutboxKeyStore } from './outbox-keys.ts';
import { sealedBucket } from './sealed-bucket.ts';

const DAY_MS = 24 * 3600 * 1000;
/** What is known of a conversation is kept so long after its last message, of a trace so long after its last span. */
const [CONVERSATION_TTL_MS, TRACE_TTL_MS] = [30 * DAY_MS, DAY_MS];

const CONVERSATIONS = 'conversations';
/** Beginning of the names of keys that seal outboxes. */
const OUTBOX_KEY = 'outbox-key';

/** What the assembler knows of conversations, and of traces. */
export interface AssemblyBuckets {
  readonly conversations: KeyValueBucket;
  /** Its keys are those of a sealed bucket. */
  readonly traces: Pick<KeyValueBucket, 'get' | 'create' | 'update'>;
  /** In the bucket of conversations. */
  readonly outboxKeys: OutboxKeyStore;
}

/** Opens the key-value buckets `conversations` and `traces`, and makes them where they are not there. */
export async function openAssemblyBuckets(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<AssemblyBuckets> {
  const conversations = await openKeyValue(connection, CONVERSATIONS, {
    ...options,
    ttlMs: CONVERSATION_TTL_MS,
  });
  const traces = await openKeyValue(connection, 'traces', { ...options, ttlMs: TRACE_TTL_MS });
  return {
    conversations,
    traces: sealedBucket(traces),
    outboxKeys: {
      list: async () =>
        (await conversations.list(`${OUTBOX_KEY}.*`)).map((value) => JSON.parse(value) as OutboxKey),
      async add(key) {
        await conversations.put(`${OUTBOX_KEY}.${key.id}`, JSON.stringify(key));
      },
      async erase(id) {
        const entry = await conversations.get(`${OUTBOX_KEY}.${id}`);
        if (entry !== null) await eraseMessage(connection, `KV_${CONVERSATIONS}`, entry.revision);
      },
    },
  };
}

/**
 * The buckets in which the assembler keeps what it knows. Keeps the invariant that nothing stays longer than 30 days
 * after its last change. Test: test/cli/backup.test.ts.
 */
import type { StreamConnection } from '../../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../../stream/kv/key-value.ts';

const DAY_MS = 24 * 3600 * 1000;
/** What is known of a conversation is kept so long after its last message, of a trace so long after its last span. */
const [CONVERSATION_TTL_MS, TRACE_TTL_MS] = [30 * DAY_MS, DAY_MS];

/** What the assembler knows of conversations, and of traces. */
export interface AssemblyBuckets {
  readonly conversations: KeyValueBucket;
  readonly traces: KeyValueBucket;
}

/** Opens the key-value buckets `conversations` and `traces`, and makes them where they are not there. */
export async function openAssemblyBuckets(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<AssemblyBuckets> {
  return {
    conversations: await openKeyValue(connection, 'conversations', {
      ...options,
      ttlMs: CONVERSATION_TTL_MS,
    }),
    traces: await openKeyValue(connection, 'traces', { ...options, ttlMs: TRACE_TTL_MS }),
  };
}

import type { OutboxSeal } from '../../src/doors/traces/assembly/records.ts';
import type { OutboxKey, OutboxKeyStore } from '../../src/doors/traces/assembly/outbox-keys.ts';

/** Keys of outboxes in memory. */
export function memoryKeys(): OutboxKeyStore & { readonly keys: Map<string, OutboxKey> } {
  const keys = new Map<string, OutboxKey>();
  return {
    keys,
    list: async () => [...keys.values()],
    add: async (key) => void keys.set(key.id, key),
    erase: async (id) => void keys.delete(id),
  };
}

/** For conversations with an empty outbox. */
export const UNSEALED: OutboxSeal = { seal: () => '', open: () => null };

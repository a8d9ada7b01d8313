/** How many subjects the conversations are spread over. Changing it would move instances: never do. */
export const PARTITIONS = 8;

export const CONVERSATIONS_STREAM = 'CONVERSATIONS';
export const CONVERSATIONS_SUBJECTS = 'conversations.*';
/** Copies of conversations' entries without what was erased. */
export const REDACTED_STREAM = 'REDACTED';
export const REDACTED_SUBJECTS = 'redacted.*.*';
export const DEAD_LETTERS_STREAM = 'DEAD_LETTERS';
/** Of dead letters. */
export const DEAD_LETTERS_SUBJECT = 'dead-letters';
/** Of notes on single messages: they are counted, without findings. */
export const MESSAGE_NOTES_SUBJECT = 'dead-letters.messages';

/** Spans of traces on their way to become messages of conversations. */
export const TRACES_STREAM = 'TRACES';
export const TRACES_SUBJECT = 'traces';
/** Where the process that assembles traces says how much waits. */
export const TRACES_WAITING_SUBJECT = 'undertone.traces.waiting';

/**
 * The partition of an instance, 0 to PARTITIONS − 1: FNV-1a (32 bit) over the lower-case id, its halves
 * folded by XOR, modulo.
 * The same in every version, so that an instance's messages stay in one order.
 */
export function partitionOf(instanceId: string): number {
  let hash = 0x811c9dc5;
  const id = instanceId.toLowerCase();
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 16)) & 0xffff) % PARTITIONS;
}

export function conversationsSubject(partition: number): string {
  return `conversations.${partition}`;
}

/** Of the copy of an entry, by its partition and sequence. */
export function redactedSubject(partition: number, sequence: number): string {
  return `redacted.${partition}.${sequence}`;
}

/** The partitions that belong to a shard. */
export function partitionsOf(shard: number, shards: number): number[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
    (partition) => partition % shards === shard,
  );
}

/** Where the worker that has a shard's views of an epoch open is asked for a copy. */
export function copySubject(viewsId: string, epoch: number, shard: number): string {
  return `undertone.copy.${viewsId}.${epoch}.${shard}`;
}

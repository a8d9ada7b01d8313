/**
 * The names of streams and subjects, and the division of instances into partitions and shards. An instance never
 * changes its partition.
 *
 * Test: test/stream/subjects.test.ts.
 */
/** Number of partitions of the conversations. It must never change, as that would move instances. */
export const PARTITIONS = 8;
/**
 * Number of slots, by which instances are divided among more shards than there are partitions. A multiple of PARTITIONS:
 * the instances of a slot are in one partition.
 */
export const SLOTS = 256;

export const CONVERSATIONS_STREAM = 'CONVERSATIONS';
export const CONVERSATIONS_SUBJECTS = 'conversations.*';
/** Copies of entries of the conversations, without what was erased. */
export const REDACTED_STREAM = 'REDACTED';
export const REDACTED_SUBJECTS = 'redacted.*.*';
export const DEAD_LETTERS_STREAM = 'DEAD_LETTERS';
/** Subject of dead letters. */
export const DEAD_LETTERS_SUBJECT = 'dead-letters';
/** Subject of notes on single messages, which count without findings. */
export const MESSAGE_NOTES_SUBJECT = 'dead-letters.messages';

/** Spans of traces that will become messages of conversations. */
export const TRACES_STREAM = 'TRACES';
export const TRACES_SUBJECT = 'traces';
/** Subject on which the process that assembles traces reports how many wait. */
export const TRACES_WAITING_SUBJECT = 'undertone.traces.waiting';

/** FNV-1a (32 bit) of the lower-case id, folded to 16 bits by XOR. It is the same in every version. */
function hashOf(instanceId: string): number {
  let hash = 0x811c9dc5;
  const id = instanceId.toLowerCase();
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16)) & 0xffff;
}

/** The partition of an instance, 0 to PARTITIONS − 1: the messages of an instance stay in one order. */
export function partitionOf(instanceId: string): number {
  return hashOf(instanceId) % PARTITIONS;
}

/** The shard of an instance, 0 to `shards` − 1. */
export function shardOf(instanceId: string, shards: number): number {
  return shardOfSlot(hashOf(instanceId) % SLOTS, shards);
}

function shardOfSlot(slot: number, shards: number): number {
  return shards <= PARTITIONS ? (slot % PARTITIONS) % shards : slot % shards;
}

function slotsOf(shard: number, shards: number): number[] {
  return Array.from({ length: SLOTS }, (_, slot) => slot).filter(
    (slot) => shardOfSlot(slot, shards) === shard,
  );
}

/** The shards among `others` that have instances of a shard among `shards`, ascending. */
export function overlapOf(shard: number, shards: number, others: number): number[] {
  const found = new Set(slotsOf(shard, shards).map((slot) => shardOfSlot(slot, others)));
  return [...found].toSorted((a, b) => a - b);
}

export function conversationsSubject(partition: number): string {
  return `conversations.${partition}`;
}

/** Subject of the copy of an entry. */
export function redactedSubject(partition: number, sequence: number): string {
  return `redacted.${partition}.${sequence}`;
}

/**
 * The partitions that a shard reads, ascending. With more shards than partitions, several read each, and every one leaves
 * the instances of others out.
 */
export function partitionsOf(shard: number, shards: number): number[] {
  const found = new Set(slotsOf(shard, shards).map((slot) => slot % PARTITIONS));
  return [...found].toSorted((a, b) => a - b);
}

/** Subject on which machines tell the owner of a key of shared views which object cannot be read. */
export function lostObjectSubject(key: string): string {
  return `undertone.lost.${key}`;
}

/** Subject on which the owner of a key of shared views answers requests for a copy of its state in the object store. */
export function sharedCopySubject(key: string): string {
  return `undertone.copy.${key}`;
}

/** Subject on which the worker that has a shard's views open answers requests for a copy. */
export function copySubject(viewsId: string, epoch: number, shard: number): string {
  return `undertone.copy.${viewsId}.${epoch}.${shard}`;
}

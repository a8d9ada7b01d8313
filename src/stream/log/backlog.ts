/**
 * Reads how full the streams are and how many entries wait, from the server's metadata.
 *
 * Test: test/stream/log/backlog.test.ts.
 */
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { StreamConnection } from '../connection.ts';
import { conversationsSubject, CONVERSATIONS_STREAM, DEAD_LETTERS_STREAM } from '../subjects.ts';
import { RedactedEntries } from './redacted-entries.ts';

/** The progress of a reader in some partitions of the conversations. */
export interface Position {
  readonly partitions: readonly number[];
  /** Stream sequence up to which all entries are done. */
  readonly sequence: number;
}

/** The entries after some positions. */
export interface Backlog {
  readonly entries: number;
  /** When the server stored the oldest of them, milliseconds since 1970-01-01 UTC; null if there is none. */
  readonly oldestAt: number | null;
}

/** The extent of a stream. */
export interface StreamUse {
  readonly lastSequence: number;
  /** Entries missing between the first and the last that were not redacted: their file is damaged. */
  readonly missing: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** Dead letters that were neither replayed nor removed. */
export interface DeadLetterCount {
  readonly entries: number;
  /** When the newest was dead-lettered, milliseconds since 1970-01-01 UTC; null if there is none. */
  readonly newestAt: number | null;
}

const FIRST_EXPIRES_MS = 1000;
const CONSUMER_GOES_AFTER_MS = 5000;

/** Reads the end of the stream of conversations, and how full it is. */
export async function readStreamUse(connection: StreamConnection): Promise<StreamUse> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { state, config } = await manager.streams.info(CONVERSATIONS_STREAM);
  const { first_seq: first, last_seq: lastSequence, messages, bytes } = state;
  // The first sequence of an empty stream names no entry.
  const absent = messages === 0 ? 0 : lastSequence - first + 1 - messages;
  const missing =
    absent === 0 ? 0 : absent - (await RedactedEntries.open(connection)).countIn(first, lastSequence);
  return { lastSequence, missing, bytes, maxBytes: config.max_bytes };
}

export async function countDeadLetters(connection: StreamConnection): Promise<DeadLetterCount> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { state } = await manager.streams.info(DEAD_LETTERS_STREAM);
  const newestAt = state.messages === 0 ? null : Date.parse(String(state.last_ts));
  return { entries: state.messages, newestAt };
}

/**
 * Counts the entries after positions, each once, however many readers of its partition lack it. It reads no payloads,
 * whatever their number.
 */
export async function readBacklog(
  connection: StreamConnection,
  positions: readonly Position[],
): Promise<Backlog> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const backlogs = await Promise.all(
    furthestBehind(positions).map((position) => backlogOf(connection, manager, position)),
  );
  const oldest = Math.min(...backlogs.map(({ oldestAt }) => oldestAt ?? Infinity));
  return {
    entries: backlogs.reduce((sum, { entries }) => sum + entries, 0),
    oldestAt: oldest === Infinity ? null : oldest,
  };
}

/** The least sequence of each partition; partitions with the same one share a position. */
function furthestBehind(positions: readonly Position[]): Position[] {
  const least = new Map<number, number>();
  for (const { partitions, sequence } of positions)
    for (const partition of partitions)
      least.set(partition, Math.min(sequence, least.get(partition) ?? Infinity));
  const grouped = Map.groupBy(least.keys(), (partition) => least.get(partition)!);
  return [...grouped].map(([sequence, partitions]) => ({ partitions, sequence }));
}

/**
 * Creates a consumer that begins after the position: the server reports its number of entries, and the first one's
 * time.
 */
async function backlogOf(
  connection: StreamConnection,
  manager: JetStreamManager,
  { partitions, sequence }: Position,
): Promise<Backlog> {
  const info = await manager.consumers.add(CONVERSATIONS_STREAM, {
    filter_subjects: partitions.map(conversationsSubject),
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: sequence + 1,
    ack_policy: AckPolicy.None,
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(CONSUMER_GOES_AFTER_MS),
  });
  try {
    if (info.num_pending === 0) return { entries: 0, oldestAt: null };
    const consumer = jetstream(connection.nats).consumers.getConsumerFromInfo(info);
    const first = await consumer.next({ expires: FIRST_EXPIRES_MS });
    return { entries: info.num_pending, oldestAt: first === null ? null : first.time.getTime() };
  } finally {
    await manager.consumers.delete(CONVERSATIONS_STREAM, info.name).catch(() => undefined);
  }
}

/**
 * Takes what an erasure is of out of the stream, dead letters and session claims. It can end anywhere and be done again:
 * what went is gone, and the rest goes then. Covered by test/erasure/erase-entries.test.ts.
 */
import type { Erasure, ErasureDigest, ErasureReceipt } from '../domain/erasures.ts';
import type { StreamRecord } from '../domain/records.ts';
import { readDeadLetters, replaceDeadLetter } from '../stream/dead-letters/dead-letters.ts';
import { eraseKey } from '../stream/kv/erase-key.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { DecodeError, decodeRecord, encodeRecord, encodeRequest } from '../stream/log/codec.ts';
import { openConsumer, type Delivered } from '../stream/log/consumer.ts';
import { findRedacted, redactEntry } from '../stream/log/redacted-entries.ts';
import { partitionOf } from '../stream/subjects.ts';
import { Redaction } from './redaction.ts';

/** Bucket of the ids that clients chose for their sessions. */
const SESSIONS_BUCKET = 'sessions';
const READ = { maxMessages: 500, maxBytes: 4 * 1024 * 1024, waitMs: 5000 } as const;
/** So many entries are written anew between two notes of how far it has come. */
const NOTED_EVERY = 100;

export interface EraseSettings {
  readonly connection: StreamConnection;
  readonly digest: ErasureDigest;
  /** Hears of what went so far. */
  readonly onProgress: (receipt: ErasureReceipt) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What went with this run and those before it. */
export async function eraseEntries(settings: EraseSettings, erasure: Erasure): Promise<ErasureReceipt> {
  const { connection, digest, onProgress, signal } = settings;
  const redaction = new Redaction(erasure, digest);
  const partition = partitionOf(erasure.instanceId);
  const counted = { ...(erasure.receipt ?? NOTHING) };
  const sessions = new Set<string>();
  await eachEntry(settings, partition, erasure.position, async (_, record) => redaction.note(record));
  await eachEntry(settings, partition, erasure.position, async (entry, record) => {
    const redacted = redaction.redact(record);
    if (redacted === null) return;
    const bytes = await payloadOf(redacted.record);
    await redactEntry(connection, partition, { ...entry, bytes });
    for (const session of redacted.sessions) sessions.add(session);
    counted.messages += redacted.messages;
    counted.entries += 1;
    counted.bytes += Math.max(0, entry.bytes.length - bytes.length);
    if (counted.entries % NOTED_EVERY === 0) await onProgress(counted);
  });
  const whole = [...sessions].filter((session) => redaction.isWhole(session));
  counted.sessions += whole.length;
  for (const session of whole) {
    signal.throwIfAborted();
    for (const key of [`${erasure.projectId}.${session}`, session])
      if (await eraseKey(connection, SESSIONS_BUCKET, key, isOf(erasure))) counted.sessionClaims += 1;
  }
  await eraseDeadLetters(settings, redaction, counted);
  await onProgress(counted);
  return counted;
}

export const NOTHING: ErasureReceipt = {
  messages: 0,
  sessions: 0,
  entries: 0,
  bytes: 0,
  deadLetters: 0,
  unreadableDeadLetters: 0,
  sessionClaims: 0,
};

/** Every entry of a partition up to a sequence that can be read, in order. */
async function eachEntry(
  { connection, signal }: Pick<EraseSettings, 'connection' | 'signal'>,
  partition: number,
  until: number,
  hear: (entry: Delivered, record: StreamRecord) => Promise<void>,
): Promise<void> {
  const consumer = await openConsumer(connection, { startSequence: 1, partitions: [partition] });
  try {
    for (let sequence = 0; sequence < until;) {
      signal.throwIfAborted();
      for (const entry of await consumer.next(READ)) {
        ({ sequence } = entry);
        if (sequence > until) break;
        const record = recordIn(entry.bytes);
        if (record !== null) await hear(entry, record);
      }
    }
  } finally {
    await consumer.close();
  }
}

/** A letter holds its whole entry: it becomes what its entry has become. A note goes with its message. */
async function eraseDeadLetters(
  { connection, signal }: Pick<EraseSettings, 'connection' | 'signal'>,
  redaction: Redaction,
  counted: { -readonly [Name in keyof ErasureReceipt]: ErasureReceipt[Name] },
): Promise<void> {
  counted.unreadableDeadLetters = 0;
  for await (const letter of readDeadLetters(connection)) {
    signal.throwIfAborted();
    const record = recordIn(letter.bytes);
    if (record === null) {
      counted.unreadableDeadLetters += 1;
      continue;
    }
    const copy = letter.message === null ? await findRedacted(connection, letter.sequence) : null;
    const redacted = redaction.redact(record);
    if (copy === null && redacted === null) continue;
    const bytes = copy?.bytes ?? (await payloadOf(redacted!.record));
    if (Buffer.compare(bytes, letter.bytes) === 0) continue;
    await replaceDeadLetter(connection, letter, letter.message === null ? bytes : null);
    counted.deadLetters += 1;
  }
}

/** What is left that an erasure is of: nothing is changed. */
export async function findErased(
  { connection, digest }: Pick<EraseSettings, 'connection' | 'digest'>,
  erasure: Erasure,
): Promise<{ readonly messages: number; readonly deadLetters: number }> {
  const redaction = new Redaction(erasure, digest);
  const settings = { connection, signal: NEVER };
  const partition = partitionOf(erasure.instanceId);
  let messages = 0;
  let deadLetters = 0;
  await eachEntry(settings, partition, erasure.position, async (_, record) => redaction.note(record));
  await eachEntry(settings, partition, erasure.position, async (_, record) => {
    messages += redaction.redact(record)?.messages ?? 0;
  });
  for await (const { bytes } of readDeadLetters(connection)) {
    const record = recordIn(bytes);
    if (record !== null && redaction.redact(record) !== null) deadLetters += 1;
  }
  return { messages, deadLetters };
}

const NEVER = new AbortController().signal;

function recordIn(bytes: Uint8Array): StreamRecord | null {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

function payloadOf({ requests }: StreamRecord): Promise<Uint8Array> {
  return encodeRecord(requests.map(encodeRequest));
}

/** Whether a claim is of the instance of an erasure: of the first form, other projects may have one of the same id. */
function isOf({ instanceId }: Erasure): (value: string) => boolean {
  return (value) => (JSON.parse(value) as { instanceId?: string }).instanceId === instanceId;
}

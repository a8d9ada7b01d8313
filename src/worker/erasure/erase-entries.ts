/**
 * Redacts what an erasure covers in the stream and in dead letters. The places are planned and stored before the first
 * change, and every step is idempotent, so an interrupted run can be repeated.
 *
 * Test: test/worker/erasure/erase-entries.test.ts, test/cli/erase.test.ts.
 */
import type { Erasure, ErasureDigest, ErasureReceipt } from '../../domain/erasures.ts';
import type { StreamRecord } from '../../domain/records.ts';
import type { ErasureLedger } from '../../stream/ledgers/erasure-ledger.ts';
import { readDeadLetters, replaceDeadLetter } from '../../stream/dead-letters/dead-letters.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { DecodeError, decodeRecord, encodeRecord, encodeRequest } from '../../stream/log/codec.ts';
import { openConsumer, readStored, type Delivered } from '../../stream/log/consumer.ts';
import { RedactedEntries, redactEntry } from '../../stream/log/redacted-entries.ts';
import { partitionOf } from '../../stream/subjects.ts';
import { feedbackOf, positionsOf, type Planned } from './planned.ts';
import { Redaction, type Places } from './redaction.ts';

const READ = { maxMessages: 500, maxBytes: 4 * 1024 * 1024, waitMs: 5000 } as const;
/** Redacted entries between two saves of the receipt. */
const NOTED_EVERY = 100;
/** UTF-16 units. */
const PAGE_LENGTH = 256 * 1024;

type Counted = { -readonly [Name in keyof ErasureReceipt]: ErasureReceipt[Name] };

export interface EraseSettings {
  readonly connection: StreamConnection;
  readonly digest: ErasureDigest;
  readonly ledger: Pick<ErasureLedger, 'change' | 'plan' | 'keepPlan'>;
  readonly signal: AbortSignal;
  /** Rejects when another machine may have taken over the work. */
  readonly confirm: () => Promise<void>;
  /** Forgets what doors keep of what is erased. `sessions`: those that go whole. */
  readonly forgetElsewhere?: (erasure: Erasure, sessions: ReadonlySet<string>) => Promise<unknown>;
}

/** The places in an entry that are redacted, and their size. */
interface PlannedEntry extends Places {
  readonly sequence: number;
  /** Messages that are redacted. Missing in plans of versions before 0.4.0; so is `bytes`. */
  readonly count?: number;
  /** Size of the entry before its redaction, bytes. */
  readonly bytes?: number;
}

/**
 * Redacts the entries. Returns the totals of this run and of interrupted ones. Once a part of a person's data is gone,
 * the rest may no longer be recognised as theirs: so all places are found first, and stored.
 */
export async function eraseEntries(settings: EraseSettings, erasure: Erasure): Promise<ErasureReceipt> {
  const { connection, ledger, signal } = settings;
  const redaction = new Redaction(erasure, settings.digest);
  const known = await ledger.plan(erasure);
  // The steps of an interrupted run are repeated, and counted again.
  const counted = {
    ...(known === null ? NOTHING : (erasure.receipt ?? NOTHING)),
    messages: 0,
    entries: 0,
    bytes: 0,
  };
  let planned = known?.map((page) => JSON.parse(page) as PlannedEntry[]).flat();
  if (planned === undefined) {
    planned = await findPlaces(settings, erasure, redaction, counted);
    await ledger.change(erasure, { receipt: counted });
    await settings.confirm();
    await ledger.keepPlan(erasure, pagesOf(planned));
  }
  const partition = partitionOf(erasure.instanceId);
  for (const { sequence, count, bytes: length, ...places } of planned) {
    signal.throwIfAborted();
    await settings.confirm();
    const entry = await readStored(connection, sequence, signal);
    const record = entry === null ? null : recordIn(entry.bytes);
    if (entry === null || record === null) continue;
    const left = redaction.redacted(record, places);
    const went = count ?? erasedIn(left) - erasedIn(record);
    const bytes = await payloadOf(left);
    // A redaction that exists is written again: a crash may have left the original entry.
    await redactEntry(connection, partition, { ...entry, bytes });
    counted.messages += went;
    counted.entries += 1;
    counted.bytes += Math.max(0, (length ?? entry.bytes.length) - bytes.length);
    if (counted.entries % NOTED_EVERY === 0) await ledger.change(erasure, { receipt: counted });
  }
  return counted;
}

/** Plans the places of all entries before an erasure, and redacts dead letters. */
async function findPlaces(
  settings: EraseSettings,
  erasure: Erasure,
  redaction: Redaction,
  counted: Counted,
): Promise<PlannedEntry[]> {
  const partition = partitionOf(erasure.instanceId);
  const planned: PlannedEntry[] = [];
  const sessions = new Set<string>();
  /** Redacted messages by request id; null: all of them. */
  const gone = new Map<string, ReadonlySet<number> | null>();
  await eachEntry(settings, partition, erasure.position, ({ sequence }, record) =>
    redaction.note(record, sequence),
  );
  await eachEntry(settings, partition, erasure.position, ({ sequence, bytes }, record) => {
    const plan = redaction.plan(record);
    if (plan === null) return;
    const { whole, messages, named, quoted, count } = plan;
    for (const place of whole) gone.set(record.requests[place]!.requestId, null);
    for (const [place, indexes] of messages) gone.set(record.requests[place]!.requestId, new Set(indexes));
    planned.push({ sequence, whole, messages, named, quoted, count, bytes: bytes.length });
    for (const session of plan.sessions) sessions.add(session);
  });
  const whole = new Set([...sessions].filter((session) => redaction.isWhole(session)));
  counted.sessions += whole.size;
  await settings.forgetElsewhere?.(erasure, whole);
  await eraseDeadLetters(settings, redaction, { planned, gone, until: erasure.position }, counted);
  return planned;
}

/** The places of what an erasure plans to remove, those already removed included. */
export async function plannedPositions(
  { connection, ledger, signal }: Pick<EraseSettings, 'connection' | 'ledger' | 'signal'>,
  erasure: Erasure,
): Promise<Planned> {
  const positions: number[] = [];
  const feedback: [number, number][] = [];
  for (const page of (await ledger.plan(erasure)) ?? []) {
    for (const { sequence, ...places } of JSON.parse(page) as PlannedEntry[]) {
      const entry = await readStored(connection, sequence, signal);
      const record = entry === null ? null : recordIn(entry.bytes);
      if (record === null) continue;
      for (const at of positionsOf(sequence, record, places)) positions.push(at);
      feedback.push(...feedbackOf(sequence, record, places));
    }
  }
  return { positions, feedback };
}

/** Divides a plan into pages, each small enough for any server. */
function pagesOf(planned: readonly PlannedEntry[]): string[] {
  const pages: string[][] = [[]];
  let size = 0;
  for (const entry of planned) {
    const line = JSON.stringify(entry);
    if (size > 0 && size + line.length > PAGE_LENGTH) {
      pages.push([]);
      size = 0;
    }
    pages.at(-1)!.push(line);
    size += line.length;
  }
  return pages.map((lines) => `[${lines.join()}]`);
}

function erasedIn({ requests }: StreamRecord): number {
  return requests.reduce(
    (sum, { messages }) => sum + messages.filter(({ erased }) => erased === true).length,
    0,
  );
}

/** A receipt in which everything is 0. */
export const NOTHING: ErasureReceipt = {
  messages: 0,
  sessions: 0,
  entries: 0,
  bytes: 0,
  deadLetters: 0,
  unreadableDeadLetters: 0,
};

/**
 * Calls `hear` for each readable entry of a partition up to a sequence, in order; redacted entries beyond the end of
 * the stream come last.
 */
export async function eachEntry(
  { connection, signal }: Pick<EraseSettings, 'connection' | 'signal'>,
  partition: number,
  until: number,
  hear: (entry: Delivered, record: StreamRecord) => void | Promise<void>,
): Promise<void> {
  const consumer = await openConsumer(connection, { startSequence: 1, partitions: [partition] });
  try {
    let sequence = 0;
    // The last entry may have expired or be damaged; then it is not delivered.
    while (sequence < until && !consumer.isThrough) {
      signal.throwIfAborted();
      for (const entry of await consumer.next(READ)) {
        ({ sequence } = entry);
        if (sequence > until) break;
        const record = recordIn(entry.bytes);
        if (record !== null) await hear(entry, record);
      }
    }
    const redacted = await RedactedEntries.open(connection);
    const ofPartition = new Set([partition]);
    for (;;) {
      const behind = redacted.firstBetween(sequence, until + 1, ofPartition);
      if (behind === null) return;
      sequence = behind;
      const entry = await redacted.read(behind);
      const record = entry === null ? null : recordIn(entry.bytes);
      if (entry !== null && record !== null) await hear(entry, record);
    }
  } finally {
    await consumer.close();
  }
}

/** The plan for the entries before an erasure. */
interface Found {
  readonly planned: readonly PlannedEntry[];
  readonly gone: ReadonlyMap<string, ReadonlySet<number> | null>;
  /** Sequence of the erasure. */
  readonly until: number;
}

/**
 * Redacts dead letters. A letter contains its whole entry, so it becomes what the entry becomes. A note is deleted with
 * its message.
 */
async function eraseDeadLetters(
  { connection, signal }: Pick<EraseSettings, 'connection' | 'signal'>,
  redaction: Redaction,
  { planned, gone, until }: Found,
  counted: Counted,
): Promise<void> {
  const places = new Map(planned.map((entry) => [entry.sequence, entry]));
  counted.unreadableDeadLetters = 0;
  // When the stream no longer holds an entry, only its letter names the owners of the sessions.
  for await (const { bytes, sequence, message } of readDeadLetters(connection)) {
    const record = recordIn(bytes);
    // A note contains one message alone, so its sequence gives no positions.
    if (record !== null) redaction.note(record, message === null ? sequence : NOWHERE);
  }
  for await (const letter of readDeadLetters(connection)) {
    signal.throwIfAborted();
    const record = recordIn(letter.bytes);
    if (record === null) {
      counted.unreadableDeadLetters += 1;
      continue;
    }
    if (letter.sequence > until) continue;
    const { message } = letter;
    if (message !== null && gone.has(message.requestId)) {
      if (gone.get(message.requestId)?.has(message.index) === false) continue;
      await replaceDeadLetter(connection, letter, null);
      counted.deadLetters += 1;
      continue;
    }
    const isEntry = message === null;
    const plan = (isEntry ? places.get(letter.sequence) : undefined) ?? redaction.plan(record);
    if (plan === null) continue;
    const bytes = await payloadOf(redaction.redacted(record, plan));
    if (Buffer.compare(bytes, letter.bytes) === 0) continue;
    await replaceDeadLetter(connection, letter, isEntry ? bytes : null);
    counted.deadLetters += 1;
  }
}

/**
 * Redacts dead letters that a worker wrote from entries which it had read before their redaction. After the rebuild
 * from the stream, it writes no more of them. Returns the number of changed letters.
 */
export async function eraseLateLetters(
  { connection, digest, ledger, signal }: Pick<EraseSettings, 'connection' | 'digest' | 'ledger' | 'signal'>,
  erasure: Erasure,
): Promise<number> {
  const planned = ((await ledger.plan(erasure)) ?? []).flatMap((page) => JSON.parse(page) as PlannedEntry[]);
  const places = new Map(planned.map((entry) => [entry.sequence, entry]));
  const redaction = new Redaction(erasure, digest);
  let changed = 0;
  for await (const letter of readDeadLetters(connection)) {
    signal.throwIfAborted();
    const { message, sequence } = letter;
    const entry = places.get(sequence);
    const record = entry === undefined ? null : recordIn(letter.bytes);
    if (entry === undefined || record === null) continue;
    if (message === null) {
      const bytes = await payloadOf(redaction.redacted(record, entry));
      if (Buffer.compare(bytes, letter.bytes) === 0) continue;
      await replaceDeadLetter(connection, letter, bytes);
    } else {
      const stored = await readStored(connection, sequence, signal);
      const requests = (stored === null ? null : recordIn(stored.bytes))?.requests ?? [];
      const isLeft = requests.some(
        ({ requestId, messages }) =>
          requestId === message.requestId && messages[message.index]?.erased !== true,
      );
      if (isLeft) continue;
      await replaceDeadLetter(connection, letter, null);
    }
    changed += 1;
  }
  return changed;
}

/** Counts what remains of an erasure. Changes nothing. */
export async function findErased(
  { connection, digest }: Pick<EraseSettings, 'connection' | 'digest'>,
  erasure: Erasure,
): Promise<{ readonly messages: number; readonly entries: number; readonly deadLetters: number }> {
  const redaction = new Redaction(erasure, digest);
  const settings = { connection, signal: NEVER };
  const partition = partitionOf(erasure.instanceId);
  let messages = 0;
  let entries = 0;
  let deadLetters = 0;
  await eachEntry(settings, partition, erasure.position, ({ sequence }, record) =>
    redaction.note(record, sequence),
  );
  await eachEntry(settings, partition, erasure.position, (_, record) => {
    const plan = redaction.plan(record);
    if (plan === null) return;
    messages += plan.count;
    entries += 1;
  });
  for await (const { bytes, sequence } of readDeadLetters(connection)) {
    const record = sequence > erasure.position ? null : recordIn(bytes);
    if (record !== null && redaction.plan(record) !== null) deadLetters += 1;
  }
  return { messages, entries, deadLetters };
}

/** A sequence before every entry. */
const NOWHERE = -1;
const NEVER = new AbortController().signal;

/** Decodes a record; null if it cannot be read. */
export function recordIn(bytes: Uint8Array): StreamRecord | null {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}

/** Encodes a record as the payload of a stream entry. */
export function payloadOf({ requests }: StreamRecord): Promise<Uint8Array> {
  return encodeRecord(requests.map(encodeRequest));
}

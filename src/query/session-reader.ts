/** Covered by test/e2e/session-rules.test.ts. */
import { GRANULARITY_NUMBER, KINDS } from '../domain/kinds.ts';
import type { RecordedMessage } from '../domain/records.ts';
import type { SessionOutcome } from '../domain/session-outcomes.ts';
import { formatInstant } from '../domain/time.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../store/published/snapshot-reader.ts';
import { cachedNames } from './dimensions.ts';
import { readInstanceRow } from './instance-row.ts';
import {
  noSession,
  writeCursor,
  type SessionParameters,
  type SessionResponse,
  type TranscriptMessage,
} from './session-schema.ts';

/** A message as it was accepted, or why its text is gone. */
export type ReadMessage =
  { readonly message: RecordedMessage } | { readonly gone: NonNullable<TranscriptMessage['gone']> };

export interface SessionReaderOptions {
  /** The reader of the shard that an instance (UUID) belongs to. */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read'>;
  /** The texts of messages by stream position. Throws AppError SERVICE_UNAVAILABLE while they cannot be read. */
  readonly texts: { read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>> };
  /** Time since which the active views answer, in microseconds since 1970. Default: always. */
  readonly answeringSince?: () => number;
}

/** A message's facts, before its text is read. */
interface PlacedMessage extends Omit<
  TranscriptMessage,
  'role' | 'content' | 'gone' | 'externalId' | 'metadata'
> {
  readonly at: number;
}

/** A page of a session without its texts. */
type Page = Omit<SessionResponse, 'messages'> & { readonly messages: readonly PlacedMessage[] };

/** Reads a session: its messages in order, with what was found in each. One answer is one snapshot. */
export class SessionReader {
  readonly #options: SessionReaderOptions;

  constructor(options: SessionReaderOptions) {
    this.#options = options;
  }

  /**
   * The instance is known to exist. Throws AppError NOT_FOUND when it has no such session, SERVICE_UNAVAILABLE while
   * the views or the texts cannot be read.
   */
  async read(sessionId: string, parameters: SessionParameters, caller = ''): Promise<SessionResponse> {
    const { readerOf, texts } = this.#options;
    const page = await readerOf(parameters.instanceId).read(
      (snapshot) => this.#page(snapshot, sessionId, parameters),
      caller,
    );
    const read = await texts.read(page.messages.map(({ position }) => position));
    return {
      ...page,
      messages: page.messages.map((message) => withText(message, read.get(message.position))),
    };
  }

  async #page(snapshot: Snapshot, sessionId: string, parameters: SessionParameters): Promise<Page> {
    const row = await readInstanceRow(snapshot, parameters.instanceId);
    if (row === undefined) throw noSession(sessionId);
    const instance = row['instance'] as number;
    const found = await readSession(snapshot, instance, sessionId);
    const { limit } = parameters;
    const { placed, next } = await readMessages(snapshot, instance, found, parameters);
    const since = this.#options.answeringSince?.() ?? 0;
    return {
      session: found.session,
      messages: placed,
      pagination: { limit, next },
      lastProcessedAt: formatInstant(Math.max(row['processed_at'] as number, since)),
    };
  }
}

interface FoundSession {
  readonly number: number;
  /** Event times of its first and last message. */
  readonly from: number;
  readonly to: number;
  readonly session: SessionResponse['session'];
}

async function readSession(snapshot: Snapshot, instance: number, id: string): Promise<FoundSession> {
  const [row] = await snapshot.all(
    'select session, title, summary, language, outcome, end_user, external_id from @session',
    { rows: { session: { table: 'session', equal: { instance }, and: 'id = $id::uuid' } }, bindings: { id } },
  );
  if (row === undefined) throw noSession(id);
  const number = row['session'] as number;
  const metadata = {
    table: 'record_metadata',
    equal: { instance },
    and: `record = 'session' and record_key = $id`,
  };
  const [[counts], members] = await Promise.all([
    snapshot.all(
      `select messages, sat, dsat, repeated_requests, first_at, last_at, u.id::varchar as user_id,
  u.external_id as user_name
from @counts left join @author u on true`,
      {
        rows: {
          counts: {
            table: 'session_rollup',
            equal: { instance, granularity: GRANULARITY_NUMBER.ALL },
            // Of ALL there is one bucket: named, it lets whole row groups be passed over.
            and: `bucket = '-infinity' and session = ${number}`,
          },
          author: { table: 'end_user', equal: { instance }, and: `end_user = ${row['end_user'] as number}` },
        },
        bindings: {},
      },
    ),
    snapshot.all('select member, value from @metadata order by member', {
      rows: { metadata },
      bindings: { id },
    }),
  ]);
  // A session is named with its first message, in one transaction.
  if (counts === undefined) throw noSession(id);
  const [from, to] = [counts['first_at'] as number, counts['last_at'] as number];
  return {
    number,
    from,
    to,
    session: {
      id,
      externalId: row['external_id'] as string | null,
      endUser:
        counts['user_id'] === null
          ? null
          : { id: counts['user_id'] as string, externalId: counts['user_name'] as string },
      title: row['title'] as string | null,
      summary: row['summary'] as string | null,
      language: row['language'] as string | null,
      outcome: row['outcome'] as SessionOutcome | null,
      createdAt: formatInstant(from),
      lastActiveAt: formatInstant(to),
      messages: counts['messages'] as number,
      sat: counts['sat'] as number,
      dsat: counts['dsat'] as number,
      repeatedRequests: counts['repeated_requests'] as number,
      metadata: Object.fromEntries(
        members.map(({ member, value }) => [member as string, JSON.parse(value as string) as unknown]),
      ),
    },
  };
}

/** A page of a session's messages with what was found in them, and the cursor of the next page. */
async function readMessages(
  snapshot: Snapshot,
  instance: number,
  { number, from, to }: FoundSession,
  { limit, cursor }: SessionParameters,
): Promise<{ placed: PlacedMessage[]; next: string | null }> {
  const { all, topic, signal, repeatedRequest, gap } = KINDS;
  const range = { from: cursor?.at ?? from, to: to + 1 };
  const facts = { table: 'message_fact', range };
  const found = [topic, signal, repeatedRequest, gap].join(', ');
  const [rows, ...names] = await Promise.all([
    // One more than the page has says that there is a next page.
    snapshot.all(
      `with page as materialized (
  select position, event_at from @messages where event_at > $at or position > $position
  order by event_at, position limit ${limit + 1}
)
select position, event_at, kind, entity from (
  select position, event_at, ${all} as kind, 0 as entity, 0 as fact_id from page
  union all
  select position, f.event_at, kind, entity, fact_id from @found f join page using (position) where not gone
) order by event_at, position, fact_id`,
      {
        rows: {
          messages: { ...facts, equal: { instance, kind: all }, and: `session = ${number}` },
          found: { ...facts, equal: { instance }, and: `session = ${number} and kind in (${found})` },
        },
        bindings: { at: { at: range.from }, position: cursor?.position ?? -1 },
      },
    ),
    ...(['topic', 'signal', 'repeated_request', 'gap'] as const).map((table) =>
      cachedNames(snapshot, table, instance),
    ),
  ]);
  const kinds = [topic, signal, repeatedRequest, gap];
  const nameOf = new Map(kinds.map((kind, index) => [kind as number, names[index]]));
  const byPosition = [...Map.groupBy(rows, (row) => row['position'] as number)];
  const placed = byPosition.slice(0, limit).map(([position, [message, ...facts]]) => {
    const at = message?.['event_at'] as number;
    const rowsOfKind = (kind: number): Row[] =>
      facts.flatMap((fact) => {
        const row = fact['kind'] === kind ? nameOf.get(kind)?.get(fact['entity'] as number) : undefined;
        return row === undefined ? [] : [row];
      });
    return { position, at, createdAt: formatInstant(at), ...findingsOf(rowsOfKind) };
  });
  const last = placed.at(-1);
  const next = byPosition.length > limit && last !== undefined ? writeCursor(last) : null;
  return { placed, next };
}

type Findings = Pick<TranscriptMessage, 'topic' | 'signals' | 'gap' | 'repeatedRequest'>;

/** A message has at most one finding of each kind but signals. */
function findingsOf(rowsOfKind: (kind: number) => readonly Row[]): Findings {
  const [topic] = rowsOfKind(KINDS.topic);
  const [gap] = rowsOfKind(KINDS.gap);
  const [asked] = rowsOfKind(KINDS.repeatedRequest);
  return {
    topic: topic === undefined ? null : named(topic),
    signals: rowsOfKind(KINDS.signal).map((row) => ({
      ...named(row),
      signalType: row['signal_type'] as 'SAT' | 'DSAT',
    })),
    gap: gap === undefined ? null : { ...named(gap), gapType: gap['gap_type'] as 'TOOL' | 'KNOWLEDGE' },
    repeatedRequest: asked === undefined ? null : named(asked),
  };
}

function named(row: Row): { id: string; name: string } {
  return { id: row['id'] as string, name: row['name'] as string };
}

function withText(
  { position, createdAt, topic, signals, gap, repeatedRequest }: PlacedMessage,
  read: ReadMessage = { gone: 'UNREADABLE' },
): TranscriptMessage {
  const message = 'message' in read ? read.message : null;
  return {
    position,
    role: message?.role ?? null,
    content: message?.content ?? null,
    gone: 'gone' in read ? read.gone : null,
    externalId: message?.userId ?? null,
    createdAt,
    metadata: message?.metadata ?? null,
    topic,
    signals,
    gap,
    repeatedRequest,
  };
}

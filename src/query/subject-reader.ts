/**
 * Exports all data of one end user, line by line: their feedback in stream order, then sessions in stream order, each
 * followed by its messages as in transcripts. All lines come from one snapshot, and only a bounded number of messages
 * and pieces of feedback is in memory.
 *
 * Test: test/query/subject-reader.test.ts, test/e2e/subject-rules.test.ts.
 */
import type { FeedbackPlace } from '../domain/feedback.ts';
import { piecesOf } from '../domain/give-way.ts';
import { derivedId } from '../domain/ids.ts';
import { GRANULARITY_NUMBER, KINDS } from '../domain/kinds.ts';
import { formatInstant } from '../domain/time.ts';
import { Turns } from '../domain/turns.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../store/published/snapshot-reader.ts';
import { nothingPublished, tooManyExports } from '../store/published/unanswerable.ts';
import { readInstanceRow } from './instance-reader.ts';
import { LONG_ANSWER } from './places.ts';
import { transcriptOf, type ReadMessage } from './session-reader.ts';
import type { TranscriptPlace } from './session-schema.ts';
import {
  metadataIn,
  readMessages,
  readSessions,
  type FoundMessage,
  type FoundSession,
} from './session-rows.ts';
import { noSubject, type SubjectLine } from './subject-schema.ts';

export interface SubjectReaderOptions {
  /** Returns the reader of the shard that holds an instance (UUID). */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'snapshot' | 'inTurn'>;
  /**
   * Reads messages by stream position, and comments by the place of their feedback, in order. Throws AppError
   * SERVICE_UNAVAILABLE while the stream cannot be read.
   */
  readonly texts: {
    read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>>;
    comments(feedback: readonly FeedbackPlace[]): Promise<readonly (string | null)[]>;
  };
}

/**
 * Limits of concurrent exports, in all and for each caller. More are refused at once, because a slow client may hold
 * one for any time.
 */
const MOST_EXPORTS = 4;
const EXPORTS_PER_CALLER = 2;
/** Session numbers that one statement returns: each statement scans all messages of the instance. */
const LISTED_SESSIONS = 50_000;
/** Sessions that are read together, without messages. */
const SESSIONS_AT_ONCE = 100;
/** Messages that one statement returns. */
const LISTED_MESSAGES = 1000;
/** Pieces of feedback that one statement returns, each with a comment of a few thousand units at most. */
const LISTED_FEEDBACK = 128;
/** Messages whose texts are read together: at first, and at most. Fewer if they are long. */
const TEXTS_AT_FIRST = 8;
const TEXTS_AT_ONCE = 128;
/** Limit of the texts in memory, UTF-16 units. */
const HELD_TEXTS = 2 ** 20;

interface Subject {
  readonly snapshot: Snapshot;
  readonly instance: number;
  /** UUID of the end user. */
  readonly id: string;
  /** Null if only metadata mentions the end user. */
  readonly number: number | null;
  /** Event times of their first and last message, microseconds; null: no message belongs to them. */
  readonly times: { readonly from: number; readonly to: number } | null;
  /** The first line. */
  readonly line: SubjectLine;
}

type FeedbackLine = Extract<SubjectLine, { kind: 'FEEDBACK' }>;

/** A piece of feedback, whose comment the stream holds. */
interface PlacedPiece {
  readonly at: FeedbackPlace;
  readonly line: Omit<FeedbackLine, 'comment'>;
}

/** Runs a part of the export on the caller's turn. */
type InTurn = <T>(work: () => Promise<T>, places?: number) => Promise<T>;

export class SubjectReader {
  readonly #options: SubjectReaderOptions;
  readonly #exports = new Turns({
    most: MOST_EXPORTS,
    mostPerCaller: EXPORTS_PER_CALLER,
    waitingPerCaller: { most: 0, refusal: tooManyExports },
  });

  constructor(options: SubjectReaderOptions) {
    this.#options = options;
  }

  /**
   * Yields lines in groups; the end user is the first line. The caller checks that the instance exists. Before the
   * first line, throws AppError NOT_FOUND if there is no data, SERVICE_UNAVAILABLE while the views cannot be read or
   * too many exports run. Throws SERVICE_UNAVAILABLE at any line while the texts cannot be read.
   */
  async *read(
    instanceId: string,
    externalId: string,
    caller = '',
  ): AsyncGenerator<readonly SubjectLine[], void, undefined> {
    const reader = this.#options.readerOf(instanceId);
    const inTurn: InTurn = (work, places) => reader.inTurn(caller, work, places);
    const leave = await this.#exports.take(caller);
    let snapshot: Snapshot | null = null;
    try {
      snapshot = await reader.snapshot(caller);
      if (snapshot === null) throw nothingPublished();
      const asked = snapshot;
      const subject = await inTurn(() => readSubject(asked, instanceId, externalId));
      let lines = 0;
      for await (const some of this.#linesOf(subject, inTurn)) {
        lines += some.length;
        yield some;
      }
      yield [{ kind: 'END', lines }];
    } finally {
      snapshot?.release();
      leave();
    }
  }

  async *#linesOf(subject: Subject, inTurn: InTurn): AsyncGenerator<readonly SubjectLine[], void, undefined> {
    const { snapshot, instance, line } = subject;
    yield [line];
    yield* this.#feedbackOf(subject, inTurn);
    for await (const numbers of sessionsOf(subject, inTurn)) {
      const condition = `session in (${numbers.join(', ')})`;
      for (const found of await inTurn(() => readSessions(snapshot, instance, condition))) {
        const { endUser: _, ...session } = found.session;
        yield [{ kind: 'SESSION', ...session, isTheirs: found.startedBy === subject.number }];
        yield* this.#messagesOf(subject, found, inTurn);
      }
    }
  }

  async *#feedbackOf(
    subject: Subject,
    inTurn: InTurn,
  ): AsyncGenerator<readonly SubjectLine[], void, undefined> {
    for (let after: FeedbackPlace | undefined; ;) {
      const from = after;
      const found = await inTurn(() => readFeedback(subject, from, LISTED_FEEDBACK));
      const comments = await this.#options.texts.comments(found.map(({ at }) => at));
      if (found.length > 0)
        yield found.map(({ line }, index) => ({ ...line, comment: comments[index] ?? null }));
      if (found.length < LISTED_FEEDBACK) return;
      after = found.at(-1)?.at;
    }
  }

  async *#messagesOf(
    { snapshot, instance, number }: Subject,
    session: FoundSession,
    inTurn: InTurn,
  ): AsyncGenerator<readonly SubjectLine[], void, undefined> {
    let atOnce = TEXTS_AT_FIRST;
    let cursor: TranscriptPlace | undefined;
    do {
      const page = { limit: LISTED_MESSAGES, cursor };
      const { found, next } = await inTurn(() => readMessages(snapshot, instance, session, page));
      for (let from = 0; from < found.length;) {
        const some = found.slice(from, from + atOnce);
        const read = await this.#options.texts.read(some.map(({ position }) => position));
        const lines = some.map((message) =>
          messageLine(session.session.id, message, read.get(message.position), number),
        );
        yield lines;
        from += some.length;
        // Fits the next group into HELD_TEXTS, assuming texts of the same length.
        const fitting = Math.floor((HELD_TEXTS * some.length) / Math.max(1, lengthOf(read)));
        atOnce = Math.max(1, Math.min(fitting, atOnce * 2, TEXTS_AT_ONCE));
      }
      cursor = next ?? undefined;
    } while (cursor !== undefined);
  }
}

async function readSubject(snapshot: Snapshot, instanceId: string, externalId: string): Promise<Subject> {
  const row = await readInstanceRow(snapshot, instanceId);
  if (row === undefined) throw noSubject();
  const instance = row['instance'] as number;
  const id = derivedId(instanceId, 'end-user', externalId);
  const [[user], members] = await Promise.all([
    snapshot.all('select end_user from @user', {
      rows: { user: { table: 'end_user', equal: { instance }, and: 'id = $id::uuid' } },
      bindings: { id },
    }),
    snapshot.all('select member, value from @metadata order by member', {
      rows: {
        metadata: {
          table: 'record_metadata',
          equal: { instance },
          and: "record = 'user' and record_key = $name",
        },
      },
      bindings: { name: externalId },
    }),
  ]);
  const number = user === undefined ? null : (user['end_user'] as number);
  const isKnown = user !== undefined || members.length > 0;
  if (!isKnown && (await readFeedback({ snapshot, instance, id, number }, undefined, 1)).length === 0)
    throw noSubject();
  const counts = number === null ? undefined : await readCounts(snapshot, instance, number);
  const times =
    counts === undefined ? null : { from: counts['first_at'] as number, to: counts['last_at'] as number };
  return {
    snapshot,
    instance,
    id,
    number,
    times,
    line: {
      kind: 'END_USER',
      id,
      externalId,
      createdAt: times === null ? null : formatInstant(times.from),
      lastActiveAt: times === null ? null : formatInstant(times.to),
      sessions: (counts?.['sessions'] as number | undefined) ?? 0,
      messages: (counts?.['messages'] as number | undefined) ?? 0,
      metadata: metadataIn(members),
    },
  };
}

/**
 * Reads the next feedback of an author in stream order: what names them, and what names nobody in sessions that they
 * started.
 */
async function readFeedback(
  { snapshot, instance, id, number }: Pick<Subject, 'snapshot' | 'instance' | 'id' | 'number'>,
  after: FeedbackPlace | undefined,
  limit: number,
): Promise<readonly PlacedPiece[]> {
  const { position, place } = after ?? { position: -1, place: -1 };
  const rows = await snapshot.all(
    `select position, place, session_id::varchar as session, message, value, rating, given_at from @feedback
where (position, place) > (${position}, ${place})
  and (author = $id::uuid or (author is null and session in (select session from @session where end_user = ${number ?? -1})))
order by position, place limit ${limit}`,
    {
      rows: {
        feedback: { table: 'feedback', equal: { instance } },
        session: { table: 'session', equal: { instance } },
      },
      bindings: { id },
    },
  );
  return rows.map((row) => ({
    at: { position: row['position'] as number, place: row['place'] as number },
    line: {
      kind: 'FEEDBACK',
      sessionId: row['session'] as string,
      position: row['message'] as number | null,
      value: row['value'] as -1 | 0 | 1,
      rating: row['rating'] as number | null,
      createdAt: formatInstant(row['given_at'] as number),
    },
  }));
}

async function readCounts(snapshot: Snapshot, instance: number, endUser: number): Promise<Row | undefined> {
  const rows = await snapshot.all('select sessions, messages, first_at, last_at from @counts', {
    rows: {
      counts: {
        table: 'end_user_rollup',
        equal: { instance, granularity: GRANULARITY_NUMBER.ALL },
        and: `bucket = '-infinity' and end_user = ${endUser}`,
      },
    },
    bindings: {},
  });
  return rows[0];
}

/** Yields the numbers of the sessions with a message of the end user, in stream order. */
async function* sessionsOf(
  { snapshot, instance, number, times }: Subject,
  inTurn: InTurn,
): AsyncGenerator<readonly number[], void, undefined> {
  if (number === null || times === null) return;
  const range = { from: times.from, to: times.to + 1 };
  const messages = { table: 'message_fact', equal: { instance, kind: KINDS.all }, range };
  for (let after = -1; ;) {
    const statement = `select distinct session from @messages
where not gone and entity = ${number} and session > ${after} order by session limit ${LISTED_SESSIONS}`;
    const rows = await inTurn(
      () => snapshot.all(statement, { rows: { messages }, bindings: {} }),
      LONG_ANSWER,
    );
    const numbers = rows.map(({ session }) => session as number);
    yield* piecesOf(numbers, SESSIONS_AT_ONCE);
    if (numbers.length < LISTED_SESSIONS) return;
    after = numbers.at(-1) as number;
  }
}

function messageLine(
  sessionId: string,
  found: FoundMessage,
  read: ReadMessage | undefined,
  endUser: number | null,
): SubjectLine {
  // Omits the authors of other messages.
  const { externalId: _, topic, gap, ...message } = transcriptOf(found, read);
  const [topicRow] = found.rowsOf(KINDS.topic);
  const [gapRow] = found.rowsOf(KINDS.gap);
  return {
    kind: 'MESSAGE',
    sessionId,
    ...message,
    isTheirs: found.endUser === endUser,
    topic: topic && { ...topic, isOwn: isSet(topicRow, 'is_own'), isNamed: isSet(topicRow, 'is_named') },
    gap: gap && { ...gap, isNamed: isSet(gapRow, 'is_named') },
  };
}

function isSet(row: Row | undefined, column: string): boolean {
  return row?.[column] === true;
}

function lengthOf(read: ReadonlyMap<number, ReadMessage>): number {
  let length = 0;
  for (const one of read.values()) if ('message' in one) length += one.message.content.length;
  return length;
}

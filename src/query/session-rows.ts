/**
 * Reads sessions and their messages from the views, without texts, for transcripts and exports of end users.
 *
 * Test: test/e2e/session-rules.test.ts, test/e2e/subject-rules.test.ts.
 */
import { GRANULARITY_NUMBER, KINDS } from '../domain/kinds.ts';
import type { SessionOutcome } from '../domain/session-outcomes.ts';
import { formatInstant } from '../domain/time.ts';
import type { Bindings, Row } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import { cachedNames } from './names.ts';
import type { SessionResponse, TranscriptPlace } from './session-schema.ts';

export interface FoundSession {
  readonly number: number;
  /** Number of the end user who started the conversation; 0: unknown. */
  readonly startedBy: number;
  /** Event times of its first and last message, microseconds. */
  readonly from: number;
  readonly to: number;
  readonly session: SessionResponse['session'];
}

/** Kinds of finding in a message. */
export type FindingKind = (typeof KINDS)['topic' | 'signal' | 'repeatedRequest' | 'gap' | 'label'];

/** A message without its text. */
export interface FoundMessage extends TranscriptPlace {
  /** Number of the end user it belongs to; 0: none. */
  readonly endUser: number;
  /** Number of end users whose last feedback on it is good, and bad. */
  readonly feedback: { readonly up: number; readonly down: number };
  /** Returns the naming rows of its findings; at most one of each kind except signals and labels. */
  readonly rowsOf: (kind: FindingKind) => readonly Row[];
}

/** Returns the sessions of an instance that satisfy an SQL condition, in stream order of their start. */
export async function readSessions(
  snapshot: Snapshot,
  instance: number,
  condition: string,
  bindings: Bindings = {},
): Promise<FoundSession[]> {
  const rows = await snapshot.all(
    `select session, id::varchar as id, title, summary, language, outcome, end_user, external_id
from @session order by session`,
    { rows: { session: { table: 'session', equal: { instance }, and: condition } }, bindings },
  );
  if (rows.length === 0) return [];
  const listOf = (column: string): string => [...new Set(rows.map((row) => row[column] ?? 0))].join(', ');
  const ids = rows.map(({ id }) => `'${id as string}'`).join(', ');
  const [counts, authors, members] = await Promise.all([
    snapshot.all('select session, messages, sat, dsat, repeated_requests, first_at, last_at from @counts', {
      rows: {
        counts: {
          table: 'session_rollup',
          equal: { instance, granularity: GRANULARITY_NUMBER.ALL },
          // ALL has one bucket; naming it lets DuckDB skip row groups.
          and: `bucket = '-infinity' and session in (${listOf('session')})`,
        },
      },
      bindings: {},
    }),
    snapshot.all('select end_user, id::varchar as id, external_id from @author', {
      rows: {
        author: { table: 'end_user', equal: { instance }, and: `end_user in (${listOf('end_user')})` },
      },
      bindings: {},
    }),
    snapshot.all('select record_key, member, value from @metadata order by record_key, member', {
      rows: {
        metadata: {
          table: 'record_metadata',
          equal: { instance },
          and: `record = 'session' and record_key in (${ids})`,
        },
      },
      bindings: {},
    }),
  ]);
  const countsOf = new Map(counts.map((row) => [row['session'], row]));
  const authorOf = new Map(authors.map((row) => [row['end_user'], row]));
  const membersOf = Map.groupBy(members, (row) => row['record_key']);
  return rows.flatMap((row) => {
    const counted = countsOf.get(row['session']);
    // A session and its first message are stored in one transaction, so counts are always there.
    if (counted === undefined) return [];
    return [sessionOf(row, counted, authorOf.get(row['end_user']), membersOf.get(row['id']) ?? [])];
  });
}

function sessionOf(row: Row, counts: Row, author: Row | undefined, members: readonly Row[]): FoundSession {
  const [from, to] = [counts['first_at'] as number, counts['last_at'] as number];
  return {
    number: row['session'] as number,
    startedBy: (row['end_user'] as number | null) ?? 0,
    from,
    to,
    session: {
      id: row['id'] as string,
      externalId: row['external_id'] as string | null,
      endUser:
        author === undefined
          ? null
          : { id: author['id'] as string, externalId: author['external_id'] as string },
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
      metadata: metadataIn(members),
    },
  };
}

/** Returns metadata by member, from rows of `record_metadata`. */
export function metadataIn(rows: readonly Row[]): Record<string, unknown> {
  return Object.fromEntries(
    rows.map(({ member, value }) => [member as string, JSON.parse(value as string) as unknown]),
  );
}

/**
 * Reads a page of a session's messages with their findings. `next`: the last message of the page if another page
 * follows.
 */
export async function readMessages(
  snapshot: Snapshot,
  instance: number,
  { number, from, to }: FoundSession,
  { limit, cursor }: { readonly limit: number; readonly cursor?: TranscriptPlace | undefined },
): Promise<{ readonly found: readonly FoundMessage[]; readonly next: TranscriptPlace | null }> {
  const { all, topic, signal, repeatedRequest, gap, label } = KINDS;
  const range = { from: cursor?.at ?? from, to: to + 1 };
  const facts = { table: 'message_fact', range };
  const kinds = [topic, signal, repeatedRequest, gap, label] as const;
  const [given, rows, ...names] = await Promise.all([
    readFeedback(snapshot, instance, number),
    // Reads one message more than the page to detect a next page.
    snapshot.all(
      `with page as materialized (
  select position, event_at, entity from @messages where event_at > $at or position > $position
  order by event_at, position limit ${limit + 1}
)
select position, event_at, kind, entity from (
  select position, event_at, ${all} as kind, entity, 0 as fact_id from page
  union all
  select position, f.event_at, kind, f.entity, fact_id from @found f join page using (position) where not gone
) order by event_at, position, fact_id`,
      {
        rows: {
          messages: { ...facts, equal: { instance, kind: all }, and: `session = ${number}` },
          found: {
            ...facts,
            equal: { instance },
            and: `session = ${number} and kind in (${kinds.join(', ')})`,
          },
        },
        bindings: { at: { at: range.from }, position: cursor?.position ?? -1 },
      },
    ),
    ...(['topic', 'signal', 'repeated_request', 'gap', 'label'] as const).map((table) =>
      cachedNames(snapshot, table, instance),
    ),
  ]);
  const nameOf = new Map(kinds.map((kind, index) => [kind, names[index]]));
  const byPosition = [...Map.groupBy(rows, (row) => row['position'] as number)];
  const found = byPosition.slice(0, limit).map(([position, [message, ...others]]): FoundMessage => ({
    position,
    at: message?.['event_at'] as number,
    endUser: message?.['entity'] as number,
    feedback: given.get(position) ?? { up: 0, down: 0 },
    rowsOf: (kind) =>
      others.flatMap((fact) => {
        const row = fact['kind'] === kind ? nameOf.get(kind)?.get(fact['entity'] as number) : undefined;
        return row === undefined ? [] : [row];
      }),
  }));
  return { found, next: byPosition.length > limit ? (found.at(-1) ?? null) : null };
}

/** Returns what end users gave on the messages of a session, by position. */
async function readFeedback(
  snapshot: Snapshot,
  instance: number,
  session: number,
): Promise<ReadonlyMap<number, FoundMessage['feedback']>> {
  const rows = await snapshot.all(
    `select message, count(*) filter (value = 1)::integer as up, count(*) filter (value = -1)::integer as down
from @given group by message`,
    {
      rows: { given: { table: 'feedback', equal: { instance }, and: `session = ${session} and holds` } },
      bindings: {},
    },
  );
  return new Map(
    rows.map((row) => [row['message'] as number, { up: row['up'] as number, down: row['down'] as number }]),
  );
}

/** Returns the id and name of a topic, gap, signal or repeated request. */
export function named(row: Row): { readonly id: string; readonly name: string } {
  return { id: row['id'] as string, name: row['name'] as string };
}

/**
 * Finds the sessions with a message that contains a text. It reads texts from the stream, the only place that holds
 * them, session by session: sessions and their messages newest first. So each session is found once, on whatever page.
 *
 * Test: test/e2e/text-search-rules.test.ts, test/query/text-search/text-search-reader.test.ts.
 */
import { KINDS } from '../../domain/kinds.ts';
import { piecesOf } from '../../domain/give-way.ts';
import type { RecordedMessage } from '../../domain/records.ts';
import { formatInstant } from '../../domain/time.ts';
import { AppError } from '../../errors.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, type AnswerReading } from '../answer.ts';
import { chosenEntities } from '../dimensions.ts';
import { InstanceReader, readInstanceRow } from '../instance-reader.ts';
import { sessionQueryOf, type QueryParameters } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import { checkSegment } from '../segments.ts';
import { filteredRows } from '../plan.ts';
import type { ReadMessage } from '../session-reader.ts';
import { Statement, type Plan } from '../statement.ts';
import { finderOf, type Fold } from './excerpt.ts';
import {
  writeTextSearchPlace,
  type TextSearchParameters,
  type TextSearchPlace,
  type TextSearchResponse,
} from './text-search-schema.ts';

export interface TextSearchReaderOptions extends AnswerReading {
  /**
   * Calls `hear` with messages by stream position. Throws AppError SERVICE_UNAVAILABLE while the stream cannot be read.
   */
  readonly texts: {
    each(positions: readonly number[], hear: (position: number, read: ReadMessage) => void): Promise<void>;
  };
  readonly fold: Fold;
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Messages that one statement lists. Default: about as many as one answer can search. */
  readonly listed?: number;
}

/** A search stops after this time, statements included, at the end of a piece, and returns a cursor. */
const BUDGET_MS = 1000;
/** Messages that are read together. */
const PIECE = 1000;
/** Each statement sorts all messages, so few are run. */
const LISTED = 60_000;

interface Found {
  readonly session: number;
  readonly position: number;
  readonly message: RecordedMessage;
  readonly excerpt: string;
}

/** A message to search. */
interface Place {
  readonly session: number;
  readonly newest: number;
  readonly position: number;
  /** Number of messages from the first of the list on, listed or not. */
  readonly behind: number;
}

interface Searched {
  readonly found: readonly Found[];
  readonly messages: number;
  readonly gone: number;
  /** Messages not searched yet. */
  readonly left: number;
  /** Null when the search is complete. */
  readonly next: TextSearchPlace | null;
}

export class TextSearchReader extends InstanceReader<TextSearchReaderOptions> {
  readonly #listed = this.options.listed ?? LISTED;

  /**
   * The caller checks that the instance exists. Throws AppError VALIDATION_ERROR for a text without letters, digits and
   * signs, SERVICE_UNAVAILABLE while the views or the texts cannot be read.
   */
  read(parameters: TextSearchParameters, caller = ''): Promise<TextSearchResponse> {
    const find = finderOf(parameters.said, this.options.fold);
    if (find === null) {
      const message = 'must have a letter, a digit or a sign';
      const details = [{ path: 'said', message }];
      throw new AppError('VALIDATION_ERROR', `The query is not valid: said ${message}.`, { details });
    }
    const { said: _, cursor: __, ...choice } = parameters;
    const query = sessionQueryOf({ ...choice, fields: choice.fields ?? ['messages'] });
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#answer(snapshot, parameters, query, find), caller, LONG_ANSWER);
  }

  async #answer(
    snapshot: Snapshot,
    { limit, cursor }: TextSearchParameters,
    query: QueryParameters,
    find: (content: string) => string | null,
  ): Promise<TextSearchResponse> {
    const row = await readInstanceRow(snapshot, query.instanceId);
    const instance = row === undefined ? null : (row['instance'] as number);
    const places = instance === null ? null : await this.#placesOf(snapshot, query, instance);
    const searched =
      places === null
        ? { found: [], messages: 0, gone: 0, left: 0, next: null }
        : await this.#search(snapshot, places, find, limit, cursor ?? null);
    const { messages, gone, left, next } = searched;
    const { elements, lastProcessedAt } = await this.#sessionsOf(snapshot, query, searched.found);
    return {
      elements,
      searched: { messages, gone, left },
      // If nothing is left, the next page would be empty.
      pagination: { limit, next: next === null || left === 0 ? null : writeTextSearchPlace(next) },
      lastProcessedAt,
    };
  }

  async #search(
    snapshot: Snapshot,
    places: Places,
    find: (content: string) => string | null,
    limit: number,
    cursor: TextSearchPlace | null,
  ): Promise<Searched> {
    const { texts, now } = this.options;
    const most = this.#listed;
    const endsAt = now() + BUDGET_MS;
    const found: Found[] = [];
    const list = async (from: TextSearchPlace | null): Promise<readonly Place[]> => {
      const plan = places(from);
      return (await snapshot.all(plan.sql, plan)) as unknown as readonly Place[];
    };
    /** Counts the messages left to search. `done`: number of the session that is finished. */
    const left = async (
      listed: readonly Place[],
      place: number,
      done: number,
      at: TextSearchPlace | null,
    ) => {
      if (listed.length === most && listed.at(-1)?.session === done) return (await list(at))[0]?.behind ?? 0;
      const rest = listed.slice(place).filter(({ session }) => session !== done).length;
      return (listed[0]?.behind ?? 0) - listed.length + rest;
    };
    let at = cursor;
    let [messages, gone, done] = [0, 0, -1];
    for (;;) {
      const listed = await list(at);
      let place = 0;
      for (const piece of piecesOf(listed, PIECE)) {
        const waiting = piece.filter(({ session }) => session !== done);
        const read = new Map<
          number,
          { readonly message: RecordedMessage; readonly excerpt: string } | null
        >();
        await texts.each(
          waiting.map(({ position }) => position),
          (position, text) => {
            const excerpt = 'message' in text ? find(text.message.content) : null;
            if (!('message' in text)) read.set(position, null);
            else if (excerpt !== null) read.set(position, { message: text.message, excerpt });
          },
        );
        for (const { session, newest, position } of piece) {
          at = { until: at?.until ?? newest, newest, position: session === done ? 0 : position };
          place += 1;
          if (session === done) continue;
          messages += 1;
          const hit = read.get(position);
          if (hit === null) gone += 1;
          if (hit === null || hit === undefined) continue;
          found.push({ session, position, ...hit });
          done = session;
          at = { ...at, position: 0 };
          if (found.length < limit) continue;
          return { found, messages, gone, next: at, left: await left(listed, place, done, at) };
        }
        if (now() >= endsAt)
          return { found, messages, gone, next: at, left: await left(listed, place, done, at) };
      }
      if (listed.length < most) return { found, messages, gone, left: 0, next: null };
    }
  }

  /** Returns a function that plans the list of messages after a place, in the sessions that the query selects. */
  async #placesOf(snapshot: Snapshot, query: QueryParameters, instance: number): Promise<Places> {
    await checkSegment(snapshot, instance, query.segment);
    const chosen = await chosenEntities(snapshot, query, instance);
    const range = { from: query.range.start ?? -Infinity, to: query.range.end ?? Infinity };
    return (at) => {
      const statement = new Statement(this.options.views, instance, query.segment);
      const rows = filteredRows(statement, query, chosen);
      const { until, newest, position } = at ?? { until: LAST, newest: LAST, position: LAST };
      const [last, session, message] = [until, newest, position].map((place) => statement.bind(place));
      const plan = statement.plan(`with m as materialized (
  select session, position from @messages
  where not gone and position <= ${last} and session in (select number ${rows})
), s as (select session, max(position) as newest from m group by session),
b as materialized (
  select session, newest, position from m join s using (session)
  where newest < ${session} or (newest = ${session} and position < ${message})
)
select *, (select count(*)::integer from b) as behind from b
order by newest desc, position desc limit ${this.#listed}`);
      const messages = { table: 'message_fact', equal: { instance, kind: KINDS.all }, range };
      return { ...plan, rows: { ...plan.rows, messages } };
    };
  }

  /** Returns the sessions as a query answers them, in the order of the search. */
  async #sessionsOf(
    snapshot: Snapshot,
    query: QueryParameters,
    found: readonly Found[],
  ): Promise<Pick<TextSearchResponse, 'elements' | 'lastProcessedAt'>> {
    const numbers = found.map(({ session }) => session).join(', ') || 'null';
    const rows = await snapshot.all(
      `select session, id::varchar as id from @session where session in (${numbers})`,
    );
    const idOf = new Map(rows.map((row) => [row['session'] as number, row['id'] as string]));
    const ids = found.map(({ session }) => idOf.get(session) ?? '');
    // Without sessions, queries an id that no session has.
    const asked = {
      ...query,
      ids: ids.length === 0 ? [query.instanceId] : ids,
      limit: Math.max(1, ids.length),
    };
    const { elements, lastProcessedAt } = await answerQuery(snapshot, asked, this.options);
    const byId = new Map(elements.map((element) => [element.dimensions.session?.id, element]));
    return {
      lastProcessedAt,
      elements: found.flatMap(({ session, position, message, excerpt }) => {
        const element = byId.get(idOf.get(session));
        const match = { position, role: message.role, createdAt: formatInstant(message.at), excerpt };
        return element === undefined ? [] : [{ ...element, said: match }];
      }),
    };
  }
}

/** Plans the list of messages after a place, newest first. */
type Places = (at: TextSearchPlace | null) => Plan;

/** Larger than any position. */
const LAST = Number.MAX_SAFE_INTEGER;

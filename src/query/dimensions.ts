/**
 * Reads the names and other members of the entities in rows, and resolves the ids in filters to numbers.
 *
 * Test: test/query/session-names.test.ts, test/e2e/query-rules.test.ts.
 */
import {
  GROUPINGS,
  type GroupBy,
  type Grouping,
  type MemberSource,
  type NamesTable,
} from '../domain/groupings.ts';
import type { CheckedEntity } from '../domain/checks.ts';
import { trackedAs, type LifeState } from '../domain/lives.ts';
import { mapInPieces } from '../domain/give-way.ts';
import { KINDS } from '../domain/kinds.ts';
import { formatInstant } from '../domain/time.ts';
import type { Row } from '../store/duckdb.ts';
import type { Statement } from '../store/published/segment-sql.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import { checkedAs, checkedEntities, readEstimate } from './checks/estimates.ts';
import { hiddenSignals } from './checks/hidden-signals.ts';
import type { QueryParameters } from './parameters.ts';
import type { ChosenEntities } from './plan.ts';
import { livesOf } from './curations/lives.ts';
import { cachedNames, heirOf, ofInstance } from './names.ts';
import { segmentCondition } from './segments.ts';
import type { QueryResponse } from './response-schema.ts';

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** Rows of a page, as a statement returned them. */
interface Page {
  readonly snapshot: Snapshot;
  readonly instance: number;
  readonly rows: readonly Row[];
  /** What the rows stand for, where people can check it. */
  readonly of: CheckedEntity | null;
  readonly parameters: QueryParameters;
  /** Span `[from, to)` that covers all messages of the page's entities, microseconds; null: unknown. */
  readonly times: { readonly from: number; readonly to: number } | null;
}

/** Returns `dimensions` of each row, without the bucket. */
export async function readDimensions(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  rows: readonly Row[],
): Promise<Dimensions[]> {
  const { groupBy, dimensionFields } = parameters;
  const { counts, name, members } = GROUPINGS[groupBy];
  const of = checkedAs(groupBy);
  const page = { snapshot, instance, rows, of, parameters, times: timesOf(parameters, rows) };
  const wanted = Object.entries(members)
    .filter(([member, { onRequest }]) => !onRequest || dimensionFields.includes(member))
    .map(([member, { from }]) => ({ member, from }))
    // In answers, members from columns come first.
    .sort((x, y) => Number(!('column' in x.from)) - Number(!('column' in y.from)));
  const names = await namesOf(page, counts, wanted);
  const readers: [member: string, read: (row: Row) => unknown][] = [];
  for (const { member, from } of wanted) readers.push([member, await readerOf(page, names, from)]);
  return mapInPieces(rows, (row) => ({
    [name]: {
      id: row['id'],
      ...Object.fromEntries(readers.map(([member, read]) => [member, read(row)])),
    },
  }));
}

/** Returns the span if rows cover the whole history, because their first and last message are known then. */
function timesOf({ granularity, range }: QueryParameters, rows: readonly Row[]): Page['times'] {
  if (granularity !== 'ALL' || range.start !== null || range.end !== null) return null;
  let [from, to] = [Infinity, -Infinity];
  for (const { first_at: first, last_at: last } of rows) {
    if (typeof first !== 'number' || typeof last !== 'number') return null;
    [from, to] = [Math.min(from, first), Math.max(to, last + 1)];
  }
  return from < to ? { from, to } : null;
}

/** Returns the naming rows of the page's entities, by number. */
async function namesOf(
  { snapshot, instance, rows }: Page,
  { view, names }: Grouping['counts'],
  wanted: readonly { readonly from: MemberSource }[],
): Promise<ReadonlyMap<number, Row>> {
  if (view === 'entity_rollup') return cachedNames(snapshot, names, instance);
  if (view === 'session_attribute') return new Map();
  const columns = wanted.flatMap(({ from }) => ('column' in from ? [from.column] : []));
  if (columns.length === 0 || rows.length === 0) return new Map();
  const found = await snapshot.all(
    `select ${names}, ${columns.join(', ')} from @${names} where ${names} in (${numbers(rows)})`,
    ofInstance(instance, names),
  );
  return new Map(found.map((row) => [row[names] as number, row]));
}

/** Returns a function that reads a member for a row. */
async function readerOf(
  page: Page,
  names: ReadonlyMap<number, Row>,
  from: MemberSource,
): Promise<(row: Row) => unknown> {
  if ('own' in from) return (row) => row[from.own];
  if ('asked' in from) return () => page.parameters[from.asked];
  if ('instant' in from) return (row) => formatInstant(row[from.instant] as number);
  if ('estimate' in from) {
    const { precision } = await precisionsOf(page, names);
    return (row) => precision(row['number'] as number)[from.estimate];
  }
  if ('lifeOf' in from) {
    const lives = await livesOf(page.snapshot, page.instance, from.lifeOf);
    return (row) => lives.get(row['number'] as number) ?? null;
  }
  if ('topicsIn' in from) {
    const topics = await topicsIn(page, from.topicsIn);
    return (row) => (topics.get(row['number'] as number) ?? []).slice(0, from.limit);
  }
  const valueOf = (row: Row): unknown => names.get(row['number'] as number)?.[from.column] ?? null;
  if (!('idIn' in from)) return valueOf;
  const others = await cachedNames(page.snapshot, from.idIn, page.instance);
  return (row) => others.get(valueOf(row) as number)?.['id'] ?? null;
}

/** What verdicts of people tell of an entity. */
interface Sureness {
  readonly checked: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Reads the precision of the page's entities that people have checked; each is estimated once for a snapshot. */
async function precisionsOf(
  { snapshot, instance, rows, of, parameters: { segment } }: Page,
  names: ReadonlyMap<number, Row>,
): Promise<{ readonly precision: (number: number) => Sureness }> {
  const checked = of === null ? new Set<string>() : await checkedEntities(snapshot, instance, of);
  const found = new Map<number, Sureness>();
  for (const number of new Set(rows.map((row) => row['number'] as number))) {
    const id = names.get(number)?.['id'] as string | undefined;
    if (of === null || id === undefined || !checked.has(id)) continue;
    const tables = ['curation', 'message_fact', 'session', 'session_attribute'];
    const key = `estimate ${instance} ${of} ${id} ${JSON.stringify(segment)}`;
    const entity = { number, id };
    const estimate = await snapshot.cached(key, tables, () =>
      readEstimate(snapshot, { instance, of, entity, verdictsOf: id, range: ALL_TIME, segment }),
    );
    const { yes = 0, no = 0, share = null } = estimate?.found ?? {};
    found.set(number, { checked: yes + no, low: share?.low ?? null, high: share?.high ?? null });
  }
  return { precision: (number) => found.get(number) ?? { checked: 0, low: null, high: null } };
}

const ALL_TIME = { start: -Infinity, end: Infinity };

interface Topic {
  readonly id: string;
  readonly name: string;
}

function numbers(rows: readonly Row[]): string {
  return [...new Set(rows.map((row) => row['number'] as number))].join(', ') || 'null';
}

/** Returns the topics of a page's entities, most frequent first, ties by id. */
function topicsIn(
  { snapshot, instance, rows, parameters, times }: Page,
  table: 'message_fact' | 'hour_fact' | 'gap_micro',
): Promise<ReadonlyMap<number, Topic[]>> {
  const read = (counts: string, statement: Statement): Promise<Map<number, Topic[]>> =>
    topicsOf(snapshot, counts, statement, instance);
  const factsOf = (column: string): Statement => {
    const and = `${column} in (${numbers(rows)})`;
    // Facts are stored in time order, so the span of the page skips most of them.
    const range = times === null || table !== 'message_fact' ? {} : { range: times };
    const facts = { table, equal: { instance, kind: KINDS.topic }, and, ...range };
    return chosen.sql === null
      ? { rows: { facts } }
      : { rows: { ...chosen.rows, facts }, bindings: chosen.bindings };
  };
  const chosen = segmentCondition(parameters.segment, instance);
  const isChosen = chosen.sql === null ? '' : ` and ${chosen.sql}`;
  if (table !== 'gap_micro' && rows.length === 0) return Promise.resolve(new Map());
  switch (table) {
    // A session's messages are close in time. An end user's are not, and can move to another user.
    case 'message_fact':
      return read(
        `select session as number, entity as topic, count(*) as messages
from @facts where not gone${isChosen} group by all`,
        factsOf('session'),
      );
    case 'hour_fact':
      return read(
        `select end_user as number, entity as topic, sum(messages) as messages
from @facts where messages > 0${isChosen} group by all`,
        factsOf('end_user'),
      );
    // Few rows: reads all gaps of the instance at once.
    case 'gap_micro':
      if (chosen.sql !== null)
        return read(
          `select f.entity as number, m.topic, count(*) as messages
from @facts f join @micro m using (micro) where not f.gone and m.topic is not null${isChosen} group by all`,
          {
            rows: {
              ...chosen.rows,
              facts: { table: 'message_fact', equal: { instance, kind: KINDS.gap } },
              micro: { table: 'micro', equal: { instance } },
            },
            bindings: chosen.bindings,
          },
        );
      return snapshot.cached(`topics of gaps ${instance}`, ['gap_micro', 'micro', 'topic'], () =>
        read(
          `select g.gap as number, m.topic, sum(g.occurrences) as messages
from @gap_micro g join @micro m using (micro) where g.occurrences > 0 and m.topic is not null group by all`,
          ofInstance(instance, 'gap_micro', 'micro'),
        ),
      );
    default:
      return table satisfies never;
  }
}

/** Groups `number`, `topic`, `messages` rows by number. Topics with most messages come first, ties by id. */
async function topicsOf(
  snapshot: Snapshot,
  counts: string,
  statement: Statement,
  instance: number,
): Promise<Map<number, Topic[]>> {
  const [rows, topics] = await Promise.all([
    snapshot.all(counts, statement),
    cachedNames(snapshot, 'topic', instance),
  ]);
  const counted = await mapInPieces(rows, (row) => {
    const topic = topics.get(row['topic'] as number) ?? {};
    return {
      number: row['number'] as number,
      topic: { id: topic['id'] as string, name: topic['name'] as string },
      messages: row['messages'] as number,
    };
  });
  counted.sort((x, y) => y.messages - x.messages || (x.topic.id < y.topic.id ? -1 : 1));
  const byNumber = Map.groupBy(counted, ({ number }) => number);
  return new Map([...byNumber].map(([number, found]) => [number, found.map(({ topic }) => topic)]));
}

const NONE: ReadonlySet<number> = new Set();

/** Returns the numbers of the entities that a query's filters name. */
export async function chosenEntities(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
): Promise<ChosenEntities> {
  const { groupBy, ids, gapType, signalSource, lifeStates, externalId, endUserIds } = parameters;
  const own: Grouping = GROUPINGS[groupBy];
  const chosen: Partial<Record<NamesTable | 'session' | 'end_user', readonly number[]>> = {};
  for (const grouping of Object.values(GROUPINGS)) {
    if (grouping.counts.view !== 'entity_rollup') continue;
    const { names, filter } = grouping.counts;
    const uuids = grouping === own ? ids : filter === undefined ? null : parameters[filter];
    const type = names === 'gap' ? gapType : null;
    const source = names === 'signal' ? signalSource : null;
    const isInState =
      grouping === own && lifeStates !== null
        ? await standsIn(snapshot, instance, groupBy, lifeStates)
        : null;
    const hidden =
      names === 'signal' && grouping === own && uuids === null && source === null
        ? await hiddenSignals(snapshot, instance, parameters.segment)
        : NONE;
    if (uuids === null && type === null && source === null && isInState === null && hidden.size === 0)
      continue;
    const rows = await cachedNames(snapshot, names, instance);
    const named = uuids === null ? null : new Set(uuids.map((uuid) => uuid.toLowerCase()));
    chosen[names] = [...rows]
      .filter(([, row]) => named === null || named.has(row['id'] as string))
      .filter(([, row]) => type === null || row['gap_type'] === type)
      .filter(([number, row]) => (source === null || row['source'] === source) && !hidden.has(number))
      .map(([number]) => heirOf(rows, number))
      .filter((number) => isInState === null || isInState(number));
  }
  if (externalId !== null && (own.counts.names === 'session' || own.counts.names === 'end_user')) {
    const { names } = own.counts;
    const rows = await snapshot.all(`select ${names} from @${names} where external_id = $name`, {
      ...ofInstance(instance, names),
      bindings: { name: externalId },
    });
    chosen[names] = rows.map((row) => row[names] as number);
  }
  if (endUserIds !== null) {
    const rows = await snapshot.all(
      `select end_user from @end_user where id in (select unnest(string_split($ids, ','))::uuid)`,
      { ...ofInstance(instance, 'end_user'), bindings: { ids: endUserIds.join(',') } },
    );
    chosen.end_user = rows.map((row) => row['end_user'] as number);
  }
  return chosen;
}

/** Returns a function that says of what lives, by its number, if it stands in one of these states. */
async function standsIn(
  snapshot: Snapshot,
  instance: number,
  groupBy: GroupBy,
  states: readonly LifeState[],
): Promise<(number: number) => boolean> {
  const of = trackedAs(groupBy);
  if (of === null) return () => false;
  const lives = await livesOf(snapshot, instance, of);
  return (number) => states.includes(lives.get(number)?.state ?? 'OPEN');
}

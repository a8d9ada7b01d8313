import { formatInstant } from '../domain/time.ts';
import type { Row, Value } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { QueryParameters } from './parameters.ts';
import type { ChosenEntities, Dimension } from './plan.ts';
import type { QueryResponse } from './response-schema.ts';

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** Topics shown of an end user, the most discussed first. */
const TOP_TOPICS = 5;

/** What stands in `dimensions` of each row of a page, but for the bucket. */
export async function readDimensions(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  page: readonly Row[],
): Promise<Dimensions[]> {
  const id = (row: Row): string => row['id'] as string;
  /** Names of the page's entities, read once for a generation. */
  const named = async (dimension: Dimension): Promise<(row: Row) => Row> => {
    const rows = await rowsOf(snapshot, dimension, instance);
    return (row) => rows.get(row['number'] as number) ?? {};
  };
  switch (parameters.groupBy) {
    case 'TOPIC': {
      const [topic, clusters] = [await named('topic'), await rowsOf(snapshot, 'cluster', instance)];
      return page.map((row) => ({
        topic: {
          id: id(row),
          name: topic(row)['name'] as string,
          clusterId: (clusters.get(topic(row)['cluster'] as number)?.['id'] ?? null) as string | null,
        },
      }));
    }
    case 'TOPIC_CLUSTER': {
      const cluster = await named('cluster');
      return page.map((row) => ({ cluster: { id: id(row), name: cluster(row)['name'] as string } }));
    }
    case 'CSAT_DSAT': {
      const signal = await named('signal');
      return page.map((row) => ({
        csatDsatSignal: {
          id: id(row),
          name: signal(row)['name'] as string,
          signalType: signal(row)['signal_type'] as 'SAT' | 'DSAT',
          description: signal(row)['description'] as string,
        },
      }));
    }
    case 'REPEATED_REQUEST': {
      const request = await named('repeated_request');
      return page.map((row) => ({
        repeatedRequest: {
          id: id(row),
          name: request(row)['name'] as string,
          description: request(row)['description'] as string,
        },
      }));
    }
    case 'GAP': {
      const gap = await named('gap');
      const topics = await snapshot.cached(
        `topics of gaps ${instance}`,
        ['gap_micro', 'micro', 'topic'],
        () => gapTopics(snapshot, instance),
      );
      return page.map((row) => ({
        gap: {
          id: id(row),
          name: gap(row)['name'] as string,
          description: gap(row)['description'] as string,
          gapType: gap(row)['gap_type'] as 'TOOL' | 'KNOWLEDGE',
          topics: topics.get(row['number'] as number) ?? [],
        },
      }));
    }
    case 'SESSION':
      return sessionDimensions(snapshot, parameters, instance, page);
    case 'END_USER':
      return endUserDimensions(snapshot, parameters, instance, page);
    default:
      return parameters.groupBy satisfies never;
  }
}

/** Members of a session that its row of table `session` has, with the column. */
const SESSION_COLUMNS = {
  title: 'title',
  summary: 'summary',
  language: 'language',
  externalId: 'external_id',
} as const;

async function sessionDimensions(
  snapshot: Snapshot,
  { dimensionFields }: QueryParameters,
  instance: number,
  page: readonly Row[],
): Promise<Dimensions[]> {
  const columns = Object.entries(SESSION_COLUMNS).filter(([name]) => dimensionFields.includes(name));
  const texts = new Map<Value, Row>();
  if (columns.length > 0 && page.length > 0) {
    const rows = await snapshot.all(
      `select session, ${columns.map(([, column]) => column).join(', ')} from @session[instance = ${instance}] where session in (${numbers(page)})`,
    );
    for (const row of rows) texts.set(row['session'] as number, row);
  }
  const topics = dimensionFields.includes('topics')
    ? await factTopics(snapshot, instance, 'session', page)
    : null;
  return page.map((row) => {
    const text = texts.get(row['number'] as number);
    return {
      session: {
        id: row['id'] as string,
        ...Object.fromEntries(
          columns.map(([name, column]) => [name, (text?.[column] ?? null) as string | null]),
        ),
        ...(topics === null ? {} : { topics: topics.get(row['number'] as number) ?? [] }),
      },
    };
  });
}

async function endUserDimensions(
  snapshot: Snapshot,
  { dimensionFields }: QueryParameters,
  instance: number,
  page: readonly Row[],
): Promise<Dimensions[]> {
  const wants = (name: string): boolean => dimensionFields.includes(name);
  const names = new Map<Value, Value>();
  if (wants('externalId') && page.length > 0) {
    const rows = await snapshot.all(
      `select end_user, external_id from @end_user[instance = ${instance}] where end_user in (${numbers(page)})`,
    );
    for (const row of rows) names.set(row['end_user'] as number, row['external_id'] as string);
  }
  const topics = wants('topTopics') ? await factTopics(snapshot, instance, 'end_user', page) : null;
  return page.map((row) => ({
    endUser: {
      id: row['id'] as string,
      ...(wants('externalId') ? { externalId: names.get(row['number'] as number) as string } : {}),
      ...(topics === null
        ? {}
        : { topTopics: (topics.get(row['number'] as number) ?? []).slice(0, TOP_TOPICS) }),
      ...(wants('createdAt') ? { createdAt: formatInstant(row['first_at'] as number) } : {}),
      ...(wants('lastActiveAt') ? { lastActiveAt: formatInstant(row['last_at'] as number) } : {}),
    },
  }));
}

interface Topic {
  readonly id: string;
  readonly name: string;
}

function numbers(page: readonly Row[]): string {
  return [...new Set(page.map((row) => row['number'] as number))].join(', ') || 'null';
}

/** The rows of a dimension by number, with `id` as text. */
async function readDimension(
  snapshot: Snapshot,
  dimension: Dimension,
  instance: number,
): Promise<Map<number, Row>> {
  const rows = await snapshot.all(
    `select * replace (id::varchar as id) from @${dimension}[instance = ${instance}]`,
  );
  return new Map(rows.map((row) => [row[dimension] as number, row]));
}

/** Topics of the page's sessions or end users, the most discussed first, ties by id. */
function factTopics(
  snapshot: Snapshot,
  instance: number,
  column: 'session' | 'end_user',
  page: readonly Row[],
): Promise<Map<number, Topic[]>> {
  if (page.length === 0) return Promise.resolve(new Map());
  // A session's messages lie together in the order of time; an end user's do not, and change their owner.
  const counts =
    column === 'session'
      ? `select session as number, entity as topic, count(*) as messages
         from @message_fact[instance = ${instance} and kind = 1 and session in (${numbers(page)})] where not gone group by all`
      : `select end_user as number, entity as topic, sum(messages) as messages
         from @hour_fact[instance = ${instance} and kind = 1 and end_user in (${numbers(page)})] where messages > 0 group by all`;
  return topicsOf(snapshot, counts, instance);
}

/** Topics that each gap of an instance concerns, the most concerned first. */
function gapTopics(snapshot: Snapshot, instance: number): Promise<Map<number, Topic[]>> {
  return topicsOf(
    snapshot,
    `select g.gap as number, m.topic, sum(g.occurrences) as messages
     from @gap_micro[instance = ${instance}] g join @micro[instance = ${instance}] m using (micro)
     where g.occurrences > 0 and m.topic is not null group by all`,
    instance,
  );
}

/** Groups `number`, `topic`, `messages` rows by number; in each the topic with most messages first, ties by id. */
async function topicsOf(snapshot: Snapshot, counts: string, instance: number): Promise<Map<number, Topic[]>> {
  const [rows, topics] = await Promise.all([snapshot.all(counts), rowsOf(snapshot, 'topic', instance)]);
  const counted = rows.map((row) => {
    const topic = topics.get(row['topic'] as number) ?? {};
    return {
      number: row['number'] as number,
      topic: { id: topic['id'] as string, name: topic['name'] as string },
      messages: row['messages'] as number,
    };
  });
  counted.sort((x, y) => y.messages - x.messages || (x.topic.id < y.topic.id ? -1 : 1));
  const result = new Map<number, Topic[]>();
  for (const { number, topic } of counted) {
    const list = result.get(number);
    if (list === undefined) result.set(number, [topic]);
    else list.push(topic);
  }
  return result;
}

/** The numbers of the entities that the filters of a query name. */
export async function chosenEntities(
  snapshot: Snapshot,
  { groupBy, ids, topicIds, signalIds, repeatedRequestIds, gapIds, gapType, externalId }: QueryParameters,
  instance: number,
): Promise<ChosenEntities> {
  const own = dimensionOf(groupBy);
  const wanted: Partial<Record<Dimension, readonly string[] | null>> = {
    topic: topicIds,
    signal: signalIds,
    repeated_request: repeatedRequestIds,
    gap: gapIds,
    ...(own === null ? {} : { [own]: ids }),
  };
  const chosen: Partial<Record<Dimension | 'session', readonly number[]>> = {};
  for (const [dimension, uuids] of Object.entries(wanted) as [Dimension, readonly string[] | null][]) {
    const ofType = dimension === 'gap' && gapType !== null;
    if (uuids === null && !ofType) continue;
    const rows = await rowsOf(snapshot, dimension, instance);
    const named = uuids === null ? null : new Set(uuids.map((uuid) => uuid.toLowerCase()));
    chosen[dimension] = [...rows]
      .filter(([, row]) => named === null || named.has(row['id'] as string))
      .filter(([, row]) => !ofType || row['gap_type'] === gapType)
      .map(([number]) => number);
  }
  if (externalId !== null) {
    const rows = await snapshot.all(
      `select session from @session[instance = ${instance}] where external_id = $name`,
      { name: externalId },
    );
    chosen.session = rows.map((row) => row['session'] as number);
  }
  return chosen;
}

/** The table that names what a grouping counts; null where each counted thing has a rollup row with its id. */
function dimensionOf(groupBy: QueryParameters['groupBy']): Dimension | null {
  switch (groupBy) {
    case 'TOPIC':
      return 'topic';
    case 'TOPIC_CLUSTER':
      return 'cluster';
    case 'CSAT_DSAT':
      return 'signal';
    case 'REPEATED_REQUEST':
      return 'repeated_request';
    case 'GAP':
      return 'gap';
    case 'SESSION':
    case 'END_USER':
      return null;
    default:
      return groupBy satisfies never;
  }
}

/** A dimension's rows, read once for as long as they do not change. */
function rowsOf(snapshot: Snapshot, dimension: Dimension, instance: number): Promise<Map<number, Row>> {
  return snapshot.cached(`${dimension} ${instance}`, [dimension], () =>
    readDimension(snapshot, dimension, instance),
  );
}

import { AppError } from '../errors.ts';
import type { Metric } from '../domain/metrics.ts';
import { formatBucket, formatInstant } from '../domain/time.ts';
import type { Row, Value } from '../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../store/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import type { QueryParameters } from './parameters.ts';
import {
  isCountedApart,
  planQuery,
  type ChosenEntities,
  type Dimension,
  type Plan,
  type Wanted,
} from './plan.ts';
import type { QueryResponse } from './response-schema.ts';

type Dimensions = QueryResponse['elements'][number]['dimensions'];
type Fields = QueryResponse['elements'][number]['fields'];

/** Topics shown of an end user, the most discussed first. */
const TOP_TOPICS = 5;

export interface QueryRunnerOptions {
  readonly views: readonly View[];
  /** The reader of the shard that an instance (UUID) belongs to. */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read' | 'waitFor'>;
  /** Queries that may wait for a position at once. Default: any number. */
  readonly maxWaiting?: number;
}

/** Answers queries from the newest snapshot; one answer is one snapshot. */
export class QueryRunner {
  readonly #options: QueryRunnerOptions;
  #waiting = 0;

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
  }

  /**
   * Waits until the instance's view contains a stream position, at most `timeoutMs`; true when it does. Throws
   * AppError SERVICE_UNAVAILABLE when too many wait already.
   */
  async waitFor(instanceId: string, position: number, timeoutMs: number): Promise<boolean> {
    const reader = this.#options.readerOf(instanceId);
    if (await reader.waitFor(position, 0)) return true;
    const { maxWaiting = Infinity } = this.#options;
    if (this.#waiting >= maxWaiting) {
      throw new AppError(
        'SERVICE_UNAVAILABLE',
        `${maxWaiting} queries wait for a position already. Try again in a moment, or leave X-Wait-For-Position out.`,
        { retryAfter: 1 },
      );
    }
    this.#waiting += 1;
    try {
      return await reader.waitFor(position, timeoutMs);
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * The instance is known to exist; one without processed messages gives an empty answer. Throws AppError
   * SERVICE_UNAVAILABLE while the views cannot be read.
   */
  run(parameters: QueryParameters): Promise<QueryResponse> {
    return this.#options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#answer(snapshot, parameters));
  }

  async #answer(snapshot: Snapshot, parameters: QueryParameters): Promise<QueryResponse> {
    const instance = await snapshot.remembered(
      `instance ${parameters.instanceId}`,
      ['instance'],
      async () => {
        const rows = await snapshot.all(
          'select instance, processed_at from @instance[] where id = $id::uuid',
          { id: parameters.instanceId },
        );
        return rows[0];
      },
    );
    const { limit, offset } = parameters;
    if (instance === undefined)
      return { elements: [], pagination: { total: 0, limit, offset }, lastProcessedAt: null };
    const number = instance['instance'] as number;
    const chosen = await chosenEntities(snapshot, parameters, number);
    const { page, total } = await this.#page(snapshot, parameters, number, chosen);
    const dimensions = await this.#dimensions(snapshot, parameters, number, page);
    return {
      elements: page.map((row, index) => ({
        dimensions: {
          ...dimensions[index],
          ...(parameters.granularity === 'ALL' ? {} : { date: formatBucket(row['bucket'] as number) }),
        },
        fields: fieldsOf(row, parameters.fields),
      })),
      pagination: { total, limit, offset },
      lastProcessedAt: formatInstant(instance['processed_at'] as number),
    };
  }

  /** The rows of a page, and how many there are on all pages: counted once for as long as nothing changes. */
  async #page(
    snapshot: Snapshot,
    parameters: QueryParameters,
    instance: number,
    chosen: ChosenEntities,
  ): Promise<{ page: readonly Row[]; total: number }> {
    const plan = (wanted: Wanted): Plan =>
      planQuery(parameters, instance, this.#options.views, chosen, wanted);
    const ask = ({ sql, bindings }: Plan): Promise<Row[]> => snapshot.all(sql, bindings);
    const counting = plan('total');
    const count = async (): Promise<number> => (await ask(counting))[0]?.['total'] as number;
    let page: readonly Row[] | null = null;
    const name = `${counting.sql} ${JSON.stringify(counting.bindings)}`;
    const total = await snapshot.remembered(name, counting.tables, async () => {
      if (isCountedApart(parameters)) return count();
      page = await ask(plan('page and total'));
      // A page past the end has no row that could say the total.
      return page.length === 0 && parameters.offset > 0
        ? count()
        : ((page[0]?.['total'] as number | undefined) ?? 0);
    });
    return { page: page ?? (await ask(plan('page'))), total };
  }

  async #dimensions(
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
        const topics = await snapshot.remembered(
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
      case 'SESSION': {
        const wants = (name: string): boolean => parameters.dimensionFields.includes(name);
        const texts = new Map<Value, Row>();
        if (wants('title') || wants('summary') || wants('language')) {
          const rows =
            page.length === 0
              ? []
              : await snapshot.all(
                  `select session, title, summary, language from @session[instance = ${instance}] where session in (${numbers(page)})`,
                );
          for (const row of rows) texts.set(row['session'] as number, row);
        }
        const topics = wants('topics')
          ? await factTopics(snapshot, instance, 'session', page)
          : new Map<number, Topic[]>();
        return page.map((row) => {
          const text = texts.get(row['number'] as number);
          return {
            session: {
              id: id(row),
              ...(wants('title') ? { title: (text?.['title'] ?? null) as string | null } : {}),
              ...(wants('summary') ? { summary: (text?.['summary'] ?? null) as string | null } : {}),
              ...(wants('topics') ? { topics: topics.get(row['number'] as number) ?? [] } : {}),
              ...(wants('language') ? { language: (text?.['language'] ?? null) as string | null } : {}),
            },
          };
        });
      }
      case 'END_USER': {
        const wants = (name: string): boolean => parameters.dimensionFields.includes(name);
        const names = new Map<Value, Value>();
        if (wants('externalId') && page.length > 0) {
          const rows = await snapshot.all(
            `select end_user, external_id from @end_user[instance = ${instance}] where end_user in (${numbers(page)})`,
          );
          for (const row of rows) names.set(row['end_user'] as number, row['external_id'] as string);
        }
        const topics = wants('topTopics')
          ? await factTopics(snapshot, instance, 'end_user', page)
          : new Map<number, Topic[]>();
        return page.map((row) => ({
          endUser: {
            id: id(row),
            ...(wants('externalId') ? { externalId: names.get(row['number'] as number) as string } : {}),
            ...(wants('topTopics')
              ? { topTopics: (topics.get(row['number'] as number) ?? []).slice(0, TOP_TOPICS) }
              : {}),
            ...(wants('createdAt') ? { createdAt: formatInstant(row['first_at'] as number) } : {}),
            ...(wants('lastActiveAt') ? { lastActiveAt: formatInstant(row['last_at'] as number) } : {}),
          },
        }));
      }
      default:
        return parameters.groupBy satisfies never;
    }
  }
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
async function chosenEntities(
  snapshot: Snapshot,
  { groupBy, ids, topicIds, signalIds, repeatedRequestIds, gapIds, gapType }: QueryParameters,
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
  const chosen: Partial<Record<Dimension, readonly number[]>> = {};
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
  return snapshot.remembered(`${dimension} ${instance}`, [dimension], () =>
    readDimension(snapshot, dimension, instance),
  );
}

/** The requested metrics, in the order of the request. */
function fieldsOf(row: Row, metrics: readonly Metric[]): Fields {
  return Object.fromEntries(metrics.map((metric) => [metric, metricOf(row, metric)])) as Fields;
}

/** The value of a metric in a row of a plan. */
function metricOf(row: Row, metric: Metric): number | string | null {
  const value = (column: string): number => row[column] as number;
  switch (metric) {
    case 'avgMessagesPerSession':
      return value('messages') / value('sessions');
    case 'netSat':
      return ((value('sat') - value('dsat')) * 100) / value('messages');
    case 'duration':
      return value('messages') < 2 ? null : (value('last_at') - value('first_at')) / 1e6;
    case 'lastActiveAt':
      return formatInstant(value('last_at'));
    case 'repeatedRequests':
      return value('repeated_requests');
    case 'sessions':
    case 'users':
    case 'messages':
    case 'sat':
    case 'dsat':
      return value(metric);
    default:
      return metric satisfies never;
  }
}

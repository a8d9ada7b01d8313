/**
 * Answers GET /v1/query/ from one snapshot: as a page, or as a stream of the whole answer. All rows of an answer come
 * from that snapshot.
 *
 * Test: test/query/query-runner.test.ts, test/e2e/query-rules.test.ts.
 */
import { mapInPieces } from '../domain/give-way.ts';
import { factSourcesOf, metricOf, type Metric } from '../domain/metrics.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import { chosenEntities, readDimensions } from './dimensions.ts';
import { heldPage, type Page } from './held-page.ts';
import { processedAt, readInstanceRow, type InstanceReading } from './instance-reader.ts';
import { inTimeZone, nameOfBucket } from './local-buckets.ts';
import { parseQueryParameters, type QueryParameters } from './parameters.ts';
import { checkSegment, emptiedBy } from './segments.ts';
import { FACT_COLUMNS, planFactMetrics } from './fact-metrics.ts';
import { isCountedApart, planQuery, type ChosenEntities, type Wanted } from './plan.ts';
import type { QueryResponse } from './response-schema.ts';
import type { Plan } from './statement.ts';

export type Elements = QueryResponse['elements'];
type Fields = Elements[number]['fields'];

export interface AnswerOptions extends Pick<InstanceReading, 'answeringSince'> {
  readonly views: readonly View[];
}

/** The options of readers whose answers are made of queries. */
export interface AnswerReading extends AnswerOptions, InstanceReading {}

export async function answerQuery(
  snapshot: Snapshot,
  asked: QueryParameters,
  options: AnswerOptions,
): Promise<QueryResponse> {
  const instance = await readInstanceRow(snapshot, asked.instanceId);
  const { limit, offset } = asked;
  if (instance === undefined)
    return { elements: [], pagination: { total: 0, limit, offset }, lastProcessedAt: null };
  const lastProcessedAt = processedAt(instance, options);
  const number = instance['instance'] as number;
  await checkSegment(snapshot, number, asked.segment, asked.segmentKey);
  const parameters = await inTimeZone(snapshot, asked, number, options.views);
  const chosen = await chosenEntities(snapshot, parameters, number);
  const { page, total } =
    (await heldPage(snapshot, parameters, number, chosen, options.views)) ??
    (await readPage(snapshot, parameters, number, chosen, options));
  return {
    elements: await elementsOf(snapshot, parameters, number, page, options.views),
    pagination: { total, limit, offset },
    ...(total === 0 && parameters.segment.length > 0
      ? { emptiedBy: await emptiedBy(snapshot, number, parameters.segment) }
      : {}),
    lastProcessedAt,
  };
}

/** Counts the sessions of a range and segment. */
export async function countSessions(
  snapshot: Snapshot,
  { instanceId, range, segment }: Pick<QueryParameters, 'instanceId' | 'range' | 'segment'>,
  options: AnswerOptions,
): Promise<Pick<QueryResponse, 'lastProcessedAt'> & { readonly sessions: number }> {
  const plain = parseQueryParameters({ instanceId, groupBy: 'SESSION', fields: 'messages' });
  const asked = { ...plain, range, segment, limit: 1 };
  const { pagination, lastProcessedAt } = await answerQuery(snapshot, asked, options);
  return { sessions: pagination.total, lastProcessedAt };
}

/** Turns rows of a statement into elements of the answer. */
async function elementsOf(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  rows: readonly Row[],
  views: readonly View[],
): Promise<Elements> {
  const dimensions = await readDimensions(snapshot, parameters, instance, rows);
  const counted = await withFactMetrics(snapshot, parameters, instance, rows, views);
  return mapInPieces(counted, (row, index) => ({
    dimensions: {
      ...dimensions[index],
      ...(parameters.granularity === 'ALL'
        ? {}
        : { date: nameOfBucket(row['bucket'] as number, parameters) }),
    },
    fields: fieldsOf(row, parameters.fields),
  }));
}

/** Adds to the rows what only facts tell of the metrics that the query asks for, if they lack it. */
async function withFactMetrics(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  rows: readonly Row[],
  views: readonly View[],
): Promise<readonly Row[]> {
  const numbers = rows.map((row) => row['number'] as number);
  let all = rows;
  for (const source of factSourcesOf(parameters.fields)) {
    const none = FACT_COLUMNS[source];
    if (rows[0] === undefined || Object.keys(none)[0]! in rows[0]) continue;
    const plan = planFactMetrics(parameters, instance, views, source, numbers);
    const read = (): Promise<Row[]> => snapshot.all(plan.sql, plan);
    const isKept = rows.length <= MOST_KEPT_ROWS;
    const found = isKept
      ? await snapshot.cached(`${source} ${JSON.stringify(plan)}`, plan.tables, read)
      : await read();
    const nameOf = (row: Row): string => `${row['bucket']}/${row['number']}`;
    const byName = new Map(found.map((row) => [nameOf(row), row]));
    all = all.map((row) => ({ ...none, ...byName.get(nameOf(row)), ...row }));
  }
  return all;
}

/** Rows that are turned into elements together. */
const AT_ONCE = 10_000;

/**
 * Yields the elements of the whole answer in order, about 10,000 at a time, so memory does not grow with their number.
 */
export async function* streamElements(
  snapshot: Snapshot,
  asked: QueryParameters,
  { views }: AnswerOptions,
): AsyncGenerator<Elements> {
  const instance = await readInstanceRow(snapshot, asked.instanceId);
  if (instance === undefined) return;
  const number = instance['instance'] as number;
  await checkSegment(snapshot, number, asked.segment, asked.segmentKey);
  const parameters = await inTimeZone(snapshot, asked, number, views);
  const chosen = await chosenEntities(snapshot, parameters, number);
  const plan = planQuery(parameters, number, views, chosen, 'export');
  let rows: Row[] = [];
  for await (const some of snapshot.stream(plan.sql, plan)) {
    rows.push(...some);
    if (rows.length < AT_ONCE) continue;
    yield await elementsOf(snapshot, parameters, number, rows, views);
    rows = [];
  }
  if (rows.length > 0) yield elementsOf(snapshot, parameters, number, rows, views);
}

/** Pages of at most this many rows are cached until their tables change; the dashboard's pages are that short. */
const MOST_KEPT_ROWS = 100;

/** Reads a page and the total number of rows. The total is cached until the tables change. */
async function readPage(
  snapshot: Snapshot,
  parameters: QueryParameters,
  instance: number,
  chosen: ChosenEntities,
  { views }: AnswerOptions,
): Promise<Page> {
  const plan = (wanted: Wanted): Plan => planQuery(parameters, instance, views, chosen, wanted);
  const ask = (asked: Plan): Promise<Row[]> => snapshot.all(asked.sql, asked);
  const counting = plan('total');
  const count = async (): Promise<number> => (await ask(counting))[0]?.['total'] as number;
  let page: readonly Row[] | null = null;
  const name = JSON.stringify(counting);
  const total = await snapshot.cached(name, counting.tables, async () => {
    if (isCountedApart(parameters)) return count();
    page = await ask(plan('page and total'));
    // A page past the end has no row to carry the total.
    return page.length === 0 && parameters.offset > 0
      ? count()
      : ((page[0]?.['total'] as number | undefined) ?? 0);
  });
  if (page !== null) return { page, total };
  const asked = plan('page');
  const read = (): Promise<Row[]> => ask(asked);
  const isKept = parameters.limit <= MOST_KEPT_ROWS;
  return {
    page: isKept ? await snapshot.cached(`page ${JSON.stringify(asked)}`, asked.tables, read) : await read(),
    total,
  };
}

function fieldsOf(row: Row, metrics: readonly Metric[]): Fields {
  return Object.fromEntries(metrics.map((metric) => [metric, metricOf(row, metric)])) as Fields;
}

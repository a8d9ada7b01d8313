import { AppError } from '../errors.ts';
import { metricOf, type Metric } from '../domain/metrics.ts';
import { formatBucket, formatInstant } from '../domain/time.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../store/published/snapshot-reader.ts';
import type { View } from '../store/view-files.ts';
import { chosenEntities, readDimensions } from './dimensions.ts';
import type { QueryParameters } from './parameters.ts';
import { readInstanceRow } from './instance-row.ts';
import { isCountedApart, planQuery, type ChosenEntities, type Wanted } from './plan.ts';
import type { Plan } from './statement.ts';
import type { QueryResponse } from './response-schema.ts';

type Fields = QueryResponse['elements'][number]['fields'];

export interface QueryRunnerOptions {
  readonly views: readonly View[];
  /** The reader of the shard that an instance (UUID) belongs to. */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read' | 'waitFor'>;
  /** Time since which the active views answer, in microseconds since 1970. Default: always. */
  readonly answeringSince?: () => number;
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
   * SERVICE_UNAVAILABLE while the views cannot be read. Queries of different callers take turns.
   */
  run(parameters: QueryParameters, caller = ''): Promise<QueryResponse> {
    return this.#options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#answer(snapshot, parameters), caller);
  }

  async #answer(snapshot: Snapshot, parameters: QueryParameters): Promise<QueryResponse> {
    const instance = await readInstanceRow(snapshot, parameters.instanceId);
    const { limit, offset } = parameters;
    const since = this.#options.answeringSince?.() ?? 0;
    if (instance === undefined)
      return { elements: [], pagination: { total: 0, limit, offset }, lastProcessedAt: null };
    const number = instance['instance'] as number;
    const chosen = await chosenEntities(snapshot, parameters, number);
    const { page, total } = await this.#page(snapshot, parameters, number, chosen);
    const dimensions = await readDimensions(snapshot, parameters, number, page);
    return {
      elements: page.map((row, index) => ({
        dimensions: {
          ...dimensions[index],
          ...(parameters.granularity === 'ALL' ? {} : { date: formatBucket(row['bucket'] as number) }),
        },
        fields: fieldsOf(row, parameters.fields),
      })),
      pagination: { total, limit, offset },
      lastProcessedAt: formatInstant(Math.max(instance['processed_at'] as number, since)),
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
    const ask = (asked: Plan): Promise<Row[]> => snapshot.all(asked.sql, asked);
    const counting = plan('total');
    const count = async (): Promise<number> => (await ask(counting))[0]?.['total'] as number;
    let page: readonly Row[] | null = null;
    const name = JSON.stringify(counting);
    const total = await snapshot.cached(name, counting.tables, async () => {
      if (isCountedApart(parameters)) return count();
      page = await ask(plan('page and total'));
      // A page past the end has no row that could say the total.
      return page.length === 0 && parameters.offset > 0
        ? count()
        : ((page[0]?.['total'] as number | undefined) ?? 0);
    });
    return { page: page ?? (await ask(plan('page'))), total };
  }
}

/** The requested metrics, in the order of the request. */
function fieldsOf(row: Row, metrics: readonly Metric[]): Fields {
  return Object.fromEntries(metrics.map((metric) => [metric, metricOf(row, metric)])) as Fields;
}

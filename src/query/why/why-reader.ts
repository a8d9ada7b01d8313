/**
 * Answers GET /v1/topics/{id} and its siblings: an entity's metrics, trend, signals, related entities and example
 * messages, with numbers from one snapshot.
 *
 * Test: test/e2e/why-rules.test.ts.
 */
import { describingFieldsOf, GROUPINGS } from '../../domain/groupings.ts';
import { KINDS } from '../../domain/kinds.ts';
import { metricOfNothing, type Metric } from '../../domain/metrics.ts';
import { roleOf, type RecordedMessage } from '../../domain/records.ts';
import { formatInstant } from '../../domain/time.ts';
import type { AppError } from '../../errors.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, type AnswerReading } from '../answer.ts';
import { readDimensions } from '../dimensions.ts';
import { cachedNames, entityById } from '../names.ts';
import { noSuch } from '../no-such.ts';
import { readEstimate } from '../checks/estimates.ts';
import { isCheckedEntity } from '../../domain/checks.ts';
import { trackedAs } from '../../domain/lives.ts';
import { lifeOf } from '../curations/lives.ts';
import { InstanceReader, readInstanceRow } from '../instance-reader.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../parameters.ts';
import type { QueryResponse } from '../response-schema.ts';
import type { ReadMessage } from '../session-reader.ts';
import { readBreakdown, type Breakdown, type ExampleMessage } from './breakdown.ts';
import { mostTypical } from './wordings.ts';
import type { WhyGroupBy, WhyParameters, WhyResponse } from './why-schema.ts';

/** Redacts a text for publication as an example; `userId` is its author's. */
export type ExampleOf = (content: string, userId: string | undefined) => string;

export interface WhyReaderOptions extends AnswerReading {
  /** Reads messages by stream position. Throws AppError SERVICE_UNAVAILABLE while the stream cannot be read. */
  readonly texts: { read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>> };
  /** Loads the redaction of examples; called only if an answer has examples. */
  readonly examples: () => Promise<ExampleOf>;
}

const TYPICAL = 5;
/** Members of an end user; their topics are a list of the answer. */
const END_USER_FIELDS = ['externalId', 'createdAt', 'lastActiveAt'];
/** Bound of a trend, which has no pages: a hundred years of hours. */
const MAX_BUCKETS = 1_000_000;

/** The answer without wordings, and the messages to choose them from. */
interface Found {
  readonly answer: Omit<WhyResponse, 'wordings'>;
  readonly breakdown: Breakdown;
}

export class WhyReader extends InstanceReader<WhyReaderOptions> {
  /**
   * `id`: lower case. The caller checks that the instance exists. Throws AppError NOT_FOUND for an unknown entity,
   * SERVICE_UNAVAILABLE while the views or the texts cannot be read.
   */
  async read(groupBy: WhyGroupBy, id: string, parameters: WhyParameters, caller = ''): Promise<WhyResponse> {
    const { answer, breakdown } = await this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, groupBy, id, parameters), caller);
    const { lastProcessedAt, ...rest } = answer;
    return { ...rest, wordings: await this.#wordings(breakdown), lastProcessedAt };
  }

  async #find(
    snapshot: Snapshot,
    groupBy: WhyGroupBy,
    id: string,
    parameters: WhyParameters,
  ): Promise<Found> {
    const { instanceId } = parameters;
    const row = await readInstanceRow(snapshot, instanceId);
    if (row === undefined) throw noEntity(groupBy, id);
    const instance = row['instance'] as number;
    const named = await readNamed(snapshot, groupBy, instance, id);
    const { kind, number, heir } = named;
    const basic = queryOf(parameters, groupBy, heir?.id ?? id);
    const query = (changes: Partial<QueryParameters>): Promise<QueryResponse> =>
      answerQuery(snapshot, { ...basic, ...changes }, this.options);
    const range = { start: basic.range.start ?? -Infinity, end: basic.range.end ?? Infinity };
    const entity = { number: named.number, id: heir?.id ?? id };
    const tracked = trackedAs(groupBy);
    const [whole, trend, averages, breakdown, checked, life] = await Promise.all([
      query({ granularity: 'ALL' }),
      query({}),
      readAverages(query),
      readBreakdown(snapshot, { instance, kind, number, range, segment: basic.segment }),
      isCheckedEntity(groupBy)
        ? readEstimate(snapshot, {
            instance,
            of: groupBy,
            entity,
            verdictsOf: entity.id,
            range,
            segment: basic.segment,
          })
        : null,
      tracked === null ? null : lifeOf(snapshot, instance, tracked, number),
    ]);
    const dimension = await this.#dimension(snapshot, basic, instance, { number: named.own, id });
    const { topics, gaps, repeatedRequests, languages, endUsers } = breakdown;
    const fields = whole.elements[0]?.fields ?? nothing(basic.fields);
    return {
      breakdown,
      answer: {
        ...dimension,
        heir,
        fields,
        trend: trend.elements.map(({ dimensions, fields }) => ({ date: dimensions.date ?? '', fields })),
        signals: breakdown.signals.map((signal) => {
          const share = ratio(signal.sessions, fields.sessions ?? 0);
          const instanceShare = ratio(averages.signals.get(signal.id) ?? 0, averages.sessions);
          return {
            ...signal,
            share,
            instanceShare,
            lift: instanceShare === 0 ? null : share / instanceShare,
          };
        }),
        topics,
        gaps,
        repeatedRequests,
        languages,
        endUsers,
        checked,
        life,
        lastProcessedAt: whole.lastProcessedAt ?? formatInstant(row['processed_at'] as number),
      },
    };
  }

  /** Returns the entity's `dimensions` as in a row of a query. */
  async #dimension(
    snapshot: Snapshot,
    basic: QueryParameters,
    instance: number,
    entity: { readonly number: number; readonly id: string },
  ): Promise<Partial<WhyResponse>> {
    if (basic.groupBy !== 'END_USER') {
      // `checked` says more of it.
      const whole = { ...basic, dimensionFields: describingFieldsOf(basic.groupBy) };
      return (await readDimensions(snapshot, whole, instance, [entity]))[0] ?? {};
    }
    // An end user's times cover the whole history, so a row of the whole history is read.
    const whole: QueryParameters = {
      ...basic,
      range: { start: null, end: null },
      granularity: 'ALL',
      signals: null,
      dimensionFields: END_USER_FIELDS,
    };
    return (await answerQuery(snapshot, whole, this.options)).elements[0]?.dimensions ?? {};
  }

  /** Reads the texts of the examples; omits those that are gone. */
  async #wordings({ typical, newest }: Breakdown): Promise<WhyResponse['wordings']> {
    const { texts, examples } = this.options;
    const read = await texts.read([...new Set([...typical, ...newest].map(({ position }) => position))]);
    if (read.size === 0) return { typical: [], newest: [] };
    const exampleOf = await examples();
    const examplesIn = (examples: readonly ExampleMessage[]) =>
      examples.flatMap(({ position, sessionId, at, micro }) => {
        const found = read.get(position);
        const text = found !== undefined && 'message' in found ? textOf(found.message, exampleOf) : '';
        return text === ''
          ? []
          : [{ micro, wording: { sessionId, position, createdAt: formatInstant(at), text } }];
      });
    const candidates = examplesIn(typical).map((example) => ({ ...example, text: example.wording.text }));
    return {
      typical: mostTypical(candidates, TYPICAL).map(({ wording }) => wording),
      newest: examplesIn(newest).map(({ wording }) => wording),
    };
  }
}

interface Named {
  /** One of KINDS. */
  readonly kind: number;
  /** Number of the entity and of its heir. */
  readonly own: number;
  readonly number: number;
  readonly heir: { readonly id: string; readonly name: string } | null;
}

/** Finds an entity by id. Throws AppError NOT_FOUND. */
async function readNamed(
  snapshot: Snapshot,
  groupBy: WhyGroupBy,
  instance: number,
  id: string,
): Promise<Named> {
  const { counts } = GROUPINGS[groupBy];
  if (counts.view !== 'entity_rollup') {
    const { names } = counts;
    const [row] = await snapshot.all(`select ${names} from @named`, {
      rows: { named: { table: names, equal: { instance }, and: 'id = $id::uuid' } },
      bindings: { id },
    });
    if (row === undefined) throw noEntity(groupBy, id);
    const number = row[names] as number;
    return { kind: KINDS.all, own: number, number, heir: null };
  }
  const rows = await cachedNames(snapshot, counts.names, instance);
  const found = entityById(rows, id);
  if (found === null) throw noEntity(groupBy, id);
  const { own, number, heir } = found;
  return {
    kind: counts.kind,
    own,
    number,
    heir: number === own ? null : { id: heir['id'] as string, name: heir['name'] as string },
  };
}

function textOf({ content, userId, role }: RecordedMessage, exampleOf: ExampleOf): string {
  return exampleOf(content, roleOf(role) === 'user' ? userId : undefined);
}

/** Counts the sessions of the instance, in all and by signal id. */
async function readAverages(
  query: (changes: Partial<QueryParameters>) => Promise<QueryResponse>,
): Promise<{ signals: ReadonlyMap<string, number>; sessions: number }> {
  const all = { ids: null, granularity: 'ALL', offset: 0, signals: null } as const;
  const signals = await query({ ...all, groupBy: 'CSAT_DSAT', fields: ['sessions'] });
  const sessions = await query({ ...all, groupBy: 'SESSION', fields: ['messages'], limit: 1 });
  return {
    signals: new Map(
      signals.elements.map(({ dimensions, fields }) => [
        dimensions.csatDsatSignal?.id ?? '',
        fields.sessions ?? 0,
      ]),
    ),
    sessions: sessions.pagination.total,
  };
}

/** Returns the query for the same entity, bucket by bucket. */
function queryOf(parameters: WhyParameters, groupBy: WhyGroupBy, id: string): QueryParameters {
  const { instanceId, timeGranularity: granularity } = parameters;
  const { metrics: fields, filters } = GROUPINGS[groupBy];
  return {
    ...parseQueryParameters({ instanceId, groupBy, fields: fields.join(',') }),
    granularity,
    timeZone: zoneOf(parameters.timeZone),
    range: { start: parameters['dateRange.start'] ?? null, end: parameters['dateRange.end'] ?? null },
    segment: parameters.segment ?? [],
    // Gaps and repeated requests count neither.
    signals: filters.includes('signals') ? (parameters.signals ?? null) : null,
    ids: [id],
    limit: MAX_BUCKETS,
  };
}

/** Metrics of an entity without messages in the range. */
function nothing(metrics: readonly Metric[]): WhyResponse['fields'] {
  return Object.fromEntries(metrics.map((metric) => [metric, metricOfNothing(metric)]));
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function noEntity(groupBy: WhyGroupBy, id: string): AppError {
  const { name } = GROUPINGS[groupBy];
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return noSuch(words, id);
}

/**
 * What conditions are decided by, from one snapshot: the numbers of GET /v1/query and GET /v1/changes, and no others.
 * Covered by test/doors/alerts/figures.test.ts and test/e2e/alerts-rules.test.ts.
 */
import { GROUPINGS, type GroupBy } from '../../domain/groupings.ts';
import { answerQuery, type AnswerOptions } from '../../query/answer.ts';
import { changesBetween } from '../../query/changes/changes-reader.ts';
import type { Change } from '../../query/changes/changes-schema.ts';
import { WhyReader, type WhyReaderOptions } from '../../query/why/why-reader.ts';
import { readInstanceRow } from '../../query/instance-row.ts';
import { bucketStart, nextBucketStart } from '../../domain/time.ts';
import { inTimeZone } from '../../query/local-buckets.ts';
import { parseQueryParameters, type QueryParameters } from '../../query/parameters.ts';
import { planTotals } from '../../query/plan.ts';
import type { QueryResponse } from '../../query/response-schema.ts';
import type { Snapshot, SnapshotReader } from '../../store/published/snapshot-reader.ts';
import { COUNTED, type Counted, type Window } from './rule.ts';
import type { Span } from './windows.ts';

/** A topic, gap or signal, and the conversations that it came up in. */
export interface EntityFigures {
  readonly id: string;
  readonly name: string;
  readonly sessions: number;
  /** Of a signal. */
  readonly signalType?: 'SAT' | 'DSAT';
  /** Of a gap. */
  readonly gapType?: 'TOOL' | 'KNOWLEDGE';
}

/** What came up more often than before, or less often. */
export interface EntityChange extends Pick<EntityFigures, 'id' | 'name' | 'sessions'> {
  readonly groupBy: Counted;
  readonly sessionsBefore: number;
  readonly rises: boolean;
}

/** What an evaluation counts, and what a digest lists besides. */
export type Listed = Counted | 'REPEATED_REQUEST';

export interface EntityChoice {
  readonly groupBy: Listed;
  /** ±Infinity: open. */
  readonly span: Span;
  /** The length of the window that the span is; null: it is no single one. */
  readonly window: Window | null;
  readonly atLeast: number;
  /** Null: all. What merged is answered for by its heir. */
  readonly ids: readonly string[] | null;
}

/** What an evaluation asks: one moment of one instance. */
export interface Figures {
  /** Stream sequence that every number contains. */
  readonly position: number;
  /** The most conversations first. */
  entities(choice: EntityChoice): Promise<readonly EntityFigures[]>;
  /** Conversations in a span; `dissatisfied`: of them those with a signal of dissatisfaction. */
  sessions(span: Span, dissatisfied?: boolean): Promise<number>;
  /** When the newest entry of the instance was applied, microseconds since 1970; 0 before the first. */
  processedAt(): Promise<number>;
  /** The start of the first day of UTC within a span that has a conversation; Infinity when there is none. */
  firstDay(span: Span): Promise<number>;
  /** End users in a span. */
  users(span: Span): Promise<number>;
  /** What differs between two spans by more than chance explains, as GET /v1/changes tells it, the clearest first. */
  changes(span: Span, before: Span): Promise<readonly EntityChange[]>;
  /** What users said of a topic or gap in a span, without personal data; none where nothing can be quoted. */
  quotes(groupBy: Listed, id: string, span: Span): Promise<readonly string[]>;
}

export interface FiguresOptions extends AnswerOptions {
  /** The texts of messages by stream position. */
  readonly texts: WhyReaderOptions['texts'];
  readonly examples: WhyReaderOptions['examples'];
}

/** So many quotes of an entity. */
const MOST_QUOTES = 3;

/** No instance has so many entities. */
const MOST = 1_000_000;

/** Reads each number once, however many conditions ask for it. */
export class SnapshotFigures implements Figures {
  readonly #snapshot: Snapshot;
  readonly #instanceId: string;
  readonly #options: FiguresOptions;
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(snapshot: Snapshot, instanceId: string, options: FiguresOptions) {
    this.#snapshot = snapshot;
    this.#instanceId = instanceId;
    this.#options = options;
  }

  get position(): number {
    return this.#snapshot.sequence;
  }

  entities(choice: EntityChoice): Promise<readonly EntityFigures[]> {
    const { groupBy, span, window, atLeast, ids } = choice;
    return this.#once(
      `entities ${JSON.stringify([groupBy, span.start, span.end, window, atLeast, ids])}`,
      async () => {
        const { elements } = await this.#ask(groupBy, span, {
          granularity: window !== null && isBucket(window, span) ? window : 'ALL',
          fields: ['sessions'],
          ids: ids === null || ids.length > 0 ? ids : null,
          bounds: [{ metric: 'sessions', min: atLeast, max: null }],
          sort: { field: 'sessions', order: 'DESC' },
          limit: MOST,
        });
        return elements.map((element) => entityOf(groupBy, element));
      },
    );
  }

  users(span: Span): Promise<number> {
    return this.#total('END_USER', span, []);
  }

  changes(span: Span, before: Span): Promise<readonly EntityChange[]> {
    return this.#once(`changes ${JSON.stringify([span, before])}`, async () => {
      const asked = [this.#snapshot, this.#instanceId, span, before, this.#options] as const;
      return (await changesBetween(...asked)).changes.flatMap(entityChangeOf);
    });
  }

  async quotes(groupBy: Listed, id: string, { start, end }: Span): Promise<readonly string[]> {
    if (groupBy !== 'TOPIC' && groupBy !== 'GAP') return [];
    const reader = new WhyReader({ ...this.#options, readerOf: this.#readerOf });
    const range = { 'dateRange.start': start, 'dateRange.end': end, timeGranularity: 'DAY' } as const;
    const { wordings } = await reader.read(groupBy, id, { instanceId: this.#instanceId, ...range });
    return [...new Set(wordings.typical.map(({ text }) => text))].slice(0, MOST_QUOTES);
  }

  /** Other readers of the query side, over this snapshot. */
  readonly #readerOf = (): Pick<SnapshotReader, 'read'> => ({ read: (work) => work(this.#snapshot) });

  sessions(span: Span, dissatisfied = false): Promise<number> {
    return this.#total('SESSION', span, dissatisfied ? [{ metric: 'dsat', min: 1, max: null }] : []);
  }

  async processedAt(): Promise<number> {
    const row = await readInstanceRow(this.#snapshot, this.#instanceId);
    return row === undefined ? 0 : (row['processed_at'] as number);
  }

  async firstDay(span: Span): Promise<number> {
    const row = await readInstanceRow(this.#snapshot, this.#instanceId);
    if (row === undefined) return Infinity;
    const { views } = this.#options;
    const instance = row['instance'] as number;
    const days = this.#parameters('SESSION', span, { granularity: 'DAY' });
    const plan = planTotals(await inTimeZone(this.#snapshot, days, instance, views), instance, views);
    const [first] = await this.#snapshot.all(plan.sql, plan);
    return first === undefined ? Infinity : Math.max(span.start, first['bucket'] as number);
  }

  #total(groupBy: GroupBy, span: Span, bounds: QueryParameters['bounds']): Promise<number> {
    return this.#once(`total ${groupBy} ${span.start} ${span.end} ${bounds.length}`, async () => {
      const { pagination } = await this.#ask(groupBy, span, { limit: 1, bounds });
      return pagination.total;
    });
  }

  #ask(groupBy: GroupBy, span: Span, more: Partial<QueryParameters>): Promise<QueryResponse> {
    return answerQuery(this.#snapshot, this.#parameters(groupBy, span, more), this.#options);
  }

  #parameters(groupBy: GroupBy, { start, end }: Span, more: Partial<QueryParameters>): QueryParameters {
    const plain = parseQueryParameters({ instanceId: this.#instanceId, groupBy, fields: 'messages' });
    const bound = (at: number): number | null => (Number.isFinite(at) ? at : null);
    return { ...plain, range: { start: bound(start), end: bound(end) }, ...more };
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    this.#known.set(name, reading);
    return reading;
  }
}

/** Whether a span is a bucket of UTC, which a rollup has as it is. */
function isBucket(window: Window, { start, end }: Span): boolean {
  return bucketStart(window, start) === start && nextBucketStart(window, start + 1) === end;
}

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** The entity of a row, where the row is about one of this kind. */
function namedIn(dimensions: Partial<Dimensions>, groupBy: Listed) {
  return dimensions[GROUPINGS[groupBy].name as 'topic' | 'gap' | 'csatDsatSignal' | 'repeatedRequest'];
}

function entityOf(groupBy: Listed, { dimensions, fields }: QueryResponse['elements'][number]): EntityFigures {
  const entity = namedIn(dimensions, groupBy);
  if (entity === undefined) throw new Error(`a row of ${groupBy} has no entity`);
  return {
    id: entity.id,
    name: entity.name,
    sessions: fields.sessions ?? 0,
    ...('signalType' in entity ? { signalType: entity.signalType } : {}),
    ...('gapType' in entity ? { gapType: entity.gapType } : {}),
  };
}

/** A change is about one thing. */
function entityChangeOf({ change, sessions, sessionsBefore, ...dimensions }: Change): EntityChange[] {
  const rises = change === 'new' || change === 'rising';
  return COUNTED.flatMap((groupBy) => {
    const entity = namedIn(dimensions, groupBy);
    return entity === undefined
      ? []
      : { groupBy, id: entity.id, name: entity.name, sessions, sessionsBefore, rises };
  });
}

/** Reads the published views of one shard. */
export interface FiguresReader {
  /** Numbers of one instance at the newest moment that is published; null while nothing is. */
  read<T>(instanceId: string, work: (figures: Figures) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

/** Reads figures of one shard's published views. */
export function figuresReader(
  reader: Pick<SnapshotReader, 'hasManifest' | 'read' | 'close'>,
  options: FiguresOptions,
): FiguresReader {
  return {
    read: async (instanceId, work) => {
      if (!(await reader.hasManifest())) return null;
      return reader.read((snapshot) => work(new SnapshotFigures(snapshot, instanceId, options)));
    },
    close: () => reader.close(),
  };
}

/**
 * Reads the numbers that conditions compare, from one snapshot. Keeps the invariant that they equal those of GET
 * /v1/query and GET /v1/changes.
 *
 * Test: test/doors/alerts/figures.test.ts.
 */
import { GROUPINGS, type GroupBy } from '../../domain/groupings.ts';
import { answerQuery, type AnswerOptions } from '../../query/answer.ts';
import { ChecksReader } from '../../query/checks/checks-reader.ts';
import { checkedAs } from '../../query/checks/estimates.ts';
import { attributeValues, type AttributeValues } from '../../query/attributes-reader.ts';
import { DifferencesReader } from '../../query/changes/differences-reader.ts';
import { changesBetween } from '../../query/changes/changes-reader.ts';
import { effectsIn } from '../../query/effects/effects-reader.ts';
import { EFFECT_GROUPS } from '../../query/effects/effects-schema.ts';
import { WhyReader, type WhyReaderOptions } from '../../query/why/why-reader.ts';
import { readInstanceRow } from '../../query/instance-reader.ts';
import { bucketStart, nextBucketStart } from '../../domain/time.ts';
import { inTimeZone } from '../../query/local-buckets.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../../query/parameters.ts';
import { planTotals } from '../../query/plan.ts';
import type { QueryResponse } from '../../query/response-schema.ts';
import type { Snapshot, SnapshotReader } from '../../store/published/snapshot-reader.ts';
import type { ComparedValues, DigestFigures } from './body-schema.ts';
import { COUNTED, type Counted, type Window } from './rule.ts';
import type { Span } from './windows.ts';
import type { SegmentChoice } from '../../domain/attributes.ts';
import { attributeNames } from '../../query/segments.ts';

/** An entity and its conversations. `precision`: set in digests for what people checked. */
export type EntityFigures = DigestFigures['gaps'][number];

/** An entity that came up more or less often than before. */
export interface EntityChange extends Pick<EntityFigures, 'id' | 'name' | 'sessions'> {
  readonly groupBy: Counted;
  readonly sessionsBefore: number;
  readonly rises: boolean;
}

/** Two values of an attribute that are compared. */
export interface ValuePair {
  readonly segmentKey: string;
  readonly value: string;
  readonly against: string;
  /** Start of the first day that counts, microseconds since 1970. */
  readonly start: number;
  /** Whose days are compared. */
  readonly timeZone: string;
  /** The probability that anything is found although nothing differs. */
  readonly falseAlarms: number;
}

/** What conversations of one value have more or less often than those of another. */
export interface ValueDifferences {
  /** From the first to the last day on which both occur. */
  readonly span: Span;
  readonly sessions: number;
  readonly sessionsAgainst: number;
  /** The clearest first. */
  readonly found: readonly ComparedValues['differences'][number][];
}

/** What people said is fixed, and what that did. */
export type FixedFigures = DigestFigures['fixed'][number];

/** Conversations of a value on a day. */
export interface ValueOnDay {
  /** Start of the day, microseconds since 1970. */
  readonly day: number;
  readonly value: string;
  readonly sessions: number;
}

/** Of the conversations in which something was found: those that people checked, and the share that is right. */
export type Precision = NonNullable<EntityFigures['precision']>;

/** Groupings that alerts count and digests list. */
export type Listed = Counted | 'REPEATED_REQUEST';

export interface EntityChoice {
  readonly groupBy: Listed;
  /** ±Infinity leaves an end open. */
  readonly span: Span;
  /** Length of the window that equals the span; null if the span is no single window. */
  readonly window: Window | null;
  readonly atLeast: number;
  /** Null selects all. The heir stands for a merged entity. */
  readonly ids: readonly string[] | null;
}

/** Numbers of one instance at one moment. */
export interface Figures {
  /** Stream sequence that every number includes. */
  readonly position: number;
  /** The same of the conversations with these attributes alone; `segment`: none for all. */
  of(segment: readonly SegmentChoice[]): Figures;
  /** Sorted by conversations, most first. */
  entities(choice: EntityChoice): Promise<readonly EntityFigures[]>;
  /** Counts conversations; `dissatisfied` counts only those with a signal of dissatisfaction. */
  sessions(span: Span, dissatisfied?: boolean): Promise<number>;
  /** Time at which the newest entry of the instance was applied, microseconds since 1970; 0 before the first. */
  processedAt(): Promise<number>;
  /** Start of the first UTC day in the span that has a conversation; Infinity if none has. */
  firstDay(span: Span): Promise<number>;
  /** Counts end users. */
  users(span: Span): Promise<number>;
  /** Returns changes between two spans that exceed chance, by the rule of GET /v1/changes, the clearest first. */
  changes(span: Span, before: Span): Promise<readonly EntityChange[]>;
  /** Returns the values of an attribute that at least so many conversations have. */
  values(segmentKey: string, atLeast: number): Promise<AttributeValues>;
  /** Returns the conversations of each value by day, from a time on. */
  valuesByDay(segmentKey: string, start: number, timeZone: string): Promise<readonly ValueOnDay[]>;
  /** Compares two values by the rule of GET /v1/differences; null if there is no day on which both occur. */
  differences(pair: ValuePair): Promise<ValueDifferences | null>;
  /**
   * Returns what is fixed, with the verdict of the whole weeks that were over at a time, by the rule of GET /v1/effects; the
   * latest statement first.
   */
  effects(timeZone: string, until: number): Promise<readonly FixedFigures[]>;
  /**
   * How often people who checked conversations in which it was found said that it is there, over all time; null: nobody
   * checked any that count.
   */
  precision(groupBy: Listed, id: string): Promise<Precision | null>;
  /** Quotes requests of users about a topic or gap, without personal data; empty if none can be quoted. */
  quotes(groupBy: Listed, id: string, span: Span): Promise<readonly string[]>;
}

export interface FiguresOptions extends AnswerOptions {
  /** Reads message texts by stream position. */
  readonly texts: WhyReaderOptions['texts'];
  readonly examples: WhyReaderOptions['examples'];
}

/** What is fixed is watched from the latest statement on; each takes several counts. */
const MOST_FIXED = 200;
/** Maximum quotes of an entity. */
const MOST_QUOTES = 3;

/** More than any instance has entities. */
const MOST = 1_000_000;

/** Figures of a snapshot; each number is read once. */
export class SnapshotFigures implements Figures {
  readonly #snapshot: Snapshot;
  readonly #instanceId: string;
  readonly #options: FiguresOptions;
  readonly #segment: readonly SegmentChoice[];
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #segments = new Map<string, SnapshotFigures>();

  constructor(
    snapshot: Snapshot,
    instanceId: string,
    options: FiguresOptions,
    segment: readonly SegmentChoice[] = [],
  ) {
    this.#segment = segment;
    this.#snapshot = snapshot;
    this.#instanceId = instanceId;
    this.#options = options;
  }

  get position(): number {
    return this.#snapshot.sequence;
  }

  of(segment: readonly SegmentChoice[]): Figures {
    if (segment.length === 0) return this;
    const key = JSON.stringify(segment);
    const found =
      this.#segments.get(key) ??
      new SnapshotFigures(this.#snapshot, this.#instanceId, this.#options, segment);
    this.#segments.set(key, found);
    return found;
  }

  /** Tells whether no conversation has one of the attributes that it takes; queries refuse such a segment. */
  #isUnknown(): Promise<boolean> {
    if (this.#segment.length === 0) return Promise.resolve(false);
    return this.#once('unknown', async () => {
      const row = await readInstanceRow(this.#snapshot, this.#instanceId);
      if (row === undefined) return true;
      const names = await attributeNames(this.#snapshot, row['instance'] as number);
      return this.#segment.some(({ name, isLeftOut }) => isLeftOut !== true && !names.includes(name));
    });
  }

  entities(choice: EntityChoice): Promise<readonly EntityFigures[]> {
    const { groupBy, span, window, atLeast, ids } = choice;
    return this.#once(
      `entities ${JSON.stringify([groupBy, span.start, span.end, window, atLeast, ids])}`,
      async () => {
        if (await this.#isUnknown()) return [];
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
      if (await this.#isUnknown()) return [];
      const all = { instanceId: this.#instanceId, segment: this.#segment };
      const found = await changesBetween(this.#snapshot, all, span, before, this.#options);
      return found.changes.flatMap(({ change, sessions, sessionsBefore, ...dimensions }) => {
        const counts = { sessions, sessionsBefore, rises: change === 'new' || change === 'rising' };
        return namedIn(dimensions, COUNTED).map((entity) => ({ ...entity, ...counts }));
      });
    });
  }

  async quotes(groupBy: Listed, id: string, { start, end }: Span): Promise<readonly string[]> {
    if ((groupBy !== 'TOPIC' && groupBy !== 'GAP') || (await this.#isUnknown())) return [];
    const reader = new WhyReader({ ...this.#options, readerOf: this.#readerOf });
    const range = {
      'dateRange.start': start,
      'dateRange.end': end,
      timeGranularity: 'DAY',
      segment: this.#segment,
    } as const;
    const { wordings } = await reader.read(groupBy, id, { instanceId: this.#instanceId, ...range });
    return [...new Set(wordings.typical.map(({ text }) => text))].slice(0, MOST_QUOTES);
  }

  precision(groupBy: Listed, id: string): Promise<Precision | null> {
    return this.#once(`precision ${groupBy} ${id}`, async () => {
      const of = checkedAs(groupBy);
      if (of === null) return null;
      const reader = new ChecksReader({ readerOf: this.#readerOf });
      const found = (await reader.estimate(this.#instanceId, of, id, this.#segment))?.found;
      return found?.share == null ? null : { ...found.share, checked: found.yes + found.no };
    });
  }

  effects(timeZone: string, until: number): Promise<readonly FixedFigures[]> {
    return this.#once(`effects ${timeZone} ${until}`, async () => {
      if (await this.#isUnknown()) return [];
      const asked = {
        instanceId: this.#instanceId,
        timeZone,
        segment: this.#segment,
        limit: MOST_FIXED,
        until,
      };
      const { effects } = await effectsIn(this.#snapshot, asked, this.#options);
      return effects.flatMap(({ verdict, before, after, again, life, ...dimensions }) => {
        if (life === null) return [];
        const { fixedAt, release } = life;
        const measured = { verdict, fixedAt, release, before, after, again };
        return namedIn(dimensions, EFFECT_GROUPS).map((entity) => ({ ...entity, ...measured }));
      });
    });
  }

  values(segmentKey: string, atLeast: number): Promise<AttributeValues> {
    return this.#once(`values ${atLeast} ${segmentKey}`, async () => {
      const row = await readInstanceRow(this.#snapshot, this.#instanceId);
      if (row === undefined || (await this.#isUnknown())) return { firstAt: null, values: [] };
      const asked = { name: segmentKey, segment: this.#segment, atLeast };
      return attributeValues(this.#snapshot, row['instance'] as number, asked);
    });
  }

  valuesByDay(segmentKey: string, start: number, timeZone: string): Promise<readonly ValueOnDay[]> {
    return this.#once(`values by day ${start} ${timeZone} ${segmentKey}`, async () => {
      const span = { start, end: Infinity };
      const { elements } = await this.#ask('SEGMENT', span, {
        segmentKey,
        fields: ['sessions'],
        granularity: 'DAY',
        timeZone: zoneOf(timeZone),
        limit: MOST,
      });
      return elements.map(({ dimensions: { segment, date = '' }, fields }) => ({
        day: Date.parse(date) * 1000,
        value: segment?.value ?? '',
        sessions: fields.sessions ?? 0,
      }));
    });
  }

  async differences({ start, falseAlarms, ...pair }: ValuePair): Promise<ValueDifferences | null> {
    const reader = new DifferencesReader({ ...this.#options, readerOf: this.#readerOf });
    const { range, value, against, differences } = await reader.read(
      {
        ...pair,
        instanceId: this.#instanceId,
        segment: this.#segment,
        'dateRange.start': start,
        limit: MOST,
      },
      '',
      falseAlarms,
    );
    if (range === null) return null;
    return {
      span: { start: Date.parse(range.start) * 1000, end: Date.parse(range.end) * 1000 },
      sessions: value.sessions,
      sessionsAgainst: against.sessions,
      found: differences.flatMap(({ difference, share, shareAgainst, ...dimensions }) =>
        namedIn(dimensions, COUNTED).map((entity) => ({ ...entity, difference, share, shareAgainst })),
      ),
    };
  }

  /** Gives readers of the query side this snapshot. */
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
    if (row === undefined || (await this.#isUnknown())) return Infinity;
    const { views } = this.#options;
    const instance = row['instance'] as number;
    const days = this.#parameters('SESSION', span, { granularity: 'DAY' });
    const plan = planTotals(await inTimeZone(this.#snapshot, days, instance, views), instance, views);
    const [first] = await this.#snapshot.all(plan.sql, plan);
    return first === undefined ? Infinity : Math.max(span.start, first['bucket'] as number);
  }

  #total(groupBy: GroupBy, span: Span, bounds: QueryParameters['bounds']): Promise<number> {
    return this.#once(`total ${groupBy} ${span.start} ${span.end} ${bounds.length}`, async () => {
      if (await this.#isUnknown()) return 0;
      const { pagination } = await this.#ask(groupBy, span, { limit: 1, bounds });
      return pagination.total;
    });
  }

  #ask(groupBy: GroupBy, span: Span, more: Partial<QueryParameters>): Promise<QueryResponse> {
    return answerQuery(this.#snapshot, this.#parameters(groupBy, span, more), this.#options);
  }

  #parameters(groupBy: GroupBy, { start, end }: Span, more: Partial<QueryParameters>): QueryParameters {
    const { segmentKey } = more;
    const plain = parseQueryParameters({
      instanceId: this.#instanceId,
      groupBy,
      fields: 'messages',
      ...(segmentKey == null ? {} : { segmentKey }),
    });
    const bound = (at: number): number | null => (Number.isFinite(at) ? at : null);
    return {
      ...plain,
      segment: this.#segment,
      range: { start: bound(start), end: bound(end) },
      ...more,
    };
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    this.#known.set(name, reading);
    return reading;
  }
}

/** True if the span is one UTC bucket, which a rollup contains directly. */
function isBucket(window: Window, { start, end }: Span): boolean {
  return bucketStart(window, start) === start && nextBucketStart(window, start + 1) === end;
}

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** Returns the row's entity of this grouping. */
function entityIn(dimensions: Partial<Dimensions>, groupBy: Listed) {
  return dimensions[GROUPINGS[groupBy].name as 'topic' | 'gap' | 'csatDsatSignal' | 'repeatedRequest'];
}

/** Returns the row's entity of one of these groupings; empty if it has none. */
function namedIn<Grouping extends Listed>(dimensions: Partial<Dimensions>, groupings: readonly Grouping[]) {
  return groupings.flatMap((groupBy) => {
    const entity = entityIn(dimensions, groupBy);
    return entity === undefined ? [] : { groupBy, id: entity.id, name: entity.name };
  });
}

function entityOf(groupBy: Listed, { dimensions, fields }: QueryResponse['elements'][number]): EntityFigures {
  const entity = entityIn(dimensions, groupBy);
  if (entity === undefined) throw new Error(`a row of ${groupBy} has no entity`);
  return {
    id: entity.id,
    name: entity.name,
    sessions: fields.sessions ?? 0,
    ...('signalType' in entity ? { signalType: entity.signalType } : {}),
    ...('gapType' in entity ? { gapType: entity.gapType } : {}),
  };
}

/** Reads the published views of one shard. */
export interface FiguresReader {
  /** Calls `work` with the figures of the newest published moment; null before the first publication. */
  read<T>(instanceId: string, work: (figures: Figures) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

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

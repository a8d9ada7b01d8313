/**
 * Finds the topics, gaps and signals whose share of sessions differs between two values of an attribute by more than
 * chance, over the days on which both occur. All counts come from one snapshot.
 *
 * Test: test/e2e/differences-rules.test.ts, test/query/changes/significance.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { localBucketAt } from '../../domain/local-time.ts';
import { nextBucketStart, formatInstant, type Granularity } from '../../domain/time.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, countSessions, type AnswerOptions } from '../answer.ts';
import type { InstanceReading } from '../instance-row.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import type { QueryResponse } from '../response-schema.ts';
import { idOf } from './changes-reader.ts';
import { CHANGE_GROUPS, FALSE_ALARMS } from './changes-schema.ts';
import type { Difference, DifferencesParameters, DifferencesResponse } from './differences-schema.ts';
import { chanceOfStrata, significant, type Stratum } from './significance.ts';

export interface DifferencesReaderOptions extends AnswerOptions, InstanceReading {}

type Elements = QueryResponse['elements'];
type Dimensions = Elements[number]['dimensions'];
type Side = 'a' | 'b';

/** More rows than any answer has. */
const MOST = 2 ** 31 - 1;

export class DifferencesReader {
  readonly #options: DifferencesReaderOptions;

  constructor(options: DifferencesReaderOptions) {
    this.#options = options;
  }

  /**
   * The caller checks that the instance exists. Throws AppError VALIDATION_ERROR for an attribute that no session has,
   * SERVICE_UNAVAILABLE while the views cannot be read. `falseAlarms`: the probability that anything is listed although
   * nothing differs.
   */
  read(
    parameters: DifferencesParameters,
    caller = '',
    falseAlarms = FALSE_ALARMS,
  ): Promise<DifferencesResponse> {
    return this.#options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, parameters, falseAlarms), caller, LONG_ANSWER);
  }

  async #find(
    snapshot: Snapshot,
    asked: DifferencesParameters,
    falseAlarms: number,
  ): Promise<DifferencesResponse> {
    const { segmentKey, value, against, limit } = asked;
    const zone = zoneOf(asked.timeZone);
    const asking = (segment: readonly SegmentChoice[]): Asking => ({
      snapshot,
      options: this.#options,
      query: {
        instanceId: asked.instanceId,
        range: { start: asked['dateRange.start'] ?? null, end: asked['dateRange.end'] ?? null },
        timeZone: zone,
        segment: [...(asked.segment ?? []), ...segment],
      },
    });
    const perDay = await ask(asking([]), 'SEGMENT', 'DAY', { segmentKey });
    const days = daysOf(perDay.elements, value, against);
    const range = rangeOf(days, asked, zone);
    const sides = await Promise.all(
      [value, against].map((one) => {
        const base = asking([{ name: segmentKey, values: [one] }]);
        return range === null ? null : sideOf({ ...base, query: { ...base.query, range } });
      }),
    );
    const [a, b] = sides.map((side) => side ?? { sessions: 0, whole: [], daily: [] }) as [Counts, Counts];
    return {
      segmentKey,
      value: { value, sessions: a.sessions },
      against: { value: against, sessions: b.sessions },
      range: range === null ? null : { start: formatInstant(range.start), end: formatInstant(range.end) },
      differences: differencesOf(days, a, b, falseAlarms).slice(0, limit),
      lastProcessedAt: perDay.lastProcessedAt,
    };
  }
}

interface Asking {
  readonly snapshot: Snapshot;
  readonly options: AnswerOptions;
  readonly query: Pick<QueryParameters, 'instanceId' | 'range' | 'timeZone' | 'segment'>;
}

/** Sessions of both values by day, of the days on which both occur, oldest first. */
type Days = ReadonlyMap<string, Readonly<Record<Side, number>>>;

/** The sessions of one value in the range: of all, of each entity, and of each entity by day. */
interface Counts {
  readonly sessions: number;
  readonly whole: Elements;
  readonly daily: Elements;
}

async function ask(
  { snapshot, options, query }: Asking,
  groupBy: QueryParameters['groupBy'],
  granularity: Granularity,
  { segmentKey = null }: { readonly segmentKey?: string | null } = {},
): Promise<QueryResponse> {
  const { instanceId } = query;
  const key = segmentKey === null ? {} : { segmentKey };
  const plain = parseQueryParameters({ instanceId, groupBy, fields: 'sessions', ...key });
  return answerQuery(snapshot, { ...plain, ...query, granularity, limit: MOST }, options);
}

async function sideOf(asking: Asking): Promise<Counts> {
  const { sessions } = await countSessions(asking.snapshot, asking.query, asking.options);
  const groups = await Promise.all(
    CHANGE_GROUPS.map(async (groupBy) => ({
      whole: await ask(asking, groupBy, 'ALL'),
      daily: await ask(asking, groupBy, 'DAY'),
    })),
  );
  return {
    sessions,
    whole: groups.flatMap(({ whole }) => whole.elements),
    daily: groups.flatMap(({ daily }) => daily.elements),
  };
}

function daysOf(rows: Elements, value: string, against: string): Days {
  const days = new Map<string, { a: number; b: number }>();
  for (const { dimensions, fields } of rows) {
    const side =
      dimensions.segment?.value === value ? 'a' : dimensions.segment?.value === against ? 'b' : null;
    if (side === null || dimensions.date === undefined) continue;
    const day = days.get(dimensions.date) ?? { a: 0, b: 0 };
    days.set(dimensions.date, { ...day, [side]: fields.sessions ?? 0 });
  }
  return new Map([...days].filter(([, { a, b }]) => a > 0 && b > 0));
}

/** Returns the span of the days, within what is asked for; null without days. */
function rangeOf(
  days: Days,
  asked: DifferencesParameters,
  zone: string | null,
): { readonly start: number; readonly end: number } | null {
  const starts = [...days.keys()].map((day) => Date.parse(day) * 1000);
  if (starts.length === 0) return null;
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const end = zone === null ? nextBucketStart('DAY', last + 1) : localBucketAt('DAY', zone, last).end;
  return {
    start: Math.max(first, asked['dateRange.start'] ?? first),
    end: Math.min(end, asked['dateRange.end'] ?? end),
  };
}

interface Entity {
  readonly dimensions: Dimensions;
  sessions: Record<Side, number>;
  readonly byDay: Map<string, Record<Side, number>>;
}

function differencesOf(days: Days, a: Counts, b: Counts, falseAlarms: number): Difference[] {
  const entities = entitiesOf(days, a, b);
  const chances = entities.map(({ byDay }) =>
    chanceOfStrata(
      [...days].map(([day, of]): Stratum => {
        const found = byDay.get(day) ?? { a: 0, b: 0 };
        return { a: { with: found.a, of: of.a }, b: { with: found.b, of: of.b } };
      }),
    ),
  );
  const isReal = significant(chances, falseAlarms);
  return entities
    .map((entity, index) => ({ entity, chance: chances[index] ?? 1, isReal: isReal[index] === true }))
    .filter((found) => found.isReal)
    .map(({ entity, chance }) => differenceOf(entity, chance, a.sessions, b.sessions))
    .sort((x, y) => x.chance - y.chance || y.sessions - x.sessions || (idOf(x) < idOf(y) ? -1 : 1));
}

/** Joins the counts of both values by entity. */
function entitiesOf(days: Days, a: Counts, b: Counts): Entity[] {
  const entities = new Map<string, Entity>();
  for (const [side, { whole, daily }] of [
    ['a', a],
    ['b', b],
  ] as const) {
    for (const { dimensions, fields } of whole) {
      const id = idOf(dimensions);
      const known = entities.get(id) ?? { dimensions, sessions: { a: 0, b: 0 }, byDay: new Map() };
      known.sessions[side] = fields.sessions ?? 0;
      entities.set(id, known);
    }
    for (const { dimensions, fields } of daily) {
      const byDay = entities.get(idOf(dimensions))?.byDay;
      const { date = '' } = dimensions;
      if (byDay === undefined || !days.has(date)) continue;
      byDay.set(date, { ...(byDay.get(date) ?? { a: 0, b: 0 }), [side]: fields.sessions ?? 0 });
    }
  }
  return [...entities.values()];
}

function differenceOf(
  { dimensions, sessions }: Entity,
  chance: number,
  all: number,
  allB: number,
): Difference {
  const [share, shareAgainst] = [sessions.a / Math.max(1, all), sessions.b / Math.max(1, allB)];
  const { date: _, ...entity } = dimensions;
  const direction = share > shareAgainst ? 'more' : 'less';
  return {
    ...entity,
    difference: sessions.b === 0 ? 'only' : sessions.a === 0 ? 'never' : direction,
    sessions: sessions.a,
    sessionsAgainst: sessions.b,
    share,
    shareAgainst,
    chance,
  };
}

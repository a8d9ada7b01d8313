/**
 * Finds the topics, gaps and signals whose share of sessions differs between two values of an attribute by more than
 * chance, over the days on which both occur. All counts come from one snapshot, and the test of chance counts a session
 * once, on its first day of these.
 *
 * Test: test/e2e/differences-rules.test.ts, test/query/changes/differences-reader.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { GROUPINGS, type NamesTable } from '../../domain/groupings.ts';
import { localBucketAt } from '../../domain/local-time.ts';
import { nextBucketStart, formatInstant, type Granularity } from '../../domain/time.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, countSessions, type AnswerOptions, type AnswerReading } from '../answer.ts';
import { firstDays, firstDaysOfEntities, type SessionDays } from '../first-days.ts';
import { InstanceReader, readInstanceRow } from '../instance-reader.ts';
import { cachedNames } from '../names.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import type { QueryResponse } from '../response-schema.ts';
import { idOf } from './changes-reader.ts';
import { CHANGE_GROUPS, FALSE_ALARMS } from './changes-schema.ts';
import type { Difference, DifferencesParameters, DifferencesResponse } from './differences-schema.ts';
import { chanceOfStrata, significant, type Stratum } from './significance.ts';

type Elements = QueryResponse['elements'];
type Dimensions = Elements[number]['dimensions'];
type Side = 'a' | 'b';

/** More rows than any answer has. */
const MOST = 2 ** 31 - 1;

export class DifferencesReader extends InstanceReader<AnswerReading> {
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
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, parameters, falseAlarms), caller, LONG_ANSWER);
  }

  async #find(
    snapshot: Snapshot,
    asked: DifferencesParameters,
    falseAlarms: number,
  ): Promise<DifferencesResponse> {
    const { segmentKey, value, against, limit, instanceId } = asked;
    const zone = zoneOf(asked.timeZone);
    const row = await readInstanceRow(snapshot, instanceId);
    const asking = (segment: readonly SegmentChoice[]): Asking => ({
      snapshot,
      options: this.options,
      // Without an instance there are no days, and nothing is counted.
      instance: (row?.['instance'] as number | undefined) ?? 0,
      query: {
        instanceId,
        range: { start: asked['dateRange.start'] ?? null, end: asked['dateRange.end'] ?? null },
        timeZone: zone,
        segment: [...(asked.segment ?? []), ...segment],
      },
    });
    const perDay = await ask(asking([]), 'SEGMENT', 'DAY', { segmentKey });
    const range = rangeOf(commonDays(perDay.elements, value, against), asked, zone);
    const sides = await Promise.all(
      [value, against].map((one) => {
        const base = asking([{ name: segmentKey, values: [one] }]);
        return range === null ? null : sideOf({ ...base, query: { ...base.query, range } });
      }),
    );
    const [a, b] = sides.map((side) => side ?? NOTHING) as [Counts, Counts];
    return {
      segmentKey,
      value: { value, sessions: a.sessions },
      against: { value: against, sessions: b.sessions },
      range: range === null ? null : { start: formatInstant(range.start), end: formatInstant(range.end) },
      differences: differencesOf(a, b, falseAlarms).slice(0, limit),
      lastProcessedAt: perDay.lastProcessedAt,
    };
  }
}

interface Asking {
  readonly snapshot: Snapshot;
  readonly options: AnswerOptions;
  readonly instance: number;
  readonly query: Pick<QueryParameters, 'instanceId' | 'range' | 'timeZone' | 'segment'>;
}

/** The sessions of one value in the range. */
interface Counts {
  readonly sessions: number;
  /** Each session on its first day. */
  readonly days: SessionDays;
  readonly entities: readonly Counted[];
}

/** The sessions of one value that have an entity. */
interface Counted {
  readonly dimensions: Dimensions;
  readonly sessions: number;
  readonly days: SessionDays;
}

const NOTHING: Counts = { sessions: 0, days: new Map(), entities: [] };

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
  const { snapshot, options, instance, query } = asking;
  const asked = { snapshot, views: options.views, instance, ...query };
  const { sessions } = await countSessions(snapshot, query, options);
  const entities = await Promise.all(
    CHANGE_GROUPS.map(async (groupBy) => {
      const { elements } = await ask(asking, groupBy, 'ALL');
      const names = await cachedNames(snapshot, GROUPINGS[groupBy].counts.names as NamesTable, instance);
      const days = await firstDaysOfEntities(asked, groupBy);
      const daysById = new Map([...days].map(([number, own]) => [names.get(number)?.['id'], own]));
      return elements.map(({ dimensions, fields }): Counted => {
        const found = daysById.get(idOf(dimensions)) ?? new Map<number, number>();
        return { dimensions, sessions: fields.sessions ?? 0, days: found };
      });
    }),
  );
  return { sessions, days: await firstDays(asked), entities: entities.flat() };
}

/** Returns the days on which both values have sessions. */
function commonDays(rows: Elements, value: string, against: string): readonly string[] {
  const daysWith = (wanted: string): Set<string | undefined> =>
    new Set(rows.flatMap(({ dimensions: { segment, date } }) => (segment?.value === wanted ? [date] : [])));
  const others = daysWith(against);
  return [...daysWith(value)].filter((day) => day !== undefined && others.has(day)) as string[];
}

/** Returns the span of the days, within what is asked for; null without days. */
function rangeOf(
  days: readonly string[],
  asked: DifferencesParameters,
  zone: string | null,
): { readonly start: number; readonly end: number } | null {
  const starts = days.map((day) => Date.parse(day) * 1000);
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
  readonly sessions: Record<Side, number>;
  readonly days: Record<Side, SessionDays>;
}

function differencesOf(a: Counts, b: Counts, falseAlarms: number): Difference[] {
  const entities = entitiesOf(a, b);
  const chances = entities.map(({ days }) =>
    chanceOfStrata(
      [...a.days].map(([day, of]): Stratum => ({
        a: { with: days.a.get(day) ?? 0, of },
        b: { with: days.b.get(day) ?? 0, of: b.days.get(day) ?? 0 },
      })),
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
function entitiesOf(a: Counts, b: Counts): Entity[] {
  const entities = new Map<string, Entity>();
  for (const [side, counts] of [
    ['a', a],
    ['b', b],
  ] as const) {
    for (const { dimensions, sessions, days } of counts.entities) {
      const id = idOf(dimensions);
      const known = entities.get(id) ?? {
        dimensions,
        sessions: { a: 0, b: 0 },
        days: { a: NOTHING.days, b: NOTHING.days },
      };
      known.sessions[side] = sessions;
      known.days[side] = days;
      entities.set(id, known);
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

/**
 * Tells of what people said is fixed whether it helped: its share of sessions in the whole weeks before and after. All
 * counts come from one snapshot, and equal those of queries.
 *
 * Test: test/e2e/effects-rules.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import { isTold } from '../../domain/effects.ts';
import { piecesOf } from '../../domain/give-way.ts';
import { GROUPINGS, type NamesTable } from '../../domain/groupings.ts';
import type { Life } from '../../domain/life-schema.ts';
import { localBucketAt, localBuckets, wallClock, weeksEarlier } from '../../domain/local-time.ts';
import { formatInstant } from '../../domain/time.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, countSessions, type AnswerOptions, type AnswerReading } from '../answer.ts';
import { attributeValues } from '../attributes-reader.ts';
import type { Share } from '../changes/significance.ts';
import { firstDays, type SessionDays } from '../first-days.ts';
import { InstanceReader, processedAt, readInstanceRow } from '../instance-reader.ts';
import { cachedNames, entityById } from '../names.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import type { QueryResponse } from '../response-schema.ts';
import type { Range } from '../routing.ts';
import {
  differenceOf,
  effectOf,
  WEEKS_AFTER,
  WEEKS_BEFORE,
  WEEKS_WATCHED,
  type Effect,
  type Week,
} from './effect.ts';
import {
  EFFECT_GROUPS,
  type EffectAnswer,
  type EffectsParameters,
  type EffectsResponse,
} from './effects-schema.ts';

type Group = (typeof EFFECT_GROUPS)[number];
type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** More entities than any instance has. */
const MOST = 1_000_000;
/** A year in whole weeks. */
const YEAR_WEEKS = 52;
/** Entities that are counted together: cutting the days of all at once would keep other requests waiting. */
const AT_ONCE = 4;
/** More days than are ever compared. */
const MOST_DAYS = 1000;

export class EffectsReader extends InstanceReader<AnswerReading> {
  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read(parameters: EffectsParameters, caller = ''): Promise<EffectsResponse> {
    return this.options.readerOf(parameters.instanceId).read(
      async (snapshot) => {
        const { effects, total } = await effectsIn(snapshot, parameters, this.options);
        const row = await readInstanceRow(snapshot, parameters.instanceId);
        const lastProcessedAt = row === undefined ? null : processedAt(row, this.options);
        return { effects, total, lastProcessedAt };
      },
      caller,
      LONG_ANSWER,
    );
  }
}

/**
 * Whose effects are told. `until`: weeks that end later are left out, microseconds since 1970; what was stored before it is
 * published. Default: when the newest entry of the instance was processed.
 */
export interface EffectsAsked extends Pick<
  EffectsParameters,
  'instanceId' | 'timeZone' | 'segment' | 'limit'
> {
  readonly id?: string | undefined;
  readonly until?: number;
}

/** Returns the effects of what is fixed, the latest statement first, `limit` at most, and how many are fixed. */
export async function effectsIn(
  snapshot: Snapshot,
  asked: EffectsAsked,
  options: AnswerOptions,
): Promise<Pick<EffectsResponse, 'effects' | 'total'>> {
  const row = await readInstanceRow(snapshot, asked.instanceId);
  if (row === undefined) return { effects: [], total: 0 };
  const counting: Counting = {
    snapshot,
    options,
    instance: row['instance'] as number,
    instanceId: asked.instanceId,
    zone: zoneOf(asked.timeZone),
    segment: asked.segment ?? [],
    totals: new Map(),
  };
  const until = asked.until ?? (row['processed_at'] as number);
  const fixed = await fixedIn(counting, asked.id ?? null);
  const effects: EffectAnswer[] = [];
  for (const some of piecesOf(fixed.slice(0, asked.limit), AT_ONCE))
    effects.push(...(await Promise.all(some.map((one) => effectOfFixed(counting, one, until)))));
  return { effects, total: fixed.length };
}

/** What is counted, of whom and how. */
interface Counting {
  readonly snapshot: Snapshot;
  readonly options: AnswerOptions;
  readonly instance: number;
  readonly instanceId: string;
  /** Null: UTC. */
  readonly zone: string | null;
  readonly segment: readonly SegmentChoice[];
  /** All sessions by day, by range and segment: entities share them. */
  readonly totals: Map<string, Promise<SessionDays>>;
}

/** An entity that is fixed. */
interface Fixed {
  readonly groupBy: Group;
  readonly id: string;
  /** As facts have it. */
  readonly number: number;
  readonly dimensions: Dimensions;
  readonly life: Life;
}

async function fixedIn(counting: Counting, id: string | null): Promise<Fixed[]> {
  const found = await Promise.all(
    EFFECT_GROUPS.map(async (groupBy) => {
      const { elements } = await ask(counting, groupBy, {
        fields: ['sessions'],
        dimensionFields: ['life'],
        lifeStates: ['FIXED'],
        ids: id === null ? null : [id],
      });
      const { counts, name } = GROUPINGS[groupBy];
      const names = await cachedNames(counting.snapshot, counts.names as NamesTable, counting.instance);
      return elements.flatMap(({ dimensions: all }): Fixed[] => {
        const entity = all[name as 'gap'];
        const known = entity === undefined ? null : entityById(names, entity.id);
        if (entity?.life == null || known === null) return [];
        const { life, ...rest } = entity;
        return [{ groupBy, id: entity.id, number: known.number, dimensions: { [name]: rest }, life }];
      });
    }),
  );
  return found
    .flat()
    .sort((a, b) => (a.life.at < b.life.at ? 1 : a.life.at > b.life.at ? -1 : a.id < b.id ? -1 : 1));
}

async function ask(
  { snapshot, options, instanceId, zone, segment }: Counting,
  groupBy: Group,
  more: Partial<QueryParameters>,
): Promise<QueryResponse> {
  const plain = parseQueryParameters({ instanceId, groupBy, fields: 'sessions' });
  return answerQuery(snapshot, { ...plain, segment, timeZone: zone, limit: MOST, ...more }, options);
}

async function effectOfFixed(counting: Counting, fixed: Fixed, until: number): Promise<EffectAnswer> {
  const { life } = fixed;
  const since = await changeOf(counting, life);
  const answer = { ...fixed.dimensions, life } as const;
  const sides = { before: null, after: null, again: null, latest: null, soFar: null };
  if (since === null) return { ...answer, ...sides, difference: null, chance: null, verdict: 'TOO_EARLY' };
  const { before, after } = await aroundOf(counting, fixed, since, until);
  const compare = (year: { readonly before: Week[]; readonly after: Week[] } | null): Effect =>
    effectOf({ before: before.map(sharesOf), after: after.map(sharesOf) }, year);
  let effect = compare(null);
  // The year before can only explain what is told. A release has none.
  if (isTold(effect.verdict) && life.release === null) {
    const then = await aroundOf(counting, fixed, yearBefore(since, counting.zone), until);
    if (then.before.length > 0 && then.after.length > 0)
      effect = compare({ before: then.before.map(sharesOf), after: then.after.map(sharesOf) });
  }
  const own = { ...counting, segment: since.segment };
  const again = effect.again === null ? [] : after.slice(effect.again.from, effect.again.to);
  const latest = after.slice(WEEKS_AFTER).slice(-WEEKS_AFTER);
  const lessOften = after.slice(0, Math.min(WEEKS_AFTER, effect.again?.from ?? WEEKS_AFTER));
  const [beforeSide, afterSide, againSide, latestSide, soFar] = await Promise.all([
    sideOf(counting, fixed, before),
    sideOf(own, fixed, lessOften),
    sideOf(own, fixed, again),
    sideOf(own, fixed, latest),
    after.length > 0 ? null : sideIn(own, fixed, daysUntil(until, since.after, counting.zone)),
  ]);
  return {
    ...answer,
    verdict: effect.verdict,
    before: beforeSide,
    after: afterSide,
    again: againSide,
    latest: latestSide,
    soFar,
    difference:
      beforeSide === null || afterSide === null
        ? null
        : differenceOf(
            { with: afterSide.sessions, of: afterSide.of },
            { with: beforeSide.sessions, of: beforeSide.of },
          ),
    chance: effect.chance,
  };
}

/** The moment of a change, and the sessions that have it from then on. */
interface Since {
  /** End of the last day before it. */
  readonly before: number;
  /** Start of the first day after it: a day on which it happened counts for neither side. */
  readonly after: number;
  readonly segment: readonly SegmentChoice[];
}

/** Null: no session has the release yet. */
async function changeOf(counting: Counting, { fixedAt, release, at }: Life): Promise<Since | null> {
  const zone = counting.zone ?? 'UTC';
  if (release === null) {
    const instant = Date.parse(fixedAt ?? at) * 1000;
    const { start, end } = localBucketAt('DAY', zone, instant);
    return { before: start, after: instant === start ? start : end, segment: counting.segment };
  }
  const { snapshot, instance, segment } = counting;
  const { values } = await attributeValues(snapshot, instance, { name: release.name, segment, atLeast: 1 });
  const found = values.find(({ value }) => value === release.value);
  if (found === undefined) return null;
  const { start, end } = localBucketAt('DAY', zone, found.firstAt);
  const chosen = { name: release.name, values: [release.value] };
  return { before: start, after: end, segment: [...counting.segment, chosen] };
}

function yearBefore({ before, after, segment }: Since, zone: string | null): Since {
  const earlier = (at: number): number => weeksEarlier(at, YEAR_WEEKS, zone);
  return { before: earlier(before), after: earlier(after), segment };
}

/** A whole week that has a session. */
interface DatedWeek extends Range {
  readonly days: readonly Share[];
}

function sharesOf({ days }: DatedWeek): Week {
  return days;
}

/** Counts the whole weeks before and after a change that are over at `until`, in the order of time. */
async function aroundOf(
  counting: Counting,
  fixed: Fixed,
  { before, after, segment }: Since,
  until: number,
): Promise<{ readonly before: readonly DatedWeek[]; readonly after: readonly DatedWeek[] }> {
  const { zone } = counting;
  const weeks = (from: number, many: number): Range[] =>
    Array.from({ length: many }, (_, at) => ({
      start: weeksEarlier(from, -at, zone),
      end: weeksEarlier(from, -at - 1, zone),
    }));
  const over = weeks(after, WEEKS_WATCHED).filter(({ end }) => end <= until);
  const earlier = weeks(weeksEarlier(before, WEEKS_BEFORE, zone), WEEKS_BEFORE);
  const [daysBefore, daysAfter] = await Promise.all([
    countDays(counting, fixed, earlier),
    countDays({ ...counting, segment }, fixed, over),
  ]);
  return { before: daysBefore, after: daysAfter };
}

/**
 * Counts weeks that follow each other by weekday, Sunday first: each session once, on its first day in them, so that no
 * long one counts as many. Weeks without a session are left out.
 */
async function countDays(
  counting: Counting,
  { groupBy, number }: Fixed,
  weeks: readonly Range[],
): Promise<DatedWeek[]> {
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { start: first.start, end: last.end };
  const key = JSON.stringify([range, counting.segment]);
  const asked = { ...counting, range, timeZone: counting.zone, views: counting.options.views };
  const totals = counting.totals.get(key) ?? firstDays(asked);
  counting.totals.set(key, totals);
  const [found, all] = await Promise.all([firstDays(asked, groupBy, number), totals]);
  const zone = counting.zone ?? 'UTC';
  const weekdayOf = (bucket: number): number => wallClock(bucket, zone).getUTCDay();
  return weeks.flatMap((week) => {
    // The weeks before and after begin on different weekdays.
    const days = (localBuckets('DAY', zone, week, MOST_DAYS) ?? [])
      .toSorted((a, b) => weekdayOf(a.bucket) - weekdayOf(b.bucket))
      .map(({ bucket }) => ({ with: found.get(bucket) ?? 0, of: all.get(bucket) ?? 0 }));
    return days.some(({ of }) => of > 0) ? [{ ...week, days }] : [];
  });
}

/** Counts each session once from the first to the last of the weeks; null without any. */
async function sideOf(
  counting: Counting,
  fixed: Fixed,
  weeks: readonly DatedWeek[],
): Promise<EffectAnswer['before']> {
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (first === undefined || last === undefined) return null;
  return sideIn(counting, fixed, { start: first.start, end: last.end });
}

/** Returns the days from `start` to the one of the moment before `until`. */
function daysUntil(until: number, start: number, zone: string | null): Range {
  return { start, end: localBucketAt('DAY', zone ?? 'UTC', until - 1).end };
}

/** Counts each session once; null without any. */
async function sideIn(
  counting: Counting,
  { groupBy, id }: Fixed,
  range: Range,
): Promise<EffectAnswer['before']> {
  if (range.end <= range.start) return null;
  const [{ elements }, { sessions: of }] = await Promise.all([
    ask(counting, groupBy, { ids: [id], range }),
    countSessions(counting.snapshot, { ...counting, range }, counting.options),
  ]);
  if (of === 0) return null;
  const sessions = elements[0]?.fields.sessions ?? 0;
  return {
    start: formatInstant(range.start),
    end: formatInstant(range.end),
    sessions,
    of,
    share: sessions / of,
  };
}

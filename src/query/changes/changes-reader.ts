/**
 * Finds the topics, gaps and signals whose share of sessions differs between two periods by more than chance. Both
 * periods have the same weekdays, and all counts come from one snapshot.
 *
 * Test: test/e2e/changes-rules.test.ts, test/query/changes/periods.test.ts.
 */
import { GROUPINGS } from '../../domain/groupings.ts';
import { weeksEarlier } from '../../domain/local-time.ts';
import { DAY_MICROS, formatInstant } from '../../domain/time.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { answerQuery, countSessions, type AnswerOptions, type AnswerReading } from '../answer.ts';
import { InstanceReader, readInstanceRow } from '../instance-reader.ts';
import { parseQueryParameters, zoneOf, type QueryParameters } from '../parameters.ts';
import { LONG_ANSWER } from '../places.ts';
import type { QueryResponse } from '../response-schema.ts';
import type { Range } from '../routing.ts';
import {
  CHANGE_GROUPS,
  FALSE_ALARMS,
  type Change,
  type ChangesParameters,
  type ChangesResponse,
} from './changes-schema.ts';
import { chanceOf, significant } from './significance.ts';

const WEEK = 7 * DAY_MICROS;

/** Returns the period, cut at `knownUntil`, and the earlier one, which is as long and has the same weekdays. */
export function periodsOf(
  { start, end }: Range,
  compare: ChangesParameters['compare'],
  knownUntil: number,
  zone: string | null = null,
): { readonly period: Range; readonly before: Range } {
  const cut = Math.max(start, Math.min(end, knownUntil));
  let back = Math.max(compare === 'year' ? 52 : 1, Math.floor((end - start) / WEEK));
  // A week is an hour longer where clocks go back.
  while (weeksEarlier(end, back, zone) > start) back += 1;
  return {
    period: { start, end: cut },
    before: { start: weeksEarlier(start, back, zone), end: weeksEarlier(cut, back, zone) },
  };
}

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** An entity's sessions in the two periods. */
interface Counted {
  readonly dimensions: Dimensions;
  now: number;
  before: number;
}

export class ChangesReader extends InstanceReader<AnswerReading> {
  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read(parameters: ChangesParameters, caller = ''): Promise<ChangesResponse> {
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#find(snapshot, parameters), caller, LONG_ANSWER);
  }

  async #find(snapshot: Snapshot, parameters: ChangesParameters): Promise<ChangesResponse> {
    const { compare, limit } = parameters;
    const asking = { instanceId: parameters.instanceId, segment: parameters.segment ?? [] };
    const row = await readInstanceRow(snapshot, asking.instanceId);
    const asked = { start: parameters['dateRange.start'], end: parameters['dateRange.end'] };
    const known = row === undefined ? asked.end : (row['processed_at'] as number);
    const { period, before } = periodsOf(asked, compare, known, zoneOf(parameters.timeZone));
    const { now, earlier, changes } = await changesBetween(snapshot, asking, period, before, this.options);
    return {
      period: countedPeriod(period, now),
      before: countedPeriod(before, earlier),
      changes: changes.slice(0, limit),
      lastProcessedAt: now.lastProcessedAt,
    };
  }
}

/** Whose sessions are compared. */
export type Asking = Pick<QueryParameters, 'instanceId' | 'segment'>;

/** Returns the significant changes, least likely first, and the counts of both periods. */
export async function changesBetween(
  snapshot: Snapshot,
  asking: Asking,
  period: Range,
  before: Range,
  options: AnswerOptions,
): Promise<{ readonly now: Counts; readonly earlier: Counts; readonly changes: readonly Change[] }> {
  const [now, then] = (await Promise.all(
    [period, before].map((range) => count(snapshot, asking, range, options)),
  )) as [Counts, Counts];
  const counted = together(now, then);
  const chances = counted.map(({ now: inside, before: outside }) =>
    chanceOf({ with: inside, of: now.sessions }, { with: outside, of: then.sessions }),
  );
  const isReal = significant(chances, FALSE_ALARMS);
  const changes = counted
    .map((entity, index) => ({ entity, chance: chances[index] ?? 1, isReal: isReal[index] === true }))
    .filter((found) => found.isReal)
    .map(({ entity, chance }) => changeOf(entity, chance, now.sessions, then.sessions))
    .sort((a, b) => a.chance - b.chance || b.sessions - a.sessions || (idOf(a) < idOf(b) ? -1 : 1));
  return { now, earlier: then, changes };
}

/** Counts the sessions of a period: of all and of each entity. */
async function count(
  snapshot: Snapshot,
  { instanceId, segment }: Asking,
  { start, end }: Range,
  options: AnswerOptions,
): Promise<Counts> {
  const range = { start, end };
  const [all, ...groups] = await Promise.all([
    countSessions(snapshot, { instanceId, range, segment }, options),
    ...CHANGE_GROUPS.map((groupBy) => {
      const query = parseQueryParameters({ instanceId, groupBy, fields: 'sessions' });
      return answerQuery(snapshot, { ...query, range, segment, limit: MOST }, options);
    }),
  ]);
  return { ...all, elements: groups.flatMap(({ elements }) => elements) };
}

/** More entities than any instance has. */
const MOST = 1_000_000;

interface Counts {
  readonly sessions: number;
  readonly lastProcessedAt: string | null;
  readonly elements: QueryResponse['elements'];
}

/** Joins both periods' counts by entity. */
function together(now: Counts, then: Counts): Counted[] {
  const counted = new Map<string, Counted>();
  for (const [period, { elements }] of [
    ['now', now],
    ['before', then],
  ] as const) {
    for (const { dimensions, fields } of elements) {
      const id = idOf(dimensions);
      const known = counted.get(id) ?? { dimensions, now: 0, before: 0 };
      known[period] = fields.sessions ?? 0;
      counted.set(id, known);
    }
  }
  return [...counted.values()];
}

/** The id of the entity of a row, a change or a difference. */
export function idOf(dimensions: Dimensions): string {
  return CHANGE_GROUPS.map((groupBy) => dimensions[GROUPINGS[groupBy].name as 'topic']?.id ?? '').join('');
}

function changeOf(
  { dimensions, now, before }: Counted,
  chance: number,
  all: number,
  allBefore: number,
): Change {
  const [share, shareBefore] = [ratio(now, all), ratio(before, allBefore)];
  const direction = share > shareBefore ? 'rising' : 'falling';
  const change = before === 0 ? 'new' : now === 0 ? 'gone' : direction;
  return { ...dimensions, change, sessions: now, sessionsBefore: before, share, shareBefore, chance };
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function countedPeriod({ start, end }: Range, { sessions }: Counts): ChangesResponse['period'] {
  return { start: formatInstant(start), end: formatInstant(end), sessions };
}

/**
 * Counts from rows in memory how many sessions of each entity are dissatisfied, and how many more than others. The
 * numbers equal those of the source `moods` in fact-metrics.ts.
 *
 * Test: test/query/held-answers.test.ts, test/view-laws.test.ts.
 */
import type { SegmentChoice } from '../domain/attributes.ts';
import { giveWay } from '../domain/give-way.ts';
import { KINDS } from '../domain/kinds.ts';
import type { HeldPart, HeldRows } from '../store/published/held-rows.ts';
import type { View } from '../store/view-files.ts';
import {
  instant,
  placesWithin,
  sameNames,
  spanOf,
  type Counted,
  type Numbers,
  type Places,
} from './held-counts.ts';
import {
  ADDED_AT_ONCE,
  messagesIn,
  MOST_CUT_HOURS,
  Pairs,
  segmentFactsOf,
  type SegmentSessions,
} from './held-segments.ts';
import { wholeUnits, type Range } from './routing.ts';

/** By number minus `least`, as the columns of the source are called. */
export interface Moods {
  readonly dissatisfied: Float64Array;
  readonly excess_dissatisfied: Float64Array;
}

interface MoodOptions {
  readonly segment: readonly SegmentChoice[];
  readonly range: Range;
  /** The entities' numbers. */
  readonly span: Numbers;
  readonly views: readonly View[];
}

/** Null if the rows are not held, or the range cuts more hours than pays. */
export async function moodsOf(
  counted: Counted,
  { segment, range, span, views }: MoodOptions,
): Promise<Moods | null> {
  const { snapshot, instance } = counted;
  const { rollup, cuts } = wholeUnits('HOUR', range);
  if (cuts.length > MOST_CUT_HOURS) return null;
  const facts = await segmentFactsOf(counted, segment);
  const all = await snapshot.held({
    table: 'hour_fact',
    equal: { instance, kind: KINDS.all },
    columns: { hour: instant('hour'), ...sameNames(['session', 'end_user', 'dsat']) },
    key: ['hour', 'session', 'end_user'],
  });
  if (facts === null || all === null) return null;
  const within = (rows: HeldRows): Piece[] =>
    rollup === null ? [] : rows.map((part) => ({ part, places: placesWithin(part, 'hour', rollup) }));
  const ofAll = { snapshot, instance, counts: ALL };
  const [cutAll, cutOwn] = await Promise.all(
    [ofAll, counted].map((one) => Promise.all(cuts.map((cut) => pieceOf(one, cut, views)))),
  );
  const pieces = [...within(all), ...cutAll!];
  const sessions = spanOf(pieces.map(({ part }) => part.columns.numbers['session']!));
  if (sessions === null) return null;
  const moods = await sessionMoods(pieces, facts.sessions, sessions);
  const dissatisfied = new Float64Array(span.size);
  const found = new Float64Array(span.size);
  const seen = new Pairs();
  await eachRow([...within(facts.hours), ...cutOwn!], ({ columns: { numbers } }, row) => {
    const at = numbers['number']![row]! - span.least;
    const session = numbers['session']![row]!;
    if (at < 0 || at >= span.size || !facts.sessions.has(session) || !seen.add(at, session)) return;
    found[at]! += 1;
    if (moods.marks[session - sessions.least] === DISSATISFIED) dissatisfied[at]! += 1;
  });
  return {
    dissatisfied,
    excess_dissatisfied: dissatisfied.map((count, at) => count - found[at]! * moods.share),
  };
}

/** What counts all messages, by their end user. */
const ALL = { view: 'end_user_rollup', names: 'end_user' } as const;

interface Piece {
  readonly part: Pick<HeldPart, 'columns' | 'skip'>;
  readonly places: Places;
}

async function pieceOf(counted: Counted, cut: Range, views: readonly View[]): Promise<Piece> {
  const columns = await messagesIn(counted, cut, views);
  return { part: { columns, skip: null }, places: [0, columns.rows] };
}

const FOUND = 1;
const DISSATISFIED = 2;

/** Marks the sessions of the segment by number minus `least`, and returns the share of them that are dissatisfied. */
async function sessionMoods(
  pieces: readonly Piece[],
  segment: SegmentSessions,
  { least, size }: Numbers,
): Promise<{ readonly marks: Uint8Array; readonly share: number }> {
  const marks = new Uint8Array(size);
  let [all, dissatisfied] = [0, 0];
  await eachRow(pieces, ({ columns: { numbers } }, row) => {
    const session = numbers['session']![row]!;
    const at = session - least;
    if (marks[at] === DISSATISFIED || !segment.has(session)) return;
    if (marks[at] !== FOUND) all += 1;
    const isDissatisfied = numbers['dsat']![row]! > 0;
    if (isDissatisfied) dissatisfied += 1;
    marks[at] = isDissatisfied ? DISSATISFIED : FOUND;
  });
  return { marks, share: dissatisfied / Math.max(1, all) };
}

async function eachRow(
  pieces: readonly Piece[],
  read: (part: Piece['part'], row: number) => void,
): Promise<void> {
  for (const { part, places } of pieces) {
    const [first, end] = places;
    for (let row = first; row < end; row += 1) {
      if ((row - first) % ADDED_AT_ONCE === ADDED_AT_ONCE - 1) await giveWay();
      if (part.skip?.[row] !== 1) read(part, row);
    }
  }
}

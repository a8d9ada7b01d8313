/**
 * Decides when an alert tells that a new value of an attribute, such as a release, differs from the one before. Keeps the
 * invariant that a value fires once, and by chance in at most one case of twenty, however often it is looked at.
 *
 * Test: test/doors/alerts/new-values.test.ts.
 */
import { localBucketAt, weeksEarlier } from '../../domain/local-time.ts';
import { FALSE_ALARMS } from '../../query/changes/changes-schema.ts';
import type { Firing, Moment, Of } from './evaluation.ts';
import type { Figures, ValueDifferences, ValueOnDay } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Rule } from './rule.ts';
import { LEARNING_WEEKS, NEW_FOR_WEEKS } from './windows.ts';

/** What a new value is compared with, and what differs. */
export interface ValueFiring extends Omit<ValueDifferences, 'span'> {
  readonly segmentKey: string;
  readonly value: string;
  readonly against: string;
}

/** Of the values that are new at a time, so many are compared: those with the most conversations. */
const MOST_NEW = 20;
/** Values are counted by day again when a new one has grown by this factor. */
const GROWTH = 1.1;

/**
 * Finds values whose first conversation came after the alert was made, after the first week of the attribute, and within
 * the last four weeks, and that differ from the value with the most conversations in the four weeks before them.
 *
 * A value is compared when both have `minSessions` conversations on common days, and again whenever these have doubled.
 * Each comparison takes half of the false alarms that are left, so that all of them together find by chance what one
 * of GET /v1/differences does.
 */
export async function newValues(
  rule: Rule,
  { kind, segmentKey, minSessions }: Of<'new_value'>,
  figures: Figures,
  { until, isKnown, old }: Moment,
): Promise<Firing[]> {
  const { timeZone } = rule;
  const { firstAt: begun, values } = await figures.values(segmentKey, minSessions);
  if (begun === null) return [];
  const newSince = Math.max(
    rule.createdAt * 1000,
    weeksEarlier(localBucketAt('DAY', timeZone, until).start, NEW_FOR_WEEKS, timeZone),
    weeksEarlier(begun, -LEARNING_WEEKS, timeZone),
  );
  const due = values
    .filter(({ firstAt }) => firstAt >= newSince)
    .slice(0, MOST_NEW)
    .map((one) => ({
      ...one,
      id: messageIdOf(rule.id, kind, one.value, 0),
      look: lookAt(rule, one, minSessions),
    }))
    .filter(({ id, look }) => !isKnown(id) && !old.has(look));
  if (due.length === 0) return [];
  const dayOf = (at: number): number => localBucketAt('DAY', timeZone, at).start;
  const earliest = dayOf(Math.min(...due.map(({ firstAt }) => firstAt)));
  const from = weeksEarlier(earliest, NEW_FOR_WEEKS, timeZone);
  const days = await figures.valuesByDay(segmentKey, from, timeZone);
  const firings: Firing[] = [];
  for (const { id, value, firstAt, look } of due) {
    const start = dayOf(firstAt);
    const pair = pairOf(value, start, weeksEarlier(start, NEW_FOR_WEEKS, timeZone), days);
    const doublings = pair === null ? -1 : Math.floor(Math.log2(pair.common / minSessions));
    const test = `${rule.id} ${doublings} doublings ${value}`;
    if (pair !== null && doublings >= 0 && !old.has(test)) {
      const { against } = pair;
      const falseAlarms = FALSE_ALARMS / 2 ** (doublings + 1);
      const asked = { segmentKey, value, against, start, timeZone, falseAlarms };
      const found = await figures.differences(asked);
      if (found !== null && found.found.length > 0) {
        const { span, ...rest } = found;
        const compared = { segmentKey, value, against, ...rest };
        const measured = { value: found.sessions, bound: minSessions, entity: null };
        firings.push({ id, rule, window: null, span, isOpen: true, ...measured, compared });
        // What fires is known by its id, once it is in the outbox.
        continue;
      }
      old.add(test);
    }
    // While the older value has too few, it is the one that has to grow.
    if (doublings >= 0) old.add(look);
  }
  return firings;
}

/** Names the look at a value while it has about so many conversations. */
function lookAt(
  { id }: Rule,
  { value, sessions }: { readonly value: string; readonly sessions: number },
  least: number,
): string {
  return `${id} grown ${Math.floor(Math.log(sessions / least) / Math.log(GROWTH))} ${value}`;
}

/**
 * Returns the value with the most conversations from `from` to `start`, the first in the order of text of several; and the
 * conversations of the rarer one of both on the days on which both occur. Null if there was no other value.
 */
function pairOf(
  value: string,
  start: number,
  from: number,
  days: readonly ValueOnDay[],
): { readonly against: string; readonly common: number } | null {
  const before = new Map<string, number>();
  for (const { day, value: other, sessions } of days)
    if (day >= from && day < start && other !== value) before.set(other, (before.get(other) ?? 0) + sessions);
  const [first] = [...before].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  if (first === undefined) return null;
  const [against] = first;
  const on = (of: string): ReadonlyMap<number, number> =>
    new Map(days.flatMap((one) => (one.value === of && one.day >= start ? [[one.day, one.sessions]] : [])));
  const [own, others] = [on(value), on(against)];
  const common = [...own.keys()].filter((day) => others.has(day));
  const countOf = (of: ReadonlyMap<number, number>): number =>
    common.reduce((sum, day) => sum + (of.get(day) ?? 0), 0);
  return { against, common: Math.min(countOf(own), countOf(others)) };
}

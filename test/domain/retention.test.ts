import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutoffsOf, dueRuns, KEPT_FOR_EVER, type RetentionRun } from '../../src/domain/retention.ts';

const DAY = 86_400_000_000;
const NOON = Date.UTC(2026, 10, 28, 12) * 1000;
const MIDNIGHT = Date.UTC(2026, 10, 28) * 1000;
const INSTANCE = '11111111-1111-4111-8111-111111111111';
const kept = (textDays: number | null, peopleDays: number | null = null) => [
  { instanceId: INSTANCE, retention: { ...KEPT_FOR_EVER, textDays, peopleDays } },
];
const done = (run: RetentionRun | undefined): RetentionRun => ({ ...run!, doneAt: '2026-11-28T12:01:00Z' });

describe('retention', () => {
  it('has cutoffs at midnight', () => {
    const days = { textDays: 1, peopleDays: 30, countDays: null, keepAtLeastDays: null };
    const expected = { texts: MIDNIGHT - DAY, people: MIDNIGHT - 30 * DAY, counts: null };
    deepEqual(cutoffsOf(days, NOON), expected);
    deepEqual(cutoffsOf(days, NOON + DAY / 2 - 1), expected);
  });

  it('is due once a day, and when less is kept', () => {
    const [first] = dueRuns(kept(30), [], NOON);
    deepEqual(first?.cutoffs, { texts: MIDNIGHT - 30 * DAY, people: null, counts: null });
    const last = [done(first)];
    deepEqual(dueRuns(kept(30), last, NOON + 1), []);
    equal(dueRuns(kept(30), last, NOON + DAY).length, 1);
    equal(dueRuns(kept(29), last, NOON + 1).length, 1);
    equal(dueRuns(kept(30, 90), last, NOON + 1).length, 1);
  });

  it('brings nothing back, and goes on with what was interrupted', () => {
    const [first] = dueRuns(kept(30), [], NOON);
    const lost = { ...done(first), lostTexts: true };
    deepEqual(dueRuns(kept(60), [lost], NOON + DAY), []);
    deepEqual(dueRuns(kept(null), [lost], NOON + DAY), []);
    const [next] = dueRuns(kept(60, 90), [lost], NOON + DAY);
    deepEqual([next?.cutoffs.texts, next?.lostTexts], [lost.cutoffs.texts, true]);
    const open = { ...lost, doneAt: null, position: 7 };
    deepEqual(dueRuns(kept(null), [open], NOON + 5 * DAY), [open]);
    const waiting = { ...first!, doneAt: null };
    deepEqual(dueRuns(kept(null), [waiting], NOON + 1), []);
    equal(dueRuns(kept(60), [waiting], NOON + 1)[0]?.cutoffs.texts, MIDNIGHT - 60 * DAY);
  });

  it('is not due where nobody said how long', () => {
    deepEqual(dueRuns(kept(null), [], NOON), []);
    deepEqual(dueRuns([], [], NOON), []);
  });
});

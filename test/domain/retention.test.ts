import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cutoffsOf,
  dueRuns,
  inForce,
  instancesBelow,
  isUnlimited,
  KEPT_FOR_EVER,
  needsInstances,
  periodsBelow,
  retainedOf,
  type RetentionRun,
} from '../../src/domain/retention.ts';

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
    deepEqual(dueRuns(kept(null), [waiting], NOON + 1), [{ ...waiting, position: 0, lostTexts: true }]);
    equal(dueRuns(kept(60), [waiting], NOON + 1)[0]?.cutoffs.texts, MIDNIGHT - 60 * DAY);
  });

  it('ends a run that has reached the stream, also where nothing is set by then', () => {
    const [first] = dueRuns(kept(30), [], NOON);
    const open = { ...first!, position: 7 };
    deepEqual(dueRuns([], [open], NOON), [open]);
  });

  it('closes a run that was interrupted in the views, where its days were given up', () => {
    const [first] = dueRuns(kept(30), [], NOON);
    const [closed] = dueRuns([], [{ ...first!, fault: 'no room' }], NOON);
    deepEqual(closed, { ...first!, position: 0, lostTexts: true });
    deepEqual(dueRuns([], [done(closed)], NOON), []);
  });

  it('is not due where nobody said how long', () => {
    deepEqual(dueRuns(kept(null), [], NOON), []);
    deepEqual(dueRuns([], [], NOON), []);
  });
});

describe('retention of a project', () => {
  const of = (textDays: number | null, keepAtLeastDays: number | null = null) => ({
    ...KEPT_FOR_EVER,
    textDays,
    keepAtLeastDays,
  });
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 28, hour)).toISOString();
  const setting = { projectId: 'p', retention: of(90), setAt: at(10) };
  const instance = (id: string, createdAt: string, projectId = 'p') => ({ id, projectId, createdAt });

  it('holds where an instance has none of its own', () => {
    deepEqual(inForce(of(7), of(90)), { retention: of(7), from: 'INSTANCE' });
    deepEqual(inForce(KEPT_FOR_EVER, of(90)), { retention: KEPT_FOR_EVER, from: 'INSTANCE' });
    deepEqual(inForce(null, of(90)), { retention: of(90), from: 'PROJECT' });
    deepEqual(inForce(null, null), { retention: KEPT_FOR_EVER, from: 'NOTHING' });
  });

  it('takes the last of an instance that is listed twice', () => {
    const own = [10, 20].map((days) => ({ instanceId: INSTANCE, retention: of(days) }));
    deepEqual(retainedOf(own, [], [], NOON), [own[1]]);
  });

  it('is of its own instances, of those made after it was set from the next midnight on', () => {
    const own = [{ instanceId: 'own', retention: of(7) }];
    const instances = [
      instance('own', at(1)),
      instance('before', at(9)),
      instance('later', at(11)),
      instance('foreign', at(1), 'q'),
    ];
    const project = (id: string) => ({ instanceId: id, retention: of(90) });
    deepEqual(retainedOf(own, [setting], instances, NOON), [...own, project('before')]);
    deepEqual(retainedOf(own, [setting], instances, NOON + DAY / 2), [
      ...own,
      project('before'),
      project('later'),
    ]);
    deepEqual(retainedOf(own, [], instances, NOON), own);
  });

  it('raises days of an instance that are below its floor', () => {
    deepEqual(inForce(of(7), of(null, 30)), { retention: of(30), from: 'INSTANCE' });
    deepEqual(inForce(of(31, 5), of(90, 30)), { retention: of(31, 5), from: 'INSTANCE' });
    deepEqual(inForce(of(null), of(90, 30)).retention, of(null));
    const floors = [
      { ...setting, retention: of(null, 30) },
      { ...setting, projectId: 'q', retention: of(null, 60) },
    ];
    const own = ['p', 'q', 'r', 'unknown'].map((instanceId) => ({ instanceId, retention: of(7) }));
    const instances = ['p', 'q', 'r'].map((id) => instance(id, at(1), id));
    deepEqual(
      retainedOf(own, floors, instances, NOON).map(({ retention }) => retention.textDays),
      [30, 60, 7, 60],
    );
  });

  it('needs no instances where it takes nothing', () => {
    const floorOnly = { ...setting, retention: of(null, 30) };
    const own = (days: number) => [{ instanceId: 'p', retention: of(days) }];
    deepEqual(retainedOf([], [floorOnly], [instance('p', at(1))], NOON), []);
    deepEqual(
      [
        needsInstances(own(30), [floorOnly]),
        needsInstances(own(29), [floorOnly]),
        needsInstances([], [setting]),
      ],
      [false, true, true],
    );
    deepEqual([isUnlimited(floorOnly.retention), isUnlimited(KEPT_FOR_EVER)], [false, true]);
  });

  it('names the instances of the project that have less than its floor, at most five', async () => {
    deepEqual(periodsBelow({ textDays: 29, peopleDays: 30, countDays: null }, 30), ['textDays']);
    deepEqual(periodsBelow({ textDays: 1, peopleDays: 1, countDays: 1 }, null), []);
    const project = { projectId: 'p', projectOf: async (id: string) => (id.startsWith('q') ? 'q' : 'p') };
    const own = ['a', 'q', 'b', 'c'].map((instanceId) => ({ instanceId, retention: of(29) }));
    const more = ['d', 'e', 'f', 'g'].map((instanceId) => ({ instanceId, retention: of(1) }));
    const enough = { instanceId: 'z', retention: of(30) };
    equal(await instancesBelow(of(null, 30), [...own, enough], project), 'a, b, c');
    equal(await instancesBelow(of(null, 30), [...own, ...more], project), 'a, b, c, d, e and 2 more');
    equal(await instancesBelow(of(null), own, project), '');
  });
});

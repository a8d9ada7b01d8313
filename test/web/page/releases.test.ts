import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeLabels, releasesIn } from '../../../src/web/page/client/releases.ts';
import { showTimesIn } from '../../../src/web/page/client/zone.ts';

const NOVEMBER = Array.from(
  { length: 30 },
  (_, day) => `2026-11-${String(day + 1).padStart(2, '0')}T00:00:00Z`,
);
const CLOCK = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };

/** An attribute with a value for each of these first messages. */
function attribute(name: string, begun: Readonly<Record<string, string | null>>) {
  return { name, values: Object.entries(begun).map(([value, firstAt]) => ({ value, sessions: 1, firstAt })) };
}

function found(
  attributes: readonly ReturnType<typeof attribute>[],
  dates: readonly string[] = NOVEMBER,
  clock: typeof CLOCK | null = CLOCK,
): string[] {
  return releasesIn(attributes, dates, clock).map(({ name, value, index }) => `${name} ${value} ${index}`);
}

describe('releases in a period', () => {
  it('are values that came up in it, but for the first of their attribute', () => {
    const version = attribute('version', {
      v1: '2026-11-02T08:00:00Z',
      v2: '2026-11-05T08:00:00Z',
      v3: '2026-12-01T00:00:00Z',
    });
    deepEqual(found([version]), ['version v2 4']);
    const older = attribute('version', { v1: '2026-10-02T08:00:00Z', v2: '2026-11-01T00:00:00Z', v0: null });
    deepEqual(found([older]), ['version v2 0']);
    deepEqual(found([version], [...NOVEMBER, '2026-12-01T00:00:00Z'], null), [
      'version v2 4',
      'version v3 30',
    ]);
    deepEqual(found([version], []), []);
  });

  it('stand in the bucket of local time that contains them', () => {
    const version = attribute('version', { v1: '2026-10-02T08:00:00Z', v2: '2026-11-04T23:30:00Z' });
    showTimesIn('Europe/Berlin');
    deepEqual(found([version]), ['version v2 4']);
    showTimesIn('UTC');
    deepEqual(found([version]), ['version v2 3']);
    deepEqual(found([version], ['2026-10-26T00:00:00Z', '2026-11-02T00:00:00Z']), ['version v2 1']);
  });

  it('are of attributes whose values follow one another', () => {
    const plan = attribute('plan', {
      pro: '2026-10-01T00:00:00Z',
      free: '2026-10-01T08:00:00Z',
      team: '2026-10-01T09:00:00Z',
      trial: '2026-11-04T00:00:00Z',
    });
    deepEqual(found([plan]), []);
    const beta = attribute('beta', { false: '2026-10-01T00:00:00Z', true: '2026-11-04T00:00:00Z' });
    deepEqual(found([beta]), []);
    const days = (count: number) =>
      attribute(
        'city',
        Object.fromEntries(
          Array.from({ length: count }, (_, at) => [
            `c${at}`,
            new Date(Date.UTC(2026, 9, 1 + at)).toISOString(),
          ]),
        ),
      );
    equal(found([days(50)]).length, 5);
    deepEqual(found([days(51)]), []);
  });

  it('are the newest five of all attributes, oldest first', () => {
    const of = (name: string, day: number) =>
      attribute(name, {
        a: '2026-10-01T00:00:00Z',
        b: `2026-11-${String(day).padStart(2, '0')}T08:00:00Z`,
        c: `2026-11-${day + 1}T08:00:00Z`,
      });
    deepEqual(found([of('prompt', 12), of('model', 11), of('version', 10)]), [
      'model b 10',
      'version c 10',
      'model c 11',
      'prompt b 11',
      'prompt c 12',
    ]);
  });
});

describe('labels of releases', () => {
  it('stand in the first row with room, and on the side with room', () => {
    const placed = placeLabels(['1.0', '1.1', '1.2'], [40, 50, 300], 310);
    deepEqual(
      placed.map(({ row, anchor }) => `${row} ${anchor}`),
      ['0 start', '1 start', '0 end'],
    );
    ok(placed.every(({ x, line }) => Math.abs(x - line) === 4));
    deepEqual(
      placeLabels(['2026-11-21-nightly-build'], [40], 310).map(({ text }) => text),
      ['2026-11-21-nigh…'],
    );
  });
});

/** Which weeks are over when somebody asks for effects of a time. */
import { deepEqual } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CurationRow, GapRow } from '../../../src/domain/facts.ts';
import { DAY_MICROS } from '../../../src/domain/time.ts';
import { effectsIn } from '../../../src/query/effects/effects-reader.ts';
import { assignment, fact, openFixture, uuid, VIEWS, type Fixture } from '../../support/fold.ts';

/** A Sunday. */
const FIXED_AT = Date.UTC(2026, 4, 10, 12) * 1000;
/** The Monday after the first week since then, at midnight. */
const MONDAY = Date.UTC(2026, 4, 18) * 1000;

const GAP: GapRow = {
  instance: 1,
  gap: 1,
  id: uuid(6, 1),
  name: 'Cancel orders',
  description: '',
  gapType: 'TOOL',
  heir: null,
  since: null,
};

const FIXED: CurationRow = {
  instance: 1,
  curation: 1,
  id: uuid(7, 1),
  position: 9000,
  createdAt: FIXED_AT,
  keyId: 'key_1',
  action: 'TRACK',
  entity: 'GAP',
  entityId: GAP.id,
  detail: JSON.stringify({ state: 'FIXED', fixedAt: FIXED_AT }),
  refused: null,
  undoneBy: null,
};

describe('the effects of a time', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    // From Monday to Friday, ten sessions a day; until the change half of them show the gap, after it one.
    const days = Array.from({ length: 28 }, (_, day) => day - 21);
    const messages = days
      .filter((day) => ((day % 7) + 7) % 7 < 5)
      .flatMap((day, index) =>
        Array.from({ length: 10 }, (__, at) => {
          const position = index * 10 + at + 1;
          const isLacking = day < 0 ? at < 5 : day === 1 && at === 0;
          return fact({
            position,
            session: position,
            at: FIXED_AT + (day + 1) * DAY_MICROS,
            gap: isLacking ? 1 : null,
          });
        }),
      );
    const sessions = messages.map(({ session }) => ({
      instance: 1,
      session,
      id: uuid(3, session),
      user: null,
      title: null,
      summary: null,
      language: null,
      outcome: null,
    }));
    const processedAt = MONDAY - 2 * DAY_MICROS - 6 * 3_600_000_000;
    await fixture.fold(assignment({ messages, sessions, gaps: [GAP], curations: [FIXED] }), [], {
      processedAt,
    });
    await fixture.publish();
  });
  after(() => fixture.close());

  const verdictUntil = (until?: number): Promise<readonly (readonly [string, number | undefined])[]> =>
    fixture.reader.read(async (snapshot) => {
      const asked = { instanceId: uuid(1, 1), limit: 1, ...(until === undefined ? {} : { until }) };
      const { effects } = await effectsIn(snapshot, asked, { views: VIEWS });
      return effects.map(({ verdict, after: since }) => [verdict, since?.of] as const);
    });

  it('count a week that ended by then, although nobody wrote on its last days', async () => {
    deepEqual(await verdictUntil(MONDAY), [['HELPED', 50]]);
    deepEqual(await verdictUntil(MONDAY - 1), [['TOO_EARLY', undefined]]);
  });

  it('count the days since then until a week is over', async () => {
    const soFar = (until: number): Promise<unknown> =>
      fixture.reader.read(async (snapshot) => {
        const { effects } = await effectsIn(
          snapshot,
          { instanceId: uuid(1, 1), limit: 1, until },
          { views: VIEWS },
        );
        return effects[0]?.soFar;
      });
    deepEqual(await soFar(MONDAY - 5 * DAY_MICROS), {
      start: '2026-05-11T00:00:00.000Z',
      end: '2026-05-13T00:00:00.000Z',
      sessions: 1,
      of: 20,
      share: 0.05,
    });
    // The day of the change, and a time with a verdict.
    deepEqual([await soFar(FIXED_AT), await soFar(MONDAY)], [null, null]);
  });

  it('without a time count what was processed', async () => {
    deepEqual(await verdictUntil(), [['TOO_EARLY', undefined]]);
  });
});

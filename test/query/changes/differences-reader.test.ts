/** What two values of an attribute differ in, where sessions last several days. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GapRow } from '../../../src/domain/facts.ts';
import { DAY_MICROS } from '../../../src/domain/time.ts';
import { DifferencesReader } from '../../../src/query/changes/differences-reader.ts';
import type { DifferencesResponse } from '../../../src/query/changes/differences-schema.ts';
import { Random } from '../../faults/support/random.ts';
import { assignment, fact, openFixture, uuid, VIEWS, type Fixture } from '../../support/fold.ts';

const START = Date.UTC(2026, 4, 4, 12) * 1000;
const SESSIONS = 160;
const DAYS_EACH = 3;
/** Gaps that sessions show by chance, whatever their version. */
const CHANCE_GAPS = 120;
/** The gap of the new version. */
const OWN_GAP = CHANCE_GAPS + 1;
/** With this many false alarms allowed, everything is listed with its chance. */
const ALL = Number.MAX_VALUE;

const gapRow = (gap: number): GapRow => ({
  instance: 1,
  gap,
  id: uuid(6, gap),
  name: `Gap ${gap}`,
  description: '',
  gapType: 'TOOL',
  heir: null,
  since: null,
});

describe('differences of sessions that last three days', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    const random = new Random(1);
    let position = 0;
    // Eight sessions begin each day. Each shows a fifth of the gaps, on all of its days or from a later one on.
    const all = Array.from({ length: SESSIONS }, (_, at) => {
      const [session, isNew] = [at + 1, random.next() < 0.5];
      const gaps = Array.from({ length: CHANCE_GAPS }, (__, gap) => gap + 1).flatMap((gap) =>
        random.next() < 0.2 ? [{ gap, from: Math.floor(random.next() * DAYS_EACH) }] : [],
      );
      if (isNew && random.next() < 0.6) gaps.push({ gap: OWN_GAP, from: DAYS_EACH - 1 });
      const messages = Array.from({ length: DAYS_EACH }, (__, day) =>
        [null, ...gaps.filter(({ from }) => from <= day).map(({ gap }) => gap)].map((gap) =>
          fact({
            position: (position += 1),
            session,
            at: START + (Math.floor(at / 8) + day) * DAY_MICROS + position,
            gap,
          }),
        ),
      ).flat();
      return { session, messages, version: isNew ? '2' : '1' };
    });
    const sessions = all.map(({ session }) => ({
      instance: 1,
      session,
      id: uuid(3, session),
      user: null,
      title: null,
      summary: null,
      language: null,
      outcome: null,
    }));
    const work = assignment({
      messages: all.flatMap(({ messages }) => messages),
      sessions,
      gaps: Array.from({ length: OWN_GAP }, (_, gap) => gapRow(gap + 1)),
    });
    const attributes = all.map(({ session, version }) => ({
      instance: 1,
      session,
      name: 'version',
      value: version,
    }));
    await fixture.fold(work, [], { attributes });
    await fixture.publish();
  });
  after(() => fixture.close());

  const differences = (falseAlarms?: number): Promise<DifferencesResponse> =>
    new DifferencesReader({ readerOf: () => fixture.reader, views: VIEWS }).read(
      {
        instanceId: uuid(1, 1),
        segmentKey: 'version',
        value: '2',
        against: '1',
        timeZone: 'UTC',
        limit: 1000,
      },
      '',
      falseAlarms,
    );

  it('are taken for more than chance in at most 5 % of the cases in which the values make none', async () => {
    const { value, against, differences: found } = await differences(ALL);
    equal(value.sessions + against.sessions, SESSIONS);
    const ofChance = found.filter(({ gap }) => gap?.id !== uuid(6, OWN_GAP));
    equal(ofChance.length, CHANCE_GAPS);
    const said = ofChance.filter(({ chance }) => chance <= 0.05).length;
    ok(said <= CHANCE_GAPS * 0.05, `${said} of ${CHANCE_GAPS}`);
  });

  it('are found, also where sessions show them on their last day alone', async () => {
    const { differences: found } = await differences();
    deepEqual(
      found.map(({ gap, difference }) => [gap?.id, difference]),
      [[uuid(6, OWN_GAP), 'only']],
    );
  });
});

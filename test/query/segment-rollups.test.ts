import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerQuery } from '../../src/query/answer.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { segmentRollupOf } from '../../src/query/segment-rollups.ts';
import { SegmentSessions } from '../../src/query/held-segments.ts';
import { Orders, type HeldPart, type HeldRows } from '../../src/store/published/held-rows.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { randomFrom } from '../../tools/bench/load/questions.ts';
import { openFixture, uuid, VIEWS } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { SYNTHETIC_START, SyntheticStream } from '../support/synthetic-stream.ts';

const DAYS = 60;
const BATCHES = isLong ? 9 : 4;
/** Behind it files are merged. */
const SETTLED_BATCH = isLong ? 5 : 2;
const SEGMENTS = [{ 'segment.plan': 'pro' }, { 'segment.plan!': 'pro' }] as const;
const GRANULARITIES = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'ALL'] as const;

const HOUR = 3_600e6;

/** Hourly facts of one message each: of topic 1, by session and end user 1, and of topic 2, by session 2 and nobody. */
function hoursOf(days: readonly number[], messages: number): HeldPart {
  const rows = days.flatMap((day) => [
    [day * 24 * HOUR, 1, 1, 1],
    [day * 24 * HOUR, 2, 2, 0],
  ]);
  const column = (index: number): Float64Array => Float64Array.from(rows, (row) => row[index]!);
  const all = (value: number): Int32Array => new Int32Array(rows.length).fill(value);
  return {
    columns: {
      rows: rows.length,
      numbers: {
        hour: column(0),
        number: column(1),
        session: column(2),
        end_user: column(3),
        messages: all(messages),
        sat: all(0),
        dsat: all(0),
      },
      texts: {},
    },
    skip: null,
    orders: new Orders(() => undefined),
  };
}

describe('rollups of a segment', () => {
  it('add up again only the buckets that changed, and count an unknown end user as none', async () => {
    const everybody = new SegmentSessions(1, Uint8Array.of(1, 1), false);
    const first = hoursOf([...Array(100).keys()], 1);
    const ask = (hours: HeldRows, sessions = everybody) =>
      segmentRollupOf({ hours, sessions }, 'plan=pro', 'DAY');
    const before = [first];
    equal(await ask(before), null);
    const whole = (await ask(before))!;
    equal(whole.length, 1);
    const { rows, numbers } = whole[0]!.columns;
    equal(rows, 200);
    deepEqual([...numbers['users']!.subarray(0, 2)], [1, 0]);
    equal(await ask(before), whole);
    ok(first.orders.keptBytes > 200 * 7 * 4);
    const later = (await ask([...before, hoursOf([99], 5)]))!;
    equal(later[0]!.columns, whole[0]!.columns);
    deepEqual([...later[0]!.skip!.subarray(196)], [0, 0, 1, 1]);
    deepEqual([...later[1]!.columns.numbers['messages']!], [6, 6]);
    deepEqual([...later[1]!.columns.numbers['sessions']!], [1, 1]);
    const one = (await ask(before, new SegmentSessions(1, Uint8Array.of(1, 0), false)))!;
    equal(one.length, 1);
    equal(one[0]!.columns.rows, 100);
  });

  it('are those of the statements while messages come and sessions join and leave, also of an older snapshot', async () => {
    const fixture = await openFixture({ compactRows: 600 });
    const random = randomFrom(3);
    const stream = new SyntheticStream({ messages: 2400, days: DAYS, topics: 12 });
    const plan = (session: number, value: string | null) => ({ instance: 1, session, name: 'plan', value });
    const known: number[] = [];
    /** Asks as rows are held and as statements count. */
    const check = async (snapshot: Snapshot): Promise<number> => {
      let counted = 0;
      const start = SYNTHETIC_START + Math.floor(random() * 10 * 24) * 3_600e6;
      for (const segment of SEGMENTS)
        for (const timeGranularity of GRANULARITIES) {
          const parameters = parseQueryParameters({
            instanceId: uuid(1, 1),
            groupBy: 'TOPIC',
            timeGranularity,
            fields: 'sessions,users,messages,sat,dsat',
            limit: '1000',
            ...segment,
            ...(random() < 0.5 ? { 'dateRange.start': new Date(start / 1000).toISOString() } : {}),
          });
          const asked = await answerQuery({ ...snapshot, held: async () => null }, parameters, {
            views: VIEWS,
          });
          deepEqual(
            await answerQuery(snapshot, parameters, { views: VIEWS }),
            asked,
            JSON.stringify(parameters),
          );
          counted += asked.elements.length;
        }
      return counted;
    };
    try {
      let older: (Snapshot & { release: () => void }) | null = null;
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const work = stream.next(batch === 0 ? 2100 : 20);
        const given = work.sessions.map(({ session }) => session).filter((session) => session % 5 !== 0);
        const moved = known.filter((session) => session % 97 === batch);
        known.push(...given);
        await fixture.fold(work, [], {
          attributes: [
            ...given.map((session) => plan(session, session % 3 === 0 ? 'pro' : 'free')),
            ...moved.map((session) => plan(session, ['free', 'pro', null][session % 3]!)),
          ],
        });
        await fixture.publish();
        if (batch === SETTLED_BATCH) await fixture.publication.settle();
        const snapshot = await fixture.reader.snapshot();
        ok(snapshot !== null);
        ok((await check(snapshot)) > 100);
        if (older !== null) await check(older);
        older?.release();
        older = snapshot;
      }
      older?.release();
    } finally {
      await fixture.close();
    }
  });
});

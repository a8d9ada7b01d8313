import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SnapshotFigures } from '../../../src/doors/alerts/figures.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { windowsBetween, type Span } from '../../../src/doors/alerts/windows.ts';
import { formatInstant } from '../../../src/domain/time.ts';
import type { Snapshot } from '../../../src/store/published/snapshot-reader.ts';
import { openFixture, uuid, VIEWS, type Fixture } from '../../support/fold.ts';
import { plainBucket } from '../../support/plain-buckets.ts';
import { SyntheticStream } from '../../support/synthetic-stream.ts';

const at = (text: string): number => Date.parse(text) * 1000;

const PER_TOPIC = `select coalesce(to_json(list(n order by n desc)), '[]')::varchar as found
from (select count(distinct session)::integer as n from f group by entity)`;
const FIRST = 'select epoch_us(min(event_at))::double as found from f';

describe('figures of the windows of a time zone', () => {
  let fixture: Fixture;
  let snapshot: Snapshot;
  let figures: SnapshotFigures;

  before(async () => {
    fixture = await openFixture({ compactRows: 100 });
    // Three weeks, with the Sunday on which clocks are put back in Berlin, Havana's a week later, and Lord Howe's.
    const start = at('2026-10-17T21:40Z');
    const stream = new SyntheticStream({ messages: 1500, days: 20, topics: 8, start });
    for (let batch = 0; batch < 5; batch += 1) {
      await fixture.fold(stream.next(300));
      await fixture.publish();
    }
    snapshot = (await fixture.reader.snapshot()) as Snapshot;
    const texts = { read: async () => new Map() } as never;
    figures = new SnapshotFigures(snapshot, uuid(1, 1), {
      views: VIEWS,
      texts,
      examples: new Map() as never,
    });
  });
  after(async () => {
    snapshot.release();
    await fixture.close();
  });

  /** One value that plain SQL finds among the messages, or facts of topics, of a span. */
  async function count(select: string, kind: number, { start, end }: Span): Promise<unknown> {
    const times = [start, end].map((instant) => `timestamp '${formatInstant(instant).slice(0, -1)}'`);
    const [row] = await snapshot.all(
      `with f as (select * from @message_fact where not gone and kind = ${kind}
  and event_at >= ${times[0]} and event_at < ${times[1]}) ${select}`,
    );
    return row?.['found'];
  }

  it('are those of a plain count, on days with 24, 25 and 23 hours, and in weeks', async () => {
    for (const zone of ['Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC']) {
      const days = windowsBetween('DAY', zone, at('2026-10-28T00:00Z'), at('2026-11-02T12:00Z'));
      ok(days.length >= 6);
      for (const [window, span] of [
        ...days.map((day) => ['DAY', day] as const),
        ['WEEK', localBucketAt('WEEK', zone, at('2026-10-30T00:00Z'))] as const,
        ['HOUR', localBucketAt('HOUR', zone, at('2026-10-30T10:20Z'))] as const,
      ]) {
        const sessions = await count('select count(distinct session)::integer as found from f', 0, span);
        equal(await figures.sessions(span), sessions, zone);
        const topics = await figures.entities({ groupBy: 'TOPIC', window, span, atLeast: 1, ids: null });
        deepEqual(
          topics.map(({ sessions }) => sessions),
          JSON.parse((await count(PER_TOPIC, 1, span)) as string),
        );
      }
    }
  });

  it('of a segment are none while no conversation has its attribute', async () => {
    const span = localBucketAt('DAY', 'UTC', at('2026-10-30T00:00Z'));
    ok((await figures.sessions(span)) > 0);
    const unknown = figures.of([{ name: 'plan', values: ['pro'] }]);
    equal(await unknown.sessions(span), 0);
    equal(await unknown.users(span), 0);
    deepEqual(await unknown.entities({ groupBy: 'TOPIC', window: 'DAY', span, atLeast: 1, ids: null }), []);
    deepEqual(await unknown.changes(span, localBucketAt('DAY', 'UTC', at('2026-10-29T00:00Z'))), []);
    deepEqual(await unknown.quotes('TOPIC', uuid(2, 1), span), []);
    equal(await unknown.firstDay({ start: -Infinity, end: Infinity }), Infinity);
    equal(unknown.position, figures.position);
    // What none has can be left out.
    const all = figures.of([{ name: 'environment', values: ['test'], isLeftOut: true }]);
    equal(await all.sessions(span), await figures.sessions(span));
  });

  it('know the first day on which there was a conversation', async () => {
    const span = { start: at('2026-10-01T00:00Z'), end: Infinity };
    const first = (await count(FIRST, 0, { ...span, end: at('2027-01-01') })) as number;
    equal(await figures.firstDay(span), plainBucket('DAY', first, null).start);
    equal(await figures.firstDay({ start: at('2027-01-01'), end: Infinity }), Infinity);
  });
});

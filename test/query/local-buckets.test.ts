import { deepEqual, equal, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import { periodsOf } from '../../src/query/changes/changes-reader.ts';
import { openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

const micros = (text: string): number => Date.parse(text) * 1000;

describe('buckets of a time zone', () => {
  let fixture: Fixture;
  let runner: QueryRunner;

  before(async () => {
    fixture = await openFixture({ compactRows: 100 });
    const stream = new SyntheticStream({ messages: 600, days: 120, topics: 5 });
    await fixture.fold(stream.next(600));
    await fixture.publish();
    runner = new QueryRunner({ views: VIEWS, readerOf: () => fixture.reader });
  });
  after(() => fixture.close());

  const ask = (more: Readonly<Record<string, string>>) =>
    runner.run(
      parseQueryParameters({
        instanceId: uuid(1, 1),
        groupBy: 'SESSION',
        fields: 'messages',
        limit: '10000',
        ...more,
      }),
    );

  it('hold every message once, whatever the zone, and say their offset', async () => {
    const sum = async (more: Readonly<Record<string, string>>): Promise<number> =>
      (await ask(more)).elements.reduce((all, { fields }) => all + (fields.messages ?? 0), 0);
    for (const timeGranularity of ['DAY', 'WEEK', 'MONTH'])
      for (const timeZone of ['UTC', 'Asia/Kolkata', 'Pacific/Auckland'])
        equal(await sum({ timeGranularity, timeZone }), 600, `${timeGranularity} ${timeZone}`);
    const { elements } = await ask({ timeGranularity: 'DAY', timeZone: 'Asia/Kolkata', limit: '1' });
    equal(elements[0]?.dimensions.date?.endsWith('T00:00:00+05:30'), true);
  });

  it('are those of UTC where none is asked for, or UTC is', async () => {
    const [plain, named] = await Promise.all([
      ask({ timeGranularity: 'DAY' }),
      ask({ timeGranularity: 'DAY', timeZone: 'Etc/UTC' }),
    ]);
    deepEqual(named, plain);
  });

  it('are too many for hours of half a zone over more than a hundred days', async () => {
    await rejects(ask({ timeGranularity: 'HOUR', timeZone: 'Asia/Kolkata' }), (error: AppError) => {
      equal(error.code, 'VALIDATION_ERROR');
      equal(error.details?.[0]?.path, 'timeGranularity');
      return true;
    });
    equal((await ask({ timeGranularity: 'HOUR', timeZone: 'Europe/Berlin' })).pagination.total > 0, true);
  });

  it('read dates as days of the zone, and refuse a zone that is none', () => {
    const parameters = parseQueryParameters({
      instanceId: uuid(1, 1),
      groupBy: 'TOPIC',
      fields: 'messages',
      timeZone: 'Europe/Berlin',
      'dateRange.start': '2026-03-29',
      'dateRange.end': '2026-03-30T00:00Z',
    });
    deepEqual(parameters.range, { start: micros('2026-03-28T23:00Z'), end: micros('2026-03-30T00:00Z') });
    for (const timeZone of ['Mars/Olympus', '', 'x'.repeat(65)])
      try {
        parseQueryParameters({ instanceId: uuid(1, 1), groupBy: 'TOPIC', fields: 'messages', timeZone });
        throw new Error(`${timeZone} is taken`);
      } catch (error) {
        equal((error as AppError).details?.[0]?.path, 'timeZone');
      }
  });

  it('compare a week with the same hours of the week before, across a change of clocks', () => {
    const week = { start: micros('2026-03-29T22:00Z'), end: micros('2026-04-05T22:00Z') };
    deepEqual(periodsOf(week, 'previous', Infinity, 'Europe/Berlin').before, {
      start: micros('2026-03-22T23:00Z'),
      end: micros('2026-03-29T22:00Z'),
    });
    // A period of a few hours more than a week does not overlap the one before.
    const more = { start: micros('2026-11-08T00:00Z'), end: micros('2026-11-15T01:30Z') };
    equal(periodsOf(more, 'previous', Infinity, 'Europe/Berlin').before.end <= more.start, true);
    const autumn = { start: micros('2026-10-18T22:00Z'), end: micros('2026-10-25T23:00Z') };
    deepEqual(periodsOf(autumn, 'previous', Infinity, 'Europe/Berlin').before, {
      start: micros('2026-10-11T22:00Z'),
      end: micros('2026-10-18T22:00Z'),
    });
  });
});

import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { Batch } from '../../src/store/live/batch.ts';
import { assignment, fact, openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';

describe("a caller's own name of a session", () => {
  let fixture: Fixture;
  let runner: QueryRunner;
  let position = 0;

  beforeEach(async () => {
    fixture = await openFixture({ compactRows: 20 });
    runner = new QueryRunner({ views: VIEWS, readerOf: () => fixture.reader });
    position = 0;
  });
  afterEach(() => fixture.close());

  /** A message in a session, whose caller may say what it is called. */
  const say = async (session: number, instance: number, ...name: (string | null)[]): Promise<void> => {
    position += 1;
    const sessionNames: Batch['sessionNames'] = name.map((externalId) => ({ session, externalId }));
    await fixture.fold(
      assignment({
        messages: [fact({ position, instance, session })],
        sessions: [
          {
            instance,
            session,
            id: uuid(3, session),
            user: null,
            title: `title ${position}`,
            summary: null,
            language: null,
            outcome: null,
          },
        ],
      }),
      [],
      { sessionNames },
    );
    await fixture.publish();
  };
  const ask = async (
    parameters: Record<string, string>,
    instance = 1,
  ): Promise<(readonly [id: string | undefined, name: string | null | undefined])[]> => {
    const answer = await runner.run(
      parseQueryParameters({
        groupBy: 'SESSION',
        instanceId: uuid(1, instance),
        fields: 'messages',
        dimensionFields: 'externalId',
        'sort.field': 'createdAt',
        ...parameters,
      }),
    );
    equal(answer.pagination.total, answer.elements.length);
    return answer.elements.map(
      ({ dimensions }) => [dimensions.session?.id, dimensions.session?.externalId] as const,
    );
  };

  it('is shown with it, and finds it and nothing else', async () => {
    await say(1, 1, 'ticket-123');
    await say(2, 1);
    await say(3, 2, 'ticket-123');
    deepEqual(await ask({}), [
      [uuid(3, 1), 'ticket-123'],
      [uuid(3, 2), null],
    ]);
    deepEqual(await ask({ externalId: 'ticket-123' }), [[uuid(3, 1), 'ticket-123']]);
    deepEqual(await ask({ externalId: 'ticket-123' }, 2), [[uuid(3, 3), 'ticket-123']]);
    for (const other of ['ticket-12', 'Ticket-123', 'ticket-1234', "'", '%'])
      deepEqual(await ask({ externalId: other }), []);
  });

  it('is the last one said, whatever was published and merged before', async () => {
    await say(1, 1);
    await say(2, 1, 'a');
    deepEqual(await ask({ externalId: 'b' }), []);
    await say(1, 1, 'b');
    await say(2, 1);
    await fixture.publication.compact();
    await say(3, 1, 'b');
    deepEqual(await ask({ externalId: 'b' }), [
      [uuid(3, 1), 'b'],
      [uuid(3, 3), 'b'],
    ]);
    await say(1, 1, 'c');
    await say(2, 1, null);
    deepEqual(await ask({ externalId: 'b' }), [[uuid(3, 3), 'b']]);
    deepEqual(await ask({}), [
      [uuid(3, 1), 'c'],
      [uuid(3, 2), null],
      [uuid(3, 3), 'b'],
    ]);
  });

  it('goes together with buckets, ranges and other filters', async () => {
    await say(1, 1, 'a');
    await say(2, 1, 'b');
    const named = { externalId: 'a' };
    deepEqual((await ask({ ...named, timeGranularity: 'DAY' })).length, 1);
    deepEqual((await ask({ ...named, 'dateRange.start': '2025-12-31', minMessages: '1' })).length, 1);
    deepEqual(await ask({ ...named, 'dateRange.start': '2026-06-01' }), []);
    deepEqual(await ask({ ...named, ids: uuid(3, 2) }), []);
  });
});

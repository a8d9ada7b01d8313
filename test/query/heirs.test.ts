import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import { WhyReader } from '../../src/query/why/why-reader.ts';
import { whyParameterSchemas } from '../../src/query/why/why-schema.ts';
import { assignment, fact, openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';

describe('a topic that merged into another', () => {
  let fixture: Fixture;
  let runner: QueryRunner;

  beforeEach(async () => {
    fixture = await openFixture({ compactRows: 20 });
    runner = new QueryRunner({ views: VIEWS, readerOf: () => fixture.reader });
    const topic = (number: number, heir: number | null) =>
      ({
        instance: 1,
        topic: number,
        id: uuid(4, number),
        name: `topic ${number}`,
        cluster: null,
        heir,
        since: heir === null ? null : 2,
      }) as const;
    await fixture.fold(
      assignment({
        messages: [1, 2].map((position) =>
          fact({ position, instance: 1, session: position, micro: position }),
        ),
        sessions: [1, 2].map((session) => ({
          instance: 1,
          session,
          id: uuid(3, session),
          user: null,
          title: null,
          summary: null,
          language: null,
          outcome: null,
        })),
        micros: [1, 2].map((micro) => ({ instance: 1, micro, topic: micro })),
        topics: [topic(1, null), topic(2, null), topic(3, null)],
      }),
    );
    await fixture.fold(
      assignment({ micros: [{ instance: 1, micro: 2, topic: 1 }], topics: [topic(2, 3), topic(3, 1)] }),
    );
    await fixture.publish();
  });
  afterEach(() => fixture.close());

  const idsOf = async (parameters: Record<string, string>): Promise<(string | undefined)[]> => {
    const { elements } = await runner.run(
      parseQueryParameters({ instanceId: uuid(1, 1), fields: 'messages', ...parameters }),
    );
    return elements.map(({ dimensions }) => dimensions.topic?.id ?? dimensions.session?.id);
  };

  it('is answered for by its heir, and by the heir of that one', async () => {
    deepEqual(await idsOf({ groupBy: 'TOPIC', ids: uuid(4, 2) }), [uuid(4, 1)]);
    deepEqual((await idsOf({ groupBy: 'SESSION', topicIds: uuid(4, 2) })).toSorted(), [
      uuid(3, 1),
      uuid(3, 2),
    ]);
  });

  it('counts once beside its heir', async () => {
    deepEqual(await idsOf({ groupBy: 'TOPIC', ids: `${uuid(4, 2)},${uuid(4, 1)}` }), [uuid(4, 1)]);
  });

  it('is shown with its heir, whose numbers are told', async () => {
    const why = new WhyReader({
      views: VIEWS,
      readerOf: () => fixture.reader,
      texts: { read: async () => new Map() },
      examples: async () => String,
    });
    const parameters = whyParameterSchemas.parse({ instanceId: uuid(1, 1) });
    const found = await why.read('TOPIC', uuid(4, 2), parameters);
    const undecided = { description: null, isOwn: false, isNamed: false, isHidden: false };
    deepEqual(found.topic, { id: uuid(4, 2), name: 'topic 2', clusterId: null, ...undecided });
    deepEqual(found.heir, { id: uuid(4, 1), name: 'topic 1' });
    deepEqual([found.fields.sessions, found.fields.messages], [2, 2]);
    deepEqual((await why.read('TOPIC', uuid(4, 1), parameters)).heir, null);
  });
});

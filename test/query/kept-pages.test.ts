import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerQuery } from '../../src/query/answer.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { assignment, fact, openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';

/** What was asked of the database for an answer, and what it says. */
async function ask(fixture: Fixture, limit = '50'): Promise<{ statements: number; answer: QueryResponse }> {
  const snapshot = await fixture.reader.snapshot();
  ok(snapshot !== null);
  let statements = 0;
  const counting: Snapshot = {
    ...snapshot,
    all: (sql, statement) => {
      statements += 1;
      return snapshot.all(sql, statement);
    },
  };
  const parameters = { instanceId: uuid(1, 1), groupBy: 'END_USER', fields: 'messages', limit };
  try {
    const answer = await answerQuery(counting, parseQueryParameters(parameters), { views: VIEWS });
    return { statements, answer };
  } finally {
    snapshot.release();
  }
}

describe('a page that is asked for again', () => {
  const say = (fixture: Fixture, position: number): Promise<void> =>
    fixture.fold(assignment({ messages: [fact({ position, session: 1, user: 1 + (position % 2) })] }));

  it('is read from the database again only when something has changed', async () => {
    const fixture = await openFixture();
    try {
      await say(fixture, 1);
      await fixture.publish();
      const first = await ask(fixture);
      const second = await ask(fixture);
      const third = await ask(fixture);
      ok(first.statements > third.statements);
      equal(third.statements, 0);
      deepEqual([second.answer, third.answer], [first.answer, first.answer]);
      await say(fixture, 2);
      await say(fixture, 3);
      await fixture.publish();
      const { statements, answer } = await ask(fixture);
      ok(statements > 0);
      equal(
        answer.elements.reduce((sum, { fields }) => sum + Number(fields['messages']), 0),
        3,
      );
    } finally {
      await fixture.close();
    }
  });

  it('is read again each time when it is long, to keep memory small', async () => {
    const fixture = await openFixture();
    try {
      await say(fixture, 1);
      await fixture.publish();
      for (let time = 0; time < 3; time += 1) await ask(fixture, '1001');
      equal((await ask(fixture, '1001')).statements, 1);
    } finally {
      await fixture.close();
    }
  });
});

import { describe, it } from 'node:test';
import { deepEqual, rejects, throws } from 'node:assert/strict';
import { parseView } from '../../../src/store/view-files.ts';
import { assignment, fact, openFixture, uuid, VIEWS } from '../../support/fold.ts';

describe('blocks of a fold', () => {
  it('wait for the temporary tables that they name', () => {
    const folded = (fold: string) =>
      parseView('a.sql', `-- view: a\n-- version: 1\n-- @fold\n${fold}\n-- @read\nselect 1\n`).fold;
    const statement = (sql: string, makes: string | null = null) => ({ sql, makes });
    deepEqual(
      folded(
        'select 1;\n-- when: b, c\ncreate or replace temp table d as\nselect 2;\nselect 3;\n-- end\n-- ' +
          'Said.\nselect 4;',
      ),
      [
        { when: null, statements: [statement('select 1')] },
        {
          when: ['b', 'c'],
          statements: [statement('create or replace temp table d as\nselect 2', 'd'), statement('select 3')],
        },
        { when: null, statements: [statement('select 4')] },
      ],
    );
    throws(() => folded('-- when: b\nselect 1;'), /views\/a\.sql: "-- when: b" has no "-- end"/);
    throws(() => folded('select 1;\n-- end'), /each "-- end" a "-- when:"/);
    throws(() => folded('-- when: b\n-- when: c\nselect 1;\n-- end'), /needs an "-- end" before the next/);
  });

  it('are left out when they would do nothing, and leave no rows of an earlier batch behind', async () => {
    const view = parseView(
      'signalled.sql',
      `-- view: signalled
-- version: 1
-- after: fact
-- @schema
create table signalled (at_sequence bigint, messages bigint);
create table ran (at_sequence bigint);
-- @fold
-- when: batch_signal
create or replace temp table signalled_message as from batch_message where exists (from batch_signal);
insert into ran values (getvariable('seq'));
-- end
insert into signalled values (getvariable('seq'), (select count(*) from signalled_message));
`,
    );
    const fixture = await openFixture({ views: [...VIEWS, view] });
    const signals = [
      {
        instance: 1,
        signal: 1,
        id: uuid(7, 1),
        name: 'a',
        signalType: 'SAT',
        source: 'INFERRED',
        description: '',
      },
    ] as const;
    const message = (position: number) => ({ messages: [fact({ position })] });
    await fixture.fold(assignment(message(1)));
    await fixture.fold(assignment({ ...message(2), signals }));
    await fixture.fold(assignment(message(3)));
    const broken = {
      ...message(4),
      signals,
      topics: [{ instance: 1, topic: 1, id: 'no id', name: '', cluster: null, heir: null, since: null }],
    };
    await rejects(fixture.fold(assignment(broken)), /view dimensions/);
    await fixture.fold(assignment(message(5)));
    const { connection } = fixture.store;
    const counts = await connection.all('select messages from signalled order by at_sequence');
    deepEqual(
      counts.map((row) => row['messages']),
      [0, 1, 0, 0],
    );
    // The first time, when there is something, and the first time after what was made was rolled back.
    const ran = await connection.all('select at_sequence from ran order by all');
    deepEqual(
      ran.map((row) => row['at_sequence']),
      [1, 2, 4],
    );
    await fixture.close();
  });
});

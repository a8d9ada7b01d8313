import { describe, it } from 'node:test';
import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadViews, parseView } from '../../src/store/view-files.ts';
import { SetupError } from '../../src/errors.ts';
import { assignment, fact, openFixture, temporaryDirectory, uuid, VIEWS } from '../support/fold.ts';

describe('view files', () => {
  it('are read in an order in which each follows what it names', () => {
    const names = VIEWS.map((view) => view.name);
    for (const view of VIEWS)
      for (const other of view.after)
        ok(names.indexOf(other) < names.indexOf(view.name), `${view.name} after ${other}`);
  });

  it('say what is wrong with them', () => {
    throws(() => parseView('a.sql', '-- version: 1\n'), /views\/a\.sql: needs a line "-- view: name"/);
    throws(() => parseView('a.sql', '-- view: a\n-- version: x\n'), /needs a line "-- version: N"/);
    throws(
      () => parseView('a.sql', '-- view: a\n-- version: 1\n-- carried: from version 1\n'),
      /"-- @carried" needs a line "-- carried: from version N", and the line needs the section/,
    );
    throws(() => parseView('a.sql', '-- view: a\n-- version: 1\n-- publish: t\n'), /is not "table key/);
    throws(
      () => parseView('a.sql', '-- view: a\n-- version: 1\n-- publsh: t key(a) order(a)\n'),
      /views\/a\.sql: "-- publsh: t key\(a\) order\(a\)": the header knows "view"/,
    );
    equal(parseView('a.sql', '-- view: a\n-- version: 1\n-- Law: each row is new.\n').version, 1);
  });

  it('refuse to wait for each other', () => {
    const { path, remove } = temporaryDirectory();
    writeFileSync(join(path, 'a.sql'), '-- view: a\n-- version: 1\n-- after: b\n');
    writeFileSync(join(path, 'b.sql'), '-- view: b\n-- version: 1\n-- after: a\n');
    throws(() => loadViews(path), SetupError);
    remove();
  });

  it('add a view by adding a file', async () => {
    const { path, remove } = temporaryDirectory();
    mkdirSync(path, { recursive: true });
    writeFileSync(
      join(path, 'loudest-session.sql'),
      `-- view: loud_session
-- version: 1
-- publish: loud_session key(instance, session) order(instance, session)
-- @schema
create table loud_session (instance integer, session integer, messages integer, seq bigint);
-- @fold
upsert into loud_session
from (select instance, session, sum(weight)::integer as messages from fact_change where kind = 0 group by all)
key (instance, session) add (messages);
-- @read
select session, messages from @loud_session
`,
    );
    const added = loadViews(path);
    // Its order among the others comes from the names in it.
    const views = [...VIEWS, ...added.filter((view) => view.name === 'loud_session')];
    const fixture = await openFixture({ views });
    await fixture.fold(
      assignment({
        messages: [fact({ position: 1 }), fact({ position: 2 })],
        sessions: [
          {
            instance: 1,
            session: 1,
            id: uuid(3, 1),
            user: null,
            title: null,
            summary: null,
            language: null,
            outcome: null,
          },
        ],
      }),
    );
    await fixture.publish();
    const snapshot = await fixture.reader.snapshot();
    deepEqual(await snapshot?.all(views.at(-1)?.read?.sql ?? ''), [{ session: 1, messages: 2 }]);
    snapshot?.release();
    equal(fixture.publication.sequence, 1);
    await fixture.close();
    remove();
  });
});

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { withDatabase } from '../../../src/store/duckdb.ts';
import { definitionOf } from '../../../src/store/epochs/definition.ts';
import { canCarry, carry } from '../../../src/store/live/carry.ts';
import { refold } from '../../../src/store/live/refold.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { assignment, fact, openFixture, temporaryDirectory, uuid, VIEWS } from '../../support/fold.ts';
import { ownRows, refoldOptions } from '../../support/refolds.ts';
import { sameRows, stateRows } from '../../support/view-rows.ts';

/** The views of release 0.4. */
const RELEASE =
  'dimensions:8 end_user_rollup:2 entity_rollup:1 fact:5 gap_topic:1 hour_fact:2 return_fact:1 session_rollup:1 ' +
  'model:a enrichment:24 assignment:47';
/** What the tables of a database of today have beyond that. */
const LATER = `
alter table signal drop column source;
alter table message drop column is_reply;
alter table session_state drop column part;
drop table feedback; drop table label; drop table label_micro; drop table message_usage;
drop table session_attribute`;
const OLD = Uint8Array.of(13, 7);
const NOW = Uint8Array.of(15, 7);

const states = {
  ofInstance: () => [{ instance: 1, kind: 'micro', key: 2, value: NOW }],
  ofSession: (value: Uint8Array) => (value[0] === 13 ? NOW : null),
};

describe('a shard of release 0.4', () => {
  it('is taken over with its tables and states, and views are made of it', async () => {
    const folder = temporaryDirectory();
    const live = await openFixture();
    try {
      for (const position of [1, 2, 3]) {
        const isReply = position === 2;
        await live.fold(
          assignment({
            messages: [{ ...fact({ position, session: 1, user: 1 }), isReply, wait: isReply ? 9 : 0 }],
          }),
          [
            { instance: 1, kind: 'micro', key: position, value: OLD },
            { instance: 1, kind: 'session', key: position, value: position === 3 ? NOW : OLD },
          ],
          { requests: [{ id: uuid(4, position), acceptedAt: position }] },
        );
      }
      const views = await stateRows(live.store.connection, VIEWS);
      const own = await ownRows(live.store.connection);
      const file = join(live.directory, 'state.duckdb');
      const made = join(folder.path, '2/0');
      await live.restart(async () => {
        await withDatabase({ threads: 1 }, async (connection) => {
          await connection.run(`attach '${file}' as st; use st`);
          await connection.run(LATER);
          await connection.run('use memory; detach st');
        });
        await rejects(refold(refoldOptions(live.directory, made)));
        await carry(file, VIEWS, RELEASE, states);
        equal(await refold(refoldOptions(live.directory, made)), 3);
      });
      const store = await StateStore.open({ directory: made, views: VIEWS, analysis: 'test', threads: 1 });
      sameRows(await stateRows(store.connection, VIEWS), views, 'carried');
      const carried = await ownRows(store.connection);
      deepEqual(
        carried['assign_state']!.map(({ key, value }) => [key, [...(value as Uint8Array)]]),
        [1, 2, 3].map((key) => [key, [...(key === 2 ? NOW : OLD)]]),
      );
      deepEqual(
        carried['session_state']!.map(({ session, value }) => [session, [...(value as Uint8Array)]]),
        [1, 2, 3].map((session) => [session, [...NOW]]),
      );
      deepEqual(carried['request'], own['request']);
      await store.close();
    } finally {
      await live.close();
      folder.remove();
    }
  });

  it('is not taken over where its state is of a version that nobody knows', async () => {
    const live = await openFixture();
    await live.fold(assignment({ messages: [fact({ position: 1 })] }), [
      { instance: 1, kind: 'session', key: 1, value: OLD },
    ]);
    const refuse = (): never => {
      throw new SetupError('of a version that cannot be taken over');
    };
    await live.restart(() =>
      rejects(
        carry(join(live.directory, 'state.duckdb'), VIEWS, definitionOf(VIEWS, 'model:a'), {
          ...states,
          ofSession: refuse,
        }),
        /cannot be taken over/,
      ),
    );
    await live.close();
  });

  it('can be taken over, an older one not', () => {
    equal(canCarry(VIEWS, RELEASE), true);
    equal(canCarry(VIEWS, RELEASE.replace('fact:5', 'fact:4')), false);
    equal(canCarry(VIEWS, RELEASE.replace('dimensions:8', 'dimensions:7')), false);
  });
});

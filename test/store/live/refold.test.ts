import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { attributeValue, isAttributeName } from '../../../src/domain/attributes.ts';
import { definitionOf } from '../../../src/store/epochs/definition.ts';
import { canRefold, refold } from '../../../src/store/live/refold.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { STAGES } from '../../../src/store/live/stages.ts';
import { parseView, type View } from '../../../src/store/view-files.ts';
import {
  assignment,
  fact,
  openFixture,
  temporaryDirectory,
  uuid,
  VIEWS,
  type Fixture,
} from '../../support/fold.ts';
import { holds, isLong, keptCases, runsOf, shortCases } from '../../support/laws.ts';
import { ownRows, refoldLaw, refoldOptions } from '../../support/refolds.ts';
import { sameRows, stateRows } from '../../support/view-rows.ts';

const MESSAGES = 9;

describe('a refold', () => {
  let folder: { path: string; remove: () => void };
  let live: Fixture;
  beforeEach(async () => {
    folder = temporaryDirectory();
    live = await openFixture();
  });
  afterEach(async () => {
    await live.close();
    folder.remove();
  });

  for (const order of ['stream', 'any'] as const) {
    const law = refoldLaw(order, VIEWS);
    describe(`gives the rows of a replay, facts in ${order === 'stream' ? 'stream' : 'any'} order`, () => {
      for (const { name, given } of shortCases(keptCases(law), 1)) it(name, () => law.check(given));
      // Any order may be that of the stream.
      if (isLong || order === 'any') it('for random cases', (test) => holds(test, law, runsOf(0.3)));
    });
  }

  it('brings along request ids, states, what is deferred, and the position', async () => {
    await foldSome();
    const [views, own] = [
      await stateRows(live.store.connection, VIEWS),
      await ownRows(live.store.connection),
    ];
    for (const table of ['request', 'assign_state', 'session_state', 'deferred'])
      ok((own[table]?.length ?? 0) > 0, table);
    await live.restart(() => refold(refoldOptions(live.directory, join(folder.path, '2/0'))));
    const made = await opened(join(folder.path, '2/0'));
    sameRows(await stateRows(made.connection, VIEWS), views, 'refolded');
    sameRows(await ownRows(made.connection), own, 'refolded');
    deepEqual([made.sequence, made.revision], [live.store.sequence, live.store.sequence]);
    ok(made.storeId !== live.store.storeId);
    await made.close();
  });

  it('makes a view that is new, with the rows of all messages', async () => {
    const added = parseView(
      'a.sql',
      `-- view: a\n-- version: 1\n-- after: fact\n\n-- @schema\ncreate table a (messages bigint, seq bigint);\n\n` +
        `-- @fold\ninsert into a select count(*), getvariable('seq') from fact_change where kind = 0;\n`,
    );
    await foldSome();
    await live.restart(() =>
      refold(refoldOptions(live.directory, join(folder.path, '2/0'), [...VIEWS, added])),
    );
    const made = await opened(join(folder.path, '2/0'), [...VIEWS, added]);
    equal((await made.connection.one('select sum(messages)::bigint as n from a'))?.['n'], MESSAGES);
    await made.close();
  });

  it('makes attributes of what callers sent along, also where the views before had none', async () => {
    const values: readonly unknown[] = [
      ...[
        'pro',
        '',
        '  ',
        ' \u00A0pro\uFEFF',
        'two\u2003words',
        'e\u0301',
        'true',
        '3',
        '"',
        '\\ud800',
        '{}',
        '𝒳',
      ],
      ...[
        'x'.repeat(200),
        'x'.repeat(201),
        '𝒳'.repeat(100),
        '𝒳'.repeat(101),
        'a\tb',
        'a\u0000',
        '\u0085',
        '\uD800',
      ],
      ...[0, -0, 3.2, 1e21, -1e-7, true, false, null, [], ['a'], { a: 1 }],
    ];
    const names = [
      'plan',
      'externalId',
      '__proto__',
      'a.b',
      '𝒳'.repeat(50),
      '𝒳'.repeat(51),
      'a\nb',
      ' plan ',
    ];
    const sent = [
      ...values.map((value, at) => [`a${at}`, value] as const),
      ...names.map((name) => [name, 'pro'] as const),
    ];
    const session = 4;
    const row = {
      instance: 1,
      session,
      id: uuid(3, session),
      user: null,
      title: null,
      summary: null,
      language: null,
      outcome: null,
    };
    await live.fold(assignment({ messages: [fact({ position: 1, session })], sessions: [row] }), [], {
      metadata: sent.map(([member, value]) => ({
        instance: 1,
        record: 'session',
        key: row.id,
        member,
        value: JSON.stringify(value),
      })),
      attributes: sent.flatMap(([name, value]) =>
        isAttributeName(name) ? [{ instance: 1, session, name, value: attributeValue(value) }] : [],
      ),
    });
    const rowsIn = async ({ connection }: StateStore): Promise<readonly unknown[]> =>
      connection.all('select instance, session, name, value from session_attribute order by name');
    const before = await rowsIn(live.store);
    ok(before.length > 15);
    const made = definitionOf(
      VIEWS.filter(({ name }) => name !== 'session_attribute'),
      'model:a enrichment:1 assignment:1',
    );
    equal(canRefold(VIEWS, made), true);
    await live.store.connection.run('delete from session_attribute');
    await live.restart(() => refold(refoldOptions(live.directory, join(folder.path, '2/0'))));
    const store = await opened(join(folder.path, '2/0'));
    deepEqual(await rowsIn(store), before);
    await store.close();
  });

  it('leaves nothing that counts when it is killed, and begins again', async () => {
    await foldSome();
    const views = await stateRows(live.store.connection, VIEWS);
    const made = join(folder.path, '2/0');
    await live.restart(async () => {
      const script = join(import.meta.dirname, '../../support/refolds.ts');
      const [, signal] = (await once(fork(script, [live.directory, made]), 'close')) as [unknown, string];
      equal(signal, 'SIGKILL');
      ok(existsSync(`${made}.unfinished`));
      equal(existsSync(made), false);
      await rejects(
        refold({ ...refoldOptions(live.directory, made), onPart: () => Promise.reject(new Error('stop')) }),
        /stop/,
      );
      equal(existsSync(made), false);
      equal(await refold(refoldOptions(live.directory, made)), MESSAGES);
      equal(existsSync(`${made}.unfinished`), false);
    });
    const store = await opened(made);
    sameRows(await stateRows(store.connection, VIEWS), views, 'refolded');
    await store.close();
  });

  it('reads what a killed worker left in its log', async () => {
    await foldSome();
    const views = await stateRows(live.store.connection, VIEWS);
    const killed = join(folder.path, '1/0');
    mkdirSync(killed, { recursive: true });
    for (const file of ['state.duckdb', 'state.duckdb.wal'])
      copyFileSync(join(live.directory, file), join(killed, file));
    await refold(refoldOptions(killed, join(folder.path, '2/0')));
    const store = await opened(join(folder.path, '2/0'));
    sameRows(await stateRows(store.connection, VIEWS), views, 'refolded');
    await store.close();
  });

  it('is possible from the version on that keeps what the views need', () => {
    const since = (name: string): number => VIEWS.find((view) => view.name === name)?.kept?.since ?? 0;
    const madeWith = (versions: Readonly<Record<string, number>>): string =>
      definitionOf(
        VIEWS.map((view) => ({ ...view, version: versions[view.name] ?? view.version })),
        'model:a enrichment:1 assignment:1',
      );
    equal(canRefold(VIEWS, madeWith({ entity_rollup: 99 })), true);
    equal(canRefold(VIEWS, madeWith({ fact: since('fact') })), true);
    equal(canRefold(VIEWS, madeWith({ fact: since('fact') - 1 })), false);
    equal(canRefold(VIEWS, madeWith({ dimensions: since('dimensions') - 1 })), false);
  });

  it('fills every stage of a batch but what the other tables hold', () => {
    const filled = new Set(VIEWS.flatMap((view) => view.kept?.statements.map(({ fills }) => fills) ?? []));
    deepEqual(
      Object.keys(STAGES).filter((stage) => !filled.has(stage)),
      // Opening turns have their end user already; requests and states are copied.
      [
        'batch_correction',
        'batch_outcome',
        'batch_opening_author',
        'batch_request',
        'batch_state',
        'wanted_id',
      ],
    );
  });

  /** Messages in several batches, with a row in every table that a refold copies. */
  async function foldSome(): Promise<void> {
    for (let position = 1; position <= MESSAGES; position += 1) {
      const work = assignment({
        messages: [fact({ position, session: 1 + (position % 3), user: 1 + (position % 2) })],
        sessions: [1, 2, 3].map((session) => ({
          instance: 1,
          session,
          id: uuid(3, session),
          user: 1,
          title: 'a',
          summary: 'b',
          language: 'en',
          outcome: 'thanked',
        })),
      });
      const value = new Uint8Array([position]);
      const state = [
        { instance: 1, kind: 'micro', key: position, value },
        { instance: 1, kind: 'session', key: position, value },
      ];
      await live.fold(work, state, { requests: [{ id: uuid(4, position), acceptedAt: position }] });
    }
    await live.store.connection.run(
      `insert into deferred values ('${uuid(1, 1)}', 20, 0, 3, 5, '${uuid(0, 1)}')`,
    );
  }

  function opened(directory: string, views: readonly View[] = VIEWS): Promise<StateStore> {
    return StateStore.open({ directory, views, analysis: 'test', threads: 1 });
  }
});

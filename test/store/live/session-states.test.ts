import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import type { StateRow } from '../../../src/domain/facts.ts';
import { withDatabase } from '../../../src/store/duckdb.ts';
import { assignment, fact, type Fixture } from '../../support/fold.ts';
import { openSaid } from '../../support/said-views.ts';

/** The size of a block of DuckDB. */
const BLOCK_BYTES = 2 ** 18;

describe('states of sessions', () => {
  let fixture: Fixture;
  /** Bytes that no compression shortens. */
  const bytes = (length: number, seed: number): Uint8Array => {
    let state = seed + 1;
    return Uint8Array.from({ length }, () => (state = (state * 48271) % 2147483647) & 0xff);
  };
  const rows = (sessions: readonly number[], lengthOf: (session: number) => number): StateRow[] =>
    sessions.map((key) => ({
      instance: 1,
      kind: 'session',
      key,
      value: bytes(lengthOf(key), key),
    }));
  let position = 0;
  const put = (state: readonly StateRow[]): Promise<void> => {
    position += 1;
    return fixture.fold(assignment({ messages: [fact({ position })] }), state);
  };

  beforeEach(async () => {
    position = 0;
    fixture = await openSaid();
  });
  afterEach(() => fixture.close());

  it('come back as they were, of any length, and once replaced, as they are', async () => {
    const lengths = [0, 1, 3999, 4000, 4001, 8000, 20_001];
    const sessions = lengths.map((_, session) => session);
    const stored = rows(sessions, (session) => lengths[session]!);
    await put(stored);
    const expected = new Map(stored.map(({ key, value }) => [key, Buffer.from(value!)]));
    const found = await fixture.store.loadSessionStates(sessions);
    deepEqual(new Map([...found].map(([key, value]) => [key, Buffer.from(value)])), expected);
    await put(rows([6], () => 5));
    equal((await fixture.store.loadSessionStates([6])).get(6)?.length, 5);
    await put([{ instance: 1, kind: 'session', key: 6, value: null }]);
    equal((await fixture.store.loadSessionStates([6])).size, 0);
  });

  it('of an earlier version are one row each, and are read and replaced', async () => {
    const [state] = rows([1], () => 5000);
    await fixture.restart(() =>
      withDatabase({ threads: 1 }, async (connection) => {
        await connection.run(`attach '${join(fixture.directory, 'state.duckdb')}' as st; use st`);
        await connection.run('alter table session_state drop column part');
        await connection.run(
          `insert into session_state select 1, unhex('${Buffer.from(state!.value!).toString('hex')}')`,
        );
        await connection.run('use memory; detach st');
      }),
    );
    const [found] = (await fixture.store.loadSessionStates([1])).values();
    deepEqual(Buffer.from(found!), Buffer.from(state!.value!));
    await put(rows([1], () => 9000));
    equal((await fixture.store.loadSessionStates([1])).get(1)?.length, 9000);
  });

  it('of a few kilobytes take little more of the disk than their bytes', async () => {
    const sessions = Array.from({ length: 2000 }, (_, session) => session);
    const lengthOf = (session: number): number => (session % 20 === 0 ? 5000 : 2000);
    await put(rows(sessions, lengthOf));
    await fixture.store.writeLog();
    const stored = sessions.reduce((sum, session) => sum + lengthOf(session), 0);
    const { blocks } = (await fixture.store.connection.one(
      `select (count(distinct block_id) + sum(len(additional_block_ids)))::integer as blocks
       from pragma_storage_info('session_state') where column_name = 'value'`,
    )) as { blocks: number };
    ok(blocks * BLOCK_BYTES < 1.3 * stored, `${blocks} blocks for ${stored} bytes`);
  });

  it('that are replaced with each message leave the file with the next writing of the log', async () => {
    const sessions = Array.from({ length: 4000 }, (_, session) => session);
    for (let turn = 0; turn < 6; turn += 1) await put(rows(sessions, () => 50));
    await fixture.store.writeLog();
    const { stored } = (await fixture.store.connection.one(
      `select sum(count)::integer as stored from pragma_storage_info('session_state')
       where column_name = 'session' and segment_type = 'INTEGER'`,
    )) as { stored: number };
    ok(stored < 10_000, `${stored} rows for 4,000`);
  });
});

/**
 * Brings a copy of a shard's database, which an earlier version made, to what this version reads: the tables of its
 * views, and the states that the analysis goes on from.
 *
 * Test: test/store/live/carry.test.ts.
 */
import type { StateRow } from '../../domain/facts.ts';
import { quoted, withDatabase, type Connection, type Row } from '../duckdb.ts';
import { parseDefinition } from '../epochs/definition.ts';
import type { View } from '../view-files.ts';

/** Sessions whose states are read together. */
const SESSIONS_AT_ONCE = 10_000;

/** Turns states of an earlier version into states of this one; both return only what changes. */
export interface CarriedStates {
  /** `rows`: all state rows of one instance. Throws SetupError if a version wrote them that it does not know. */
  readonly ofInstance: (rows: readonly StateRow[]) => readonly StateRow[];
  /** `value`: the state of one session. Throws SetupError if a version wrote it that it does not know. */
  readonly ofSession: (value: Uint8Array) => Uint8Array | null;
}

/** Returns true if views can be made from those of another definition once `carry` has run on a copy of them. */
export function canCarry(views: readonly View[], madeBy: string): boolean {
  const before = parseDefinition(madeBy).views;
  return views.every(({ name, kept, carried }) => {
    if (kept === undefined || !before.has(name)) return true;
    return Number(before.get(name)) >= Math.min(kept.since, carried?.from ?? Infinity);
  });
}

/** Brings the database `file` up to date. Tables of views that it does not have become empty ones. */
export async function carry(
  file: string,
  views: readonly View[],
  madeBy: string,
  states: CarriedStates,
): Promise<void> {
  const before = parseDefinition(madeBy).views;
  const lacking = views.flatMap(({ name, schema, kept, carried }) => {
    if (kept === undefined) return [];
    if (!before.has(name)) return [schema];
    return carried !== undefined && Number(before.get(name)) < kept.since ? [carried.sql] : [];
  });
  await withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as st; use st`);
    for (const sql of lacking) await connection.run(sql);
    await carryInstances(connection, states);
    await carrySessions(connection, states);
    await connection.run('checkpoint st; use memory; detach st');
  });
}

async function carryInstances(connection: Connection, { ofInstance }: CarriedStates): Promise<void> {
  await connection.run('create temp table carried_state as from assign_state limit 0');
  for (const { instance } of await connection.all(
    'select distinct instance from assign_state order by all',
  )) {
    const rows = await connection.all(
      `select instance, kind, key, value from assign_state where instance = ${instance as number} order by kind, key`,
    );
    const changed = ofInstance(rows as unknown as StateRow[]);
    await connection.append(
      'carried_state',
      ['integer', 'text', 'integer', 'blob'],
      changed.map(({ kind, key, value }) => [instance as number, kind, key, value]),
    );
  }
  await connection.run(
    `update assign_state a set value = c.value from carried_state c
     where a.instance = c.instance and a.kind = c.kind and a.key = c.key`,
  );
}

async function carrySessions(connection: Connection, { ofSession }: CarriedStates): Promise<void> {
  await connection.run(
    `alter table session_state add column if not exists part integer;
     create temp table carried_session (session integer, value blob)`,
  );
  for (let last = -1; ;) {
    // The later rows of a state in parts hold no beginning.
    const rows: Row[] = await connection.all(
      `select session, value from session_state where coalesce(part, 0) = 0 and session > ${last}
       order by session limit ${SESSIONS_AT_ONCE}`,
    );
    if (rows.length === 0) break;
    last = rows.at(-1)!['session'] as number;
    await connection.append(
      'carried_session',
      ['integer', 'blob'],
      rows.flatMap(({ session, value }) => {
        const changed = ofSession(value as Uint8Array);
        return changed === null ? [] : [[session as number, changed] as const];
      }),
    );
  }
  await connection.run(
    `update session_state s set value = c.value from carried_session c
     where s.session = c.session and coalesce(s.part, 0) = 0`,
  );
}

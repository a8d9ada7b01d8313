/**
 * Reduces a copy of a shard's database to the rows of some instances.
 *
 * Test: test/cli/retention.test.ts, test/cluster/division.test.ts.
 */
import { quoted, withDatabase, type Connection } from '../duckdb.ts';

/**
 * Deletes from a copy of a shard's database the rows of other instances, and the ids of requests, which the next reader
 * of the stream records again from the first entry on. Returns how many of `instances` (UUIDs, lower case) it contains;
 * 'deferred' if a part of one of them is deferred.
 */
export async function keepInstances(
  file: string,
  instances: ReadonlySet<string>,
): Promise<number | 'deferred'> {
  return withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as st; use st`);
    const kept = await keepIn(connection, instances);
    await connection.run('checkpoint st; use memory; detach st');
    return kept;
  });
}

/**
 * Deletes from a copy of a shard's database the rows of instances that are not wanted, by id. What remains continues
 * where the shard was; the ids of all requests stay, since nobody knows whose they are.
 */
export async function keepWanted(file: string, isWanted: (instanceId: string) => boolean): Promise<void> {
  await withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as st; use st`);
    const known = await connection.all(
      `select id::varchar as id from instance union select lower(instance_id) from deferred order by id`,
    );
    await nameWanted(connection, known.map((row) => row['id'] as string).filter(isWanted));
    await connection.transaction(async () => {
      await connection.run('delete from deferred where lower(instance_id) not in (select id from wanted)');
      await dropOthers(connection);
    });
    await connection.run('checkpoint st; use memory; detach st');
  });
}

async function keepIn(connection: Connection, instances: ReadonlySet<string>): Promise<number | 'deferred'> {
  await nameWanted(connection, [...instances]);
  const count = await connection.one('select count(*)::integer as instances from kept_instance');
  const waiting = await connection.one(
    'select 1 from deferred where lower(instance_id) in (select id from wanted) limit 1',
  );
  if (waiting !== undefined) return 'deferred';
  await connection.transaction(async () => {
    await connection.run('delete from deferred; delete from carried; delete from request');
    await dropOthers(connection);
  });
  return count?.['instances'] as number;
}

/** Creates temp `wanted`, the ids, and `kept_instance`, their numbers. */
async function nameWanted(connection: Connection, ids: readonly string[]): Promise<void> {
  await connection.run('create temp table wanted (id varchar)');
  await connection.append(
    'wanted',
    ['text'],
    ids.map((id) => [id]),
  );
  await connection.run(
    `create temp table kept_instance as
       select instance from instance where id::varchar in (select id from wanted)`,
  );
}

/** Deletes the rows of instances that are not in `kept_instance`. */
async function dropOthers(connection: Connection): Promise<void> {
  await connection.run(
    `delete from session_state where session not in (
       select session from session where instance in (select instance from kept_instance))`,
  );
  for (const table of await tablesOf(connection))
    await connection.run(`delete from ${table} where instance not in (select instance from kept_instance)`);
}

async function tablesOf(connection: Connection): Promise<string[]> {
  const rows = await connection.all(
    `select table_name as name from duckdb_columns() semi join duckdb_tables() using (database_name, table_name)
     where database_name = 'st' and column_name = 'instance' order by name`,
  );
  return rows.map((row) => row['name'] as string);
}

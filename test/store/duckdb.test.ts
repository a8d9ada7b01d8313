import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { DatabaseError, openDatabase, type Connection, type Database } from '../../src/store/duckdb.ts';

describe('the door to DuckDB', () => {
  let database: Database;
  let connection: Connection;

  beforeEach(async () => {
    database = await openDatabase({ threads: 1, memoryLimit: '8MB' });
    connection = await database.connect();
  });
  afterEach(() => {
    connection.close();
    database.close();
  });

  const faultOf = async (work: () => Promise<unknown>): Promise<DatabaseError> => {
    try {
      await work();
    } catch (error) {
      ok(error instanceof DatabaseError);
      return error;
    }
    throw new Error('nothing was thrown');
  };

  it('tells want of memory from other faults', async () => {
    equal((await faultOf(() => connection.all('select nothing'))).fault, 'other');
    const sql = 'select list(i || $text) from range(1000000) r(i)';
    equal((await faultOf(() => connection.all(sql, { text: 'x' }))).fault, 'out-of-memory');
    await connection.run('create temp table texts (t varchar)');
    const rows = Array.from({ length: 40 }, (_, number) => [`${number}${'x'.repeat(1e6)}`]);
    equal((await faultOf(() => connection.append('texts', ['text'], rows))).fault, 'out-of-memory');
  });

  it('tells what is wrong with values and files', async () => {
    equal((await faultOf(() => connection.all(`select 'x'::uuid`))).fault, 'data');
    const missing = await faultOf(() => connection.run(`attach '/no/such/file' as missing (read_only)`));
    deepEqual([missing.fault, missing.file], ['io', 'damaged']);
    const full = new DatabaseError(new Error('IO Error: Could not write file "x": No space left on device'));
    deepEqual([full.fault, full.file], ['io', 'no-room']);
    deepEqual(
      [new DatabaseError(full, 'view x: ').file, new DatabaseError(full, 'view x: ').message],
      ['no-room', `view x: ${full.message}`],
    );
  });

  it('tells the faults of the vendor itself, and leaves out where in its code they arose', async () => {
    const error = await faultOf(() => connection.all('select * from repeat_row(1, num_rows = -1)'));
    equal(error.fault, 'invalidated');
    ok(error.message.startsWith('INTERNAL Error: '));
    ok(!error.message.includes('Stack Trace'), error.message);
  });
});

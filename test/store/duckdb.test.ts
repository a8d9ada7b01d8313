import { afterEach, beforeEach, describe, it } from 'node:test';
import { equal, ok } from 'node:assert/strict';
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
  });

  it('tells the faults of the vendor itself, and leaves out where in its code they arose', async () => {
    const error = await faultOf(() => connection.all('select * from repeat_row(1, num_rows = -1)'));
    equal(error.fault, 'invalidated');
    ok(error.message.startsWith('INTERNAL Error: '));
    ok(!error.message.includes('Stack Trace'), error.message);
  });
});

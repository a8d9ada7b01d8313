import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { DuckDBDataChunk } from '@duckdb/node-api';
import {
  DatabaseError,
  openDatabase,
  quoted,
  type Connection,
  type Database,
} from '../../src/store/duckdb.ts';
import { PIECE } from '../../src/domain/give-way.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { watchRounds } from '../support/rounds.ts';

describe('the door to DuckDB', () => {
  let database: Database;
  let connection: Connection;

  beforeEach(async () => {
    database = await openDatabase({ threads: 1, memoryBytes: 8e6 });
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

  it('ends a stream in the middle of its work when it is told to, and goes on with others', async () => {
    const stop = new AbortController();
    const rows = connection.stream('select sum(hash(range)) as n from range(1000000000000)', {}, stop.signal);
    const first = rows.next();
    stop.abort();
    await rejects(first, { name: 'AbortError' });
    await rejects(connection.stream('select 1 as n', {}, stop.signal).next(), { name: 'AbortError' });
    deepEqual(await connection.one('select 1 as n'), { n: 1 });
  });

  for (const how of ['all', 'stream'] as const) {
    it(`reads many rows a piece at a time (${how})`, async () => {
      const rounds = watchRounds();
      const real = DuckDBDataChunk.prototype.getRowValues;
      const readRow = mock.method(
        DuckDBDataChunk.prototype,
        'getRowValues',
        function (this: DuckDBDataChunk, index: number) {
          rounds.count();
          return real.call(this, index);
        },
      );
      const sql = 'select i, i::varchar as text from range(5000) t(i)';
      const rows = how === 'all' ? await connection.all(sql) : [];
      if (how === 'stream') for await (const part of connection.stream(sql, {})) rows.push(...part);
      readRow.mock.restore();
      rounds.stop();
      deepEqual(
        rows,
        Array.from({ length: 5000 }, (_, i) => ({ i, text: String(i) })),
      );
      equal(readRow.mock.callCount(), 5000);
      // A part that has come is begun at once.
      ok(rounds.most <= 2 * PIECE, `${rounds.most} rows in one round`);
    });
  }

  it('tells want of memory from other faults', async () => {
    equal((await faultOf(() => connection.all('select nothing'))).fault, 'other');
    const sql = 'select list(i || $text) from range(1000000) r(i)';
    equal((await faultOf(() => connection.all(sql, { text: 'x' }))).fault, 'out-of-memory');
    await connection.run('create temp table texts (t varchar)');
    const rows = Array.from({ length: 40 }, (_, number) => [`${number}${'x'.repeat(1e6)}`]);
    equal((await faultOf(() => connection.append('texts', ['text'], rows))).fault, 'out-of-memory');
    const used = 'could not allocate block of size 256.0 KiB (20.8 MiB/20.9 MiB used)';
    const wal = 'Failure while replaying WAL file "/data/state.duckdb.wal": ';
    for (const where of ['', wal]) {
      const errorText = `TransactionContext Error: ${where}Failed to commit: ${used}`;
      equal(new DatabaseError(new Error(errorText)).fault, 'out-of-memory');
    }
    const damaged = new DatabaseError(new Error(`IO Error: ${wal}checksum does not match`));
    equal(damaged.fault, 'io');
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

  it('tells when the log cannot be written into the tables; what was committed is there after a new start', async () => {
    const { path, remove } = temporaryDirectory();
    const attach = `attach ${quoted(join(path, 'log.duckdb'))} as log`;
    await connection.run(`set checkpoint_threshold = '1GB'; ${attach}; create table log.texts (t varchar)`);
    for (let batch = 0; batch < 50; batch += 1)
      await connection.run('insert into log.texts select uuid()::varchar from range(1000)');
    const used = await connection.one('select sum(memory_usage_bytes)::bigint as used from duckdb_memory()');
    await connection.run(`set memory_limit = '${(used?.['used'] as number) + 600_000}B'`);
    const insert = `insert into log.texts values ('last')`;
    for (const statement of [
      () => connection.transaction(() => connection.run(`set checkpoint_threshold = '16KB'; ${insert}`)),
      () => connection.transaction(() => connection.run(insert)),
      () => connection.all('select count(*) from log.texts'),
    ])
      equal((await faultOf(statement)).fault, 'checkpoint-failed');
    await connection.run(`set memory_limit = '8MB'; detach log; ${attach}`);
    deepEqual(await connection.all('select count(*) as rows from log.texts'), [{ rows: 50_001 }]);
    await connection.run('detach log');
    remove();
  });

  it('tells when the log cannot be written into the tables because somebody reads what was before', async () => {
    const { path, remove } = temporaryDirectory();
    const reader = await database.connect();
    await connection.run(`attach ${quoted(join(path, 'log.duckdb'))} as log`);
    await connection.run('create table log.texts (t varchar); insert into log.texts values (1)');
    await reader.transaction(async () => {
      await reader.all('select * from log.texts');
      await connection.run('update log.texts set t = 2');
      equal((await faultOf(() => connection.run('checkpoint log'))).fault, 'busy');
    });
    await connection.run('checkpoint log; detach log');
    reader.close();
    remove();
  });

  it('tells the faults of the vendor itself, and leaves out where in its code they arose', async () => {
    const error = await faultOf(() => connection.all('select * from repeat_row(1, num_rows = -1)'));
    equal(error.fault, 'invalidated');
    ok(error.message.startsWith('INTERNAL Error: '));
    ok(!error.message.includes('Stack Trace'), error.message);
  });
});

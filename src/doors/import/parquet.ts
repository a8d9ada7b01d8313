/**
 * Reads the rows of Parquet files with DuckDB.
 *
 * Test: test/doors/import/inputs.test.ts.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../../store/duckdb.ts';
import type { Entry } from './entries.ts';
import type { Input } from './inputs.ts';
import { UnpackLimit } from './unpack-limit.ts';

/**
 * Yields rows as objects, with nested values as JSON. A packed file is first unpacked to disk. Throws the reader's
 * errors.
 */
export async function* parquetRows(input: Input, onRead?: (bytes: number) => void): AsyncGenerator<Entry> {
  const { openDatabase, quoted } = await import('../../store/duckdb.ts');
  const folder = await mkdtemp(join(tmpdir(), 'undertone-parquet-'));
  try {
    let { path } = input;
    if (path === null) {
      path = join(folder, 'file.parquet');
      await pipeline(Readable.from(input.open()), createWriteStream(path));
    }
    const database = await openDatabase({ threads: 2, memoryBytes: 512e6, spillDirectory: folder });
    let connection: Connection | null = null;
    try {
      connection = await database.connect();
      const source = `read_parquet(${quoted(path)})`;
      const counted = await connection.one(`select count(*) as rows from ${source}`);
      const rows = Math.max(1, Number(counted?.['rows'] ?? 1));
      const limit = new UnpackLimit(input.size);
      let number = 0;
      const select = `select to_json(file)::varchar as value from ${source} file`;
      for await (const chunk of connection.stream(select, {}, input.signal)) {
        for (const { value } of chunk) {
          const text = String(value);
          limit.add(text.length);
          number += 1;
          yield { number, value: JSON.parse(text) as unknown, fault: null };
        }
        onRead?.(Math.floor((number / rows) * input.size));
      }
    } finally {
      connection?.close();
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Converts files of JSON lines to Parquet.
 *
 * Test: test/e2e/export-rules.test.ts.
 */
import { openDatabase, quoted } from './duckdb.ts';

/** Writes a file of JSON objects, one per line, as Parquet (zstd). With no rows, `id` is the only column. */
export async function writeParquet(lines: string, file: string, rows: number): Promise<void> {
  const database = await openDatabase({ threads: 2, memoryBytes: 512e6 });
  const connection = await database.connect();
  try {
    const source =
      rows === 0
        ? 'select null::varchar as id where false'
        : `select * from read_json(${quoted(lines)}, format = 'newline_delimited', sample_size = -1)`;
    await connection.run(`copy (${source}) to ${quoted(file)} (format parquet, compression zstd)`);
  } finally {
    connection.close();
    database.close();
  }
}

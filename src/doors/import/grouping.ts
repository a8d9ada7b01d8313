/**
 * Groups the rows of each conversation, wherever they stand in the files. Rows are kept on disk: memory holds the rows
 * of one conversation only.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection, Database } from '../../store/duckdb.ts';
import type { PlacedRow } from './formats/format.ts';

/** The rows of one conversation, in order. */
export interface RowGroup {
  readonly conversation: string;
  /** Number of its first row. */
  readonly number: number;
  readonly rows: readonly unknown[];
}

/** Rows, or characters, written to the database at once. */
const BATCH = 4096;
const BATCH_CHARACTERS = 8 * 1024 * 1024;

/** Rows in a temporary DuckDB database, grouped by conversation. */
export class RowGrouping {
  readonly #folder: string;
  readonly #database: Database;
  readonly #connection: Connection;
  #batch: [string | null, string, number | null, number, string][] = [];
  #characters = 0;

  private constructor(folder: string, database: Database, connection: Connection) {
    this.#folder = folder;
    this.#database = database;
    this.#connection = connection;
  }

  static async open(): Promise<RowGrouping> {
    const folder = await mkdtemp(join(tmpdir(), 'undertone-rows-'));
    // Loaded on demand: it takes a tenth of a second, and most imports need no database.
    const { openDatabase } = await import('../../store/duckdb.ts');
    const database = await openDatabase({ threads: 2, memoryBytes: 256e6, spillDirectory: folder });
    const connection = await database.connect();
    await connection.run(
      'create temp table import_row (conversation varchar, part varchar, said_at bigint, number bigint, kept varchar)',
    );
    return new RowGrouping(folder, database, connection);
  }

  /** `number` is the position of the row; it ascends. */
  async add(row: PlacedRow, number: number): Promise<void> {
    const kept = JSON.stringify(row.kept);
    this.#batch.push([row.conversation, row.part, row.at, number, kept]);
    this.#characters += kept.length;
    if (this.#batch.length >= BATCH || this.#characters >= BATCH_CHARACTERS) await this.#write();
  }

  /**
   * Yields conversations in the order of their first row. Rows are sorted by time if all rows of the conversation have
   * one, otherwise they keep file order. Throws the signal's reason.
   */
  async *groups(signal?: AbortSignal): AsyncGenerator<RowGroup> {
    await this.#write();
    let conversation: string | null = null;
    let number = 0;
    let rows: unknown[] = [];
    const order = `
      with part_name as (select part, min(conversation) as conversation from import_row group by part),
      named as (
        select coalesce(r.conversation, p.conversation, r.part) as conversation, r.said_at, r.number, r.kept
        from import_row r join part_name p using (part)
      ),
      extent as (
        select conversation, min(number) as first, count(said_at) = count(*) as timed from named group by conversation
      )
      select n.conversation, e.first, n.kept
      from named n join extent e using (conversation)
      order by e.first, case when e.timed then n.said_at end, n.number`;
    for await (const chunk of this.#connection.stream(order, {}, signal)) {
      for (const row of chunk) {
        const name = String(row['conversation']);
        if (conversation !== null && name !== conversation) {
          yield { conversation, number, rows };
          rows = [];
        }
        conversation = name;
        number = Number(row['first']);
        rows.push(JSON.parse(String(row['kept'])));
      }
    }
    if (conversation !== null) yield { conversation, number, rows };
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#database.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #write(): Promise<void> {
    if (this.#batch.length === 0) return;
    await this.#connection.append('import_row', ['text', 'text', 'bigint', 'bigint', 'text'], this.#batch);
    this.#batch = [];
    this.#characters = 0;
  }
}

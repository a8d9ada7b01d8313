/**
 * The temporary tables of the folding connection: the stages, and the tables that the views' statements create. It
 * knows which of them hold rows, so that idle blocks are skipped.
 *
 * Test: test/store/live/fold-blocks.test.ts, test/store/live/stages.test.ts.
 */
import { DatabaseError, type ColumnType, type Connection } from '../duckdb.ts';
import type { FoldBlock, KeptRows, View } from '../view-files.ts';
import type { Batch } from './batch.ts';
import { STAGES, type Stage, type StageName, type StageRow } from './stages.ts';

/** A stage with more bytes is dropped and created again, because a truncated table keeps its memory. */
const MAX_STAGED_BYTES = 4 * 2 ** 20;

const STAGE_NAMES = Object.keys(STAGES) as StageName[];

/** The temporary tables of the folding connection. */
export class TemporaryTables {
  readonly #connection: Connection;
  /** Number of rows by table. */
  readonly #rows = new Map<string, number>(STAGE_NAMES.map((stage) => [stage, 0]));
  /** Bytes written to each stage since it was created. */
  readonly #stagedBytes = new Map<string, number>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async createStages(): Promise<void> {
    for (const stage of STAGE_NAMES) await this.#connection.run(definitionOf(stage));
  }

  /** Writes the rows of a batch into their stages. */
  async stage(batch: Batch): Promise<void> {
    for (const stage of STAGE_NAMES) await this.fill(stage, STAGES[stage].rows(batch));
  }

  async fill(stage: StageName, rows: readonly StageRow[]): Promise<void> {
    await this.#empty(stage);
    if (rows.length === 0) return;
    this.#rows.set(stage, rows.length);
    const { columns }: Stage = STAGES[stage];
    await this.#connection.append(stage, Object.values(columns) as ColumnType[], rows);
    this.#stagedBytes.set(stage, (this.#stagedBytes.get(stage) ?? 0) + sizeOf(rows));
  }

  /** Fills stages by statements, from a database that is attached as `kept`; empties the others. */
  async stageKept(statements: KeptRows['statements']): Promise<void> {
    for (const stage of STAGE_NAMES) await this.#empty(stage);
    for (const { sql, fills } of statements) {
      const added = (await this.#connection.one(sql))?.['Count'] as number;
      this.#rows.set(fills, (this.#rows.get(fills) ?? 0) + added);
      // The stage is created again the next time: a truncated table keeps its memory.
      this.#stagedBytes.set(fills, Infinity);
    }
  }

  /** Runs a block of a view. Skips it if it would do nothing; the tables that it creates are then empty. */
  async fold(view: View, { when, statements }: FoldBlock): Promise<void> {
    const makes = statements.flatMap((statement) => statement.makes ?? []);
    const isIdle = when?.every((table) => this.#rows.get(table) === 0) ?? false;
    // In the first fold, every table must be created.
    if (isIdle && makes.every((table) => this.#rows.has(table))) {
      for (const table of makes) await this.#empty(table);
      return;
    }
    for (const { sql, makes: table } of statements) {
      try {
        if (table === null) await this.#connection.run(sql);
        else this.#rows.set(table, (await this.#connection.one(sql))?.['Count'] as number);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        throw new DatabaseError(error, `view ${view.name}, ${sql.slice(0, 200)}: `);
      }
    }
  }

  /** After a rollback, stages may hold their earlier rows, and the tables of the views are gone. */
  rolledBack(): void {
    for (const table of this.#rows.keys()) {
      if (table in STAGES) {
        this.#rows.set(table, Infinity);
        this.#stagedBytes.set(table, Infinity);
      } else this.#rows.delete(table);
    }
  }

  async #empty(table: string): Promise<void> {
    if (this.#rows.get(table) === 0) return;
    if ((this.#stagedBytes.get(table) ?? 0) < MAX_STAGED_BYTES)
      await this.#connection.run(`truncate temp.${table}`);
    else {
      await this.#connection.run(`drop table temp.${table}; ${definitionOf(table as StageName)}`);
      this.#stagedBytes.set(table, 0);
    }
    this.#rows.set(table, 0);
  }
}

function definitionOf(stage: StageName): string {
  const columns = Object.entries(STAGES[stage].columns).map(
    ([name, type]) => `"${name}" ${type === 'text' ? 'varchar' : type}`,
  );
  return `create temp table ${stage} (${columns.join(', ')})`;
}

/** Estimated bytes of rows. */
function sizeOf(rows: readonly StageRow[]): number {
  let bytes = 0;
  for (const row of rows)
    for (const value of row) bytes += value === null || typeof value === 'number' ? 8 : value.length + 8;
  return bytes;
}

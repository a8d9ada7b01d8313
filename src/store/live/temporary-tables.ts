import { DatabaseError, type ColumnType, type Connection } from '../duckdb.ts';
import type { FoldBlock, KeptRows, View } from '../view-files.ts';
import type { Batch } from './batch.ts';
import { STAGES, type Stage, type StageName, type StageRow } from './stages.ts';

/** A stage is dropped and made again after so many bytes, because a truncated table keeps its memory. */
const MAX_STAGED_BYTES = 4 * 2 ** 20;

const STAGE_NAMES = Object.keys(STAGES) as StageName[];

/**
 * The temporary tables of the connection that folds: stages, and what the views' statements make. It knows which of
 * them hold rows. Covered by test/store/live/fold-blocks.test.ts and stages.test.ts.
 */
export class TemporaryTables {
  readonly #connection: Connection;
  /** Rows of each table. */
  readonly #rows = new Map<string, number>(STAGE_NAMES.map((stage) => [stage, 0]));
  /** Bytes that were put into each stage since it was made. */
  readonly #stagedBytes = new Map<string, number>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async createStages(): Promise<void> {
    for (const stage of STAGE_NAMES) await this.#connection.run(definitionOf(stage));
  }

  /** Puts the rows of a batch into their stages. */
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

  /** Empties all stages but those that statements fill: with the rows of a database that is attached as `kept`. */
  async stageKept(statements: KeptRows['statements']): Promise<void> {
    for (const stage of STAGE_NAMES) await this.#empty(stage);
    for (const { sql, fills } of statements) {
      const added = (await this.#connection.one(sql))?.['Count'] as number;
      this.#rows.set(fills, (this.#rows.get(fills) ?? 0) + added);
      // The next time it is made anew: a truncated table keeps its memory.
      this.#stagedBytes.set(fills, Infinity);
    }
  }

  /** Runs a block of a view; skips it when it would do nothing: then the tables that it makes are empty. */
  async fold(view: View, { when, statements }: FoldBlock): Promise<void> {
    const makes = statements.flatMap((statement) => statement.makes ?? []);
    const isIdle = when?.every((table) => this.#rows.get(table) === 0) ?? false;
    // The first time every table has to be made.
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

  /** After a rollback: stages hold again the rows that they held, and the tables of the views are gone. */
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

/** About how many bytes rows take. */
function sizeOf(rows: readonly StageRow[]): number {
  let bytes = 0;
  for (const row of rows)
    for (const value of row) bytes += value === null || typeof value === 'number' ? 8 : value.length + 8;
  return bytes;
}

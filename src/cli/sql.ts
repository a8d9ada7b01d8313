/**
 * `npm run sql -- --instance UUID`: SQL over the numbers of one instance, for reading.
 *
 * A copy of the instance's rows is written for each start, and nothing else can be reached: DuckDB opens no other file,
 * and a statement stands where only one that reads may stand.
 *
 * Test: test/cli/sql.test.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { loadConfig } from '../config.ts';
import { toCsv } from '../domain/csv.ts';
import { printable } from '../domain/printable.ts';
import { SinkFolder } from '../doors/sink/folder.ts';
import { runSink } from '../doors/sink/sink.ts';
import { withSource } from '../doors/sink/source.ts';
import { SINK_TABLES } from '../doors/sink/tables.ts';
import { AppError, SetupError } from '../errors.ts';
import { DatabaseError, quoted, withDatabase, type Connection } from '../store/duckdb.ts';
import { loadViews } from '../store/view-files.ts';
import { action, runCommand, uuid } from './command.ts';
import { tableOf } from './table.ts';

const VIEWS_DIRECTORY = join(import.meta.dirname, '../../views');
const USAGE = `Usage: npm run --silent sql -- --instance UUID [--query SQL]

Answers SQL (DuckDB) over the numbers of one instance, as they are when the command starts. Tables:
${SINK_TABLES.map(({ name }) => name).join(', ')}.
docs/sink.md has their columns; SHOW TABLES and DESCRIBE TABLE tell them, too. Nothing can be changed, and no other instance
or file can be read.

  --instance UUID  the instance (npm run instances)
  --query SQL      one statement, whose rows are printed as CSV; without it, a prompt

Reads DATA_DIR; the service may run or not.

Exit status: 0 done, 1 it failed, 2 wrong usage.`;

/** Types whose values are no text: a number never begins a formula in a spreadsheet. */
const NUMBERS = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL.*)$/;

/** Rows that the prompt shows of an answer. */
const MOST_SHOWN = 200;

interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

const asking = action({
  options: { instance: { type: 'string' }, query: { type: 'string' } },
  read({ instance, query }) {
    const id = uuid('--instance', instance);
    return () => withTables(id, query === undefined ? prompt : (of) => printCsv(of, query));
  },
});

/** Copies the instance's rows, opens them as tables, and removes the copy in the end. */
async function withTables(
  instance: string,
  work: (connection: Connection) => Promise<number>,
): Promise<number> {
  const { dataDir } = loadConfig();
  const copy = mkdtempSync(join(tmpdir(), 'undertone-sql-'));
  try {
    const folder = await SinkFolder.open(join(copy, 'rows'));
    try {
      const views = loadViews(VIEWS_DIRECTORY);
      await withSource({ dataDir, views, spillDirectory: folder.spillDirectory }, (source) =>
        runSink(source, { folder, tables: SINK_TABLES, instances: [instance], now: () => 0 }),
      );
    } catch (error) {
      throw error instanceof AppError ? new SetupError(error.message, { cause: error }) : error;
    } finally {
      folder.close();
    }
    return await withDatabase({ threads: 2 }, async (connection) => {
      for (const { name, columns } of SINK_TABLES) {
        const files = join(folder.path, name, '**', '*.parquet');
        const declared = columns.map((column) => `"${column.name}"`).join(', ');
        const empty = columns.map((column) => `null::${column.type} as "${column.name}"`).join(', ');
        const found = await connection.all(`select 1 from glob(${quoted(files)}) limit 1`);
        await connection.run(
          found.length === 0
            ? `create table ${name} as select ${empty} limit 0`
            : `create table ${name} as select ${declared}
               from read_parquet(${quoted(files)}, hive_partitioning = true, union_by_name = true)`,
        );
      }
      await connection.run(`set enable_external_access = false; set lock_configuration = true`);
      return work(connection);
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Runs one statement. Throws DatabaseError for one that is not valid, or does not only read. */
async function answerOf(connection: Connection, text: string): Promise<Answer> {
  const statement = text.trim().replace(/(?:\s*;)+$/, '');
  // Within parentheses, only what reads is a statement.
  const named = await connection.all(`select column_name, column_type from (describe (\n${statement}\n))`);
  const columns = named.map((row) => row['column_name'] as string);
  const isNumber = named.map((row) => NUMBERS.test(row['column_type'] as string));
  const numbered = columns.map((_, index) => `c${index}`);
  const rows = await connection.all(
    `select ${numbered.map((name) => `${name}::varchar as ${name}`).join(', ')}
from (\n${statement}\n) as answer(${numbered.join(', ')})`,
  );
  const valueOf = (text: string | null, index: number): string | number | null =>
    text !== null && isNumber[index] === true && String(Number(text)) === text ? Number(text) : text;
  return {
    columns,
    rows: rows.map((row) => numbered.map((name, index) => valueOf(row[name] as string | null, index))),
  };
}

async function printCsv(connection: Connection, query: string): Promise<number> {
  try {
    const { columns, rows } = await answerOf(connection, query);
    process.stdout.write(toCsv([columns, ...rows]));
    return 0;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    process.stderr.write(`${printable(error.message)}\n`);
    return 1;
  }
}

async function prompt(connection: Connection): Promise<number> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  process.stdout.write('One statement, ended by a semicolon. SHOW TABLES; lists the tables, Ctrl-D ends.\n');
  // The input may end before its lines are answered.
  let isOpen = true;
  lines.on('close', () => (isOpen = false));
  const ask = (words: string): void => {
    lines.setPrompt(words);
    if (isOpen) lines.prompt();
    else process.stdout.write(words);
  };
  ask('sql> ');
  let statement = '';
  for await (const line of lines) {
    statement += `${line}\n`;
    if (/;\s*$/.test(line)) {
      await show(connection, statement);
      statement = '';
    }
    ask(statement.trim() === '' ? 'sql> ' : '  -> ');
  }
  process.stdout.write('\n');
  return 0;
}

async function show(connection: Connection, statement: string): Promise<void> {
  try {
    const { columns, rows } = await answerOf(connection, statement);
    const shown = rows.slice(0, MOST_SHOWN).map((row) => row.map((value) => String(value ?? 'null')));
    const more = rows.length > MOST_SHOWN ? `the first ${MOST_SHOWN} of ` : '';
    process.stdout.write(`${tableOf(columns.map(printable), shown)}(${more}${rows.length} rows)\n`);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    process.stdout.write(`${printable(error.message)}\n`);
  }
}

await runCommand({ usage: USAGE, action: asking });

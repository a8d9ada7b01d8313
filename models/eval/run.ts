/**
 * `npm run eval [-- NAME…] [--data FOLDER|FILE] [--model NAME] [--json]`: measures what has labels.
 * Every file of this folder that exports `evaluation` is one.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { SetupError } from '../../src/errors.ts';
import { DataError, DEFAULT_DATA_DIRECTORY } from './data.ts';
import { formatCell, type Evaluation, type EvalOptions, type EvalTable } from './report.ts';

const EVAL_DIRECTORY = import.meta.dirname;
const MODELS_DIRECTORY = resolve(import.meta.dirname, '..');

function isEvaluation(value: unknown): value is Evaluation {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'run' in value &&
    typeof value.run === 'function'
  );
}

async function evaluations(): Promise<Evaluation[]> {
  const found: Evaluation[] = [];
  for (const file of readdirSync(EVAL_DIRECTORY).sort()) {
    if (!file.endsWith('.ts') || file === 'run.ts') continue;
    const module: unknown = await import(pathToFileURL(join(EVAL_DIRECTORY, file)).href);
    if (typeof module !== 'object' || module === null || !('evaluation' in module)) continue;
    if (isEvaluation(module.evaluation)) found.push(module.evaluation);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function print(table: EvalTable): void {
  const drawn = new Table({ head: [...table.columns], style: { head: [], border: [] } });
  for (const row of table.rows) drawn.push(row.map(formatCell));
  process.stdout.write(`\n${table.title}\n${drawn.toString()}\n`);
  for (const note of table.notes ?? []) process.stdout.write(`  ${note}\n`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      model: { type: 'string', default: 'undertone-small' },
      json: { type: 'boolean', default: false },
    },
  });
  const all = await evaluations();
  const unknown = positionals.filter((name) => !all.some((evaluation) => evaluation.name === name));
  if (unknown.length > 0) {
    const names = all.map((evaluation) => evaluation.name).join(', ');
    throw new SetupError(`no evaluation is called ${unknown.join(', ')}: choose from ${names}`);
  }
  const data = values.data === undefined ? DEFAULT_DATA_DIRECTORY : resolve(values.data);
  if (!existsSync(data)) {
    throw new SetupError(`no data at ${data}: name a folder of data sets, or one file, with --data`);
  }
  const isFile = statSync(data).isFile();
  const options: EvalOptions = {
    dataDirectory: isFile ? DEFAULT_DATA_DIRECTORY : data,
    file: isFile ? data : null,
    modelsDirectory: MODELS_DIRECTORY,
    model: values.model,
  };
  const results: { name: string; tables: readonly EvalTable[] }[] = [];
  for (const evaluation of all) {
    if (positionals.length > 0 && !positionals.includes(evaluation.name)) continue;
    const tables = await evaluation.run(options);
    results.push({ name: evaluation.name, tables });
    if (!values.json) for (const table of tables) print(table);
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}

try {
  await main();
} catch (error) {
  const expected = error instanceof SetupError || error instanceof DataError || error instanceof TypeError;
  if (!expected) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

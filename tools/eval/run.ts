/** `npm run eval`: measures what has labels. Every file of this folder that exports `evaluation` is one. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import Table from 'cli-table3';
import { action, runCommand, UsageError } from '../../src/cli/command.ts';
import { SetupError } from '../../src/errors.ts';
import { DEFAULT_DATA_DIRECTORY } from './data.ts';
import { formatCell, type Evaluation, type EvalOptions, type EvalTable } from './report.ts';

const EVAL_DIRECTORY = import.meta.dirname;
const MODELS_DIRECTORY = resolve(import.meta.dirname, '../../models');

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

async function measure(names: readonly string[], options: EvalOptions, json: boolean): Promise<void> {
  const results: { name: string; tables: readonly EvalTable[] }[] = [];
  for (const evaluation of EVALUATIONS) {
    if (names.length > 0 && !names.includes(evaluation.name)) continue;
    const tables = await evaluation.run(options);
    results.push({ name: evaluation.name, tables });
    if (!json) for (const table of tables) print(table);
  }
  if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}

const EVALUATIONS = await evaluations();
const NAMES = EVALUATIONS.map(({ name }) => name);

const USAGE = `Usage: npm run eval -- [NAME…] [--data FOLDER|FILE] [--model NAME] [--json]
       npm run eval -- topics|sessions --sheet FILE [--data FOLDER|FILE] [--model NAME]

Measures how well the models and the analysis do on labelled data; without a NAME, measures everything. The names
signals, gaps and repeated-requests measure the gold of this repository also where there are no data sets.

  --data PATH   a folder of data sets instead of the usual one, or one file
  --model NAME  the embedding model: a folder of models/ or a path (default: undertone-small)
  --json        print the tables as JSON
  --sheet FILE  write topics and their names, or sessions and their texts, to read and judge; the file holds texts of the data

Names: ${NAMES.join(', ')}`;

const evaluate = action({
  options: {
    data: { type: 'string' },
    model: { type: 'string', default: 'undertone-small' },
    json: { type: 'boolean', default: false },
    sheet: { type: 'string' },
  },
  operands: Infinity,
  read(values, names) {
    const unknown = names.filter((name) => !NAMES.includes(name));
    if (unknown.length > 0) throw new UsageError(`No evaluation is called ${unknown.join(', ')}.`);
    const { sheet } = values;
    if (sheet !== undefined && !['topics', 'sessions'].includes(names.join()))
      throw new UsageError('--sheet is of the evaluations topics and sessions: name one of them alone.');
    // The usual folder may be missing: much is measured on the gold of this repository.
    const data = resolve(values.data ?? DEFAULT_DATA_DIRECTORY);
    if (values.data !== undefined && !existsSync(data))
      throw new SetupError(`no data at ${data}: name a folder of data sets, or one file, with --data`);
    const isFile = existsSync(data) && statSync(data).isFile();
    const options: EvalOptions = {
      dataDirectory: isFile ? DEFAULT_DATA_DIRECTORY : data,
      file: isFile ? data : null,
      modelsDirectory: MODELS_DIRECTORY,
      model: values.model,
      ...(sheet === undefined ? {} : { sheet: resolve(sheet) }),
    };
    return () => measure(names, options, values.json);
  },
});

await runCommand({ usage: USAGE, action: evaluate });

/** How fast are queries over a long history, and how fast is the same question without views? */
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { oneInstance, openHistory } from './history.ts';
import {
  MEASURE_OPTIONS,
  measureOptions,
  measureQueries,
  type MeasureOptions,
  type QueryResult,
} from './load/query-measure.ts';
import { median, type Ratios } from './load/ratios.ts';
import { describe } from './load/query-report.ts';

const USAGE = `Usage: npm run bench -- query [OPTIONS]

How fast are queries over a long history, and how fast is the same question without views?

Builds each synthetic history, serves it with web and asks over HTTP, one request at a time, each time another question.
The alternatives, in the same run: the same questions as one plain SQL query over raw messages, in DuckDB inside this
process and in PostgreSQL (where it is installed) with the usual indexes. A different answer is an error.

  --messages N,N…   lengths of the histories (default: 100000,1000000,10000000)
  --keep DIR        keep the histories in DIR, and reuse what is there
  --count N         measured requests of each question (default: 300)
  --seconds N       at most for each question and each system (default: 20)
  --postgres MODE   auto (default: where it is installed, and not for the longest), always or never
  --json            print the figures as JSON`;

const QUICK = { messages: 50_000, count: 30, seconds: 3 };

/** How many times faster views answer than a plain SQL over the raw messages: the median of all questions. */
export const ratios: Ratios = async ({ times, keep }) => {
  const onProgress = (): void => undefined;
  const history = await openHistory(oneInstance(QUICK.messages), { keep, onProgress });
  const samples: number[] = [];
  while (samples.length < times) {
    const { questions } = await measureQueries(history, {
      ...QUICK,
      postgres: 'never',
      throughputSeconds: 0,
      onProgress,
    });
    samples.push(median(questions.map(({ duckdb, views }) => duckdb.best / views.best)));
  }
  return { 'views over DuckDB on raw messages': samples };
};

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      messages: { type: 'string', default: '100000,1000000,10000000' },
      keep: { type: 'string' },
      ...MEASURE_OPTIONS,
      json: { type: 'boolean', default: false },
    },
    read(values) {
      const sizes = values.messages.split(',').map((size) => wholeNumber('--messages', size, 1000));
      const options = measureOptions(values);
      return () => measure(sizes, values.keep, options, values.json);
    },
  }),
};

async function measure(
  sizes: readonly number[],
  keep: string | undefined,
  options: MeasureOptions,
  json: boolean,
): Promise<number | void> {
  const results: QueryResult[] = [];
  for (const messages of sizes) {
    const history = await openHistory(oneInstance(messages), { keep, onProgress: options.onProgress });
    try {
      const result = await measureQueries(history, options);
      results.push(result);
      if (!json) console.log(`\n${describe(result)}\n`);
    } finally {
      history.remove();
    }
  }
  if (json) console.log(JSON.stringify(results, null, 2));
}

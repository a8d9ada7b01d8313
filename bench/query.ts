/**
 * How fast are queries over a long history, and how fast is the same question without views?
 *
 *   npm run bench -- query [--messages 100000,1000000,10000000] [--keep DIR] [--count 300] [--seconds 20]
 *                          [--postgres auto|always|never] [--json]
 *
 * Builds each synthetic history in bulk (`--keep DIR` keeps and reuses it), serves it with web and asks over
 * HTTP, one connection at a time, every question another one. The baselines, in the same run: the same
 * questions as one plain SQL over raw messages, in DuckDB inside this process and in PostgreSQL (where it is
 * installed) with the usual indexes. A different answer ends the run with an error.
 */
import { parseArgs } from 'node:util';
import { oneInstance, openHistory } from './history.ts';
import { measureQueries, postgresMode, type QueryResult } from './load/query-measure.ts';
import { describe } from './load/query-report.ts';

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: 'string', default: '100000,1000000,10000000' },
      keep: { type: 'string' },
      count: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '20' },
      postgres: { type: 'string', default: 'auto' },
      json: { type: 'boolean', default: false },
    },
  });
  const sizes = values.messages.split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1000))
    throw new Error('--messages: whole numbers from 1000 on, separated by commas');
  const postgres = postgresMode(values.postgres);
  const onProgress = (sentence: string): void => console.error(sentence);
  const results: QueryResult[] = [];
  for (const messages of sizes) {
    const history = await openHistory(oneInstance(messages), { keep: values.keep, onProgress });
    try {
      const result = await measureQueries(history, {
        count: Number(values.count),
        seconds: Number(values.seconds),
        postgres,
        onProgress,
      });
      results.push(result);
      if (!values.json) console.log(`\n${describe(result)}\n`);
    } finally {
      history.remove();
    }
  }
  if (values.json) console.log(JSON.stringify(results, null, 2));
}

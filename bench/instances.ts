/**
 * Do queries stay fast when many small instances share the views?
 *
 *   npm run bench -- instances [--instances 1000] [--messages 1000] [--keep DIR] [--count 300] [--seconds 20]
 *                              [--postgres auto|always|never] [--json]
 *
 * The questions of `query`, each put to a random instance; `--messages` are those of one instance. Baselines
 * as there.
 */
import { parseArgs } from 'node:util';
import { manyInstances, openHistory } from './history.ts';
import { measureQueries, postgresMode } from './load/query-measure.ts';
import { describe } from './load/query-report.ts';

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      instances: { type: 'string', default: '1000' },
      messages: { type: 'string', default: '1000' },
      keep: { type: 'string' },
      count: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '20' },
      postgres: { type: 'string', default: 'auto' },
      json: { type: 'boolean', default: false },
    },
  });
  const [instances, messages] = [Number(values.instances), Number(values.messages)];
  if (!Number.isInteger(instances) || instances < 2) throw new Error('--instances: a whole number from 2 on');
  if (!Number.isInteger(messages) || messages < 100 || messages > 100_000)
    throw new Error('--messages: a whole number from 100 to 100000');
  const postgres = postgresMode(values.postgres);
  const onProgress = (sentence: string): void => console.error(sentence);
  const history = await openHistory(manyInstances(instances, messages), { keep: values.keep, onProgress });
  try {
    const result = await measureQueries(history, {
      count: Number(values.count),
      seconds: Number(values.seconds),
      postgres,
      onProgress,
    });
    console.log(values.json ? JSON.stringify(result, null, 2) : `\n${describe(result)}\n`);
  } finally {
    history.remove();
  }
}

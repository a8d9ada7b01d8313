/** Do queries stay fast when many small instances share the views? */
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { manyInstances, openHistory, type HistoryShape } from './history.ts';
import {
  MEASURE_OPTIONS,
  measureOptions,
  measureQueries,
  type MeasureOptions,
} from './load/query-measure.ts';
import { describe } from './load/query-report.ts';

const USAGE = `Usage: npm run bench -- instances [OPTIONS]

Do queries stay fast when many small instances share the views? The questions and alternatives are those of query;
each question goes to a random instance.

  --instances N     how many (default: 1000)
  --messages N      messages of each instance (default: 1000)
  --keep DIR        keep the history in DIR, and reuse what is there
  --count N         measured requests of each question (default: 300)
  --seconds N       at most for each question and each system (default: 20)
  --postgres MODE   auto (default: where it is installed), always or never
  --json            print the figures as JSON`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      instances: { type: 'string', default: '1000' },
      messages: { type: 'string', default: '1000' },
      keep: { type: 'string' },
      ...MEASURE_OPTIONS,
      json: { type: 'boolean', default: false },
    },
    read(values) {
      const shape = manyInstances(
        wholeNumber('--instances', values.instances, 2),
        wholeNumber('--messages', values.messages, 100, 100_000),
      );
      const options = measureOptions(values);
      return () => measure(shape, values.keep, options, values.json);
    },
  }),
};

async function measure(
  shape: HistoryShape,
  keep: string | undefined,
  options: MeasureOptions,
  json: boolean,
): Promise<number | void> {
  const history = await openHistory(shape, { keep, onProgress: options.onProgress });
  try {
    const result = await measureQueries(history, options);
    console.log(json ? JSON.stringify(result, null, 2) : `\n${describe(result)}\n`);
  } finally {
    history.remove();
  }
}

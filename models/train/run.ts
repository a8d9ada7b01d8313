/** `npm run train -- signals|gaps [--data FOLDER]`: makes the heads in models/heads again. */
import { parseArgs } from 'node:util';
import { DEFAULT_DATA_DIRECTORY } from '../../src/eval/data.ts';
import { SetupError } from '../../src/errors.ts';
import { trainGaps } from './gaps.ts';
import { trainSignals } from './signals.ts';

const TRAININGS: Readonly<Record<string, (dataDirectory: string) => Promise<void>>> = {
  signals: trainSignals,
  gaps: trainGaps,
};

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { data: { type: 'string', default: DEFAULT_DATA_DIRECTORY } },
  });
  for (const name of positionals.length === 0 ? Object.keys(TRAININGS) : positionals) {
    const train = TRAININGS[name];
    if (train === undefined) {
      throw new SetupError(
        `nothing to train is called ${name}: choose from ${Object.keys(TRAININGS).join(', ')}`,
      );
    }
    await train(values.data);
  }
} catch (error) {
  if (!(error instanceof SetupError || error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/**
 * `npm run train -- [signals] [gaps] [embedding] [--data FOLDER]`: makes the heads in models/heads and the
 * embedding model in models/undertone-small again. For `embedding` also `--leave-out SET` (several times),
 * which writes to .cache/models, `--output FOLDER` and `--steps N`.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_DATA_DIRECTORY } from '../eval/data.ts';
import { SetupError } from '../../src/errors.ts';
import { DEFAULT_STEPS, trainEmbedding, type EmbeddingOptions } from './embedding.ts';
import { trainGaps } from './gaps.ts';
import { trainSignals } from './signals.ts';

type Training = (dataDirectory: string, options: Partial<EmbeddingOptions>) => Promise<void>;

const TRAININGS: Readonly<Record<string, Training>> = {
  signals: (data) => trainSignals(data),
  gaps: (data) => trainGaps(data),
  embedding: trainEmbedding,
};

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string', default: DEFAULT_DATA_DIRECTORY },
      'leave-out': { type: 'string', multiple: true, default: [] },
      output: { type: 'string' },
      steps: { type: 'string', default: String(DEFAULT_STEPS) },
    },
  });
  const steps = Number(values.steps);
  if (!Number.isInteger(steps) || steps < 1)
    throw new SetupError(`--steps ${values.steps} is no whole number from 1`);
  const options: Partial<EmbeddingOptions> = {
    leftOut: values['leave-out'],
    steps,
    ...(values.output === undefined ? {} : { output: values.output }),
  };
  for (const name of positionals.length === 0 ? Object.keys(TRAININGS) : positionals) {
    const train = TRAININGS[name];
    if (train === undefined) {
      throw new SetupError(
        `nothing to train is called ${name}: choose from ${Object.keys(TRAININGS).join(', ')}`,
      );
    }
    await train(values.data, options);
  }
} catch (error) {
  if (!(error instanceof SetupError || error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

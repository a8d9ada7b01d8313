/** `npm run train`: makes the models that ship again, from the data sets. */
import { action, runCommand, UsageError, wholeNumber } from '../../src/cli/command.ts';
import { DEFAULT_DATA_DIRECTORY } from '../eval/data.ts';
import { writeCommonParts } from './common-parts.ts';
import {
  DEFAULT_STEPS,
  EMBEDDING_MODEL_DIRECTORY,
  trainEmbedding,
  type EmbeddingOptions,
} from './embedding.ts';
import { writeFamiliarity } from './familiarity.ts';
import { trainAbilities } from './abilities.ts';
import { trainGaps } from './gaps.ts';
import { trainLanguages } from './languages.ts';
import { trainRepeats } from './repeats.ts';

type Training = (dataDirectory: string, options: Partial<EmbeddingOptions>) => Promise<void>;

const TRAININGS: Readonly<Record<string, Training>> = {
  gaps: (data) => trainGaps(data),
  languages: (data) => trainLanguages(data),
  repeats: (data) => trainRepeats(data),
  abilities: () => trainAbilities(),
  embedding: trainEmbedding,
  'common-parts': (data, { output }) => writeCommonParts(output ?? EMBEDDING_MODEL_DIRECTORY, data),
  familiarity: (data, { output, leftOut }) =>
    writeFamiliarity(output ?? EMBEDDING_MODEL_DIRECTORY, data, leftOut ?? []),
};

const USAGE = `Usage: npm run train -- [NAME…] [--data FOLDER] [--leave-out SET]… [--output FOLDER] [--steps N]

Trains models/heads, models/languages and the embedding model in models/undertone-small again; without a NAME, all.
common-parts and familiarity are steps of embedding that can be taken alone. repeats and abilities print weights for
src/conversations.

  --data FOLDER    the data sets to learn from

Only for embedding and its steps:
  --leave-out SET  do not learn from this data set; can be repeated. The model is then written to .cache/models
  --output FOLDER  write the model there; for a step, the model's folder
  --steps N        steps of training (default: ${DEFAULT_STEPS})

Names: ${Object.keys(TRAININGS).join(', ')}`;

const train = action({
  options: {
    data: { type: 'string', default: DEFAULT_DATA_DIRECTORY },
    'leave-out': { type: 'string', multiple: true, default: [] },
    output: { type: 'string' },
    steps: { type: 'string', default: String(DEFAULT_STEPS) },
  },
  operands: Infinity,
  read({ data, 'leave-out': leftOut, output, steps }, names) {
    const chosen = (names.length === 0 ? Object.keys(TRAININGS) : names).map((name) => {
      const training = TRAININGS[name];
      if (training === undefined) throw new UsageError(`Nothing to train is called ${name}.`);
      return training;
    });
    const options: Partial<EmbeddingOptions> = {
      leftOut,
      steps: wholeNumber('--steps', steps),
      ...(output === undefined ? {} : { output }),
    };
    return async () => {
      for (const training of chosen) await training(data, options);
    };
  },
});

await runCommand({ usage: USAGE, action: train });

import { it } from 'node:test';
import { nothingWrong } from './support/figures.ts';
import { twoWorkers } from './two-workers.ts';

it('applies nothing twice when two workers run on one shard', async () => {
  nothingWrong(await twoWorkers({ rounds: 1, seconds: 0, seed: 1, say: () => undefined }));
});

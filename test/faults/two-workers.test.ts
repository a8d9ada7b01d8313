import { it } from 'node:test';
import { nothingWrong, SHORT } from './support/figures.ts';
import { twoWorkers } from './two-workers.ts';

it('applies nothing twice when two workers run on one shard', async () => {
  nothingWrong(await twoWorkers(SHORT));
});

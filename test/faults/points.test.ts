import { it } from 'node:test';
import { points } from './points.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('counts everything once when it is killed between commit, publication, merge and switch', async () => {
  nothingWrong(await points(SHORT));
});

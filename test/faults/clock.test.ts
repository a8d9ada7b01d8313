import { it } from 'node:test';
import { clock } from './clock.ts';
import { nothingWrong } from './support/figures.ts';

it('counts everything once when clocks jump', async () => {
  nothingWrong(await clock({ rounds: 3, seconds: 0, seed: 1, say: () => undefined }));
});

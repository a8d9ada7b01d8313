import { it } from 'node:test';
import { kills } from './kills.ts';
import { nothingWrong } from './support/figures.ts';

it('loses nothing, and counts nothing twice, when processes are killed under load', async () => {
  nothingWrong(await kills({ rounds: 3, seconds: 0, seed: 1, say: () => undefined }));
});

import { it } from 'node:test';
import { kills } from './kills.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('loses nothing, and counts nothing twice, when processes are killed under load', async () => {
  nothingWrong(await kills({ ...SHORT, rounds: 3 }));
});

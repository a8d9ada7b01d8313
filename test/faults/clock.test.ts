import { it } from 'node:test';
import { clock } from './clock.ts';
import { isLong } from '../support/long.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('counts everything once when clocks jump', async () => {
  nothingWrong(await clock({ ...SHORT, rounds: isLong ? 3 : 2 }));
});

import { it } from 'node:test';
import { damage } from './damage.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('answers nothing wrong from damaged files, says so, and makes them anew', async () => {
  nothingWrong(await damage(SHORT));
});

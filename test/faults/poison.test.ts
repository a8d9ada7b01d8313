import { it } from 'node:test';
import { poison } from './poison.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('dead-letters what cannot be processed, with the reason, and counts the rest', async () => {
  nothingWrong(await poison(SHORT));
});
